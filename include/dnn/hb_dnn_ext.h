/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * More about models and tasks of the hbDNN API, and conversions of tensors in memory.
 */
#ifndef _DNN_HB_DNN_EXT_H_
#define _DNN_HB_DNN_EXT_H_

#include <stdbool.h>

#include "hb_dnn.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HB_DNN_LAYOUT_NHCW_NATIVE = 1 /* here: N, H, C, W without gaps */
} hbDNNExtraTensorLayout;

typedef enum {
    HB_DNN_INPUT_FROM_DDR = 0,
    HB_DNN_INPUT_FROM_RESIZER = 1,
    HB_DNN_INPUT_FROM_PYRAMID = 2
} hbDNNInputSource;

typedef enum {
    HB_DNN_DESC_TYPE_UNKNOWN = 0,
    HB_DNN_DESC_TYPE_STRING = 1,
    HB_DNN_DESC_TYPE_BINARY = 2
} hbDNNDescType;

typedef enum {
    HB_DNN_OUTPUT_OPERATOR_TYPE_UNKNOWN = 0,
    HB_DNN_OUTPUT_OPERATOR_TYPE_CONV = 1,
    HB_DNN_OUTPUT_OPERATOR_TYPE_DETECTION_POST_PROCESS = 2,
    HB_DNN_OUTPUT_OPERATOR_TYPE_RCNN_POST_PROCESS = 3,
    HB_DNN_OUTPUT_OPERATOR_TYPE_DETECTION_POST_PROCESS_STABLE_SORT = 4,
    HB_DNN_OUTPUT_OPERATOR_TYPE_CHANNEL_ARGMAX = 5,
    HB_DNN_OUTPUT_OPERATOR_TYPE_AUX_DPP_STABLE_SORT = 6,
    HB_DNN_OUTPUT_OPERATOR_TYPE_CHANNEL_ARGMAX_SPLIT = 7,
    HB_DNN_OUTPUT_OPERATOR_TYPE_FILTER = 8,
    HB_DNN_OUTPUT_OPERATOR_TYPE_CONV3D = 9,
    HB_DNN_OUTPUT_OPERATOR_TYPE_MAGIC = 10,
    HB_DNN_OUTPUT_OPERATOR_TYPE_RLE = 11,
    HB_DNN_OUTPUT_OPERATOR_TYPE_MODEL_INPUT_SCATTER = 12,
    HB_DNN_OUTPUT_OPERATOR_TYPE_MODEL_INPUT_GATHER = 13,
    HB_DNN_OUTPUT_OPERATOR_TYPE_MODEL_INPUT_GATHER_ELEMENTS = 14,
    HB_DNN_OUTPUT_OPERATOR_TYPE_MODEL_INPUT_TOP_K = 15
} hbDNNOutputOperatorType;

/* About models. Texts live as long as the pack; size is in bytes, type is an hbDNNDescType. */
int32_t hbDNNGetInputSource(int32_t *inputSource, hbDNNHandle_t dnnHandle, int32_t inputIndex);
int32_t hbDNNGetInputDesc(char const **desc, uint32_t *size, int32_t *type, hbDNNHandle_t dnnHandle,
	int32_t inputIndex);
int32_t hbDNNGetOutputDesc(char const **desc, uint32_t *size, int32_t *type, hbDNNHandle_t dnnHandle,
	int32_t outputIndex);
int32_t hbDNNGetModelDesc(char const **desc, uint32_t *size, int32_t *type, hbDNNHandle_t dnnHandle);
int32_t hbDNNGetModelTag(char const **tag, hbDNNHandle_t dnnHandle);
int32_t hbDNNGetOutputOperatorType(int32_t *operatorType, hbDNNHandle_t dnnHandle, int32_t outputIndex);

/* Estimates from the runs so far, in microseconds; 0 before the first one. */
int32_t hbDNNGetEstimateLatency(int32_t *estimateLatency, hbDNNHandle_t dnnHandle);
int32_t hbDNNGetTaskEstimateTime(int32_t *estimateTime, hbDNNTaskHandle_t taskHandle);
int32_t hbDNNGetTaskEstimateStartTime(int32_t *estimateStartTime, hbDNNInferCtrlParam *inferCtrlParam);

char const *hbDNNGetErrorDesc(int32_t errorCode);
int32_t hbDNNGetLayoutName(char const **name, int32_t layout);

/* Integers of one scale per element of the last dimension, or one for all, to float: in * scale. */
int32_t hbDNNUnquantizeByScale(float *output, int32_t dataType, hbDNNTensorShape inputShape, const float *scales,
                               const void *input);

/* From one layout to another; inputShape is in the order of inputLayout. Parts of the input begin at coord, which
 * is, as size is, in the order N, H, W, C. */
int32_t hbDNNConvertLayout(void *output, int32_t outputLayout, const void *input, int32_t inputLayout, int32_t dataType,
                           hbDNNTensorShape inputShape, bool convertEndianness);
int32_t hbDNNConvertLayoutRoi(void *output, int32_t outputLayout, const void *input, int32_t inputLayout,
	int32_t dataType,
                              hbDNNTensorShape inputShape, bool convertEndianness, hbDNNDimension coord,
                              hbDNNDimension size);
int32_t hbDNNConvertLayoutToNative1HW1(void *output, const void *input, int32_t inputLayout, int32_t dataType,
                                       hbDNNTensorShape inputShape, bool convertEndianness, uint32_t nIndex,
                                       uint32_t cIndex);
int32_t hbDNNConvertLayoutToNative111C(void *output, const void *input, int32_t inputLayout, int32_t dataType,
                                       hbDNNTensorShape inputShape, bool convertEndianness, uint32_t nIndex,
                                       uint32_t hIndex, uint32_t wIndex);
int32_t hbDNNConvertLayoutToNative1111(void *output, const void *input, int32_t inputLayout, int32_t dataType,
                                       hbDNNTensorShape inputShape, bool convertEndianness, hbDNNDimension coord);

/* Tensors of four dimensions to larger ones, filled up with zeros, and back. */
int32_t hbDNNAddPadding(void *output, hbDNNTensorShape outputShape, void const *input, hbDNNTensorShape inputShape,
                        int32_t dataType);
int32_t hbDNNRemovePadding(void *output, hbDNNTensorShape outputShape, void const *input, hbDNNTensorShape inputShape,
                           int32_t dataType);
/* dim has dimNum sizes; stride the bytes from one index of a dimension to the next on the padded side. */
int32_t hbDNNAddPaddingWithStride(void *output, void const *input, uint32_t dimNum, const uint32_t *dim,
                                  const int32_t *stride, uint32_t elementSize);
int32_t hbDNNRemovePaddingWithStride(void *output, void const *input, uint32_t dimNum, const uint32_t *dim,
                                     const int32_t *stride, uint32_t elementSize);
/* Turn the order of size bytes, those of one number, around; output may be input. */
int32_t hbDNNConvertEndianness(void *output, const void *input, uint32_t size);

#ifdef __cplusplus
}
#endif

#endif
