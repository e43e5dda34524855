package plan

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// channelsLast returns x with the channels behind the positions, element by element.
func toNHWC(x tensor.Tensor) tensor.Tensor {
	y := x
	y.Data = make([]byte, len(x.Data))
	size, channels, positions := x.DType.Bits()/8, int(x.Dims[1]), run.Product(x.Dims[2:])
	for i := range x.Count() {
		image, c, p := i/(channels*positions), i/positions%channels, i%positions
		copy(y.Data[((image*positions+p)*channels+c)*size:], x.Data[i*size:][:size])
	}
	return y
}

// TestBuild_inputsChannelsLast builds every graph of the other tests again with the inputs that can be NHWC so: results
// equal those of plans that begin with the inputs as the graph has them, but for the order of sums.
func TestBuild_inputsChannelsLast(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short: it is slow under the race detector, and starts no goroutines of its own")
	}
	all := slices.Concat(cases, fusionCases, recurrentCases, quantizedCases, conversionCases)
	for _, c := range qdqCases {
		all = append(all, testCase{c.name, 0, c.build})
	}
	taken := 0
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			m := newMaker()
			g := m.graph(t, c.build(m)...)
			_, want := compute(t, g, m.in, 2)
			in, nhwc := slices.Clone(m.in), make([]bool, len(m.in))
			for i, v := range g.In {
				if nhwc[i] = TakesNHWC(g.Fact(v).Type); nhwc[i] {
					in[i] = toNHWC(in[i])
					taken++
				}
			}
			if !slices.Contains(nhwc, true) {
				return
			}
			p, got := compute(t, g, in, 2, nhwc...)
			before, _ := compute(t, g, m.in, 1)
			assert.Equal(t, byReference(before), byReference(p), "what is computed by reference")
			for i := range want {
				if want[i].DType == tensor.Float32 && want[i].Quant == nil {
					near(t, want[i], got[i], 2e-5)
				} else {
					equalBits(t, want[i], got[i])
				}
			}
		})
	}
	assert.Greater(t, taken, 150, "inputs")
}

// layouts counts the steps that only change a layout or a representation.
func layouts(p *run.Plan) (n int) {
	for _, s := range p.Steps {
		if s.Node == run.None {
			n++
		}
	}
	return n
}

// TestBuild_nhwcImages: the first convolution reads an image in NHWC as it is, float32 or codes.
func TestBuild_nhwcImages(t *testing.T) {
	for name, c := range map[string]struct {
		build      func(m *maker) graph.Value
		nchw, nhwc int // layout steps for an image in NCHW, and for one in NHWC
	}{
		"many channels": {func(m *maker) graph.Value {
			return m.Add(&op.ReduceMean{}, m.Add(&op.Conv{}, m.input(1, 16, 9, 9), m.weights(24, 3, 3, 16)),
				m.Int64s(2, 3))
		}, 1, 0},
		"codes": {func(m *maker) graph.Value {
			x := m.inputCodes(tensor.T(tensor.Int8, 1, 3, 12, 12))
			d := m.Add(&op.Dequantize{}, x, m.Float32(0.05), m.Const("", tensor.T(tensor.Int8), []byte{3}))
			y := m.qdq(m.Add(&op.Conv{Strides: []int64{2, 2}}, d, m.imageFilter(8, 3, 3, 3)), wide)
			return m.Add(&op.ReduceMean{}, y, m.Int64s(2, 3))
		}, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMaker()
			g := m.graph(t, c.build(m))
			first, want := compute(t, g, m.in, 1)
			last, got := compute(t, g, []tensor.Tensor{toNHWC(m.in[0])}, 1, true)
			near(t, want[0], got[0], 1e-6)
			assert.Equal(t, c.nchw-c.nhwc, layouts(first)-layouts(last))
		})
	}
}

// TestBuild_smallImages reads few channels either way.
func TestBuild_smallImages(t *testing.T) {
	m := newMaker()
	y := m.Add(&op.Conv{Strides: []int64{2, 2}, Pads: []int64{1, 1, 1, 1}}, m.input(2, 3, 17, 15), m.weights(8, 3, 3, 3))
	g := m.graph(t, m.Add(&op.ReduceMean{}, y, m.Int64s(2, 3)))
	first, want := compute(t, g, m.in, 1)
	last, got := compute(t, g, []tensor.Tensor{toNHWC(m.in[0])}, 1, true)
	near(t, want[0], got[0], 1e-6)
	assert.Zero(t, layouts(first))
	assert.Zero(t, layouts(last))
}

// An input that no node reads, that is a result, or that has no elements.
func TestBuild_inputsChannelsLastAtTheEdges(t *testing.T) {
	m := newMaker()
	x, unused := m.input(1, 2, 3, 2), m.inputOf(tensor.Float64, 1, 3, 2)
	empty := m.input(1, 0, 3, 3)
	codes := m.inputCodes(tensor.T(tensor.Uint8, 1, 2, 2, 2))
	g := m.graph(t, x, m.Add(&op.Relu{}, x), codes, m.Add(&op.Relu{}, empty))
	_ = unused
	in := slices.Clone(m.in)
	last := []bool{true, true, true, true}
	for i := range in {
		in[i] = toNHWC(in[i])
	}
	_, got := compute(t, g, in, 1, last...)
	assert.Equal(t, m.in[0].Data, got[0].Data)
	assert.Equal(t, m.in[3].Data, got[2].Data)
	_, err := Build(context.Background(), g, nil, Options{NHWC: []bool{true}})
	require.NoError(t, err, "inputs without an entry are as the graph has them")
}
