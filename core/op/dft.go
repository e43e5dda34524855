package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// DFT is the discrete Fourier transform along one axis: y[k] = sum over t of x[t]·exp(-2πi·k·t/n), inverse x[t] =
// (1/n)·sum over k of y[k]·exp(2πi·k·t/n). Numbers are pairs (real, imaginary) in the last dimension.
//
// Inputs: x, float [..., 1] (real) or [..., 2] (complex); length?, one integer: n, to which the axis is cut or filled
// up with zeros (absent: its size); axis?, one integer (absent: -2), not the last dimension. Output: y of x's type, n
// along the axis, 2 in the last dimension. OneSided: a real signal gives only the first n/2+1 values; inverse, such
// values give a real signal [..., 1] of length n (absent: 2·(size-1)). Source: ONNX DFT-20.
type DFT struct {
	Inverse, OneSided bool
}

func init() { graph.Register[*DFT]("dft", graph.Traits{ShapeInputs: []int{1, 2}}) }

// Infer returns the size along the axis.
func (o *DFT) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 1, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantTensor(in, 0, realWords, isReal); err != nil {
		return nil, err
	}
	length, given, err := optionalSize(in, 1)
	if err != nil {
		return nil, err
	}
	axis := tensor.D(-2)
	if present(in, 2) {
		if axis, err = single(in, 2); err != nil {
			return nil, err
		}
	}
	x := in[0].Shape
	if !x.Ranked {
		return movedOne(declared, in[0], x, nil)
	}
	r := x.Rank()
	if r < 2 {
		return nil, fault.New(fault.Shape, "input 0: want rank 2 or more, got %v", x)
	}
	if err := complexParts(x.Dims[r-1], o.OneSided, o.Inverse); err != nil {
		return nil, fault.Wrap(err, "input 0: %v", x)
	}
	if !axis.Known() {
		return movedOne(declared, in[0], tensor.AnyOfRank(r), nil)
	}
	a, err := Axis(axis.N, r)
	if err != nil {
		return nil, err
	}
	if a == r-1 {
		return nil, fault.New(fault.Argument, "axis %d holds real and imaginary parts", axis.N)
	}
	s := x.Clone()
	s.Dims[r-1] = tensor.D(2)
	n := length
	if !given {
		n = x.Dims[a]
		if o.Inverse && o.OneSided && n.Known() {
			n.N = 2 * (n.N - 1)
		} else if o.Inverse && o.OneSided {
			n = tensor.AnyDim()
		}
	}
	if n.Known() && n.N < 1 {
		return nil, fault.New(fault.Shape, "a transform of length %d", n.N)
	}
	switch {
	case o.OneSided && o.Inverse:
		s.Dims[r-1] = tensor.D(1)
	case o.OneSided:
		n = halfSpectrum(n)
	}
	s.Dims[a] = n
	return movedOne(declared, in[0], s, nil)
}

// complexParts checks the dimension of real and imaginary parts.
func complexParts(d tensor.Dim, oneSided, inverse bool) error {
	switch {
	case !d.Known():
		return nil
	case d.N != 1 && d.N != 2:
		return fault.New(fault.Shape, "want 1 or 2 in the last dimension")
	case oneSided && !inverse && d.N == 2:
		return fault.New(fault.Shape, "one-sided transform of a complex signal")
	case oneSided && inverse && d.N == 1:
		return fault.New(fault.Shape, "one-sided inverse transform of real values")
	}
	return nil
}

// optionalSize reads an optional input that is one positive integer.
func optionalSize(in []tensor.Fact, i int) (d tensor.Dim, given bool, err error) {
	if !present(in, i) {
		return d, false, nil
	}
	if d, err = single(in, i); err == nil && d.Known() && d.N < 1 {
		err = fault.New(fault.Argument, "input %d: length %d", i, d.N)
	}
	return d, true, err
}

// halfSpectrum is the number of different values in the transform of a real signal.
func halfSpectrum(n tensor.Dim) tensor.Dim {
	if !n.Known() {
		return tensor.AnyDim()
	}
	return tensor.D(n.N/2 + 1)
}
