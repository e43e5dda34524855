package ohnn

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Operands of two element types are converted to one, as the header says of "implicit type conversion". The rules are
// MindSpore's, operator notes, section 9; for unsigned integers of more than 8 bits, which those leave out, the
// smallest type that holds both.

// mixed lowers an operator of two inputs that are numbers or bools.
func mixed(o func() graph.Op) func(n *node) error {
	return func(n *node) error {
		in, err := n.alike()
		if err != nil {
			return err
		}
		return n.emit(o(), in...)
	}
}

// mixedFused is mixed with the activation that the parameter names.
func mixedFused(param string, o func() graph.Op) func(n *node) error {
	return func(n *node) error {
		in, err := n.alike()
		if err != nil {
			return err
		}
		return n.emitFused(n.int(param, 0), o(), in...)
	}
}

// mixedTruths lowers an operator of two truth values: of numbers of two types, whether each is not 0.
func mixedTruths(o func() graph.Op) func(n *node) error {
	return func(n *node) error {
		in := n.ins()
		if n.fact(0).DType != n.fact(1).DType {
			for i := range in {
				var err error
				if in[i], err = n.truth(i); err != nil {
					return err
				}
			}
		}
		return n.emit(o(), in...)
	}
}

// alike returns inputs 0 and 1 in one element type. Quantized ones are left as they are: numbers beside them need a
// quantization too.
func (n *node) alike() ([]graph.Value, error) {
	in := n.ins()
	a, b := n.fact(0), n.fact(1)
	if a.DType == b.DType || a.Quant != nil || b.Quant != nil {
		return in, nil
	}
	to := common(a.DType, b.DType)
	switch weakA, weakB := n.weak(0), n.weak(1); {
	case weakA && !weakB && category(a.DType) <= category(b.DType):
		to = b.DType
	case weakB && !weakA && category(b.DType) <= category(a.DType):
		to = a.DType
	}
	if to == tensor.Invalid {
		return nil, fault.New(fault.Type, "input 1: %v beside %v of input 0: no integer type holds the numbers "+
			"of both [ohnn-input-beside-input]",
			b.DType, a.DType)
	}
	for i, v := range in {
		if n.fact(i).DType == to {
			continue
		}
		var err error
		if in[i], err = n.add(&op.Cast{To: to}, v); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// weak reports whether input i is a constant scalar: it does not raise the type of a tensor within a category.
func (n *node) weak(i int) bool {
	t := n.tensorIn(i)
	count, dynamic, err := elements(t.shape)
	return t.data != nil && len(t.shape) <= 1 && !dynamic && err == nil && count == 1
}

// category orders bools, integers and floats.
func category(d tensor.DType) int {
	switch {
	case d == tensor.Bool:
		return 0
	case d.IsInt():
		return 1
	}
	return 2
}

// common returns the type that two become, Invalid if none does: the wider of the higher category; of a signed and an
// unsigned integer the smallest signed one that holds both.
func common(a, b tensor.DType) tensor.DType {
	if category(a) < category(b) {
		a, b = b, a
	}
	switch {
	case category(a) > category(b):
		return a
	case category(a) == 2 || a.IsSigned() == b.IsSigned():
		if a.Bits() < b.Bits() {
			return b
		}
		return a
	case b.IsSigned():
		a, b = b, a
	}
	for _, d := range []tensor.DType{tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64} {
		if d.Bits() >= a.Bits() && d.Bits() > b.Bits() {
			return d
		}
	}
	return tensor.Invalid
}

// truth returns input i as bool: whether the number, of quantized data the real, is not 0.
func (n *node) truth(i int) (graph.Value, error) {
	x := n.in(i)
	if f := n.fact(i); f.DType == tensor.Bool {
		return x, nil
	} else if f.Quant != nil {
		var err error
		if x, err = n.real(x); err != nil {
			return graph.None, err
		}
	}
	return n.add(&op.Cast{To: tensor.Bool}, x)
}
