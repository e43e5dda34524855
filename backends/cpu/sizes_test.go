package cpu

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// sizedGraph builds graphs of one input with one open size, whose operands follow from that size.
type sizedGraph struct {
	*graph.Builder
	x   graph.Value
	rnd *rand.Rand
}

// weights are random constants.
func (s *sizedGraph) weights(dims ...int64) graph.Value {
	w := make([]float32, tensor.New(tensor.Float32, dims...).Count())
	for i := range w {
		w[i] = s.rnd.Float32() - 0.5
	}
	return s.Const("", tensor.T(tensor.Float32, dims...), tensor.Float32s(w...))
}

func (s *sizedGraph) codes(dims ...int64) graph.Value {
	w := tensor.New(tensor.Int8, dims...)
	for i := range w.Data {
		w.Data[i] = byte(s.rnd.IntN(200) - 100)
	}
	return s.Const("", w.Type(), w.Data)
}

func (s *sizedGraph) long(v int64) graph.Value {
	return s.Const("", tensor.T(tensor.Int64), tensor.Int64s(v))
}

// size is the size of x on an axis, a scalar.
func (s *sizedGraph) size(axis int64) graph.Value {
	return s.Add(&op.Gather{}, s.Add(&op.Shape{To: tensor.Int64}, s.x), s.long(axis))
}

// ramp is 0.1, 0.2 ... up to the size of x on an axis.
func (s *sizedGraph) ramp(axis int64) graph.Value {
	r := s.Add(&op.Cast{To: tensor.Float32}, s.Add(&op.Range{}, s.long(0), s.size(axis), s.long(1)))
	return s.Add(&op.Add{}, s.Add(&op.Mul{}, r, s.Float32(0.1)), s.Float32(0.1))
}

// scaled is a constant times a number that follows from the size of x on an axis.
func (s *sizedGraph) scaled(axis int64, dims ...int64) graph.Value {
	n := s.Add(&op.Mul{}, s.Add(&op.Cast{To: tensor.Float32}, s.size(axis)), s.Float32(0.0625))
	return s.Add(&op.Mul{}, s.weights(dims...), n)
}

// qdq is x with 8 bits; the zero point follows from the type.
func (s *sizedGraph) qdq(x graph.Value, typ tensor.DType, zero byte) graph.Value {
	scale, z := s.Float32(0.03125), s.Const("", tensor.T(typ), []byte{zero})
	return s.Add(&op.Dequantize{}, s.Add(&op.Quantize{}, x, scale, z), scale, z)
}

// filter are weights of 8 bits.
func (s *sizedGraph) filter(codes graph.Value) graph.Value {
	return s.Add(&op.Dequantize{}, codes, s.Float32(0.03125), s.Const("", tensor.T(tensor.Int8), []byte{0}))
}

var same = []int64{1, 1, 1, 1}

// sizedCases are graphs with an input of some dimensions, of which -1 is open.
var sizedCases = []struct {
	name  string
	dims  []int64
	tol   float64
	build func(s *sizedGraph) graph.Value
}{
	{"matrix", []int64{2, -1}, 1e-4, func(s *sizedGraph) graph.Value {
		m := s.Add(&op.Mul{}, s.Add(&op.Unsqueeze{}, s.ramp(1), s.Int64s(1)), s.weights(1, 5))
		return s.Add(&op.MatMul{}, s.x, m)
	}},
	{"matrix whose columns are open", []int64{-1, 3}, 1e-4, func(s *sizedGraph) graph.Value {
		m := s.Add(&op.Mul{}, s.Add(&op.Unsqueeze{}, s.ramp(0), s.Int64s(0)), s.weights(3, 1))
		return s.Add(&op.MatMul{}, s.x, m)
	}},
	{"transposed matrix", []int64{2, -1}, 1e-4, func(s *sizedGraph) graph.Value {
		m := s.Add(&op.Mul{}, s.Add(&op.Unsqueeze{}, s.ramp(1), s.Int64s(0)), s.weights(5, 1))
		return s.Add(&op.MatMul{TransposeB: true}, s.x, m, s.weights(5))
	}},
	{"fully connected", []int64{2, -1}, 1e-4, func(s *sizedGraph) graph.Value {
		m := s.Add(&op.Mul{}, s.Add(&op.Unsqueeze{}, s.ramp(1), s.Int64s(0)), s.weights(5, 1))
		return s.Add(&op.Relu{}, s.Add(&op.FullyConnected{}, s.x, m, s.weights(5)))
	}},
	{"joint products", []int64{-1, 8}, 1e-4, func(s *sizedGraph) graph.Value {
		a := s.Add(&op.MatMul{}, s.x, s.scaled(0, 8, 5))
		b := s.Add(&op.MatMul{}, s.x, s.scaled(0, 8, 5))
		return s.Add(&op.Mul{}, a, b)
	}},
	{"pointwise filters", []int64{1, -1, 3, 3}, 1e-4, func(s *sizedGraph) graph.Value {
		w := s.Add(&op.Mul{}, s.ramp(1), s.weights(6, 1, 1, 1))
		return s.Add(&op.Conv{}, s.x, w)
	}},
	{"filters of few and many channels", []int64{1, -1, 5, 5}, 1e-4, func(s *sizedGraph) graph.Value {
		w := s.Add(&op.Mul{}, s.ramp(1), s.weights(6, 3, 3, 1))
		return s.Add(&op.Conv{Pads: same}, s.x, w, s.weights(6))
	}},
	{"filters", []int64{1, 8, -1, 5}, 1e-4, func(s *sizedGraph) graph.Value {
		return s.Add(&op.Conv{Pads: same}, s.x, s.scaled(2, 6, 3, 3, 8))
	}},
	{"groups", []int64{1, 8, -1, 5}, 1e-4, func(s *sizedGraph) graph.Value {
		return s.Add(&op.Conv{Pads: same, Groups: 2}, s.x, s.scaled(2, 6, 3, 3, 4))
	}},
	{"filters of three dimensions", []int64{1, 3, -1, 5, 5}, 1e-4, func(s *sizedGraph) graph.Value {
		return s.Add(&op.Conv{Pads: []int64{0, 1, 1, 0, 1, 1}}, s.x, s.scaled(2, 6, 1, 3, 3, 3))
	}},
	{"Winograd", []int64{1, 16, -1, 24}, 1e-3, func(s *sizedGraph) graph.Value {
		return s.Add(&op.Conv{Pads: same}, s.x, s.scaled(2, 16, 3, 3, 16))
	}},
	{"normalized Winograd", []int64{1, 16, -1, 24}, 1e-3, func(s *sizedGraph) graph.Value {
		y := s.Add(&op.Conv{Pads: same}, s.x, s.weights(16, 3, 3, 16))
		one := s.Add(&op.Fill{}, s.Int64s(16), s.Float32(1))
		return s.Add(&op.BatchNorm{Epsilon: 1e-5, Axis: 1}, y, s.scaled(2, 16), s.weights(16), s.weights(16), one)
	}},
	{"normalized filters", []int64{1, 8, -1, 5}, 1e-4, func(s *sizedGraph) graph.Value {
		y := s.Add(&op.Conv{Pads: same}, s.x, s.weights(6, 3, 3, 8), s.weights(6))
		one := s.Add(&op.Fill{}, s.Int64s(6), s.Float32(1))
		return s.Add(&op.BatchNorm{Epsilon: 1e-5, Axis: 1}, y, s.scaled(2, 6), s.scaled(2, 6), s.weights(6), one)
	}},
	{"normalized channels", []int64{1, 8, -1, 5}, 1e-4, func(s *sizedGraph) graph.Value {
		y := s.Add(&op.Conv{Pads: same, Groups: 8}, s.x, s.weights(8, 3, 3, 1))
		one := s.Add(&op.Fill{}, s.Int64s(8), s.Float32(1))
		return s.Add(&op.BatchNorm{Epsilon: 1e-5, Axis: 1}, y, s.scaled(2, 8), s.weights(8), s.weights(8), one)
	}},
	{"channels", []int64{1, 8, -1, 5}, 1e-4, func(s *sizedGraph) graph.Value {
		return s.Add(&op.Conv{Pads: same, Groups: 8}, s.x, s.scaled(2, 8, 3, 3, 1), s.scaled(2, 8))
	}},
	{"transposed filters", []int64{1, 4, -1, 5}, 1e-4, func(s *sizedGraph) graph.Value {
		return s.Add(&op.ConvTranspose{Strides: []int64{2, 2}}, s.x, s.scaled(2, 6, 3, 3, 4))
	}},
	{"transposed filters of one padding or another", []int64{1, 4, -1, 5}, 1e-4, func(s *sizedGraph) graph.Value {
		return s.Add(&op.ConvTranspose{Strides: []int64{3, 3}, AutoPad: op.PadSameUpper}, s.x, s.weights(6, 4, 4, 4))
	}},
	{"LSTM", []int64{-1, 2, 5}, 1e-4, func(s *sizedGraph) graph.Value {
		return s.AddN(&op.LSTM{}, 3, s.x, s.scaled(0, 1, 16, 5), s.scaled(0, 1, 16, 4), s.scaled(0, 1, 32))[0]
	}},
	{"GRU", []int64{-1, 2, 5}, 1e-4, func(s *sizedGraph) graph.Value {
		return s.AddN(&op.GRU{}, 2, s.x, s.scaled(0, 1, 12, 5), s.scaled(0, 1, 12, 4), s.scaled(0, 1, 24))[0]
	}},
	{"RNN", []int64{-1, 2, 5}, 1e-4, func(s *sizedGraph) graph.Value {
		return s.AddN(&op.RNN{}, 2, s.x, s.scaled(0, 1, 4, 5), s.scaled(0, 1, 4, 4), s.scaled(0, 1, 8))[0]
	}},
	{"matrix of codes", []int64{2, -1}, 1e-4, func(s *sizedGraph) graph.Value {
		r := s.Add(&op.Cast{To: tensor.Int8}, s.Add(&op.Range{}, s.long(0), s.size(1), s.long(1)))
		m := s.Add(&op.Expand{}, s.Add(&op.Unsqueeze{}, r, s.Int64s(1)), s.Int64s(1, 5))
		return s.qdq(s.Add(&op.MatMul{}, s.qdq(s.x, tensor.Uint8, 100), s.filter(m)), tensor.Uint8, 7)
	}},
	{"codes whose bias is open", []int64{-1, 8}, 1e-4, func(s *sizedGraph) graph.Value {
		y := s.Add(&op.MatMul{}, s.qdq(s.x, tensor.Uint8, 100), s.filter(s.codes(8, 6)))
		return s.qdq(s.Add(&op.Add{}, y, s.scaled(0, 6)), tensor.Uint8, 90)
	}},
	{"codes whose bias is open, by channel", []int64{1, 8, -1, 5}, 1e-4, func(s *sizedGraph) graph.Value {
		conv := &op.Conv{Pads: same, Groups: 8}
		y := s.Add(conv, s.qdq(s.x, tensor.Uint8, 100), s.filter(s.codes(8, 3, 3, 1)), s.scaled(2, 8))
		return s.qdq(y, tensor.Uint8, 90)
	}},
	{"codes of images or of volumes", []int64{1, 3, -1, 5, 5}, 1e-4, func(s *sizedGraph) graph.Value {
		conv := &op.Conv{Pads: []int64{0, 1, 1, 0, 1, 1}}
		y := s.Add(conv, s.qdq(s.x, tensor.Uint8, 100), s.filter(s.codes(6, 1, 3, 3, 3)), s.weights(6))
		return s.qdq(y, tensor.Uint8, 90)
	}},
	{"gathered rows", []int64{2, -1}, 1e-4, func(s *sizedGraph) graph.Value {
		r := s.Add(&op.Range{}, s.long(0), s.size(1), s.long(1))
		return s.Add(&op.MatMul{}, s.x, s.Add(&op.Gather{}, s.weights(48, 6), r))
	}},
	{"matrices of a batch", []int64{2, 3, -1}, 1e-4, func(s *sizedGraph) graph.Value {
		m := s.Add(&op.Mul{}, s.Add(&op.Unsqueeze{}, s.ramp(2), s.Int64s(1)), s.weights(2, 1, 5))
		return s.Add(&op.MatMul{}, s.x, m)
	}},
	{"slopes and constants", []int64{2, 4, -1}, 1e-4, func(s *sizedGraph) graph.Value {
		y := s.Add(&op.PRelu{}, s.x, s.scaled(2, 4, 1))
		return s.Add(&op.Sub{}, s.Add(&op.Mul{}, y, s.ramp(2)), s.scaled(2, 4, 1))
	}},
}

// sizedProgram compiles a case and returns what gives inputs of a size, and their results by reference.
func sizedProgram(t *testing.T, i int) (p device.Program, at func(n int64) (x, want tensor.Tensor)) {
	c := sizedCases[i]
	shape := tensor.Shape{Ranked: true}
	for _, d := range c.dims {
		if d < 0 {
			shape.Dims = append(shape.Dims, tensor.AnyDim())
		} else {
			shape.Dims = append(shape.Dims, tensor.D(d))
		}
	}
	s := &sizedGraph{Builder: graph.NewBuilder(c.name), rnd: rand.New(rand.NewPCG(5, 6))}
	s.x = s.Input("x", tensor.Type{DType: tensor.Float32, Shape: shape})
	s.Output(c.build(s))
	g, err := s.Graph()
	require.NoError(t, err)
	g = inferred(t, g)
	return compile(t, newDevice(t, Config{Threads: 2}), g), func(n int64) (x, want tensor.Tensor) {
		dims := append([]int64{}, c.dims...)
		for k := range dims {
			if dims[k] < 0 {
				dims[k] = n
			}
		}
		x = ramp(dims...)
		if res, err := ref.Run(context.Background(), g, []tensor.Tensor{x}); assert.NoError(t, err) {
			want = res[0]
		}
		return x, want
	}
}

// Tables that follow from the sizes of a run serve no other run: in one execution, and in several at a time that share
// the plans and their packed constants.
func TestPlanned_operandsFollowTheSizesOfTheRun(t *testing.T) {
	levels(t, func(t *testing.T) {
		for i, c := range sizedCases {
			t.Run(c.name, func(t *testing.T) {
				p, at := sizedProgram(t, i)
				defer p.Release()
				check := func(sizes ...int64) {
					e, err := p.New(device.ExecOptions{})
					if !assert.NoError(t, err) {
						return
					}
					defer e.Release()
					for _, n := range sizes {
						x, want := at(n)
						got, err := execute(t, e, []tensor.Tensor{x}, 1)
						if assert.NoError(t, err, "size %d", n) {
							assert.Equal(t, want.Dims, got[0].Dims)
							assert.InDeltaSlice(t, floats(t, want.Data), floats(t, got[0].Data), c.tol, "size %d", n)
						}
					}
				}
				check(4, 3, 2, 6, 4)
				check(1, 16, 40, 16, 6)
				var wg sync.WaitGroup
				for k := range int64(3) {
					wg.Go(func() { check(9+k, 2+k, 5-k, 9+k, 4) })
				}
				wg.Wait()
			})
		}
	})
}

// A run that gets no memory for its sizes leaves the execution ready for others.
func TestPlanned_runsAfterOneWithoutMemory(t *testing.T) {
	any := tensor.AnyDim()
	p := compile(t, newDevice(t, Config{Threads: 2}), network(t, any, tensor.D(3), any, any))
	defer p.Release()
	e, other := newExec(t, p, device.ExecOptions{}), newExec(t, p, device.ExecOptions{})
	defer e.Release()
	defer other.Release()
	size := int64(100)
	if testing.Short() { // the race detector makes the reference slow
		size = 40
	}
	small, large := ramp(1, 3, 8, 8), ramp(1, 3, size, size)
	for _, run := range []struct {
		e     device.Execution
		x     tensor.Tensor
		limit int64
	}{{e, small, 0}, {other, large, 0}, {e, large, 1}, {e, small, 0}, {e, large, 0}} {
		mem.SetLimit(run.limit)
		got, err := execute(t, run.e, []tensor.Tensor{run.x}, 1)
		mem.SetLimit(0)
		if run.limit > 0 {
			require.Equal(t, fault.Memory, fault.KindOf(err))
			continue
		}
		require.NoError(t, err)
		want, err := ref.Run(context.Background(), p.(*program).unit.Graph, []tensor.Tensor{run.x})
		require.NoError(t, err)
		assertNear(t, want[0], got[0])
	}
}
