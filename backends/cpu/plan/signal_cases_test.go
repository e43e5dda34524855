package plan

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// number1 is an input of one number of float32.
func (m *maker) number1(v float32) graph.Value {
	m.in = append(m.in, tensor.Tensor{DType: tensor.Float32, Data: mem.Bytes([]float32{v})})
	return m.Input("", tensor.T(tensor.Float32))
}

// melCases are weights of mel bands: many bands of few bins, edges on bins, and limits in the wrong order.
var melCases = []testCase{{"mel bands", 0, func(m *maker) (out []graph.Value) {
	for _, c := range []struct {
		bands, length, rate int64
		low, high           float32
	}{
		{80, 512, 16000, 0, 8000}, {8, 16, 8000, 20, 3000}, {100, 64, 16000, 0, 7000}, {40, 2048, 44100, 100, 20000},
		{3, 1399, 1400, 7, 690}, {12, 400, 16000, 4000, 100}, {1, 512, 16000, 0, 0}, {128, 4096, 700, 0, 340},
	} {
		of := func(n int64) graph.Value { return m.scalar(tensor.Int64, n) }
		out = append(out, m.Add(&op.MelWeightMatrix{}, of(c.bands), of(c.length), of(c.rate), m.number1(c.low),
			m.number1(c.high)))
	}
	return out
}}}

func TestBuild_melBandsAreTheReferences(t *testing.T) {
	equalsReference(t, melCases, func(t *testing.T, _ testCase, p *run.Plan, want, got []tensor.Tensor) {
		assert.Empty(t, byReference(p))
		for i := range want {
			require.Equal(t, want[i].Type(), got[i].Type())
			require.Equal(t, mem.Elements[float32](want[i].Data), mem.Elements[float32](got[i].Data), "bands %d", i)
		}
	})
}

// Edges outside of the spectrum fail the run as they fail the reference.
func TestBuild_melBandsOutsideOfTheSpectrum(t *testing.T) {
	m := newMaker()
	g := m.graph(t, m.Add(&op.MelWeightMatrix{}, m.scalar(tensor.Int64, 8), m.scalar(tensor.Int64, 64),
		m.scalar(tensor.Int64, 16000), m.number1(0), m.number1(12000)))
	s, release := stateOf(t, g)
	defer release()
	_, want := ref.Run(context.Background(), g, m.in)
	require.ErrorContains(t, want, "band edge 9 lies in bin ")
	_, err := runOnce(s, m.in, false)
	require.Equal(t, fault.KindOf(want), fault.KindOf(err))
	require.ErrorContains(t, err, want.Error()[strings.Index(want.Error(), "band edge"):])
}
