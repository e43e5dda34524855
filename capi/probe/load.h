/*
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PROBE_LOAD_H
#define PROBE_LOAD_H

/*
 * Loads a model through an API of the library at path, as a program does: rknn, hbdnn and ohnn the file, nnapi the
 * calls that a file of internal/nnapicalls lists. Returns NULL if all calls succeed, else the sentence of the one that
 * failed.
 */
const char *load_model(const char *path, const char *api, const char *model);

#endif
