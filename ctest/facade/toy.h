/* The made-up vendor API of the test in ctest/facade. */
#ifndef TOY_H
#define TOY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t toy_context;
typedef int toy_status;

toy_status toy_open(toy_context *context, const char *name);
toy_status toy_add(toy_context context, int a, double b, int c, int *sum);
toy_status toy_close(toy_context context);
const char *toy_who(void);
int toy_later(int n);

#ifdef __cplusplus
}
#endif

#endif
