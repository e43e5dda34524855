/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The hbDNN API of UCP: packs of models, their inputs and outputs, and tasks that run them (S100, S600, J6). Programs
 * written against the vendor's header of the same name compile and link unchanged; here a model is an ONNX file, or its
 * bytes, where they had a compiled one. docs/hbucp.md says what is covered. Functions return 0 or a negative code
 * (hobot/hb_ucp_status.h); a message that says what was wrong goes to the log. Boards before these have dnn/hb_dnn.h,
 * whose structs are others.
 *
 * ABI: 64-bit targets.
 */
#ifdef _DNN_HB_SYS_H_
#error "hobot/dnn/hb_dnn.h and dnn/hb_dnn.h are two generations of one API: a program has one of them"
#endif
#ifndef _DNN_HB_DNN_H_
#define _DNN_HB_DNN_H_

#include "../hb_ucp.h"
#include "../hb_ucp_sys.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HB_DNN_TENSOR_MAX_DIMENSIONS 10

/* A pack of models, and one of its models, which lives as long as the pack. */
typedef void *hbDNNPackedHandle_t;
typedef void *hbDNNHandle_t;

typedef enum {
    HB_DNN_TENSOR_TYPE_S4,
    HB_DNN_TENSOR_TYPE_U4,
    HB_DNN_TENSOR_TYPE_S8,
    HB_DNN_TENSOR_TYPE_U8,
    HB_DNN_TENSOR_TYPE_F16,
    HB_DNN_TENSOR_TYPE_S16,
    HB_DNN_TENSOR_TYPE_U16,
    HB_DNN_TENSOR_TYPE_F32,
    HB_DNN_TENSOR_TYPE_S32,
    HB_DNN_TENSOR_TYPE_U32,
    HB_DNN_TENSOR_TYPE_F64,
    HB_DNN_TENSOR_TYPE_S64,
    HB_DNN_TENSOR_TYPE_U64,
    HB_DNN_TENSOR_TYPE_BOOL8,
    HB_DNN_TENSOR_TYPE_MAX
} hbDNNDataType;

typedef struct hbDNNTensorShape {
    int32_t dimensionSize[HB_DNN_TENSOR_MAX_DIMENSIONS];
    int32_t numDimensions;
} hbDNNTensorShape;

/* The code q stands for (q - zeroPoint) * scale. One scale for all elements, or one for each index of an axis. */
typedef struct hbDNNQuantiScale {
    int32_t scaleLen;
    float *scaleData;
    int32_t zeroPointLen;
    int32_t *zeroPointData;
} hbDNNQuantiScale;

typedef enum {
    NONE,
    SCALE
} hbDNNQuantiType;

/* -1 in validShape or stride of an input: the program fills it in before hbDNNInferV2. */
typedef struct hbDNNTensorProperties {
    hbDNNTensorShape validShape;
    int32_t tensorType; /* hbDNNDataType */
    hbDNNQuantiScale scale;
    hbDNNQuantiType quantiType;
    int32_t quantizeAxis;
    int64_t alignedByteSize;                       /* bytes to allocate, -1 where the program decides */
    int64_t stride[HB_DNN_TENSOR_MAX_DIMENSIONS]; /* bytes from one index of a dimension to the next */
} hbDNNTensorProperties;

typedef struct hbDNNTensor {
    hbUCPSysMem sysMem;
    hbDNNTensorProperties properties;
} hbDNNTensor;

typedef enum {
    HB_DNN_DESC_TYPE_UNKNOWN = 0,
    HB_DNN_DESC_TYPE_STRING
} hbDNNDescType;

char const *hbDNNGetVersion(void);

/* All models are loaded, or none. */
int32_t hbDNNInitializeFromFiles(hbDNNPackedHandle_t *dnnPackedHandle, char const **modelFileNames,
                                 int32_t modelFileCount);
int32_t hbDNNInitializeFromDDR(hbDNNPackedHandle_t *dnnPackedHandle, const void **modelData, int32_t *modelDataLengths,
                               int32_t modelDataCount);
/* HB_UCP_MODEL_IS_INUSE while a task of one of the models is not released. Ends what was borrowed from the pack. */
int32_t hbDNNRelease(hbDNNPackedHandle_t dnnPackedHandle);

int32_t hbDNNGetModelNameList(char const ***modelNameList, int32_t *modelNameCount, hbDNNPackedHandle_t dnnPackedHandle);
int32_t hbDNNGetModelHandle(hbDNNHandle_t *dnnHandle, hbDNNPackedHandle_t dnnPackedHandle, char const *modelName);

int32_t hbDNNGetInputCount(int32_t *inputCount, hbDNNHandle_t dnnHandle);
int32_t hbDNNGetInputName(char const **name, hbDNNHandle_t dnnHandle, int32_t inputIndex);
int32_t hbDNNGetInputTensorProperties(hbDNNTensorProperties *properties, hbDNNHandle_t dnnHandle, int32_t inputIndex);
int32_t hbDNNGetOutputCount(int32_t *outputCount, hbDNNHandle_t dnnHandle);
int32_t hbDNNGetOutputName(char const **name, hbDNNHandle_t dnnHandle, int32_t outputIndex);
int32_t hbDNNGetOutputTensorProperties(hbDNNTensorProperties *properties, hbDNNHandle_t dnnHandle, int32_t outputIndex);

/* Texts of size bytes without their final zero; type is hbDNNDescType. index is that of the file in the call that loaded. */
int32_t hbDNNGetInputDesc(char const **desc, uint32_t *size, int32_t *type, hbDNNHandle_t dnnHandle, int32_t inputIndex);
int32_t hbDNNGetOutputDesc(char const **desc, uint32_t *size, int32_t *type, hbDNNHandle_t dnnHandle,
                           int32_t outputIndex);
int32_t hbDNNGetModelDesc(char const **desc, uint32_t *size, int32_t *type, hbDNNHandle_t dnnHandle);
int32_t hbDNNGetHBMDesc(char const **desc, uint32_t *size, int32_t *type, hbDNNPackedHandle_t dnnPackedHandle,
                        int32_t index);
int32_t hbDNNGetCompileBpuCoreNum(int32_t *bpuCoreNum, hbDNNHandle_t dnnHandle);

/*
 * *taskHandle NULL: makes a task, which hbUCPSubmitTask runs. A task that is not submitted: adds a member to it.
 * taskHandle NULL: runs the model and returns. input and output have a tensor for each input and output; they may end
 * with the call, and their memory with the task.
 */
int32_t hbDNNInferV2(hbUCPTaskHandle_t *taskHandle, hbDNNTensor *output, hbDNNTensor const *input,
                     hbDNNHandle_t dnnHandle);
/* What an output of a task that is done has; subTaskIndex counts members. */
int32_t hbDNNGetTaskOutputTensorProperties(hbDNNTensorProperties *properties, hbUCPTaskHandle_t taskHandle,
                                           int32_t subTaskIndex, int32_t outputIndex);

#ifdef __cplusplus
}
#endif

#endif
