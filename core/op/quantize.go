package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Quantize is y = saturate(round(x / scale) + zero), halves rounded to even, with a scale that is known at the run
// only. The result holds plain integers without a quantization of its own, or float8, float6 or float4 numbers (then
// y = x / scale, rounded as Cast does). The quotient is formed in float32 (float64 for a float64 x). NaN gives the
// zero point.
//
// A scale of one element serves the whole tensor; one of rank 1 gives a scale per index on Axis; with Block > 0 scale
// has x's shape but for Axis, where one entry serves Block neighbours, the last possibly fewer.
//
// Inputs: x of a float type or int32; scale of a float type; zero? of the output's type and scale's shape. Output: y of
// type To, else of zero's type, else uint8. Source: ONNX QuantizeLinear-28.
type Quantize struct {
	Axis     int64
	Block    int64
	To       tensor.DType
	Saturate bool // float8: too large numbers become the largest one
}

func init() { graph.Register[*Quantize]("quantize", graph.Traits{}) }

// Infer returns x's shape.
func (o *Quantize) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantTensor(in, 0, "a float type or int32", func(t tensor.Type) bool {
		return t.Quant == nil && (t.DType.IsFloat() || t.DType == tensor.Int32)
	}); err != nil {
		return nil, err
	}
	to := o.To
	if to == tensor.Invalid && present(in, 2) {
		to = in[2].DType
	}
	if to == tensor.Invalid && !present(in, 2) {
		to = tensor.Uint8
	}
	if to != tensor.Invalid && !isCode(to) {
		return nil, fault.New(fault.Type, "cannot quantize to %v", to)
	}
	if err := checkScales(in, o.Axis, o.Block, to); err != nil {
		return nil, err
	}
	return []tensor.Fact{{Type: tensor.Type{DType: to, Shape: in[0].Shape}}}, nil
}

// isCode accepts the types that quantized values are stored in.
func isCode(d tensor.DType) bool {
	return d.IsInt() && d.Bits() <= 32 || d.IsFloat() && d.Bits() <= 8 && d != tensor.Float8E8M0
}

// maybeOne reports whether a shape may turn out to be [] or [1].
func maybeOne(s tensor.Shape) bool {
	r := s.Rank()
	return r <= 0 || r == 1 && (!s.Dims[0].Known() || s.Dims[0].N == 1)
}

// checkScales checks inputs 1 (scale) and 2 (zero, of type code) against input 0.
func checkScales(in []tensor.Fact, axis, block int64, code tensor.DType) error {
	if block < 0 {
		return fault.New(fault.Argument, "block is %d", block)
	}
	if err := wantTensor(in, 1, "a float type", func(t tensor.Type) bool {
		return t.Quant == nil &&
			t.DType.IsFloat()
	}); err != nil {
		return err
	}
	x, s := in[0].Shape, in[1].Shape
	if present(in, 2) {
		if d := in[2].DType; d != tensor.Invalid && code != tensor.Invalid && d != code {
			return fault.New(fault.Type, "input 2: want %v, got %v", code, d)
		}
		if _, ok := s.Merge(in[2].Shape); !ok && !(block == 0 && maybeOne(s) && maybeOne(in[2].Shape)) {
			return fault.New(fault.Shape, "input 2: want %v like the scale, got %v", s, in[2].Shape)
		}
	}
	if s.Rank() <= 0 || block == 0 && maybeOne(s) {
		return nil
	}
	a, known, err := axisOf(in, 0, axis)
	if err != nil || !known {
		return err
	}
	want := tensor.OfDims(x.Dims[a])
	if block > 0 {
		want = x.Clone()
		want.Dims[a] = tensor.AnyDim()
		if d := x.Dims[a]; d.Known() {
			want.Dims[a] = tensor.D(d.N/block + min(1, d.N%block))
		}
	}
	if _, ok := want.Merge(s); !ok {
		return fault.New(fault.Shape, "input 1: want %v for %v on axis %d with blocks of %d, got %v", want, x, a, block, s)
	}
	return nil
}
