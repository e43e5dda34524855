package cpu

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestRank_ordersPriorities(t *testing.T) {
	assert.Less(t, rank(device.PriorityLow), rank(device.PriorityMedium))
	assert.Less(t, rank(device.PriorityMedium), rank(device.PriorityHigh))
	assert.Equal(t, rank(device.PriorityMedium), rank(device.PriorityDefault))
	assert.Less(t, rank(device.PriorityLowest), rank(device.PriorityLow))
	assert.Equal(t, rank(device.PriorityMedium), rank(device.PriorityLowest+1))
}

func TestDevice_supportAndCompile(t *testing.T) {
	b := graph.NewBuilder("g")
	x := b.Input("x", tensor.T(tensor.Float32, 1))
	b.SetOrigin(4, "")
	b.Output(b.Add(&slow{}, b.Add(&op.Add{}, x, x)))
	g, err := b.Graph()
	require.NoError(t, err)
	d := newDevice(t, Config{})
	s, err := d.Support(g, device.Options{})
	require.NoError(t, err)
	assert.Equal(t, []device.NodeSupport{{OK: true, Cost: 1}, {Reason: "no kernel for test.slow"}}, s)
	_, err = d.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
	assert.Equal(t, fault.Unsupported, fault.KindOf(err))
	assert.ErrorContains(t, err, "operator 4 (test.slow): no kernel")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = d.Compile(ctx, device.Unit{Graph: g}, device.Options{})
	assert.Equal(t, fault.Canceled, fault.KindOf(err))
	_, err = New(Config{DimMin: 3, DimMax: 2})
	assert.Equal(t, fault.Argument, fault.KindOf(err))
}

// TestDevice_costs orders operators by their work: a product of 256 x 256 matrices adds 256 products per element, a sum
// of such matrices looks at three elements.
func TestDevice_costs(t *testing.T) {
	b := graph.NewBuilder("g")
	x, y := b.Input("x", tensor.T(tensor.Float32, 256, 256)), b.Input("y", tensor.T(tensor.Float32, 256, 256))
	b.Output(b.Add(&op.Add{}, x, y), b.Add(&op.MatMul{}, x, y), b.Add(&op.Relu{}, x))
	g, err := b.Graph()
	require.NoError(t, err)
	one, four := newDevice(t, Config{Threads: 1}), newDevice(t, Config{Threads: 4})
	s, err := one.Support(g, device.Options{})
	require.NoError(t, err)
	assert.InDelta(t, 259./3, float64(s[1].Cost)/float64(s[0].Cost), 0.1)
	assert.Less(t, s[2].Cost, s[0].Cost)
	quicker, err := four.Support(g, device.Options{})
	require.NoError(t, err)
	assert.InDelta(t, 4, float64(s[1].Cost)/float64(quicker[1].Cost), 0.1)
}
