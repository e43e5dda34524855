/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The hbDNN API: packs of models, their inputs and outputs, and tasks that run them. Programs written against the
 * vendor's header of the same name compile and link unchanged; here a model is an ONNX file, or its bytes, where they
 * had a compiled one. docs/hbdnn.md says what is covered. Functions return HB_DNN_SUCCESS or a negative code
 * (dnn/hb_dnn_status.h); a message that says what was wrong goes to the log.
 *
 * ABI: 64-bit targets, as of versions 1.18 to 1.24 of the vendor's header.
 */
#ifndef _DNN_HB_DNN_H_
#define _DNN_HB_DNN_H_

#include "hb_sys.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HB_DNN_VERSION_MAJOR 1U
#define HB_DNN_VERSION_MINOR 24U
#define HB_DNN_VERSION_PATCH 5U

#define HB_DNN_TENSOR_MAX_DIMENSIONS 8

#define HB_DNN_INITIALIZE_INFER_CTRL_PARAM(param) \
    {                                             \
        (param)->bpuCoreId = HB_BPU_CORE_ANY;     \
        (param)->dspCoreId = HB_DSP_CORE_ANY;     \
        (param)->priority = HB_DNN_PRIORITY_LOWEST; \
        (param)->more = false;                    \
        (param)->customId = 0;                    \
        (param)->reserved1 = 0;                   \
        (param)->reserved2 = 0;                   \
    }

#define HB_DNN_INITIALIZE_RESIZE_CTRL_PARAM(param)         \
    {                                                      \
        (param)->bpuCoreId = HB_BPU_CORE_ANY;              \
        (param)->resizeType = HB_DNN_RESIZE_TYPE_BILINEAR; \
        (param)->priority = HB_DNN_PRIORITY_LOWEST;        \
        (param)->reserved1 = 0;                            \
        (param)->reserved2 = 0;                            \
        (param)->reserved3 = 0;                            \
        (param)->reserved4 = 0;                            \
    }

/* A pack of models, one of its models, which lives as long as the pack, and a task. */
typedef void *hbPackedDNNHandle_t;
typedef void *hbDNNHandle_t;
typedef void *hbDNNTaskHandle_t;

typedef enum {
    HB_DNN_LAYOUT_NHWC = 0,
    HB_DNN_LAYOUT_NCHW = 2,
    HB_DNN_LAYOUT_NONE = 255
} hbDNNTensorLayout;

typedef enum {
    HB_DNN_IMG_TYPE_Y,             /* gray */
    HB_DNN_IMG_TYPE_NV12,          /* all of Y, then U and V in turn */
    HB_DNN_IMG_TYPE_NV12_SEPARATE, /* the same in two memories */
    HB_DNN_IMG_TYPE_YUV444,
    HB_DNN_IMG_TYPE_RGB,
    HB_DNN_IMG_TYPE_BGR,
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
    HB_DNN_TENSOR_TYPE_MAX
} hbDNNDataType;

typedef struct {
    int32_t dimensionSize[HB_DNN_TENSOR_MAX_DIMENSIONS];
    int32_t numDimensions;
} hbDNNTensorShape, hbDNNDimension;

/* The number x is stored as x * 2^shift. */
typedef struct {
    int32_t shiftLen;
    uint8_t *shiftData;
} hbDNNQuantiShift;

/* The integer q stands for (q - zeroPoint) * scale. One scale for all elements, or one for each index of an axis. */
typedef struct {
    int32_t scaleLen;
    float *scaleData;
    int32_t zeroPointLen;
    int8_t *zeroPointData;
} hbDNNQuantiScale;

typedef enum {
    NONE,
    SHIFT,
    SCALE
} hbDNNQuantiType;

typedef struct {
    hbDNNTensorShape validShape;   /* what means something */
    hbDNNTensorShape alignedShape; /* what is stored */
    int32_t tensorLayout;          /* hbDNNTensorLayout */
    int32_t tensorType;            /* hbDNNDataType */
    hbDNNQuantiShift shift;
    hbDNNQuantiScale scale;
    hbDNNQuantiType quantiType;
    int32_t quantizeAxis;
    int32_t alignedByteSize;                       /* bytes that the tensor's memory has at least */
    int32_t stride[HB_DNN_TENSOR_MAX_DIMENSIONS]; /* bytes from one index of a dimension of validShape to the next */
} hbDNNTensorProperties;

typedef enum {
    HB_DNN_PRIORITY_LOWEST = 0,
    HB_DNN_PRIORITY_HIGHEST = 255,
    HB_DNN_PRIORITY_PREEMP = HB_DNN_PRIORITY_HIGHEST
} hbDNNTaskPriority;

/* HB_DNN_IMG_TYPE_NV12_SEPARATE takes two of the memories, every other type the first one. */
typedef struct {
    hbSysMem sysMem[4];
    hbDNNTensorProperties properties;
} hbDNNTensor;

/* Columns left to right and rows top to bottom, the last ones included. */
typedef struct {
    int32_t left;
    int32_t top;
    int32_t right;
    int32_t bottom;
} hbDNNRoi;

typedef struct {
    int32_t bpuCoreId; /* hbBPUCore */
    int32_t dspCoreId; /* hbDSPCore */
    int32_t priority;  /* 0 to 255, larger ones first */
    int32_t more;      /* 1: the task gets another member */
    int64_t customId;  /* of tasks with the same priority the smaller one goes first */
    int32_t reserved1;
    int32_t reserved2;
} hbDNNInferCtrlParam;

typedef enum {
    HB_DNN_RESIZE_TYPE_BILINEAR = 0
} hbDNNResizeType;

typedef struct {
    int32_t bpuCoreId;
    int32_t priority;
    hbDNNResizeType resizeType;
    int32_t reserved1;
    int32_t reserved2;
    int32_t reserved3;
    int32_t reserved4;
} hbDNNResizeCtrlParam;

/* Called once, on a thread of the library, with what the task came to. */
typedef void (*hbDNNTaskDoneCb)(hbDNNTaskHandle_t taskHandle, int32_t status, void *userdata);

char const *hbDNNGetVersion(void);

/* Load models. The files and the bytes are not needed afterwards. */
int32_t hbDNNInitializeFromFiles(hbPackedDNNHandle_t *packedDNNHandle, char const **modelFileNames,
	int32_t modelFileCount);
int32_t hbDNNInitializeFromDDR(hbPackedDNNHandle_t *packedDNNHandle, const void **modelData, int32_t *modelDataLengths,
                               int32_t modelDataCount);
/* Refused with HB_DNN_MODEL_IS_RUNNING while a task of one of the models is queued or runs. */
int32_t hbDNNRelease(hbPackedDNNHandle_t packedDNNHandle);

/* Names, handles and what follows from them live as long as the pack. */
int32_t hbDNNGetModelNameList(char const ***modelNameList, int32_t *modelNameCount,
	hbPackedDNNHandle_t packedDNNHandle);
int32_t hbDNNGetModelHandle(hbDNNHandle_t *dnnHandle, hbPackedDNNHandle_t packedDNNHandle, char const *modelName);
int32_t hbDNNGetInputCount(int32_t *inputCount, hbDNNHandle_t dnnHandle);
int32_t hbDNNGetInputName(char const **name, hbDNNHandle_t dnnHandle, int32_t inputIndex);
int32_t hbDNNGetInputTensorProperties(hbDNNTensorProperties *properties, hbDNNHandle_t dnnHandle, int32_t inputIndex);
int32_t hbDNNGetOutputCount(int32_t *outputCount, hbDNNHandle_t dnnHandle);
int32_t hbDNNGetOutputName(char const **name, hbDNNHandle_t dnnHandle, int32_t outputIndex);
int32_t hbDNNGetOutputTensorProperties(hbDNNTensorProperties *properties, hbDNNHandle_t dnnHandle, int32_t outputIndex);

/*
 * Start a run. *taskHandle is NULL for a new task, or a task whose last member had more = 1. The tensors may end when
 * the function returns, their memories when the task is done.
 */
int32_t hbDNNInfer(hbDNNTaskHandle_t *taskHandle, hbDNNTensor **output, hbDNNTensor const *input,
	hbDNNHandle_t dnnHandle,
                   hbDNNInferCtrlParam *inferCtrlParam);
int32_t hbDNNRoiInfer(hbDNNTaskHandle_t *taskHandle, hbDNNTensor **output, hbDNNTensor const *input, hbDNNRoi *rois,
                      int32_t roiCount, hbDNNHandle_t dnnHandle, hbDNNInferCtrlParam *inferCtrlParam);
int32_t hbDNNResize(hbDNNTaskHandle_t *taskHandle, hbDNNTensor *output, hbDNNTensor const *input, hbDNNRoi const *roi,
                    hbDNNResizeCtrlParam *resizeCtrlParam);
int32_t hbDNNSetTaskDoneCb(hbDNNTaskHandle_t taskHandle, hbDNNTaskDoneCb cb, void *userdata);
/* Wait timeout milliseconds, for ever if it is 0 or less. */
int32_t hbDNNWaitTaskDone(hbDNNTaskHandle_t taskHandle, int32_t timeout);
/* End a task, also one that is not done: it stops. */
int32_t hbDNNReleaseTask(hbDNNTaskHandle_t taskHandle);

#ifdef __cplusplus
}
#endif

#endif
