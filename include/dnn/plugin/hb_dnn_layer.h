/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The type of layers that a program computes by itself. This library runs none: see hb_dnn_plugin.h.
 */
#ifndef DNN_PLUGIN_HB_DNN_LAYER_H_
#define DNN_PLUGIN_HB_DNN_LAYER_H_

#ifdef __cplusplus
namespace hobot {
namespace dnn {
class Layer;
} // namespace dnn
} // namespace hobot

typedef hobot::dnn::Layer *(*hbDNNLayerCreator)();
#endif

#endif
