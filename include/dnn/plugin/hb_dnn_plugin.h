/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Registration of layers that a program computes by itself, for C++. Both functions refuse: operators of an ONNX model
 * need no such layer.
 */
#ifndef DNN_PLUGIN_HB_DNN_PLUGIN_H_
#define DNN_PLUGIN_HB_DNN_PLUGIN_H_

#include <stdint.h>

#include "hb_dnn_layer.h"

#ifdef __cplusplus
int32_t hbDNNRegisterLayerCreator(char const *layerType, hbDNNLayerCreator layerCreator);
int32_t hbDNNUnregisterLayerCreator(char const *layerType);
#endif

#endif
