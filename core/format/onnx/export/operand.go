package export

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// narrow reports whether core computes on float32 in place of a type: floats of 16 bits, of which results are rounded
// once.
func narrow(d tensor.DType) bool { return d == tensor.Float16 || d == tensor.BFloat16 }

// x is the operand of input i, in the type that core computes with: of a quantized tensor and of floats of 16 bits
// numbers of float32.
func (n *node) x(i int) string {
	if !n.has(i) {
		return ""
	}
	v := n.n.In[i]
	f := n.g.Fact(v)
	switch {
	case f.Quant == nil && !narrow(f.DType):
		return n.value(v)
	case n.real[v] != "":
	case f.Quant != nil:
		n.real[v] = n.dequantize(n.value(v), f.Type)
	default:
		n.real[v] = n.cast(n.value(v), tensor.Float32)
	}
	return n.real[v]
}

// xs are the operands of all inputs.
func (n *node) xs() []string {
	in := make([]string, len(n.n.In))
	for i := range in {
		in[i] = n.x(i)
	}
	return in
}

// dtype is the element type of x(i).
func (n *node) dtype(i int) tensor.DType {
	f := n.fact(i)
	if f.Quant != nil || narrow(f.DType) {
		return tensor.Float32
	}
	return f.DType
}

// as is x(i) as an element of type d.
func (n *node) as(i int, d tensor.DType) string {
	if n.dtype(i) == d || !n.has(i) {
		return n.x(i)
	}
	return n.cast(n.x(i), d)
}

// set makes v, numbers of type d as the operator computes them, output k.
func (n *node) set(k int, v string, d tensor.DType) error {
	if !n.wants(k) {
		return nil
	}
	t := n.made(k)
	switch {
	case t.Quant != nil && d != tensor.Invalid:
		v = n.quantize(v, d, t.Type)
	case t.DType != d && t.DType != tensor.Invalid && d != tensor.Invalid:
		v = n.cast(v, t.DType)
	}
	n.put(k, v)
	return nil
}

// put makes v, as it is stored, output k: the node that makes v gets its name, if it is one of this node's.
func (n *node) put(k int, v string) {
	if !n.wants(k) {
		return
	}
	name := n.names[n.n.Out[k]]
	for i := len(n.list) - 1; i >= n.begin; i-- {
		for o, made := range n.list[i].out {
			if made == v && !n.named[v] {
				n.rename(v, name)
				n.named[name] = true
				n.list[i].out[o] = name
				return
			}
		}
	}
	n.list = append(n.list, emitted{op: "Identity", in: []string{v}, out: []string{name}})
	n.count++
}

// rename replaces a name among the inputs of the node's own nodes.
func (n *node) rename(from, to string) {
	for i := n.begin; i < len(n.list); i++ {
		for k, v := range n.list[i].in {
			if v == from {
				n.list[i].in[k] = to
			}
		}
	}
	for v, name := range n.real {
		if name == from {
			n.real[v] = to
		}
	}
}

// withoutBFloat16 are operators that move elements and whose definition before opset 28 does not have that type.
var withoutBFloat16 = map[string]bool{"compress": true, "max_pool": true, "max_unpool": true, "one_hot": true,
	"reverse_sequence": true, "top_k": true, "unique": true}

// fillsZeros are operators that put zeros beside the elements that they move.
var fillsZeros = map[string]bool{"center_crop_pad": true, "max_unpool": true, "trilu": true}

// carried reports whether the integers of inputs mean in output 0 what they mean in the inputs: an operator that moves
// elements can move them as they are.
func (n *node) carried(inputs ...int) bool {
	y := n.made(0)
	if y.DType == tensor.BFloat16 && withoutBFloat16[graph.NameOf(n.n.Op)] {
		return false
	}
	for _, i := range inputs {
		x := n.fact(i)
		if !n.has(i) {
			continue
		}
		if x.Quant != nil && fillsZeros[graph.NameOf(n.n.Op)] && (quantization{q: x.Quant}).shift() {
			return false
		}
		if x.DType != y.DType || (x.Quant == nil) != (y.Quant == nil) || x.Quant != nil && !sameCodes(x.Quant, y.Quant) {
			return false
		}
	}
	return true
}

func sameCodes(a, b *tensor.Quant) bool {
	if len(a.Scale) != len(b.Scale) || a.Block != b.Block {
		return false
	}
	for i := range a.Scale {
		if a.Scale[i] != b.Scale[i] || a.ZeroAt(i) != b.ZeroAt(i) {
			return false
		}
	}
	return true
}

// move exports an operator that moves elements of the inputs that are listed: f makes output 0 of their names and gets
// them in place of those of the node.
func (n *node) move(data []int, f func(x []string) (string, error)) error {
	as := n.carried(data...)
	x := make([]string, len(data))
	d := n.made(0).DType
	for k, i := range data {
		if as {
			x[k] = n.code(i)
		} else {
			x[k], d = n.x(i), n.dtype(i)
		}
	}
	y, err := f(x)
	if err != nil {
		return err
	}
	if as {
		n.put(0, y)
		return nil
	}
	return n.set(0, y, d)
}
