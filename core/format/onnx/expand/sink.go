package expand

import (
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/tensor"
)

// Sink takes the instances of a graph one after the other, each after the makers of its inputs, and returns the known
// facts of the values that they make. The zero Name is no value.
type Sink interface {
	// Begin says that what comes now belongs to a node of the graph.
	Begin(p *proto.Node)
	// Check looks at the operator and the form of q, which need not be given to Node. It is false when an operator of the
	// model is missing: then the rest is looked through for others alone.
	Check(q *proto.Instance) (bool, error)
	// Form looks at the form of a node that is not expanded, in a branch that is not taken.
	Form(p *proto.Node, version int64) error
	// Missing reports whether an operator of the model is missing.
	Missing() bool
	// Node takes q and makes its outputs known.
	Node(q *proto.Instance) error
	// Replaced says that the outputs of q, which was not given to Node, are known.
	Replaced(q *proto.Instance) error
	// Fact tells what is known of a value. It fails when nothing makes the value.
	Fact(name proto.Name) (tensor.Fact, error)
	// Alias gives the value of a name another name as well.
	Alias(name, of proto.Name) error
	// Declare gives the value of a name that has dimensions, as the model declares it, another name.
	Declare(name, of proto.Name, dimensions int) error
	// Initializer makes a constant known.
	Initializer(name proto.Name, t *proto.Tensor)
	// Sequence says that a name stands for a sequence, which no instance reads.
	Sequence(name proto.Name) error
}
