package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/stretchr/testify/assert"
)

// points are an input of coordinates in and around an image, on cells and between them, with odd numbers.
func (m *maker) points(batches, rows, cols int64) graph.Value {
	g := tensor.New(tensor.Float32, batches, rows, cols, 2)
	rnd := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), -1, 1, 0, 1e30, -3e9}
	for i, v := 0, run.Floats(g.Data); i < len(v); i++ {
		switch v[i] = rnd.Float32()*2.6 - 1.3; rnd.IntN(12) {
		case 0:
			v[i] = odd[rnd.IntN(len(odd))]
		case 1:
			v[i] = float32(rnd.IntN(17)-8) / 8
		}
	}
	m.in = append(m.in, g)
	return m.Input("", g.Type())
}

// sampleCases read images of few and many channels, in both orders, behind nothing and behind a convolution.
func sampleCases() (cases []testCase) {
	for _, mode := range []op.ResizeMode{op.ResizeNearest, op.ResizeLinear, op.ResizeCubic} {
		for _, padding := range []op.GridPadding{op.GridZeros, op.GridBorder, op.GridReflection} {
			for _, corners := range []bool{false, true} {
				o := &op.GridSample{Mode: mode, Padding: padding, AlignCorners: corners}
				cases = append(cases, testCase{fmt.Sprintf("%+v", *o), 0, func(m *maker) (out []graph.Value) {
					for _, c := range []int64{1, 3, 8, 35} {
						out = append(out, m.Add(o, m.special(2, c, 7, 9), m.points(2, 9, 15)),
							m.Add(o, m.special(1, c, 1, 5), m.points(1, 3, 5)), m.Add(o, m.special(1, c, 6, 1), m.points(1, 64, 2)))
					}
					y := m.Add(o, m.Add(&op.Conv{}, m.input(1, 16, 8, 9), m.weights(12, 1, 1, 16)), m.points(1, 8, 9))
					out = append(out, m.Add(o, m.special(1, 2, 7, 9), m.points(1, 50, 61)),
						m.Add(&op.Conv{}, y, m.weights(5, 1, 1, 12)))
					if mode == op.ResizeCubic {
						return out
					}
					last := *o
					last.ChannelsLast = true
					for _, c := range []int64{1, 3, 20} {
						out = append(out, m.Add(&last, m.special(2, 7, 9, c), m.points(2, 9, 15)))
					}
					return out
				}})
			}
		}
	}
	return cases
}

func TestBuild_samplingEqualsReference(t *testing.T) {
	equalsReference(t, sampleCases(), func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		assert.Empty(t, byReference(p))
		for k := range want {
			near(t, want[k], got[k], 2e-5)
		}
	})
}

func TestState_samplingAllocatesNothing(t *testing.T) {
	for _, c := range sampleCases() {
		m := newMaker()
		m.allocatesNothing(t, c.name, m.graph(t, c.build(m)...))
	}
}
