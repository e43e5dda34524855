/*
 * SPDX-License-Identifier: Apache-2.0
 */

/**
 * @file NeuralNetworksExtensions.h
 * Types, operations and attributes that a vendor adds to the Neural Networks API. A device that has an extension knows
 * its name; the processor has none.
 */

#ifndef ANDROID_NEURAL_NETWORKS_EXTENSIONS_H
#define ANDROID_NEURAL_NETWORKS_EXTENSIONS_H

#include "NeuralNetworks.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Tells whether the device knows an extension. No is an answer, not an error. Since feature level 3. */
int ANeuralNetworksDevice_getExtensionSupport(const ANeuralNetworksDevice *device, const char *extensionName,
                                              bool *isExtensionSupported);

/**
 * Gives the operand code of a type of an extension. BAD_DATA: no device knows the extension. Since feature level 3.
 */
int ANeuralNetworksModel_getExtensionOperandType(ANeuralNetworksModel *model, const char *extensionName,
                                                 uint16_t operandCodeWithinExtension, int32_t *type);

/**
 * Gives the operation code of an operation of an extension. BAD_DATA: no device knows the extension.
 * Since feature level 3.
 */
int ANeuralNetworksModel_getExtensionOperationType(ANeuralNetworksModel *model, const char *extensionName,
                                                   uint16_t operationCodeWithinExtension,
                                                   ANeuralNetworksOperationType *type);

/**
 * Sets the data of an operand of an extension's type, which are copied. BAD_DATA: no such index, or another type.
 * Since feature level 3.
 */
int ANeuralNetworksModel_setOperandExtensionData(ANeuralNetworksModel *model, int32_t index, const void *data,
                                                 size_t length);

/**
 * Sets an attribute of an extension, whose data are copied. BAD_DATA: the compilation is not for exactly one device,
 * the device does not know the extension, or the attribute is set. BAD_STATE: the compilation is finished.
 * Since feature level 8.
 */
int ANeuralNetworksCompilation_addExtensionAttribute(ANeuralNetworksCompilation *compilation,
                                                     const char *extensionName, uint16_t attributeCodeWithinExtension,
                                                     const void *data, size_t length);

/** Is ANeuralNetworksCompilation_addExtensionAttribute for an execution. Since feature level 8. */
int ANeuralNetworksExecution_addExtensionAttribute(ANeuralNetworksExecution *execution, const char *extensionName,
                                                   uint16_t attributeCodeWithinExtension, const void *data,
                                                   size_t length);

#ifdef __cplusplus
}
#endif

#endif
