/* The made-up vendor API of the test in ctest/facade. */
#ifndef TOY_H
#define TOY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t toy_context;
typedef int toy_status;

/* Numbers that a context keeps. Programs may copy the struct. */
typedef struct {
	int  *data;
	int   count;
	void *owner; /* the library's */
} toy_block;

toy_status toy_open(toy_context *context, const char *name);
toy_status toy_add(toy_context context, int a, double b, int c, int *sum);
toy_status toy_close(toy_context context);
toy_status toy_share(toy_context *from, toy_context *to);
toy_block *toy_alloc(toy_context context, int count);
toy_status toy_fill(toy_context context, toy_block *block, int value);
toy_status toy_free(toy_block *block);
const char *toy_who(void);
const char *toy_board(void);
int toy_later(int n);

#ifdef __cplusplus
}
#endif

#endif
