package onnxruntime

import (
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// pairing makes networks of a few operators, of real numbers or between QuantizeLinear and DequantizeLinear. Scales are
// no simple fractions, and inputs are random, so that no result lies halfway between two codes.
type pairing struct {
	*graph.Builder
	r    *rand.Rand
	to   tensor.DType // of codes; Invalid: real numbers
	zero int
	in   graph.Value // of the network
}

// coded quantizes and dequantizes.
func (c *pairing) coded(x graph.Value, scale float32) graph.Value {
	if c.to == tensor.Invalid {
		return x
	}
	s := c.Float32(scale)
	z := c.Const("", tensor.T(c.to), []byte{byte(c.zero)})
	return c.Add(&op.Dequantize{To: tensor.Float32}, c.Add(&op.Quantize{To: c.to}, x, s, z), s, z)
}

func (c *pairing) real(dims []int64, low, high float64) graph.Value {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(low + (high-low)*c.r.Float64())
	}
	return c.Const("", tensor.T(tensor.Float32, dims...), tensor.Float32s(list...))
}

// weights makes the weights of a convolution: beside codes int8 of one scale, in ONNX's order as importers find them.
func (c *pairing) weights(out, in, side int64) graph.Value {
	if c.to == tensor.Invalid {
		return c.real([]int64{out, side, side, in}, -.8, .8)
	}
	return c.Add(&op.Transpose{}, c.narrow(out, in, side, side), c.Int64s(0, 2, 3, 1))
}

// matrix is the second operand of a product.
func (c *pairing) matrix(rows, columns int64) graph.Value {
	if c.to == tensor.Invalid {
		return c.real([]int64{rows, columns}, -.8, .8)
	}
	return c.narrow(rows, columns)
}

// narrow are random int8 of one scale.
func (c *pairing) narrow(dims ...int64) graph.Value {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	list := make([]byte, n)
	for i := range list {
		list[i] = byte(c.r.IntN(255) - 127)
	}
	return c.Add(&op.Dequantize{To: tensor.Float32}, c.Const("", tensor.T(tensor.Int8, dims...), list), c.Float32(.007))
}

// pairedOperators are operators on images of 7 channels; results have 7 channels, too, or 1.
var pairedOperators = map[string]func(c *pairing, x graph.Value) graph.Value{
	"conv": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, x, c.weights(7, c.channels(x), 3))
	},
	"conv_turned": func(c *pairing, x graph.Value) graph.Value {
		turned := c.Add(&op.Transpose{}, x, c.Int64s(0, 3, 1, 2))
		y := c.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, turned, c.weights(11, c.channels(turned), 3))
		return c.Add(&op.Transpose{}, y, c.Int64s(0, 2, 3, 1))
	},
	"conv_bias": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.Conv{}, x, c.weights(7, c.channels(x), 1), c.real([]int64{7}, -1, 2))
	},
	"conv_real": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, x, c.real([]int64{7, 3, 3, c.channels(x)}, -.4, .4))
	},
	"conv_relu": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.Relu{}, c.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, x, c.weights(7, c.channels(x), 3)))
	},
	"conv_clip": func(c *pairing, x graph.Value) graph.Value {
		y := c.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, x, c.weights(7, c.channels(x), 3))
		return c.Add(&op.Clip{}, y, c.Float32(-1.1), c.Float32(1.37))
	},
	"conv_prelu": func(c *pairing, x graph.Value) graph.Value {
		y := c.Add(&op.Conv{}, x, c.weights(7, c.channels(x), 1))
		return c.Add(&op.PRelu{}, y, c.real([]int64{7, 1, 1}, -.5, 1.2))
	},
	"depthwise": func(c *pairing, x graph.Value) graph.Value {
		n := c.channels(x)
		return c.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}, Groups: n}, x, c.weights(n, 1, 3))
	},
	"transposed": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.ConvTranspose{}, x, c.weights(7, c.channels(x), 3))
	},
	"product": func(c *pairing, x graph.Value) graph.Value {
		dims, _ := c.Fact(x).Shape.Ints()
		return c.Add(&op.MatMul{}, x, c.matrix(dims[3], 11))
	},
	"add": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.Add{}, x, c.real([]int64{1, 7, 1, 1}, -2, 2))
	},
	"sub": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.Sub{}, c.real([]int64{1, 7, 1, 1}, -2, 2), x)
	},
	"scale": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.Mul{}, x, c.real([]int64{1, 7, 1, 1}, -2, 2))
	},
	"div": func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Div{}, x, c.Float32(1.37)) },
	"norm": func(c *pairing, x graph.Value) graph.Value {
		n := []int64{c.channels(x)}
		return c.Add(&op.BatchNorm{Epsilon: 1e-5, Axis: 1}, x, c.real(n, -1, 2), c.real(n, -1, 2), c.real(n, -1, 1),
			c.real(n, 1, 2))
	},
	"neg":        func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Neg{}, x) },
	"square":     func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Mul{}, x, x) },
	"abs":        func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Abs{}, x) },
	"relu":       func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Relu{}, x) },
	"leaky_relu": func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.LeakyRelu{Alpha: .1}, x) },
	"sigmoid":    func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Sigmoid{}, x) },
	"hard_swish": func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.HardSwish{}, x) },
	"swish":      func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Mul{}, x, c.Add(&op.Sigmoid{}, x)) },
	"softmax":    func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Softmax{Axis: 1}, x) },
	"clip": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.Clip{}, x, c.Float32(-1.1), c.Float32(1.37))
	},
	"max": func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Max{}, x, c.Float32(-.77)) },
	"min": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.Min{}, x, c.real([]int64{1, 7, 1, 1}, -2, 2))
	},
	"average_pool": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.AveragePool{Kernel: []int64{3, 3}, Pads: []int64{1, 1, 1, 1}}, x)
	},
	"average_pool_of_pads": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.AveragePool{Kernel: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}, CountPads: true}, x)
	},
	"mean": func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.AveragePool{Global: true}, x) },
	"max_pool": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.MaxPool{Kernel: []int64{3, 3}, Pads: []int64{1, 1, 1, 1}}, x)
	},
	"pad_max_pool": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.MaxPool{Kernel: []int64{2, 2}}, c.Add(&op.Pad{}, x, c.Int64s(0, 0, 1, 1, 0, 0, 1, 1)))
	},
	"largest": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.ReduceMax{KeepDims: true}, x, c.Int64s(1))
	},
	"sum": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.ReduceSum{KeepDims: true}, x, c.Int64s(1))
	},
	"residual": func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Add{}, x, c.like(x)) },
	"gate":     func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Mul{}, x, c.like(x)) },
	"concat": func(c *pairing, x graph.Value) graph.Value {
		y := c.Add(&op.Concat{Axis: 1}, x, c.like(x))
		return c.Add(&op.Slice{}, y, c.Int64s(3), c.Int64s(10), c.Int64s(1))
	},
	"resize": func(c *pairing, x graph.Value) graph.Value {
		scales := c.Const("", tensor.T(tensor.Float32, 4), tensor.Float32s(1, 1, 2, 1))
		return c.Add(&op.Resize{Mode: op.ResizeLinear}, x, graph.None, scales)
	},
	"slice": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.Slice{}, x, c.Int64s(1), c.Int64s(7), c.Int64s(2))
	},
	"requant": func(c *pairing, x graph.Value) graph.Value { return c.coded(x, .0517) },
}

func (c *pairing) channels(x graph.Value) int64 {
	dims, _ := c.Fact(x).Shape.Ints()
	return dims[1]
}

// like returns the network's input where it has x's shape, else x.
func (c *pairing) like(x graph.Value) graph.Value {
	a, _ := c.Fact(x).Shape.Ints()
	b, _ := c.Fact(c.in).Shape.Ints()
	for i := range a {
		if a[i] != b[i] {
			return x
		}
	}
	return c.in
}

// beside are other readers of the first operator's result, which is a result of the network then.
var beside = map[string]func(c *pairing, x graph.Value) graph.Value{
	"":       nil,
	"itself": func(_ *pairing, x graph.Value) graph.Value { return x },
	"flat":   func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Reshape{}, x, c.Int64s(-1)) },
	"twice":  func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Concat{}, x, x) },
	"turned": func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Transpose{}, x, c.Int64s(0, 2, 3, 1)) },
	"largest": func(c *pairing, x graph.Value) graph.Value {
		return c.Add(&op.ReduceMax{KeepDims: true}, x, c.Int64s(1))
	},
	"relu": func(c *pairing, x graph.Value) graph.Value { return c.Add(&op.Relu{}, x) },
}

func TestDevice_pairs(t *testing.T) { pairs(t, openCPU(t)) }

func TestDevice_pairsOpenVINO(t *testing.T) {
	pairs(t, openVINOCPU(t))
}

// pairs computes networks of two operators after one another, and a third beside the second, on a device and the CPU.
// They have the reference's results: codes are at most one apart, which is seldom, and real numbers a small part of the
// largest. It computes a sample; with ANYNPU_ONNXRUNTIME_SAMPLE=N each N-th.
func pairs(t *testing.T, d *Device) {
	long(t)
	every, from := sampled(t, 64)
	host, err := cpu.New(cpu.Config{Threads: 1})
	require.NoError(t, err)
	computed, divided := 0, 0
	for first := range pairedOperators {
		for second := range pairedOperators {
			for third := range beside {
				for _, k := range []pairing{{}, {to: tensor.Int8, zero: 7}, {to: tensor.Uint8, zero: 121}, {to: tensor.Uint8}} {
					name := strings.Join([]string{first, second, third, k.to.String(), strconv.Itoa(k.zero)}, "/")
					h := fnv.New32a()
					_, _ = h.Write([]byte(name))
					if int(h.Sum32())%every != from {
						continue
					}
					computed++
					if !computePair(t, name, []device.Device{d, host}, k, first, second, third) {
						divided++
					}
				}
			}
		}
	}
	t.Logf("of %d networks %d are divided", computed, divided)
}

// TestDevice_productWithCodes: real numbers are multiplied by weights of codes as they are.
func TestDevice_productWithCodes(t *testing.T) {
	c := pairing{Builder: graph.NewBuilder("g"), r: rand.New(rand.NewPCG(39, 1)), to: tensor.Int8}
	x := tensor.New(tensor.Float32, 8, 64)
	for i := range 8 * 64 {
		tensor.PutFloat(tensor.Float32, x.Data, i, c.r.NormFloat64(), false)
	}
	c.Output(c.Add(&op.MatMul{}, c.Input("x", x.Type()), c.matrix(64, 32)))
	g, err := c.Graph()
	require.NoError(t, err)
	equals(t, openCPU(t), g, x)
	equals(t, openVINOCPU(t), g, x)
}

// TestDevice_withoutInputsOpenVINO: a part of a graph of which all is constant is computed, too.
func TestDevice_withoutInputsOpenVINO(t *testing.T) {
	b := graph.NewBuilder("g")
	part := b.Const("", tensor.T(tensor.Float32, 1, 2), tensor.Float32s(1, 2))
	b.Output(b.Add(&op.Concat{}, part, b.Add(&op.Exp{}, part)))
	g, err := b.Graph()
	require.NoError(t, err)
	equals(t, openVINOCPU(t), g)
}

// equals compares the results of a graph that a device compiles alone with the reference.
func equals(t *testing.T, d *Device, g *graph.Graph, in ...tensor.Tensor) {
	want, err := ref.Run(context.Background(), g, in)
	require.NoError(t, err)
	p, err := d.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
	require.NoError(t, err)
	e, err := p.New(device.ExecOptions{})
	p.Release()
	require.NoError(t, err)
	defer e.Release()
	compute(t, e, in...)
	data, err := e.OutputData(0)
	require.NoError(t, err)
	assert.InDeltaSlice(t, mem.Elements[float32](want[0].Data), mem.Elements[float32](data), 1e-5)
}

// compute binds the inputs of an execution and runs it.
func compute(t *testing.T, e device.Execution, in ...tensor.Tensor) {
	for i, x := range in {
		b := mem.Borrow(x.Data, nil)
		require.NoError(t, e.BindInput(i, mem.View{Buf: b, Type: x.Type()}))
		b.Release()
	}
	require.NoError(t, run(e, time.Now().Add(time.Minute)))
}

// computePair compares a network with the reference, and says whether the first device takes all of it.
func computePair(t *testing.T, name string, d []device.Device, c pairing, first, second, third string) bool {
	g, x, err := c.network(name, []int64{2, 7, 9, 11}, first, second, third)
	require.NoError(t, err, name)
	want, err := ref.Run(context.Background(), g, []tensor.Tensor{x})
	require.NoError(t, err, name)
	answers, err := compile.Support(g, d[0], device.Options{})
	require.NoError(t, err, name)
	whole := true
	for _, a := range answers {
		whole = whole && a.OK
	}
	p, err := compile.Compile(context.Background(), g, d, compile.Options{})
	require.NoError(t, err, name)
	e, err := p.New(device.ExecOptions{})
	p.Release()
	require.NoError(t, err, name)
	defer e.Release()
	compute(t, e, x)
	for i := range want {
		data, err := e.OutputData(i)
		require.NoError(t, err, name)
		apart(t, name, c.to != tensor.Invalid && i == 0, mem.Elements[float32](data), mem.Elements[float32](want[i].Data))
	}
	return whole
}

// lastScale belongs to the codes at the end of a network.
const lastScale = .083

// network is a graph of operators by their names, with an input. The result of the second becomes codes again.
func (c *pairing) network(name string, dims []int64, first, second, third string) (*graph.Graph, tensor.Tensor, error) {
	c.Builder, c.r = graph.NewBuilder(name), rand.New(rand.NewPCG(39, 1))
	c.in = c.coded(c.Input("x", tensor.T(tensor.Float32, dims...)), .037)
	a := pairedOperators[first](c, c.in)
	c.Output(c.coded(pairedOperators[second](c, a), lastScale))
	if beside[third] != nil {
		c.Output(beside[third](c, a))
	}
	g, err := c.Graph()
	count := int64(1)
	for _, d := range dims {
		count *= d
	}
	list := make([]float32, count)
	for i := range list {
		list[i] = float32(3 * c.r.NormFloat64())
	}
	return g, tensor.Tensor{DType: tensor.Float32, Dims: dims, Data: tensor.Float32s(list...)}, err
}

// apart holds results against those of the reference.
func apart(t *testing.T, name string, ofCodes bool, got, want []float32) {
	require.Len(t, got, len(want), name)
	largest, most, others := 0.0, 0.0, 0
	for _, w := range want {
		largest = max(largest, math.Abs(float64(w)))
	}
	for i, w := range want {
		off := math.Abs(float64(got[i]) - float64(w))
		most = max(most, off)
		if !(off <= 1e-5+1e-4*largest) { // or NaN
			others++
		}
	}
	if ofCodes {
		assert.LessOrEqual(t, most, 1.01*lastScale, "%s: of the largest %g", name, largest)
		assert.LessOrEqual(t, others, 1+len(want)/20, name)
	} else {
		assert.LessOrEqual(t, most, 1e-5+5e-4*largest, "%s: %d of %d", name, others, len(want))
	}
}
