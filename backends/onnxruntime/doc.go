// Package onnxruntime makes devices of the execution providers of ONNX Runtime: its CPU provider, providers that are
// built into a library, by their names, and those of plug-ins (OrtEpDevice).
//
// Open opens a library, which needs API version 24 (ONNX Runtime 1.24) at least: providers say from then on which nodes
// they take. Functions are found by their places in the library's table, which only ever grows; zapi.go has the places.
// A graph becomes an ONNX model (core/format/onnx/export), and the model a session of one provider, without a fallback
// to the runtime's CPU. What a provider refuses goes to the next device of AnyNPU's.
//
// docs/drivers.md is what users read; backends/driver has what devices behind libraries share.
package onnxruntime
