package onnx

import (
	"encoding/json"

	"github.com/anynpu/anynpu/core/op"
)

// lowerCustom keeps a node of a foreign domain whole: a façade may bring the function that computes it.
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
	return n.emit(o, n.in...)
}
