package plan

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// testParams is a scale with a zero point as the nodes have them.
type testParams struct {
	scale float32
	zero  int
	typ   tensor.DType
}

func (m *maker) zero(typ tensor.DType, z int) graph.Value {
	return m.Const("", tensor.T(typ), []byte{byte(z)})
}

func (m *maker) quantize(x graph.Value, c testParams) graph.Value {
	return m.Add(&op.Quantize{}, x, m.Float32(c.scale), m.zero(c.typ, c.zero))
}

func (m *maker) dequantize(q graph.Value, c testParams) graph.Value {
	return m.Add(&op.Dequantize{}, q, m.Float32(c.scale), m.zero(c.typ, c.zero))
}

// qdq rounds x to codes and back.
func (m *maker) qdq(x graph.Value, c testParams) graph.Value {
	return m.dequantize(m.quantize(x, c), c)
}

// filter is a dequantized constant of any codes with one scale per index on axis, or one for all if axis is negative.
func (m *maker) filter(axis int, dims ...int64) graph.Value {
	w := m.codes(tensor.T(tensor.Int8, dims...))
	v := m.Const("", tensor.T(tensor.Int8, dims...), w.Data)
	fan := float32(1)
	for _, d := range dims {
		fan *= float32(d)
	}
	if axis < 0 {
		return m.Add(&op.Dequantize{}, v, m.Float32(1/(16*float32(math.Sqrt(float64(fan))))))
	}
	n := dims[axis]
	scale, zero := tensor.New(tensor.Float32, n), tensor.New(tensor.Int8, n)
	for i, s := 0, run.Floats(scale.Data); i < len(s); i++ {
		s[i] = (0.5 + m.rnd.Float32()) / (20 * float32(math.Sqrt(float64(fan)/float64(n))))
	}
	return m.Add(&op.Dequantize{Axis: int64(axis)}, v, m.Const("", scale.Type(), scale.Data),
		m.Const("", zero.Type(), zero.Data))
}

// imageFilter is a filter as ONNX files have it, [outputs, inputs, spatial].
func (m *maker) imageFilter(dims ...int64) graph.Value {
	perm := []int64{0}
	for i := range len(dims) - 2 {
		perm = append(perm, int64(i+2))
	}
	return m.Add(&op.Transpose{}, m.filter(0, dims...), m.Int64s(append(perm, 1)...))
}

var (
	wide   = testParams{8. / 255, 128, tensor.Uint8}
	ramp   = testParams{6. / 255, 0, tensor.Uint8}
	signed = testParams{0.05, -3, tensor.Int8}
)

// qdqCases are graphs whose outputs are numbers, most of them dequantized. Their steps compute with codes.
var qdqCases = []testCase{
	{"pointwise, clip, per channel", 1, func(m *maker) []graph.Value {
		x := m.qdq(m.input(2, 16, 7, 5), wide)
		y := m.Add(&op.Conv{}, x, m.imageFilter(24, 16, 1, 1), m.weights(24))
		return []graph.Value{m.qdq(m.Add(&op.Clip{}, y, m.Float32(0), m.Float32(3)), ramp)}
	}},
	{"windows, strides, channels that are no multiple of four", 3, func(m *maker) []graph.Value {
		x := m.qdq(m.input(1, 7, 13, 11), signed)
		y := m.qdq(m.Add(&op.Relu{}, m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, x, m.imageFilter(9, 7, 3, 3))), ramp)
		z := m.qdq(m.Add(&op.Conv{Pads: []int64{2, 0, 1, 1}, Strides: []int64{2, 1}, Dilations: []int64{1, 2}}, y,
			m.imageFilter(5, 9, 3, 2), m.weights(5)), wide)
		return []graph.Value{z, m.qdq(m.Add(&op.Conv{}, x, m.imageFilter(6, 7, 1, 1)), wide)}
	}},
	{"first layer", 3, func(m *maker) []graph.Value {
		x := m.qdq(m.input(2, 3, 14, 12), wide)
		y := m.qdq(m.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}, Strides: []int64{2, 2}}, x, m.imageFilter(16, 3, 3, 3),
			m.weights(16)), wide)
		z := m.qdq(m.Add(&op.Conv{Pads: []int64{3, 3, 2, 2}, Strides: []int64{2, 2}}, x, m.imageFilter(8, 3, 7, 7)), wide)
		w := m.qdq(m.Add(&op.Conv{Pads: []int64{0, 2, 1, 1}}, m.qdq(m.input(1, 2, 5, 6), signed), m.imageFilter(70, 2, 2, 3)),
			signed)
		return []graph.Value{y, z, w}
	}},
	{"one and three dimensions", 2, func(m *maker) []graph.Value {
		x := m.qdq(m.Add(&op.Conv{Pads: []int64{1, 1}}, m.qdq(m.input(1, 8, 19), wide), m.imageFilter(5, 8, 3)), wide)
		return []graph.Value{x, m.qdq(m.Add(&op.Conv{}, m.qdq(m.input(1, 5, 4, 5, 6), wide), m.imageFilter(6, 5, 2, 3, 2)),
			signed)}
	}},
	{"products", 3, func(m *maker) []graph.Value {
		x := m.qdq(m.input(2, 5, 20), wide)
		y := m.qdq(m.Add(&op.Add{}, m.Add(&op.MatMul{}, x, m.filter(1, 20, 70)), m.weights(70)), signed)
		z := m.qdq(m.Add(&op.MatMul{TransposeB: true}, y, m.filter(-1, 9, 70)), wide)
		return []graph.Value{z, m.qdq(m.Add(&op.MatMul{TransposeB: true}, x, m.filter(0, 33, 20)), wide)}
	}},
	{"views, other meanings, readers of numbers and of codes", 3, func(m *maker) []graph.Value {
		x := m.qdq(m.input(1, 8, 6, 5), wide)
		q := m.quantize(m.Add(&op.Conv{}, x, m.imageFilter(20, 8, 1, 1)), signed)
		y := m.dequantize(q, signed)
		flat := m.qdq(m.Add(&op.Flatten{Axis: 1}, m.qdq(m.Add(&op.AveragePool{Global: true}, y), wide)),
			testParams{0.01, 10, tensor.Uint8})
		z := m.qdq(m.Add(&op.MatMul{}, flat, m.filter(1, 20, 5)), wide)
		return []graph.Value{m.Add(&op.Identity{}, z), q, m.Add(&op.Sigmoid{}, y), m.Add(&op.Dequantize{}, q, m.Float32(0.5)),
			m.qdq(y, wide)}
	}},
	{"depthwise", 3, func(m *maker) []graph.Value {
		x := m.qdq(m.input(2, 70, 9, 8), wide)
		y := m.qdq(m.Add(&op.Clip{}, m.Add(&op.Conv{Groups: 70, Pads: []int64{1, 1, 1, 1}}, x, m.imageFilter(70, 1, 3, 3),
			m.weights(70)), m.Float32(0), m.Float32(6)), ramp)
		z := m.qdq(m.Add(&op.Conv{Groups: 70, Pads: []int64{2, 2, 2, 2}, Strides: []int64{2, 2}}, y,
			m.imageFilter(70, 1, 5, 5)), signed)
		return []graph.Value{z, m.qdq(m.Add(&op.Conv{Groups: 70, Dilations: []int64{2, 1}}, z, m.imageFilter(70, 1, 2, 3)),
			wide)}
	}},
	{"groups", 5, func(m *maker) []graph.Value {
		group := func(x graph.Value, groups, outputs, inputs int64, o *op.Conv, c testParams) graph.Value {
			o.Groups = groups
			return m.qdq(m.Add(o, x, m.imageFilter(groups*outputs, inputs, 3, 3), m.weights(groups*outputs)), c)
		}
		same, down := &op.Conv{Pads: []int64{1, 1, 1, 1}}, &op.Conv{Pads: []int64{1, 0, 1, 1}, Strides: []int64{2, 1}}
		x := m.qdq(m.input(2, 48, 9, 8), wide)
		y := group(x, 3, 16, 16, same, signed)
		z := group(y, 12, 3, 4, down, ramp) // joined by fours
		u := m.qdq(m.Add(&op.Conv{Groups: 4}, z, m.imageFilter(80, 9, 1, 1)), wide)
		return []graph.Value{u, group(x, 6, 70, 8, &op.Conv{Dilations: []int64{2, 2}}, wide),
			group(x, 24, 1, 2, &op.Conv{Pads: []int64{1, 1, 1, 1}}, signed)}
	}},
	{"transposed convolutions", 3, func(m *maker) []graph.Value {
		filter := func(dims ...int64) graph.Value { // [inputs, outputs, spatial]
			return m.Add(&op.Transpose{}, m.filter(1, dims...), m.Int64s(1, 2, 3, 0))
		}
		x := m.qdq(m.input(2, 11, 6, 5), wide)
		y := m.qdq(m.Add(&op.ConvTranspose{Strides: []int64{2, 2}}, x, filter(11, 9, 2, 2), m.weights(9)), signed)
		z := m.qdq(m.Add(&op.Relu{}, m.Add(&op.ConvTranspose{Strides: []int64{3, 1}}, y, filter(9, 1, 3, 1))), ramp)
		u := m.qdq(m.Add(&op.ConvTranspose{Strides: []int64{2, 4}}, x, filter(11, 33, 2, 4)), wide)
		other := m.qdq(m.Add(&op.ConvTranspose{Strides: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}}, x, // by numbers
			filter(11, 4, 4, 4)), wide)
		return []graph.Value{z, u, other}
	}},
	{"concatenations", 6, func(m *maker) []graph.Value {
		x := m.qdq(m.input(2, 20, 7, 8), wide)
		y := m.qdq(m.Add(&op.Conv{}, x, m.imageFilter(70, 20, 1, 1)), signed)
		z := m.qdq(m.Add(&op.Conv{}, x, m.imageFilter(70, 20, 1, 1)), ramp)
		deep := m.qdq(m.Add(&op.Concat{Axis: 1}, y, x, z, x), ramp)
		wider := m.qdq(m.Add(&op.Concat{Axis: -1}, y, z), wide)
		rows := m.qdq(m.Add(&op.Concat{Axis: 1}, m.Add(&op.Reshape{}, y, m.Int64s(2, 70, 56)), m.Add(&op.Reshape{}, x,
			m.Int64s(2, 20, 56))), wide)
		long := m.qdq(m.Add(&op.Concat{}, y, z), signed)
		return []graph.Value{deep, wider, rows, long}
	}},
	{"sums, clamps, maxima, means", 6, func(m *maker) []graph.Value {
		x := m.qdq(m.input(2, 20, 7, 8), wide)
		y := m.qdq(m.Add(&op.Conv{}, x, m.imageFilter(20, 20, 1, 1)), signed)
		z := m.qdq(m.Add(&op.Add{}, x, y), testParams{12. / 255, 120, tensor.Uint8})
		r := m.qdq(m.Add(&op.Relu{}, z), ramp)
		p := m.qdq(m.Add(&op.MaxPool{Kernel: []int64{3, 2}, Strides: []int64{2, 2}, Pads: []int64{1, 0, 1, 1}}, r), ramp)
		mean := m.qdq(m.Add(&op.AveragePool{Global: true}, r), testParams{0.01, 0, tensor.Uint8})
		return []graph.Value{z, p, mean, m.qdq(m.Add(&op.Relu{}, m.Add(&op.Add{}, y, x)), ramp)}
	}},
	{"inputs and outputs of codes", 3, func(m *maker) []graph.Value {
		x := m.dequantize(m.inputCodes(tensor.T(tensor.Int8, 2, 3, 50, 41)), signed)
		y := m.qdq(m.Add(&op.Conv{Strides: []int64{2, 2}}, x, m.imageFilter(20, 3, 3, 3)), wide)
		z := m.Add(&op.Conv{}, m.dequantize(m.inputCodes(tensor.T(tensor.Uint8, 1, 37, 9, 8)), wide),
			m.imageFilter(5, 37, 1, 1))
		v := m.qdq(m.Add(&op.Conv{}, y, m.imageFilter(4, 20, 1, 1)), wide)
		return []graph.Value{v, m.qdq(z, wide), m.dequantize(m.inputCodes(tensor.T(tensor.Uint8, 7)), wide)}
	}},
	{"a filter of numbers for what is not coded", 0, func(m *maker) []graph.Value {
		x := m.input(1, 8, 6, 5)
		y := m.Add(&op.Conv{}, x, m.imageFilter(12, 8, 1, 1))
		return []graph.Value{y, m.Add(&op.MatMul{}, m.input(3, 20), m.filter(1, 20, 7)), m.Add(&op.Conv{}, m.qdq(x, wide),
			m.imageFilter(12, 8, 1, 1))}
	}},
}

// qdqSteps counts the steps of a plan that compute with codes.
func qdqSteps(p *run.Plan) int {
	n := 0
	for _, st := range p.Steps {
		switch taskOf(p, st) {
		case "qdqGemmTask", "concatCodesTask", "qdqGroupsTask", "qdqTransposedTask", "qdqDepthwiseTask", "qdqRealTask",
			"combineTask", "qdqMaxTask":
			n++
		}
	}
	return n
}

func TestBuild_qdqIsWithinOneCodeOfReference(t *testing.T) {
	cases := slices.Concat(qdqCases, realCases)
	equalsReference(t, cases, func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		_, slow := p.Fast()
		assert.Zero(t, slow, "nodes by reference")
		assert.Empty(t, unread(p), "steps that nobody reads")
		if kernel.FastDepthwiseInt8(1, 16) { // the others leave some to float32
			assert.Equal(t, c.steps, qdqSteps(p), "steps that compute with codes")
		}
		for i := range want {
			require.Equal(t, want[i].Dims, got[i].Dims)
			if want[i].DType != tensor.Float32 { // codes that only one rounding made
				require.Equal(t, want[i].Data, got[i].Data)
				continue
			}
			w, g := run.Floats(want[i].Data), run.Floats(got[i].Data)
			differ, step := 0, 0.05001
			for k := range w {
				d := math.Abs(float64(w[k] - g[k]))
				require.LessOrEqual(t, d, step, "output %d at %d: want %v, got %v", i, k, w[k], g[k])
				if d > 1e-5*(1+math.Abs(float64(w[k]))) {
					differ++
				}
			}
			assert.LessOrEqual(t, differ, 1+len(w)/100, "output %d: elements that differ of %d", i, len(w))
		}
	})
}

func TestState_qdqRunsAllocateNothing(t *testing.T) {
	for _, isa := range instructionSets() {
		restore, err := kernel.Select(isa)
		require.NoError(t, err)
		for _, c := range slices.Concat(qdqCases, realCases) {
			t.Run(isa.String()+"/"+c.name, func(t *testing.T) {
				m := newMaker()
				m.allocatesNothing(t, c.name, m.graph(t, c.build(m)...))
			})
		}
		restore()
	}
}

// Maxima of codes have tables, 24 bytes per row and per column of the result: one that is beyond the budget of a Build
// is computed another way.
func TestBuild_qdqMaximaKeepTheBudget(t *testing.T) {
	for rows, want := range map[int64]bool{1000: true, tableBytes/24 + 1: false} {
		m := newMaker()
		x := m.qdq(m.Add(&op.Conv{}, m.qdq(m.input(1, 1, rows+1, 1), wide), m.imageFilter(1, 1, 1, 1)), wide)
		y := m.qdq(m.Add(&op.MaxPool{Kernel: []int64{2, 1}}, x), wide)
		var store run.Store
		p, err := Build(context.Background(), m.graph(t, y), &store, Options{})
		require.NoError(t, err)
		found := false
		for _, st := range p.Steps {
			found = found || taskOf(p, st) == "qdqMaxTask"
		}
		assert.Equal(t, want, found, "%d rows", rows)
		store.Release()
	}
}
