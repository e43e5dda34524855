package lower

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// has reports whether input i is given.
func (n *node) has(i int) bool {
	return i >= 0 && i < len(n.p.Node.In) && n.p.Node.In[i] != ""
}

// arg returns input i, None where it is absent.
func (n *node) arg(i int) graph.Value {
	if i >= 0 && i < len(n.in) {
		return n.in[i]
	}
	return graph.None
}

// fact returns what is known of input i.
func (n *node) fact(i int) tensor.Fact { return n.b.Fact(n.arg(i)) }

// rank returns the rank of input i, as the model declares it where nothing else tells; an error when the lowering needs
// it and it is not known.
func (n *node) rank(i int) (int, error) {
	if !n.fact(i).Shape.Ranked {
		n.useDeclaredRank(i)
	}
	if r := n.fact(i).Shape.Rank(); r >= 0 {
		return r, nil
	}
	return 0, fault.New(fault.Unsupported, "input %d: its rank is not known", i)
}

// useDeclaredRank gives input i the number of dimensions that the model declares for it.
func (n *node) useDeclaredRank(i int) {
	if !n.has(i) || n.arg(i) == graph.None || !n.fact(i).DType.Valid() {
		return
	}
	for f := n.p.Frame; f != nil; f = f.Around() {
		if o := f.Declared(n.p.Node.In[i]); o != nil {
			if o.Ranked {
				n.in[i] = n.b.Add(&op.Declare{Sizes: slices.Repeat([]int64{-1}, len(o.Dims))}, n.in[i])
			}
			return
		}
	}
}

// want checks the number of inputs.
func (n *node) want(lo, hi int) error {
	if len(n.p.Node.In) < lo || len(n.p.Node.In) > hi {
		return fault.New(fault.File, "want %s, got %d", fault.Numbers(lo, hi, "input"), len(n.p.Node.In))
	}
	for i := range lo {
		if n.p.Node.In[i] == "" {
			return fault.New(fault.File, "input %d is missing", i)
		}
	}
	return nil
}

// emit adds op with the given inputs and makes its outputs the node's.
func (n *node) emit(op graph.Op, in ...graph.Value) error {
	declared := make([]tensor.Type, max(len(n.out), 1))
	copy(n.out, n.b.AddTyped(op, n.p.Name, declared, in...))
	return n.b.Err()
}

// result makes v output 0.
func (n *node) result(v graph.Value) error {
	n.out[0] = v
	return n.b.Err()
}

func (n *node) int(name string, otherwise int64) int64 {
	if a := n.p.Attrs[name]; a != nil {
		return a.I
	}
	return otherwise
}

func (n *node) float(name string, otherwise float32) float32 {
	if a := n.p.Attrs[name]; a != nil {
		return a.F
	}
	return otherwise
}

func (n *node) ints(name string) []int64 {
	if a := n.p.Attrs[name]; a != nil {
		return a.Ints
	}
	return nil
}

func (n *node) floats(name string) []float32 {
	if a := n.p.Attrs[name]; a != nil {
		return a.Floats
	}
	return nil
}

func (n *node) string(name, otherwise string) string {
	if a := n.p.Attrs[name]; a != nil {
		return string(a.S)
	}
	return otherwise
}

func (n *node) stringList(name string) []string {
	a := n.p.Attrs[name]
	if a == nil {
		return nil
	}
	out := make([]string, len(a.Strings))
	for i, s := range a.Strings {
		out[i] = string(s)
	}
	return out
}

// dtype reads an attribute that holds an element type; 0 where it is absent.
func (n *node) dtype(name string) (tensor.DType, error) {
	a := n.p.Attrs[name]
	if a == nil || a.I == 0 {
		return 0, nil
	}
	d, err := proto.DTypeOf(a.I)
	return d, fault.Wrap(err, "attribute %s", name)
}

// axesInput returns the axes as a value: input i, or the attribute of older opsets, or None.
func (n *node) axesInput(i int, name string) graph.Value {
	if n.has(i) {
		return n.arg(i)
	}
	if a := n.p.Attrs[name]; a != nil {
		return n.b.Int64s(a.Ints...)
	}
	return graph.None
}
