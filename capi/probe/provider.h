/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANYNPU_PROBE_PROVIDER_H
#define ANYNPU_PROBE_PROVIDER_H

/*
 * Has a provider of the library of ONNX Runtime in a file make a session of one node. plugin is the provider's file, ""
 * if it is in the library; options are keys and values in turn, and NULL. Returns what is wrong, NULL for nothing.
 */
const char *try_provider(const char *library, const char *provider, const char *plugin, char **options);

#endif
