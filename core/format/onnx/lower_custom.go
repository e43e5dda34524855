package onnx

import (
	"maps"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Node is what a model says of one of its nodes, for those who replace it.
type Node struct {
	Custom  *op.Custom    // domain, type and attributes
	Name    string        // may be empty
	Origin  int           // as in graph.Node
	In, Out []graph.Value // of the imported graph, None where absent
	// Filter is the constant of input 1, which is not a value of its own when the importer has stored it with its
	// dimensions in the order FilterOrder; None for other nodes.
	Filter      graph.Value
	FilterOrder []int
}

// note keeps what the model says of n. Nodes of bodies and functions are not noted.
func (n *node) note() error {
	if !n.im.opt.Nodes || n.parent != nil || n.around != nil || n.im.calls > 0 {
		return nil
	}
	o, err := n.custom()
	if err != nil {
		return err
	}
	n.im.noted = append(n.im.noted, Node{Custom: o, Name: n.p.Name, Origin: n.p.Index, In: slices.Clone(n.in),
		Out:    slices.Clone(n.out),
		Filter: n.stored, FilterOrder: n.storedOrder})
	return nil
}

// custom returns the node as an operator that a program computes. Attributes that are tensors or graphs are left out:
// they have no form that a program's function could read.
func (n *node) custom() (*op.Custom, error) {
	o := &op.Custom{Domain: n.p.Domain, Type: n.p.OpType}
	for _, name := range slices.Sorted(maps.Keys(n.p.Attrs)) {
		a := n.p.Attrs[name]
		var err error
		switch a.Type {
		case 1:
			err = o.SetFloats(name, "float", []float32{a.F})
		case 2:
			err = o.SetJSON(name, "int", []int64{a.I})
		case 3:
			err = o.SetJSON(name, "string", []string{string(a.S)})
		case 6:
			err = o.SetFloats(name, "floats", a.Floats)
		case 7:
			err = o.SetJSON(name, "ints", append([]int64{}, a.Ints...))
		case 8:
			err = o.SetJSON(name, "strings", append([]string{}, n.stringList(name)...))
		}
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}

// lowerCustom keeps a node of a foreign domain whole: a façade may bring the function that computes it. Its outputs
// have the types that the model declares for them, completed by the metadata.
func lowerCustom(n *node) error {
	o, err := n.custom()
	if err != nil {
		return err
	}
	declared, in := make([]tensor.Type, max(len(n.out), 1)), make([]tensor.Fact, len(n.in))
	for i := range n.in {
		in[i] = n.fact(i)
	}
	for i, name := range n.p.Out {
		t, like := tensor.Type{Shape: tensor.AnyShape()}, -1
		if v := n.shapes[name]; v != nil && v.Kind == "tensor" {
			if t, err = n.im.valueType(v); err != nil {
				return fault.Wrap(err, "output %q", name)
			}
		}
		if t, like, err = n.im.completed(name, t, in); err != nil {
			return fault.Wrap(err, "output %q", name)
		}
		if name != "" && t.DType == tensor.Invalid {
			return fault.New(fault.Unsupported, "output %q: the project does not know %s.%s, and neither the model's "+
				"value_info nor anynpu.value.%s.shape and .type of its metadata say what it makes", name, n.p.Domain, n.p.OpType,
				name)
		}
		if declared[i] = t; like >= 0 {
			o.SetLike(i, like)
		}
	}
	copy(n.out, n.b.AddTyped(o, n.p.Name, declared, n.in...))
	return n.b.Err()
}
