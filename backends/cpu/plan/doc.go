// Package plan computes graphs of float32 and 8-bit tensors with the kernels of package kernel. Build turns a graph
// whose shapes are known into a run.Plan: a flat list of steps, each a kernel over buffers whose places are fixed
// beforehand. A node without a fast kernel is a step of its own that calls package ref.
//
// Build is a list of passes (build.go). load, prune and fold find out what the graph says and compute what follows from
// constants. quantize and match replace its nodes by a program, the intermediate form: operations whose operands,
// attributes and epilogues are resolved. Their rules look at a place in the graph and return a patch, or nothing; they
// change nothing, and one function applies patches. Whether a fast kernel computes a node is decided then: the passes
// that follow do not refuse. layout chooses an order of dimensions for each value, NCHW or NHWC, by the bytes that
// conversions move, and adds conversions as nodes. lower makes a step of each node. memory gives buffers their places,
// and pack makes the packed forms of constants.
//
// The engine is five packages. Each imports those above it alone, which a test in internal/layout reads here:
//
//	run     what a run needs: plans, steps, buffers, states, the store of packed constants
//	mincut  the cheapest division of a graph, for layout
//	ir      the intermediate form, and what operations call when they are laid out, lowered and packed
//	ops     the operations: for each its rule, its layout, its lowering and its task; the order of rules
//	plan    Build, and the passes that operations do not know
//
// What is new goes where its neighbours are. A kernel for one more operator, or for several nodes at once, is an
// operation: a file of ops and an entry of Rules. What follows a product or a convolution and can be done before its
// result is stored is part of the epilogue (ops/fuse_epilogue.go). An element type that values keep in memory needs a
// predicate of ir.Value, by which rules accept it, and conversions to and from it (ops/layout_conversions.go). What
// must be known of the whole graph first is a pass, with a text of its own.
//
// Before the first pass halves become float32 (widen.go), and operators that are several others become these
// (expand.go). Graphs within nodes, the bodies of loops and branches, are plans of their own, which a step runs
// (ops/control.go).
package plan
