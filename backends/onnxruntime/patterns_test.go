package onnxruntime

import (
	"testing"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestSupport_knownPatternsOpenVINO: nodes that OpenVINO 2025.4 computes wrongly among certain others, or with certain
// attributes, are refused, and their like are not.
func TestSupport_knownPatternsOpenVINO(t *testing.T) {
	d := openVINOCPU(t)
	x := func(b *graph.Builder) graph.Value { return b.Input("x", tensor.T(tensor.Float32, 2, 6)) }
	image := func(b *graph.Builder, n int64) graph.Value { return b.Input("x", tensor.T(tensor.Float32, 1, 2, n, n)) }
	w := func(b *graph.Builder) graph.Value { return b.Input("w", tensor.T(tensor.Float32, 2, 6)) }
	variance := func(of, meanOf func(*graph.Builder) graph.Value, first, second int64) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			a, c := of(b), meanOf(b)
			m := b.Add(&op.ReduceMean{KeepDims: true}, c, b.Int64s(first))
			square := b.Add(&op.Pow{}, b.Add(&op.Sub{}, a, m), b.Float32(2))
			return b.Add(&op.ReduceMean{KeepDims: true}, square, b.Int64s(second))
		}
	}
	own := func(first, second int64) func(*graph.Builder) graph.Value {
		var v graph.Value
		return variance(func(b *graph.Builder) graph.Value { v = x(b); return v },
			func(*graph.Builder) graph.Value { return v }, first, second)
	}
	gather := func(at ...int64) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			return b.Add(&op.Gather{NegativeWraps: true}, x(b), b.Int64s(at...), b.Int64s(1))
		}
	}
	tuples := func(at ...int64) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			list := b.Const("at", tensor.T(tensor.Int64, int64(len(at)/2), 2), tensor.Int64s(at...))
			return b.Add(&op.GatherND{NegativeWraps: true}, x(b), list)
		}
	}
	softmax := func(same bool) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			in := x(b)
			e := b.Add(&op.Exp{}, b.Add(&op.Sub{}, in, b.Add(&op.ReduceMax{KeepDims: true}, in, b.Int64s(1))))
			of := e
			if !same {
				of = b.Add(&op.Exp{}, in)
			}
			return b.Add(&op.Div{}, e, b.Add(&op.ReduceSum{KeepDims: true}, of, b.Int64s(1)))
		}
	}
	pool := func(n int64) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			return b.Add(&op.MaxPool{Kernel: []int64{1, 1}, Strides: []int64{2, 2}, Ceil: op.RoundCeilInside}, image(b, n))
		}
	}
	// shared makes a node of an image, which a convolution reads too.
	shared := func(last bool, node func(b *graph.Builder, of graph.Value) graph.Value) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			of := b.Add(&op.Sigmoid{}, b.Input("x", tensor.T(tensor.Float32, 1, 6, 5, 3)))
			w := b.Const("", tensor.T(tensor.Float32, 2, 3, 3, 3), make([]byte, 4*2*3*3*3))
			image := of
			if !last {
				image = b.Add(&op.Transpose{}, of, b.Int64s(0, 3, 1, 2))
			}
			b.Output(b.Add(&op.Conv{ChannelsLast: last}, image, w))
			return node(b, of)
		}
	}
	rms := func(n int64) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			in := b.Input("x", tensor.T(tensor.Float32, 5, n))
			return b.Add(&op.ReduceMean{KeepDims: true}, b.Add(&op.Pow{}, in, b.Float32(2)), b.Int64s(-1))
		}
	}
	pixels := func(pad, stride int64) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			w := b.Const("", tensor.T(tensor.Float32, 3, 1, 1, 2), make([]byte, 4*6))
			return b.Add(&op.Conv{Pads: []int64{pad, 0, pad, 0}, Strides: []int64{stride, 1}}, image(b, 6), w)
		}
	}
	flat := func(b *graph.Builder, of graph.Value) graph.Value { return b.Add(&op.Reshape{}, of, b.Int64s(-1)) }
	joins := func(axis int64) func(b *graph.Builder, of graph.Value) graph.Value {
		return func(b *graph.Builder, of graph.Value) graph.Value { return b.Add(&op.Concat{Axis: axis}, of, of) }
	}
	for name, c := range map[string]struct {
		make func(*graph.Builder) graph.Value
		why  string
	}{
		"reshaped beside a convolution": {shared(true, flat), "overwrites an image"},
		"reshaped beside a turned one":  {shared(false, flat), "overwrites an image"},
		"joined along the first axis":   {shared(true, joins(1)), "overwrites an image"},
		"joined along channels":         {shared(true, joins(3)), ""},
		"another operator beside convolutions": {shared(true, func(b *graph.Builder, of graph.Value) graph.Value {
			return b.Add(&op.Relu{}, of)
		}), ""},
		"largest of what is joined": {func(b *graph.Builder) graph.Value {
			return b.Add(&op.ReduceMax{KeepDims: true}, b.Add(&op.Concat{Axis: 1}, x(b), w(b)), b.Int64s(1))
		}, "joins place by place"},
		"root mean square of few": {rms(15), "root mean squares"},
		"root mean square":        {rms(16), ""},
		"line of zeros": {func(b *graph.Builder) graph.Value {
			return b.Add(&op.LpNorm{Axis: -1, P: 2}, x(b))
		}, "a line of zeros"},
		"pixels apart, padded": {pixels(1, 2), "padded Conv"},
		"pixels apart":         {pixels(0, 2), ""},
		"pixels padded":        {pixels(1, 1), ""},
		"peepholes": {func(b *graph.Builder) graph.Value {
			in := func(name string, dims ...int64) graph.Value { return b.Input(name, tensor.T(tensor.Float32, dims...)) }
			return b.Add(&op.LSTM{Hidden: 3}, in("s", 3, 2, 2), in("u", 1, 12, 2), in("r", 1, 12, 3), graph.None, graph.None,
				graph.None, graph.None, in("p", 1, 9))
		}, "does not see the peepholes"},
		"one limit of integers": {func(b *graph.Builder) graph.Value {
			three := b.Const("", tensor.T(tensor.Int32), []byte{3, 0, 0, 0})
			return b.Add(&op.Clip{}, b.Input("n", tensor.T(tensor.Int32, 4)), three)
		}, "with one limit"},
		"shape": {func(b *graph.Builder) graph.Value {
			return b.Add(&op.Shape{}, x(b))
		}, "takes another input"},
		"indices":                {gather(0, 5, -6), ""},
		"index behind the end":   {gather(6), "does not refuse indices"},
		"index before the start": {gather(-7), "does not refuse indices"},
		"pair behind the end":    {tuples(1, 5, 2, 0), "does not refuse indices"},
		"indices of a run": {func(b *graph.Builder) graph.Value {
			return b.Add(&op.Gather{NegativeWraps: true}, x(b), b.Input("i", tensor.T(tensor.Int32, 3)), b.Int64s(1))
		}, "does not refuse indices"},
		"variance":                       {own(-1, -1), ""},
		"variance, two names of an axis": {own(-1, 1), "variance from another mean"},
		"variance along other axes":      {own(0, 1), "variance from another mean"},
		"variance from another":          {variance(x, w, 1, 1), "variance from another mean"},
		"variance of mean - x": {func(b *graph.Builder) graph.Value {
			in := x(b)
			turned := b.Add(&op.Sub{}, b.Add(&op.ReduceMean{KeepDims: true}, in, b.Int64s(1)), in)
			return b.Add(&op.ReduceMean{KeepDims: true}, b.Add(&op.Pow{}, turned, b.Float32(2)), b.Int64s(1))
		}, "variance from another mean"},
		"softmax":              {softmax(true), ""},
		"sum of others":        {softmax(false), "for a Softmax"},
		"windows in the image": {pool(3), ""},
		"window behind it":     {pool(4), "a window that a pool"},
		"aspect ratio": {func(b *graph.Builder) graph.Value {
			return b.Add(&op.Resize{Mode: op.ResizeLinear, KeepAspect: op.AspectNotLarger, Axes: []int64{2, 3}}, image(b, 4),
				graph.None, graph.None, b.Int64s(7, 9))
		}, "does not keep the aspect ratio"},
		"axes in another order": {func(b *graph.Builder) graph.Value {
			return b.Add(&op.CenterCropPad{Axes: []int64{1, 0}}, x(b), b.Int64s(4, 9))
		}, "mixes the axes"},
		"blocks of codes": {func(b *graph.Builder) graph.Value {
			codes := b.Const("c", tensor.T(tensor.Uint8, 2, 6), make([]byte, 12))
			scales := b.Const("s", tensor.T(tensor.Float32, 2, 2), tensor.Float32s(1, 2, 3, 4))
			return b.Add(&op.Dequantize{Axis: 1, Block: 3, To: tensor.Float32}, codes, scales)
		}, "blocks of codes"},
		"codes without a zero point": {func(b *graph.Builder) graph.Value {
			return b.Add(&op.Quantize{To: tensor.Int8}, x(b), b.Float32(0.5))
		}, "for unsigned ones"},
		"rest of real numbers": {func(b *graph.Builder) graph.Value { return b.Add(&op.Mod{}, x(b), w(b)) }, "makes NaN"},
		"truth of numbers":     {func(b *graph.Builder) graph.Value { return b.Add(&op.Not{}, x(b)) }, "other truths"},
		"order of NaN":         {func(b *graph.Builder) graph.Value { return b.Add(&op.Greater{}, x(b), w(b)) }, "takes NaN"},
	} {
		t.Run(name, func(t *testing.T) { supports(t, d, c.make, c.why) })
	}
}
