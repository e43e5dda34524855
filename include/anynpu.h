/*
 * SPDX-License-Identifier: Apache-2.0
 */

/**
 * @file anynpu.h What the library offers beside the vendors' APIs: version, log, last error, placement report, live
 * handles and buffers.
 *
 * Every function may be called from any thread and before any other function of the library.
 */

#ifndef ANYNPU_H
#define ANYNPU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of this header, in three numbers. */
#define ANYNPU_VERSION_MAJOR 0
#define ANYNPU_VERSION_MINOR 2
#define ANYNPU_VERSION_PATCH 0

/** Version of this header as one number that grows with it: 10000 * major + 100 * minor + patch. */
#define ANYNPU_VERSION (ANYNPU_VERSION_MAJOR * 10000 + ANYNPU_VERSION_MINOR * 100 + ANYNPU_VERSION_PATCH)

/** Version of this header as a string. */
#define ANYNPU_VERSION_STRING "0.2.0"

/**
 * Gives the version of the library that is loaded, which may differ from ANYNPU_VERSION_STRING.
 *
 * @return A string such as "0.2.0", valid for the life of the process.
 */
const char *anynpu_version(void);

/**
 * Levels of log messages. A message is written when its level is not above the one that ANYNPU_LOG selects; a warning
 * on which it depends whether results are right, from ANYNPU_LOG_ERROR on.
 */
enum {
    ANYNPU_LOG_ERROR = 1,   /**< A call failed. The level that is written by default. */
    ANYNPU_LOG_WARNING = 2, /**< Something is probably not what the caller wants. */
    ANYNPU_LOG_INFO = 3,    /**< What was loaded, compiled and placed where. */
    ANYNPU_LOG_DEBUG = 4,   /**< For those who look for a fault. */
    ANYNPU_LOG_TRACE = 5    /**< Every call with its arguments and result. */
};

/**
 * Takes a log message: its level, the component and the message, one line without a line feed. Both strings end with
 * the call. user is what anynpu_set_log_callback was given.
 */
typedef void (*anynpu_log_callback)(int level, const char *component, const char *message, void *user);

/**
 * Hands log messages to a function instead of the standard error stream.
 *
 * The function is called on the thread that logs, possibly on several at once, and must not call the library.
 *
 * @param callback The function; NULL restores the standard error stream, or the file that ANYNPU_LOG_FILE names.
 * @param user Any pointer, passed through.
 */
void anynpu_set_log_callback(anynpu_log_callback callback, void *user);

/**
 * Gives the message of the last call of this thread that failed.
 *
 * @return The text, "" if no call of this thread has failed. Valid until the next call of the library on this thread.
 */
const char *anynpu_last_error(void);

/** Results of anynpu_placement_report. */
enum {
    ANYNPU_PLACEMENT_OK = 0,        /**< The report is complete. */
    ANYNPU_PLACEMENT_BAD_HANDLE = 1, /**< The handle is no compilation, or one that is not built. */
    ANYNPU_PLACEMENT_TRUNCATED = 2  /**< The buffer was too small; the text in it is cut. */
};

/**
 * Tells for every node of a compiled model which device runs it, and why the others do not, as JSON. `edges` are the
 * values between nodes, with names and types.
 *
 * @param compilation A built compilation or loaded model of any API of the library: an OH_NNCompilation, a rknn_context
 * (as a pointer) or an hbDNNHandle_t.
 * @param buffer Receives the text and a final 0; may be NULL if size is 0.
 * @param size Bytes of buffer.
 * @param needed Receives the bytes the whole text takes, the final 0 included; may be NULL.
 * @return One of the ANYNPU_PLACEMENT values.
 */
int anynpu_placement_report(const void *compilation, char *buffer, size_t size, size_t *needed);

/**
 * Gives the sizes that the last run made of an output. Those of an output whose sizes only a run tells are at most what
 * anynpu.output.NAME.max_shape of the model's metadata says, which is what the APIs report; elements lie at their
 * places in that shape, and the rest is zeros.
 *
 * @param handle A rknn_context (as a pointer) after rknn_run, or an hbDNNTaskHandle_t after hbDNNWaitTaskDone.
 * @param output The index of the output; of a task with several members the outputs of all count, in order.
 * @param dims Receives the sizes, in the order of the model; may be NULL if size is 0.
 * @param size How many numbers dims has room for; what does not fit is left out.
 * @return The number of sizes that the output has, -1 if the handle has no results or no such output.
 */
int anynpu_output_shape(const void *handle, uint32_t output, int64_t *dims, size_t size);

/**
 * Writes the graph of a compiled model as an ONNX model: what the library computes, for a viewer, another runtime or a
 * report of a fault. Constants that together are above 1 GiB go to a file beside it, PATH.data.
 *
 * @param handle A built compilation or loaded model of any API of the library: an OH_NNCompilation, an
 * ANeuralNetworksCompilation, a rknn_context (as a pointer) or an hbDNNHandle_t. One that was restored from a cache, or
 * whose device does not give constants back, has no graph.
 * @param path The file, which is replaced when all is written.
 * @return 0, or 1 when the handle has no graph, ONNX cannot express one of its operators, or the file cannot be written:
 * anynpu_last_error says which.
 */
int anynpu_export(const void *handle, const char *path);

/**
 * Counts the handles of all APIs that were created and not destroyed. For tests that look for leaks.
 *
 * @return The number.
 */
size_t anynpu_live_handles(void);

/**
 * Counts the blocks of memory that the library has mapped for tensors, weights and working space and not yet given
 * back. For tests that look for leaks: such memory lies outside the heap, where leak checkers do not look. It is given
 * back when the last object that needs it has ended, which after an asynchronous run may be shortly after the callback.
 *
 * @return The number.
 */
size_t anynpu_live_buffers(void);

#ifdef __cplusplus
}
#endif

#endif /* ANYNPU_H */
