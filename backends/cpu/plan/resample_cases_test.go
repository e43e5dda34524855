package plan

import (
	"fmt"
	"testing"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/stretchr/testify/assert"
)

// resampleCases resize by all kinds of coordinates, larger and smaller, one dimension and several.
func resampleCases() (cases []testCase) {
	for _, coord := range []op.Coord{op.CoordHalfPixel, op.CoordAsymmetric, op.CoordAlignCorners, op.CoordPytorchHalfPixel,
		op.CoordHalfPixelSymmetric, op.CoordTFHalfPixel, op.CoordHalfPixelClamped} {
		cases = append(cases, testCase{fmt.Sprint("coordinates ", coord), 0, func(m *maker) (out []graph.Value) {
			x, flat := m.special(2, 3, 11, 14), m.special(1, 1, 40, 37)
			for _, o := range []*op.Resize{
				{Mode: op.ResizeCubic}, {Mode: op.ResizeCubic, CubicA: -0.5, ExcludeOutside: true},
				{Mode: op.ResizeCubic, Antialias: true}, {Mode: op.ResizeLinear, Antialias: true},
			} {
				o.Coord = coord
				for _, size := range [][]int64{{2, 3, 22, 28}, {2, 3, 5, 31}, {2, 3, 11, 7}, {2, 3, 1, 1}, {2, 5, 12, 14},
					{3, 1, 11, 13}} {
					out = append(out, m.Add(o, x, graph.None, graph.None, m.Int64s(size...)))
				}
				two := *o
				two.Axes = []int64{1, 2}
				out = append(out, m.Add(&two, x, graph.None, graph.None, m.Int64s(4, 23)),
					m.Add(o, flat, graph.None, graph.None, m.Int64s(1, 1, 9, 90)),
					m.Add(o, m.special(2, 9, 30), graph.None, graph.None, m.Int64s(2, 9, 71)),
					m.Add(o, m.special(1, 2, 6, 5, 7), graph.None, graph.None, m.Int64s(1, 2, 9, 10, 3)),
					m.Add(o, m.special(17), graph.None, graph.None, m.Int64s(50)))
			}
			linear := &op.Resize{Mode: op.ResizeLinear, Coord: coord}
			return append(out, m.Add(linear, m.special(1, 2, 6, 5, 7), graph.None, graph.None, m.Int64s(1, 2, 9, 10, 3)),
				m.Add(linear, m.special(4, 9), graph.None, graph.None, m.Int64s(9, 4)))
		}})
	}
	return append(cases, testCase{"scales", 0, func(m *maker) []graph.Value {
		scales := m.Const("", tensor.T(tensor.Float32, 4), tensor.Float32s(1, 1, 2, 2.5))
		o := &op.Resize{Mode: op.ResizeCubic}
		return []graph.Value{m.Add(o, m.input(1, 3, 90, 120), graph.None, scales),
			m.Add(o, m.input(1, 1, 9, 9001), graph.None, scales)}
	}})
}

func TestBuild_resamplingEqualsReference(t *testing.T) {
	equalsReference(t, resampleCases(), func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		assert.Empty(t, byReference(p))
		for k := range want {
			t.Logf("output %d", k)
			near(t, want[k], got[k], 2e-5)
		}
	})
}

func TestState_resamplingAllocatesNothing(t *testing.T) {
	for _, c := range resampleCases()[:1] {
		m := newMaker()
		m.allocatesNothing(t, c.name, m.graph(t, c.build(m)...))
	}
}
