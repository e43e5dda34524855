package lower

import (
	"maps"
	"slices"

	"github.com/anynpu/anynpu/core/op"
)

// note keeps what the model says of n. Nodes of bodies and functions are not noted.
func (n *node) note() error {
	if !n.m.opt.Nodes || n.p.Frame != n.m.top {
		return nil
	}
	o, err := n.custom()
	if err != nil {
		return err
	}
	n.m.Noted = append(n.m.Noted, Noted{Custom: o, Name: n.p.Name, Origin: n.p.Index, In: slices.Clone(n.in),
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
