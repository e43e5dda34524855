package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Reshape gives the elements of x, in the same order, another shape.
//
// Inputs: x of any type; shape, integers [r]: one size may be -1 and is inferred from the element count; 0 is a size of
// zero, or with ZeroCopies the size of x at that place. Output: y of x's type. Source: ONNX Reshape-21 (allowzero = not
// ZeroCopies), OH_NN_OPS_RESHAPE (ZeroCopies), ANEURALNETWORKS_RESHAPE.
type Reshape struct {
	ZeroCopies bool
}

func init() {
	graph.Register[*Reshape]("reshape",
		graph.Traits{ShapeInputs: []int{1}, InPlace: []int{0}, Moves: true, Sign: graph.NonNegativeIfFirst})
}

// Infer returns the shape as far as the values of input 1 are known. A symbol in it stays one, and a -1 resolves to a
// symbol of x when everything else cancels out.
func (o *Reshape) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	v, known, err := vector(in, 1)
	if err != nil {
		return nil, err
	}
	s := tensor.AnyShape()
	if known {
		if s, err = o.resolve(in[0].Shape, v); err != nil {
			return nil, err
		}
	}
	out, err := moved(declared[0], in[0], s, nil)
	if err != nil {
		return nil, err
	}
	carry(&out, values(in[0]))
	return []tensor.Fact{out}, nil
}

func (o *Reshape) resolve(x tensor.Shape, v []tensor.Dim) (tensor.Shape, error) {
	dims := append([]tensor.Dim(nil), v...)
	missing := -1
	for i, d := range dims {
		switch {
		case !d.Known():
		case d.N < -1:
			return x, fault.New(fault.Argument, "input 1: size %d is %d: want 0 or more, or -1 once", i, d.N)
		case d.N == -1 && missing >= 0:
			return x, fault.New(fault.Argument, "input 1: sizes %d and %d are both -1", missing, i)
		case d.N == -1:
			missing = i
		case d.N == 0 && o.ZeroCopies && x.Ranked:
			if i >= len(x.Dims) {
				return x, fault.New(fault.Shape, "input 1: size %d copies a dimension that %v does not have", i, x)
			}
			dims[i] = x.Dims[i]
		case d.N == 0 && o.ZeroCopies:
			dims[i] = tensor.AnyDim()
		}
	}
	if missing >= 0 {
		rest := append(append([]tensor.Dim(nil), dims[:missing]...), dims[missing+1:]...)
		d, err := quotient(x, rest)
		if err != nil {
			return x, err
		}
		dims[missing] = d
	}
	s := tensor.OfDims(dims...)
	if !x.Static() || !s.Static() {
		return s, nil
	}
	a, okA := x.Count()
	b, okB := s.Count()
	if !okA || !okB || a != b {
		return x, fault.New(fault.Shape, "input 1: cannot reshape %v to %v: want %d elements", x, s, a)
	}
	return s, nil
}

// quotient returns the elements of x divided by the product of rest.
func quotient(x tensor.Shape, rest []tensor.Dim) (tensor.Dim, error) {
	if !x.Ranked {
		return tensor.AnyDim(), nil
	}
	var num, den []int64
	open := map[uint32]int{}
	for _, d := range x.Dims {
		if d.Known() {
			num = append(num, d.N)
		} else {
			open[d.Sym]++
		}
	}
	opaque := open[tensor.Unknown] > 0
	for _, d := range rest {
		if d.Known() {
			den = append(den, d.N)
		} else {
			open[d.Sym]--
			opaque = opaque || d.Sym == tensor.Unknown
		}
	}
	p, okP := tensor.Count(num)
	q, okQ := tensor.Count(den)
	switch {
	case !okP || !okQ:
		return tensor.Dim{}, fault.New(fault.Shape, "input 1: cannot reshape %v to %v and a rest", x, tensor.OfDims(rest...))
	case q == 0:
		return tensor.Dim{}, fault.New(fault.Shape, "cannot infer a size of %v beside a size of 0", x)
	case opaque:
		return tensor.AnyDim(), nil
	}
	left := tensor.Dim{}
	for sym, n := range open {
		switch {
		case n == 0:
		case n == 1 && left.Sym == 0:
			left = tensor.Dim{Sym: sym}
		default:
			return tensor.AnyDim(), nil
		}
	}
	switch {
	case left.Sym != 0 && p == q:
		return left, nil
	case left.Sym != 0:
		return tensor.AnyDim(), nil
	case p%q != 0:
		return tensor.Dim{}, fault.New(fault.Shape, "input 1: cannot reshape %v: its %d elements are no multiple of %d", x, p,
			q)
	}
	return tensor.D(p / q), nil
}
