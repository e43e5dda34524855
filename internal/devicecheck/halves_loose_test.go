package devicecheck

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

const (
	float32Unit = 0x1p-23 // of 1
	looseRuns   = 4
)

// magnitudes makes, for an operator whose results are sums, the sums of the magnitudes of what is added up; None for
// the others. Such a sum in float32 is off by about one unit of float32 of that, however small the result is: where the
// terms cancel, a unit of a half of the result says nothing.
func magnitudes(b *graph.Builder, o graph.Op, in []graph.Value, result graph.Value) graph.Value {
	terms := func(i int) bool { return true }
	switch o.(type) {
	case *op.MatMul, *op.FullyConnected, *op.Conv, *op.ConvTranspose, *op.DeformConv, *op.Einsum, *op.ReduceSum,
		*op.ReduceMean, *op.CumSum, *op.AveragePool, *op.DFT, *op.STFT, *op.Add:
	case *op.Resize, *op.GridSample, *op.RoiAlign:
		terms = func(i int) bool { return i == 0 } // cells, with weights
	case *op.LayerNorm, *op.RMSNorm, *op.GroupNorm, *op.InstanceNorm, *op.BatchNorm:
		return affine(b, in, result)
	case *op.Sub:
		return magnitudes(b, &op.Add{}, in, result)
	case *op.Attention:
		return attention(b, in, b.Add(o, in[0], in[1], b.Add(&op.Abs{}, in[2])))
	case *op.LogSoftmax, *op.GRU: // differences from 1: x - log(1 + others), (1-z)*n
		return b.Add(&op.Max{}, b.Add(&op.Abs{}, result), scalar(b, result, 1))
	default:
		return graph.None
	}
	of := slices.Clone(in)
	for i, x := range in {
		if x != graph.None && terms(i) && b.Fact(x).DType == b.Fact(result).DType {
			of[i] = b.Add(&op.Abs{}, x)
		}
	}
	sum := b.Add(o, of...)
	if o, ok := o.(*op.Conv); ok && winograd(b, o, in[1]) {
		// A tile of 4x4 results is made of sums over 6x6 operands, which the transforms let grow and cancel.
		sum = b.Add(&op.MaxPool{Kernel: []int64{7, 7}, Pads: []int64{3, 3, 3, 3}, ChannelsLast: o.ChannelsLast}, sum)
		return b.Add(&op.Mul{}, sum, scalar(b, sum, 4))
	}
	return sum
}

// scalar is a constant number of the type of a value.
func scalar(b *graph.Builder, like graph.Value, x float64) graph.Value {
	c := tensor.New(b.Fact(like).DType)
	tensor.PutFloat(c.DType, c.Data, 0, x, false)
	return b.Const("", c.Type(), c.Data)
}

// affine is what a normalization adds up: a number near 1 times the largest scale, and the largest shift.
func affine(b *graph.Builder, in []graph.Value, result graph.Value) graph.Value {
	sum := b.Add(&op.Abs{}, result)
	for _, x := range in[1:min(3, len(in))] {
		if x != graph.None {
			sum = b.Add(&op.Add{}, sum, b.Add(&op.ReduceMax{}, b.Add(&op.Abs{}, x)))
		}
	}
	return sum
}

// attention is what attention of four dimensions adds up: values times weights, which are off as the sums of products
// are that become scores.
func attention(b *graph.Builder, in []graph.Value, sum graph.Value) graph.Value {
	q, k := b.Fact(in[0]).Shape, b.Fact(in[1]).Shape
	if q.Rank() != 4 || q.Dims[1] != k.Dims[1] {
		return sum
	}
	dims, _ := q.Ints()
	scores := b.Add(&op.MatMul{TransposeB: true}, b.Add(&op.Abs{}, in[0]), b.Add(&op.Abs{}, in[1]))
	most := b.Add(&op.ReduceMax{KeepDims: true}, scores, b.Int64s(-1))
	most = b.Add(&op.Mul{}, most, scalar(b, sum, 1/math.Sqrt(float64(dims[3]))))
	return b.Add(&op.Mul{}, sum, b.Add(&op.Max{}, most, scalar(b, sum, 1)))
}

// winograd reports whether a plan may compute a convolution by Winograd's transforms.
func winograd(b *graph.Builder, o *op.Conv, filter graph.Value) bool {
	ones := func(v []int64) bool { return !slices.ContainsFunc(v, func(x int64) bool { return x != 1 }) }
	dims, ok := b.Fact(filter).Shape.Ints()
	return ok && len(dims) == 4 && dims[1] == 3 && dims[2] == 3 && o.Groups <= 1 && ones(o.Strides) && ones(o.Dilations)
}

// looseness is, per output, how far the results of g move when every node is off by one unit of float32 of its result,
// or, if it is a sum, of the sum of its magnitudes: the largest of some runs with random signs. Nodes of float32 may be
// off by that much, and no unit of a half is smaller than what comes of it. A function by itself is given nothing: its
// operands are exact, and it is held to units of its result. wide are the inputs in type to, and want the results.
func looseness(g *graph.Graph, d, to tensor.DType, wide, want []tensor.Tensor) ([][]float64, error) {
	loose := make([][]float64, len(want))
	for run := range looseRuns {
		r := rand.New(rand.NewPCG(13, uint64(run)))
		changed := false
		noisy, err := wider(g, d, to, func(b *graph.Builder, o graph.Op, in []graph.Value, v graph.Value) graph.Value {
			t := b.Fact(v).Type
			n, ok := t.Shape.Count()
			if !ok {
				return v
			}
			scale := magnitudes(b, o, in, v)
			if scale == graph.None {
				if len(g.Nodes) == 1 {
					return v
				}
				scale = v
			}
			changed = true
			unit := tensor.New(to, n)
			for i := range int(n) {
				tensor.PutFloat(to, unit.Data, i, math.Copysign(float32Unit, r.Float64()-0.5), false)
			}
			return b.Add(&op.Add{}, v, b.Add(&op.Mul{}, scale, b.Const("", t, unit.Data)))
		})
		if err != nil || !changed {
			return nil, err
		}
		got, err := ref.Run(context.Background(), noisy, wide)
		if err != nil {
			return nil, err
		}
		for i, w := range want {
			if w.DType != to {
				continue
			}
			if loose[i] == nil {
				loose[i] = make([]float64, w.Count())
			}
			for k := range loose[i] {
				apart := math.Abs(tensor.FloatAt(to, got[i].Data, k) - tensor.FloatAt(to, w.Data, k))
				if apart < math.Inf(1) {
					loose[i][k] = max(loose[i][k], apart)
				}
			}
		}
		if len(g.Nodes) == 1 {
			break // the signs do not matter
		}
	}
	return loose, nil
}
