package onnxruntime

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestSupport_knownFaults: nodes of which ONNX Runtime has wrong results, or none, are refused, and their like are not.
func TestSupport_knownFaults(t *testing.T) {
	d := openCPU(t)
	float := func(dims ...int64) tensor.Type { return tensor.T(tensor.Float32, dims...) }
	deviation := func(b *graph.Builder, turned bool) graph.Value {
		x := b.Input("x", float(2, 6))
		m := b.Add(&op.ReduceMean{KeepDims: true}, x, b.Int64s(1))
		if turned {
			return b.Add(&op.Sub{}, m, x)
		}
		return b.Add(&op.Sub{}, x, m)
	}
	pool := func(width int64) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			return b.Add(&op.AveragePool{Kernel: []int64{2, 2}, Strides: []int64{1, 3}, Pads: []int64{0, 0, 0, 1},
				Ceil: op.RoundCeilInside}, b.Input("x", float(1, 1, 4, width)))
		}
	}
	lstm := func(steps ...int32) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			x := b.Input("x", float(3, 2, 2))
			lengths := b.Const("lengths", tensor.T(tensor.Int32, 2), tensor.Int32s(steps...))
			return b.Add(&op.LSTM{Hidden: 3}, x, b.Input("w", float(1, 12, 2)), b.Input("r", float(1, 12, 3)), graph.None,
				lengths, b.Input("h", float(1, 2, 3)), b.Input("c", float(1, 2, 3)))
		}
	}
	divided := func(by ...int64) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			x := b.Input("x", tensor.T(tensor.Int64, 4))
			if len(by) == 0 {
				return b.Add(&op.Div{}, x, b.Input("y", tensor.T(tensor.Int64, 4)))
			}
			return b.Add(&op.Div{}, x, b.Int64s(by...))
		}
	}
	for name, c := range map[string]struct {
		make func(*graph.Builder) graph.Value
		why  string // "": it is taken
	}{
		"x - mean": {func(b *graph.Builder) graph.Value { return deviation(b, false) }, ""},
		"mean - x": {func(b *graph.Builder) graph.Value { return deviation(b, true) }, "takes mean - x"},
		"square": {func(b *graph.Builder) graph.Value {
			return b.Add(&op.Pow{}, deviation(b, false), b.Float32(2))
		}, ""},
		"fourth power": {func(b *graph.Builder) graph.Value {
			return b.Add(&op.Pow{}, deviation(b, false), b.Float32(4))
		}, "takes any power"},
		"Bernoulli": {func(b *graph.Builder) graph.Value {
			return b.Add(&op.Bernoulli{To: tensor.Float32}, b.Input("x", float(4)))
		}, "draws 1"},
		"window in the padding": {pool(6), "says another size"},
		"window in the image":   {pool(7), ""},
		"sequences with steps":  {lstm(3, 1), ""},
		"no step":               {lstm(3, 0), "loses the first state"},
		"quotients":             {divided(7), ""},
		"quotients by -1":       {divided(-1), "ends the process"},
		"quotients by inputs":   {divided(), "ends the process"},
		"pool of nothing": {func(b *graph.Builder) graph.Value {
			return b.Add(&op.AveragePool{Kernel: []int64{2, 2}}, b.Input("x", float(1, 0, 4, 4)))
		}, "a pool of nothing"},
	} {
		t.Run(name, func(t *testing.T) { supports(t, d, c.make, c.why) })
	}
}

// supports demands that a device takes the last node of a graph, or refuses it with a reason that contains why.
func supports(t *testing.T, d *Device, build func(*graph.Builder) graph.Value, why string) {
	b := graph.NewBuilder("g")
	b.Output(build(b))
	g, err := b.Graph()
	require.NoError(t, err)
	require.NoError(t, g.Infer())
	answers, err := d.Support(g, device.Options{})
	require.NoError(t, err)
	last := answers[len(answers)-1]
	assert.Equal(t, why == "", last.OK, last.Reason)
	assert.Contains(t, last.Reason, why)
}

// TestSupport_knownFaultsOpenVINO: as with the CPU provider. OpenVINO 2025.4 has other numbers for each of these nodes
// than the runtime's own processor.
func TestSupport_knownFaultsOpenVINO(t *testing.T) {
	d := openVINOCPU(t)
	input := func(b *graph.Builder, name string, x tensor.DType, dims ...int64) graph.Value {
		return b.Input(name, tensor.T(x, dims...))
	}
	pair := func(o graph.Op, x tensor.DType) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value { return b.Add(o, input(b, "x", x, 4), input(b, "y", x, 4)) }
	}
	lrn := func(bias float32) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			return b.Add(&op.LRN{Before: 1, After: 1, Alpha: 1, Beta: 0.5, Bias: bias, Axis: 1, DivideAlpha: true},
				input(b, "x", tensor.Float32, 1, 4, 2, 2))
		}
	}
	layer := func(b *graph.Builder, n string, x graph.Value) graph.Value {
		w, r := input(b, "w"+n, tensor.Float32, 1, 3, 2), input(b, "r"+n, tensor.Float32, 1, 3, 3)
		return b.Add(&op.RNN{Hidden: 3}, x, w, r)
	}
	quantize := func(x tensor.DType) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			zero := b.Const("zero", tensor.T(x), make([]byte, x.Bits()/8))
			return b.Add(&op.Quantize{To: x}, input(b, "x", tensor.Float32, 4), b.Float32(0.5), zero)
		}
	}
	clip := func(codes bool, limits ...float32) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			in := []graph.Value{input(b, "x", tensor.Float32, 4)}
			for _, v := range limits {
				in = append(in, b.Float32(v))
			}
			y := b.Add(&op.Clip{}, in...)
			if codes {
				zero := b.Const("zero", tensor.T(tensor.Uint8), []byte{7})
				b.Output(b.Add(&op.Quantize{To: tensor.Uint8}, y, b.Float32(0.5), zero))
			}
			return b.Add(&op.Clip{}, in...)
		}
	}
	slice := func(end, step int64) func(*graph.Builder) graph.Value {
		return func(b *graph.Builder) graph.Value {
			x := b.Add(&op.Neg{}, input(b, "x", tensor.Float32, 5, 7))
			return b.Add(&op.Slice{}, x, b.Int64s(6), b.Int64s(end), b.Int64s(1), b.Int64s(step))
		}
	}
	for name, c := range map[string]struct {
		make func(*graph.Builder) graph.Value
		why  string
	}{
		"Clip with one limit, of reals":  {clip(false, 0.5), ""},
		"Clip with one limit, of codes":  {clip(true, 0.5), "Clip without an upper limit"},
		"Clip with the largest limit":    {clip(true, 0.5, math.MaxFloat32), "Clip without an upper limit"},
		"Clip with two limits, of codes": {clip(true, 0.5, 9.5), ""},
		"truth of int32": {func(b *graph.Builder) graph.Value {
			return b.Add(&op.Cast{To: tensor.Bool}, input(b, "x", tensor.Int32, 4))
		}, "lowest int32 for false"},
		"Slice to the lowest number": {slice(math.MinInt64, -1), ""},
		"Slice by a step of 64 bits": {slice(math.MinInt64, math.MinInt64+1), "64 bits in 32"},
		"Slice by the lowest step":   {slice(math.MinInt64, math.MinInt32), "does not write"},
		"sum of int32":               {pair(&op.Add{}, tensor.Int32), ""},
		"sum of int64":               {pair(&op.Add{}, tensor.Int64), "64 bits in 32"},
		"sum of int16":               {pair(&op.Add{}, tensor.Int16), "at their limits"},
		"quotient of int32":          {pair(&op.Div{}, tensor.Int32), "as real numbers"},
		"order of int32":             {pair(&op.Less{}, tensor.Int32), "as real numbers"},
		"LRN":                        {lrn(1), ""},
		"LRN with a bias":            {lrn(2), "takes 1 for the bias"},
		"codes of 8 bits":            {quantize(tensor.Uint8), ""},
		"codes of 16 bits":           {quantize(tensor.Int16), "one beside"},
		"zero point that is an input": {func(b *graph.Builder) graph.Value {
			x, z := input(b, "x", tensor.Float32, 4), input(b, "z", tensor.Uint8)
			return b.Add(&op.Quantize{To: tensor.Uint8}, x, b.Float32(0.5), z)
		}, "is an input"},
		"quotient in a branch": {func(b *graph.Builder) graph.Value {
			branch := graph.NewBuilder("branch")
			x, y := input(branch, "a", tensor.Int32, 4), input(branch, "b", tensor.Int32, 4)
			branch.Output(branch.Add(&op.Div{}, x, y))
			body, err := branch.Graph()
			require.NoError(t, err)
			x, y = input(b, "x", tensor.Int32, 4), input(b, "y", tensor.Int32, 4)
			return b.Add(&op.If{Then: body, Else: body}, b.Input("c", tensor.T(tensor.Bool)), x, y)
		}, "as real numbers"},
		"recurrent layer": {func(b *graph.Builder) graph.Value {
			return layer(b, "", input(b, "x", tensor.Float32, 3, 2, 2))
		}, ""},
		"two recurrent layers": {func(b *graph.Builder) graph.Value {
			x := input(b, "x", tensor.Float32, 3, 2, 2)
			b.Output(layer(b, "1", x))
			return layer(b, "2", x)
		}, "mixes recurrent layers"},
	} {
		t.Run(name, func(t *testing.T) { supports(t, d, c.make, c.why) })
	}
}
