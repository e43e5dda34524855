package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

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
	for i, name := range n.p.Node.Out {
		t, like := tensor.Type{Shape: tensor.AnyShape()}, -1
		if v := n.p.Frame.Declared(name); v != nil && v.Kind == "tensor" {
			if t, err = n.m.valueType(v); err != nil {
				return fault.Wrap(err, "output %q", name)
			}
		}
		if t, like, err = n.m.completed(name, t, in); err != nil {
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
