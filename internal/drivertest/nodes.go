package drivertest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op/opcase"
	"github.com/anynpu/anynpu/core/tensor"
)

// Nodes compares nodes on a device, which has all of them, with the results of the CPU. There must be one of each
// operator that is in left.
func Nodes(t *testing.T, own device.Device, nodes []opcase.Case, left map[string]bool) {
	host := CPU(t)
	for _, n := range nodes {
		name := graph.NameOf(n.Op)
		delete(left, name)
		g, given, err := n.Graph()
		require.NoError(t, err, name)
		both, alone := Compile(t, g, own, host), Compile(t, g, host)
		for _, n := range both.Placement().Nodes {
			assert.Equal(t, own.Info().ID, n.Device, "%s: %s", name, n.String())
		}
		near(t, name, Results(t, alone, given), Results(t, both, given))
		both.Release()
		alone.Release()
	}
	assert.Empty(t, left, "operators without a case")
}

// near compares results. The CPU may sum in another order where the library has fused what it was given.
func near(t *testing.T, name string, want, got []tensor.Tensor) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Dims, got[i].Dims, name)
		require.Equal(t, want[i].DType, got[i].DType, name)
		if want[i].DType != tensor.Float32 {
			assert.Equal(t, want[i].Data, got[i].Data, name)
			continue
		}
		w, g := floats(t, want[i].Data), floats(t, got[i].Data)
		for k := range w {
			if math.Float32bits(w[k]) != math.Float32bits(g[k]) && !(math.Abs(float64(w[k]-g[k])) <= 1e-5) {
				assert.Fail(t, name, "element %d: want %v, got %v", k, w[k], g[k])
				break
			}
		}
	}
}

func floats(t *testing.T, data []byte) []float32 {
	v, err := tensor.ReadFloat32s(data, len(data)/4)
	require.NoError(t, err)
	return v
}

// Reason is a node with one input, and what stands against it on a device; "" is one that the device computes.
type Reason struct {
	Op   graph.Op
	In   tensor.Type
	Want string
}

// Says is a Reason.
func Says(o graph.Op, in tensor.Type, want string) Reason { return Reason{o, in, want} }

// Reasons checks what a device says of nodes: sentences that name what stands against them.
func (s Subject) Reasons(t *testing.T, reasons ...Reason) {
	before := s.Driver.Live()
	for _, r := range reasons {
		b := graph.NewBuilder("one")
		b.Output(b.Add(r.Op, b.Input("x", r.In)))
		g, err := b.Graph()
		require.NoError(t, err, r.Want)
		answers, err := s.Device.Support(g, device.Options{})
		require.NoError(t, err)
		assert.Equal(t, r.Want == "", answers[0].OK, "%v: %s", r.In, answers[0].Reason)
		assert.Contains(t, answers[0].Reason, r.Want)
		assert.Equal(t, before, s.Driver.Live())
	}
}

// Refused is a node and what stands against it on a device.
type Refused struct {
	Node opcase.Case
	Want string
}

// Refuses is Reasons for nodes of any inputs.
func (s Subject) Refuses(t *testing.T, list ...Refused) {
	before := s.Driver.Live()
	for _, r := range list {
		g, _, err := r.Node.Graph()
		require.NoError(t, err, r.Want)
		answers, err := s.Device.Support(g, device.Options{})
		require.NoError(t, err)
		assert.False(t, answers[0].OK, r.Want)
		assert.Contains(t, answers[0].Reason, r.Want)
		assert.Equal(t, before, s.Driver.Live())
	}
}
