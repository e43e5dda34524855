package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// MatMul is the matrix product over the last two dimensions, NumPy's matmul: y[.., i, j] = bias + sum over k of a[..,
// i, k] * b[.., k, j]. Leading dimensions broadcast. A one-dimensional a counts as a row, a one-dimensional b as a
// column; that dimension is absent from y. TransposeA and TransposeB swap the last two dimensions of an operand first
// and do nothing to a one-dimensional one. An empty sum is 0.
//
// Coarse says that a may be rounded where b is made of blocks of codes of 8 bits or less, each block of a to 8 bits.
//
// Inputs: a, b of rank >= 1; bias?, broadcast to y from the right. Types as Conv; b may be quantized per column (the
// axis of j), and a bias in integers is then one-dimensional. Output: y. Source: ONNX MatMul-13 and Gemm-13,
// OH_NN_OPS_MATMUL, ANEURALNETWORKS_BATCH_MATMUL; Coarse: accuracy_level 4 of MatMulNBits.
type MatMul struct {
	TransposeA, TransposeB bool
	Coarse                 bool
}

func init() { graph.Register[*MatMul]("mat_mul", graph.Traits{}) }

// Infer returns the product's shape.
func (o *MatMul) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	for i := range 2 {
		if err := wantRankAtLeast(in, i, 1); err != nil {
			return nil, err
		}
	}
	s, err := o.shape(in[0].Shape, in[1].Shape)
	if err != nil {
		return nil, err
	}
	if present(in, 2) && s.Ranked && in[2].Shape.Ranked {
		merged, err := tensor.Broadcast(s, in[2].Shape)
		if err != nil {
			return nil, fault.New(fault.Shape, "input 2: %v", err)
		}
		if m, ok := merged.Merge(s); !ok || len(merged.Dims) != len(s.Dims) {
			return nil, fault.New(fault.Shape, "input 2: %v does not broadcast to the product %v", in[2].Shape, s)
		} else {
			s = m
		}
	}
	if err := o.integerBias(in); err != nil {
		return nil, err
	}
	out, err := linear(in, declared[0], s)
	if err != nil {
		return nil, err
	}
	return []tensor.Fact{out}, nil
}

// integerBias checks the bias of a quantized product: one value for all columns or one for each.
func (o *MatMul) integerBias(in []tensor.Fact) error {
	if !present(in, 2) || in[0].Quant == nil || !in[2].DType.IsInt() || in[2].Shape.Rank() < 1 {
		return nil
	}
	if err := wantRank(in, 2, 1); err != nil {
		return err
	}
	b := in[1].Shape
	if d := in[2].Shape.Dims[0]; len(b.Dims) < 2 || d.Known() && d.N == 1 {
		return nil
	}
	_, _, columns := matrix(b, o.TransposeB, false)
	return wantSized(in, 2, columns, "one bias per column")
}

func (o *MatMul) shape(a, b tensor.Shape) (tensor.Shape, error) {
	if !a.Ranked || !b.Ranked {
		return tensor.AnyShape(), nil
	}
	batchA, m, ka := matrix(a, o.TransposeA, true)
	batchB, kb, n := matrix(b, o.TransposeB, false)
	if _, err := agree(ka, kb, "inputs 0 and 1: inner dimensions"); err != nil {
		return a, err
	}
	s, err := tensor.Broadcast(batchA, batchB)
	if err != nil {
		return a, fault.New(fault.Shape, "inputs 0 and 1: batches: %v", err)
	}
	if len(a.Dims) > 1 {
		s.Dims = append(s.Dims, m)
	}
	if len(b.Dims) > 1 {
		s.Dims = append(s.Dims, n)
	}
	return s, nil
}

// matrix splits an operand into leading dimensions, rows and columns; a vector is a row if left, else a column.
func matrix(s tensor.Shape, transpose, left bool) (lead tensor.Shape, rows, cols tensor.Dim) {
	r := len(s.Dims)
	switch {
	case r == 1 && left:
		return tensor.OfDims(), tensor.D(1), s.Dims[0]
	case r == 1:
		return tensor.OfDims(), s.Dims[0], tensor.D(1)
	case transpose:
		return tensor.OfDims(s.Dims[:r-2]...), s.Dims[r-1], s.Dims[r-2]
	}
	return tensor.OfDims(s.Dims[:r-2]...), s.Dims[r-2], s.Dims[r-1]
}

// wantRankAtLeast checks that input i has at least r dimensions; an unknown rank passes.
func wantRankAtLeast(in []tensor.Fact, i, r int) error {
	if s := in[i].Shape; s.Ranked && len(s.Dims) < r {
		return fault.New(fault.Shape, "input %d: want rank %d or more, got %v", i, r, s)
	}
	return nil
}
