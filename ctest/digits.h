/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The example programs' own functions, called for what they compute of each image.
 */
#ifndef CTEST_DIGITS_H
#define CTEST_DIGITS_H

enum { CLASSES = 10 };

void digits_ohnn(const char *weights_file, char **paths, int count, float (*out)[CLASSES]);
void digits_rknn(const char *model, char **paths, int count, float (*out)[CLASSES]);
void digits_hbdnn(const char *model, char **paths, int count, float (*out)[CLASSES]);
void digits_nnapi(const char *weights_file, char **paths, int count, float (*out)[CLASSES]);

#endif
