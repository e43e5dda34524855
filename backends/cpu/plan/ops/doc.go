// Package ops has the operations of plans. An operation has a file of its own, from top to bottom: the rule that finds
// it in the graph, its layout, its lowering, and the task that a step runs. rules.go has the order in which rules are
// tried.
//
// Files of a family begin with its name. Families form layers; each refers to its own layer and to those before it
// only, which a test in internal/layout reads here:
//
//	follow:     fuse
//	move:       move layout
//	multiply:   gemm conv
//	compute:    pool norm element reduce recurrent image signal
//	eight bits: quant qdq
//	by node:    reference control
//	table:      rules
//
// fuse is what a product can do with its result before it is stored; move copies and changes nothing, layout changes
// the form of a value for its reader. gemm and conv are products and convolutions, norm what takes means or sums of
// rows, element what takes one element of each operand, signal tables for sounds.
//
// control is operators with graphs of their own, which are plans that their step runs.
//
// quant is tensors of quantized types, whose results equal the reference to the bit (quant_table.go), and qdq what lies
// between QuantizeLinear and DequantizeLinear (qdq_view.go); the same integer products serve both. What becomes of sums
// is a QuantParams, which says how halves are rounded.
package ops
