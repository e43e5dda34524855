package onnx

import (
	"encoding/json"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// lowerCustom keeps a node of a foreign domain whole: a façade may bring the function that computes it. Its outputs have the types that the
// model declares for them.
func lowerCustom(n *node) error {
	o := &op.Custom{Domain: n.p.domain, Type: n.p.opType}
	for _, name := range sortedKeys(n.p.attrs) {
		a := n.p.attrs[name]
		var v any
		switch a.typ {
		case 1:
			v = a.f
		case 2:
			v = a.i
		case 3:
			v = string(a.s)
		case 6:
			v = a.floats
		case 7:
			v = a.ints
		case 8:
			v = n.stringList(name)
		default:
			continue // tensors and graphs have no form that a callback could read
		}
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		o.Names = append(o.Names, name)
		o.Values = append(o.Values, string(text))
	}
	declared := make([]tensor.Type, max(len(n.out), 1))
	for i, name := range n.p.out {
		if v := n.shapes[name]; v != nil && v.kind == "tensor" {
			t, err := n.im.valueType(v)
			if err != nil {
				return fault.Wrap(err, "output %q", name)
			}
			declared[i] = t
		}
	}
	copy(n.out, n.b.AddTyped(o, n.p.name, declared, n.in...))
	return n.b.Err()
}
