// Package plan computes graphs of float32 tensors with the kernels of package kernel. Build turns a graph whose shapes
// are known into a Plan: a flat list of steps, each a kernel over buffers whose places are fixed beforehand, with
// activations, residuals and batch normalization fused into the products before them, and constant operands packed
// once. A node without a fast kernel is a step of its own that calls package ref.
//
// A tensor of rank three and more has up to two forms: plain, as the model lays it out, and channels-last, with
// dimension 1 moved to the end. Kernels that slide over channels-first images work on the second form. A form is made
// when a step asks for it and is kept, so that a chain of spatial and element-wise operators stays in one form and no
// conversion appears between them.
//
// Quantized tensors of 8 bits with one scale are bytes in plain form; see quantized.go. What lies between
// QuantizeLinear and DequantizeLinear is kept as codes in either form; see coded.go.
//
// A State holds the memory of one run at a time; runs with the same State allocate nothing but what reference steps
// need.
package plan
