/* The made-up vendor API of the test in ctest/facade. */
#ifndef TOY_H
#define TOY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t toy_context;
typedef int toy_status;
typedef enum { TOY_SMALL, TOY_LARGE } toy_sort;

/* Numbers that a context keeps. Programs may copy the struct. */
typedef struct {
	int  *data;
	int   count;
	void *owner; /* the library's */
} toy_block;

/* Passed by value: on the stack, in registers of both kinds, in registers of one kind. */
typedef struct {
	int32_t dims[8];
	int32_t n;
} toy_place;

typedef struct {
	int64_t whole;
	double  part;
} toy_pair;

typedef struct {
	float   x, y;
	toy_sort sort;
} toy_spot;

typedef struct toy_list toy_list;

toy_status toy_open(toy_context *context, const char *name);
toy_status toy_add(toy_context context, int a, double b, int c, int *sum);
toy_status toy_close(toy_context context);
toy_status toy_share(toy_context *from, toy_context *to);
toy_block *toy_alloc(toy_context context, int count);
toy_status toy_fill(toy_context context, toy_block *block, int value);
toy_status toy_move(toy_context context, toy_place place, toy_pair pair, int first, toy_spot spot, int *sum);
toy_list *toy_list_make(void);
int toy_list_length(toy_list *list);
toy_status toy_list_end(toy_list *list);
void toy_list_free(toy_list *list);
int tallyCalls(int n);
toy_status toy_free(toy_block *block);
const char *toy_who(void);
const char *toy_board(void);
int toy_later(int n);

#ifdef __cplusplus
}
#endif

#endif
