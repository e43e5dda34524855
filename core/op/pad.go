package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// PadMode says what Pad puts outside of x.
type PadMode uint8

// The pad modes. n is the size of the dimension, i an index counted from its first cell.
const (
	PadConstant  PadMode = iota // the value
	PadReflect                  // mirrored at the centres of the edge cells: -1 is 1, n is n-2
	PadSymmetric                // mirrored at the outer edges: -1 is 0, n is n-1
	PadEdge                     // the nearest cell
	PadWrap                     // periodic: -1 is n-1
)

// Pad puts cells around x, or cuts cells off where a pad is negative. Cutting comes first: the rest is mirrored or
// repeated. Mirrored pads wider than the dimension continue the mirroring, as NumPy does; with ClampMirror the index
// beyond the other edge is clamped to it.
//
// Inputs: x of any type; pads, integers [2n]: n begins, then n ends; value?, one element; axes?, integers [n] (absent:
// all axes in order). The value has x's element type and its bits are used as they stand, or is a float32 number while
// x has another type and is then converted: quantized for quantized x, truncated toward zero and saturated for
// integers. Absent it is 0, for quantized x the real 0. Output: y of x's type. Source: ONNX Pad-21; OH_NN_OPS_PAD
// (docs/abi/ohnn.md, operators 6: ClampMirror); ANEURALNETWORKS_PAD, PAD_V2, MIRROR_PAD.
type Pad struct {
	Mode        PadMode
	ClampMirror bool
}

func init() { graph.Register[*Pad]("pad", graph.Traits{ShapeInputs: []int{1, 3}, Moves: true}) }

// Cell returns the cell of a dimension of n cells that stands at index i, which may lie outside: there PadConstant has
// none.
func (o *Pad) Cell(i, n int64) (src int64, inside bool) {
	if i >= 0 && i < n {
		return i, true
	}
	modulo := func(i, n int64) int64 { return (i%n + n) % n }
	switch o.Mode {
	case PadReflect:
		switch {
		case o.ClampMirror && i < 0:
			return min(-i, n-1), true
		case o.ClampMirror:
			return max(2*(n-1)-i, 0), true
		case n == 1:
			return 0, true
		}
		i = modulo(i, 2*(n-1))
		return min(i, 2*(n-1)-i), true
	case PadSymmetric:
		switch {
		case o.ClampMirror && i < 0:
			return min(-1-i, n-1), true
		case o.ClampMirror:
			return max(2*n-1-i, 0), true
		}
		i = modulo(i, 2*n)
		return min(i, 2*n-1-i), true
	case PadEdge:
		return min(max(i, 0), n-1), true
	case PadWrap:
		return modulo(i, n), true
	}
	return 0, false
}

// Infer adds the pads to the sizes.
func (o *Pad) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 4, declared, 1, 1); err != nil {
		return nil, err
	}
	if o.Mode > PadWrap {
		return nil, fault.New(fault.Argument, "mode: %d is no pad mode", o.Mode)
	}
	pads, known, err := vector(in, 1)
	if err != nil {
		return nil, err
	}
	if err := o.checkValue(in); err != nil {
		return nil, err
	}
	x := in[0].Shape
	if !x.Ranked {
		return movedOne(declared, in[0], x, nil)
	}
	var axes []int
	if present(in, 3) {
		v, ok, err := vector(in, 3)
		if err != nil {
			return nil, err
		}
		list, all := knownAll(v)
		if !ok || !all {
			return movedOne(declared, in[0], tensor.AnyOfRank(x.Rank()), nil)
		}
		if axes, err = axesOf(list, x.Rank()); err != nil {
			return nil, fault.Wrap(err, "input 3")
		}
	} else {
		axes, _ = axesOf(iota64(x.Rank()), x.Rank())
	}
	if !known {
		return movedOne(declared, in[0], tensor.AnyOfRank(x.Rank()), nil)
	}
	if len(pads) != 2*len(axes) {
		return nil, fault.New(fault.Shape, "input 1: want %d pads, got %d", 2*len(axes), len(pads))
	}
	s := x.Clone()
	var changed []int
	for i, a := range axes {
		b, e := pads[i], pads[i+len(axes)]
		if s.Dims[a], err = o.padded(x.Dims[a], b, e); err != nil {
			return nil, fault.Wrap(err, "input 1: axis %d", a)
		}
		if !b.Known() || !e.Known() || b.N != 0 || e.N != 0 {
			changed = append(changed, a)
		}
	}
	return movedOne(declared, in[0], s, sameAxis(changed...))
}

func (o *Pad) checkValue(in []tensor.Fact) error {
	if !present(in, 2) {
		return nil
	}
	if err := wantScalar(in, 2); err != nil {
		return err
	}
	v, x := in[2].DType, in[0].DType
	if v == tensor.Invalid || x == tensor.Invalid || v == x || v == tensor.Float32 && (x == tensor.Bool || x.IsInt() ||
		x.IsFloat()) {
		return nil
	}
	return fault.New(fault.Type, "input 2: want %v or float32, got %v", x, v)
}

// padded returns the size of a dimension with its pads.
func (o *Pad) padded(size, b, e tensor.Dim) (tensor.Dim, error) {
	d, err := plusDims(size, b, e)
	if err != nil || !d.Known() || !size.Known() || !b.Known() || !e.Known() {
		return d, err
	}
	left := size.N + min(b.N, 0) + min(e.N, 0)
	switch {
	case d.N < 0 || left < 0:
		return d, fault.New(fault.Shape, "pads %d and %d take away more than a dimension of size %d", b.N, e.N, size.N)
	case left == 0 && o.Mode != PadConstant && (b.N > 0 || e.N > 0):
		return d, fault.New(fault.Shape, "pads %d and %d repeat cells of a dimension without any", b.N, e.N)
	}
	return d, nil
}
