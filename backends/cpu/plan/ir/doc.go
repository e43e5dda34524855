// Package ir is the form of a graph between the model and the steps that compute it. A Network is a graph with the
// known facts of its values; a Program is the operations that rules found in it; Placed are operations with buffers,
// and Lowered is steps.
//
// It is also what operations are handed: a Layouter gives them the buffers of their operands and results in the order
// of dimensions that they ask for, a Lowering takes their steps, a Packer their orders for packed constants. This
// package does not know the results of an operation.
//
// Elements of a value, or its codes: a tensor of a quantized type is bytes as the graph has them, and what lies between
// QuantizeLinear and DequantizeLinear may be codes alone, unsigned, in either order of dimensions (QuantParams).
package ir
