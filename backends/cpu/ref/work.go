package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Work estimates how many steps it takes to compute o by reference: elements moved or changed, products added. It is
// meant to separate runs that end soon from those that do not; at least the number of elements of inputs and outputs,
// at most math.MaxInt64, which it also is for bodies and for programs' own operators. Shapes that are not known count
// as nothing.
func Work(o graph.Op, in []tensor.Tensor, out []tensor.Type) int64 {
	total, made := int64(0), int64(0)
	for _, t := range in {
		if !t.Absent() {
			total = satAdd(total, elements(t.Dims))
		}
	}
	for _, t := range out {
		if dims, ok := t.Shape.Ints(); ok {
			made = satAdd(made, elements(dims))
		}
	}
	return satAdd(satAdd(total, made), inside(o, in, made))
}

// inside counts an operator's work beyond looking at each element once.
func inside(o graph.Op, in []tensor.Tensor, made int64) int64 {
	size := func(k int) int64 {
		if k >= len(in) || in[k].Absent() {
			return 1
		}
		return elements(in[k].Dims)
	}
	dim := func(k, fromEnd int) int64 {
		if k >= len(in) || len(in[k].Dims) < fromEnd {
			return 1
		}
		return in[k].Dims[len(in[k].Dims)-fromEnd]
	}
	window := func(kernel []int64) int64 { return satMul(made, min(elements(kernel), size(0))) }
	switch o := o.(type) {
	case graph.Control, *op.Custom:
		return math.MaxInt64
	case *op.Conv, *op.ConvTranspose, *op.DeformConv:
		if len(in) < 2 || len(in[1].Dims) == 0 {
			return 0
		}
		return satMul(made, elements(in[1].Dims[1:]))
	case *op.FullyConnected:
		return satMul(made, dim(1, 1))
	case *op.MatMul:
		if o.TransposeA {
			return satMul(made, dim(0, 2))
		}
		return satMul(made, dim(0, 1))
	case *op.MaxPool:
		if o.Global {
			return size(0)
		}
		return window(o.Kernel)
	case *op.AveragePool:
		if o.Global {
			return size(0)
		}
		return window(o.Kernel)
	case *op.LpPool:
		if o.Global {
			return size(0)
		}
		return window(o.Kernel)
	case *op.Einsum, *op.Attention, *op.LSTM, *op.GRU, *op.RNN:
		all := int64(1)
		for k := range min(len(in), 4) {
			all = satMul(all, max(1, size(k)))
		}
		return all
	case *op.SVDF:
		return satMul(dim(0, 2), satAdd(size(1), size(2)))
	case *op.Quantized16BitLSTM, *op.QuantizedLSTM:
		all := int64(0)
		for k := range min(len(in), 17) {
			all = satAdd(all, size(k))
		}
		return satMul(dim(0, 2), all)
	case *op.LSHProjection:
		return satMul(size(0), size(1))
	case *op.LRN:
		return satMul(made, satAdd(o.Before, o.After))
	case *op.DFT, *op.STFT, *op.Unique, *op.TopK:
		return satMul(satAdd(made, size(0)), 64)
	case *op.Det:
		return satMul(size(0), dim(0, 1))
	case *op.NonMaxSuppression:
		return satMul(size(1), dim(1, 1))
	case *op.DetectionPostProcess, *op.MaxRoiPool:
		return satMul(size(0), size(1))
	case *op.BoxWithNMSLimit:
		return satMul(size(1), dim(0, 2))
	case *op.GenerateProposals:
		return satMul(size(0), size(0))
	case *op.RoiAlign:
		return satMul(made, satMul(max(1, o.SamplesHeight), max(1, o.SamplesWidth)))
	case *op.Resize, *op.ResizeImage, *op.DecodeImage, *op.GridSample, *op.AffineGrid, *op.RotaryEmbedding:
		return satMul(made, 32)
	}
	return 0
}

// elements is the number of elements of a shape, math.MaxInt64 when there are more.
func elements(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n = satMul(n, d)
	}
	return n
}
