// Package plan computes graphs of float32 and 8-bit tensors with the kernels of package kernel. Build turns a graph
// whose shapes are known into a Plan: a flat list of steps, each a kernel over buffers whose places are fixed
// beforehand. A node without a fast kernel is a step of its own that calls package ref.
//
// Build is a list of passes (build.go). load, prune and fold find out what the graph says and compute what follows from
// constants. quantize and match replace its nodes by a program, the intermediate form (node.go): operations whose
// operands, attributes and epilogues are resolved. Their rules look at a place in the graph and return a patch, or
// nothing; they change nothing, and one function applies patches. Whether a fast kernel computes a node is decided
// then: the passes that follow do not refuse. layout chooses an order of dimensions for each value, NCHW or NHWC, by
// the bytes that conversions move, and adds conversions as nodes. lower makes a step of each node. memory gives buffers
// their places, and pack makes the packed forms of constants.
//
// An operation has a file of its own, with its rule, its layout, its lowering and its task. The files form layers; each
// refers to its own layer and to those before it only, which a test in internal/layout reads here:
//
//	values:     value budget network load coding
//	plans:      plan state store windowtable pack flow runtext options
//	forms:      node layout layoutcost lower conversions permute
//	operations: the others
//	table:      rules
//	choices:    quantize match
//	passes:     prune foldbudget fold memory views text
//	list:       build
//
// Quantized tensors of 8 bits with one scale are bytes as the graph has them; see quantized.go. What lies between
// QuantizeLinear and DequantizeLinear is kept as codes in either order; see coded.go.
//
// A State holds the memory of one run at a time; runs with the same State allocate nothing but what reference steps
// need.
package plan
