package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/stretchr/testify/assert"
)

// corners are an input of regions in and around images of 9 x 12 cells.
func (m *maker) corners(regions int64) graph.Value {
	r := tensor.New(tensor.Float32, regions, 5)
	rnd := rand.New(rand.NewPCG(uint64(regions), 2))
	for i, v := 0, run.Floats(r.Data); i < len(v); i++ {
		if v[i] = rnd.Float32()*20 - 4; i%5 == 0 {
			v[i] = float32(rnd.IntN(2))
		}
	}
	m.in = append(m.in, r)
	return m.Input("", r.Type())
}

func TestBuild_maximaOfRegionsEqualReference(t *testing.T) {
	var cases []testCase
	for _, size := range [][2]int64{{1, 1}, {7, 7}, {2, 5}, {14, 3}} {
		for _, scale := range []float32{0, 0.6} {
			o := &op.MaxRoiPool{Height: size[0], Width: size[1], ScaleHeight: scale, ScaleWidth: scale}
			cases = append(cases, testCase{fmt.Sprintf("%+v", *o), 0, func(m *maker) (out []graph.Value) {
				last := *o
				last.ChannelsLast = true
				for _, c := range []int64{1, 3, 16, 37} {
					out = append(out, m.Add(o, m.special(2, c, 9, 12), m.corners(40)), m.Add(o, m.special(2, c, 9, 12), m.corners(1)),
						m.Add(&last, m.special(2, 9, 12, c), m.corners(11)))
				}
				y := m.Add(&op.Conv{}, m.input(2, 16, 9, 12), m.weights(12, 1, 1, 16))
				return append(out, m.Add(&op.Conv{}, m.Add(o, y, m.corners(5)), m.weights(5, 1, 1, 12)), m.Add(o, y, m.corners(8)))
			}})
		}
	}
	equalsReference(t, cases, func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		assert.Empty(t, byReference(p))
		for k := range want {
			near(t, want[k], got[k], 2e-5)
		}
	})
}
