// Package expand rewrites the nodes of a model that stand for others, messages of package proto to messages of package
// proto: calls of the model's functions, an If whose condition is known, loops that use sequences, and the operators
// that make and read sequences. The results are operators whose inputs and outputs are tensors, in the order in which
// they are to be lowered, and the loops and branches that remain.
//
// Which branch is taken, how often a loop runs, how long a sequence is and where it is read follows from values that
// other nodes compute: a condition may compare the rank of a tensor that a Reshape makes, whose sizes come of a Shape.
// Whoever lowers the nodes knows these values, as inference goes with the lowering. So a graph is not expanded as a
// whole before it is lowered: the Expander gives one node after the other to a Sink, which lowers it, and asks the Sink
// what is known by now. A Sink that knows nothing but constants serves as well; then more nodes stay as they are. This
// package makes no graph, and the lowering knows no function and no sequence.
//
// A call, a branch and each trip of a loop is a frame with names of its own, and bodies see those of the frames around
// them. The names of the nodes that come out (proto.Name) say of which frame they are, so that whoever lowers them
// finds a value by its name alone.
package expand

import "github.com/anynpu/anynpu/core/format/onnx/proto"

// passes are tried in this order for each node; the first that takes it decides.
func passes() []pass {
	return []pass{
		{name: "calls", takes: takesCall, rewrite: rewriteCall, call: true},
		{name: "branches", takes: takesBranch, rewrite: rewriteBranch},
		{name: "loops", takes: takesLoop, rewrite: rewriteLoop},
		{name: "maps", takes: takesMap, rewrite: rewriteMap},
		{name: "sequences", takes: takesSequence, rewrite: rewriteSequence},
	}
}

// New returns an Expander for the graphs of a model with these functions.
func New(functions []*proto.Function) *Expander {
	e := &Expander{functions: map[string]*proto.Function{}, passes: passes()}
	for _, f := range functions {
		e.functions[functionKey(f.Domain, f.Name, f.Overload)] = f
	}
	return e
}
