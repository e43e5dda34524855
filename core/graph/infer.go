package graph

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// Infer sharpens the facts of all values from the inputs on, in executable order. A node's error is wrapped with its
// Label and the facts of its inputs; a result that contradicts what the model declares is an error of kind fault.Shape
// or fault.Type.
func (g *Graph) Infer() error {
	order, err := g.Order()
	if err != nil {
		return err
	}
	for _, i := range order {
		if err := g.inferNode(&g.Nodes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (g *Graph) inferNode(n *Node) error {
	declared := make([]tensor.Type, len(n.Out))
	for k, v := range n.Out {
		if v != None {
			declared[k] = g.Values[v].Fact.Type
		}
	}
	in := g.Facts(n.In)
	facts, err := n.Op.Infer(in, declared)
	if err != nil && len(in) == 0 {
		return fault.Wrap(Reword(err, n.Terms), "%s", n.Label())
	}
	if err != nil {
		return fault.Wrap(Reword(err, n.Terms), "%s: inputs %s", n.Label(), typeList(in))
	}
	if len(facts) != len(n.Out) {
		return fault.New(fault.Argument, "%s: has %d outputs, the model names %d", n.Label(), len(facts), len(n.Out))
	}
	for k, v := range n.Out {
		if v == None {
			continue
		}
		if err := sharpen(&g.Values[v].Fact, facts[k]); err != nil {
			return fault.Wrap(err, "%s: inputs %s: output %d", n.Label(), typeList(in), k)
		}
	}
	return nil
}

// sharpen merges what inference found into what is known. A node's output never becomes a Const that way: folding
// replaces the node instead. The declared quantization wins: it says what the program means.
func sharpen(f *tensor.Fact, got tensor.Fact) error {
	switch {
	case f.DType == tensor.Invalid:
		f.DType = got.DType
	case got.DType != tensor.Invalid && got.DType != f.DType:
		return fault.New(fault.Type, "computes %v, the model declares %v", got.DType, f.DType)
	}
	s, ok := f.Shape.Merge(got.Shape)
	if !ok {
		return fault.New(fault.Shape, "computes %v, the model declares %v", got.Shape, f.Shape)
	}
	f.Shape = s
	if f.Quant == nil {
		f.Quant = got.Quant
	}
	if got.Ints != nil {
		f.Ints = got.Ints
	}
	return nil
}

func typeList(in []tensor.Fact) string {
	s := "("
	for i, f := range in {
		if i > 0 {
			s += ", "
		}
		if f.DType == tensor.Invalid && !f.Shape.Ranked {
			s += "-"
			continue
		}
		s += f.Type.String()
	}
	return s + ")"
}
