package plan

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/stretchr/testify/assert"
)

// boxes are inputs: boxes that often overlap, with some of no area, turned around and with odd numbers, and scores,
// some of them equal.
func (m *maker) boxes(batches, classes, n int) (boxes, scores graph.Value) {
	rnd := rand.New(rand.NewPCG(uint64(n), uint64(classes)))
	b, s := tensor.New(tensor.Float32, int64(batches), int64(n), 4), tensor.New(tensor.Float32, int64(batches),
		int64(classes), int64(n))
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)),
		math.MaxFloat32}
	for i, v := 0, run.Floats(b.Data); i < len(v); i++ {
		if v[i] = float32(rnd.IntN(40)) / 8; rnd.IntN(50) == 0 {
			v[i] = odd[rnd.IntN(len(odd))]
		}
	}
	for i, v := 0, run.Floats(s.Data); i < len(v); i++ {
		if v[i] = rnd.Float32() - 0.5; i%5 == 0 {
			v[i] = float32(rnd.IntN(9)-4) / 8
		}
		if rnd.IntN(30) == 0 {
			v[i] = odd[rnd.IntN(len(odd))]
		}
	}
	m.in = append(m.in, b, s)
	return m.Input("", b.Type()), m.Input("", s.Type())
}

func TestBuild_suppressionEqualsReference(t *testing.T) {
	var cases []testCase
	for _, size := range [][3]int{{1, 1, 1}, {2, 3, 17}, {1, 2, 24}, {1, 3, 25}, {3, 2, 64}, {1, 4, 300}, {2, 1, 1000}} {
		cases = append(cases, testCase{fmt.Sprint(size), 0, func(m *maker) (out []graph.Value) {
			for _, o := range []*op.NonMaxSuppression{{}, {CenterBox: true}, {To: tensor.Int32}} {
				b, s := m.boxes(size[0], size[1], size[2])
				out = append(out, m.Add(o, b, s), m.Add(o, b, s, m.Int64s(0)), m.Add(o, b, s, m.Int64s(7)),
					m.Add(o, b, s, m.Int64s(1<<40), m.Float32(0.5)), m.Add(o, b, s, m.Int64s(-3), m.Float32(0.5)),
					m.Add(o, b, s, m.scalar(tensor.Int32, 100), m.Float32(0.25), m.Float32(0.1)),
					m.Add(o, b, s, m.Int64s(1000), m.Float32(1), m.Float32(-0.2)),
					m.Add(o, b, s, m.Int64s(1000), m.Float32(0)), m.Add(o, b, s, m.Int64s(50), graph.None, m.Float32(0)),
					m.Add(o, b, s, m.Int64s(50), graph.None, m.Float32(float32(math.NaN()))),
					m.Add(o, b, s, m.Int64s(50), m.Float32(0.3), m.Float32(float32(math.Inf(-1)))),
					m.Add(o, b, m.Add(&op.Clip{}, s, m.Float32(0.001), m.Float32(0.0011)), m.Int64s(50), m.Float32(0.3)))
			}
			return out
		}})
	}
	equalsReference(t, cases, func(t *testing.T, c testCase, p *run.Plan, want, got []tensor.Tensor) {
		assert.Empty(t, byReference(p))
		for k := range want {
			assert.Equal(t, want[k].Dims, got[k].Dims, "output %d", k)
			assert.True(t, bytes.Equal(want[k].Data, got[k].Data), "output %d", k)
		}
	})
}

func TestState_suppressionAllocatesNothing(t *testing.T) {
	m := newMaker()
	b, s := m.boxes(1, 3, 100)
	m.allocatesNothing(t, "suppression", m.graph(t, m.Add(&op.NonMaxSuppression{}, b, s, m.Int64s(20), m.Float32(0.5))))
}

// A limit outside [0, 1] fails the run, one of the run's inputs too.
func TestState_suppressionLimit(t *testing.T) {
	for _, limit := range []float32{-0.1, 1.5, float32(math.NaN()), float32(math.Inf(1))} {
		m := newMaker()
		b, s := m.boxes(1, 3, 40)
		in := tensor.New(tensor.Float32)
		run.Floats(in.Data)[0] = limit
		m.in = append(m.in, in)
		g := m.graph(t, m.Add(&op.NonMaxSuppression{}, b, s, m.Int64s(20), m.Input("", in.Type())))
		state, release := stateOf(t, g)
		_, err := runOnce(state, m.in, false)
		assert.Equal(t, fault.Data, fault.KindOf(err), "%v: %v", limit, err)
		run.Floats(in.Data)[0] = 0.5
		_, err = runOnce(state, m.in, false)
		assert.NoError(t, err)
		release()
	}
}
