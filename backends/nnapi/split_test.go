package nnapi

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/graphs"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/drivertest"
)

// TestSplit_randomGraphs splits the random graphs over the devices of the fake driver and the CPU. The second device
// claims everything and fails to compile what it cannot compute: that is another device's then.
func TestSplit_randomGraphs(t *testing.T) {
	f := newFake(t)
	all, err := openFake()
	require.NoError(t, err)
	before := f.Live()
	for _, c := range []struct {
		name  string
		own   []device.Device
		id    string
		least int
	}{{"one device", []device.Device{f.Device}, "npu", 1500},
		{"one that lies", []device.Device{all[1]}, "npu2", 500},
		{"both", []device.Device{f.Device, all[1]}, "npu", 1500}} {
		t.Run(c.name, func(t *testing.T) {
			nodes := drivertest.Split(t, graphs.Cases, append(c.own, drivertest.CPU(t))...)
			if !testing.Short() {
				assert.Greater(t, nodes[c.id], c.least, "nodes of %s", c.id)
			}
			assert.Positive(t, nodes["cpu"])
			assert.Equal(t, before, f.Live())
		})
	}
}

// counted counts how often a device is asked to compile.
type counted struct {
	device.Device
	compiled int
}

func (c *counted) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	c.compiled++
	return c.Device.Compile(ctx, u, o)
}

// TestSplit_liarIsAskedOnce: what a device claims and does not compile is the next one's, and is not tried again.
func TestSplit_liarIsAskedOnce(t *testing.T) {
	f := newFake(t)
	before := f.Live()
	all, err := openFake()
	require.NoError(t, err)
	liar := &counted{Device: all[1]}
	b := graph.NewBuilder("floor")
	b.Output(b.Add(&op.Floor{}, b.Input("x", tensor.T(tensor.Float32, 3, 7))))
	g, err := b.Graph()
	require.NoError(t, err)
	for range 3 {
		p := drivertest.Compile(t, g, liar, drivertest.CPU(t))
		n := p.Placement().Nodes[0]
		assert.Equal(t, "cpu", n.Device)
		require.NotEmpty(t, n.Refused)
		assert.Contains(t, n.Refused[0].Reason,
			"it failed: ANeuralNetworksCompilation_finish: the driver refuses it with code 5")
		p.Release()
	}
	assert.Equal(t, 1, liar.compiled)
	assert.Equal(t, before, f.Live())
}

func TestSplit_crossing(t *testing.T) { drivertest.Crossing(t, newFake(t).Device) }
func TestSplit_small(t *testing.T)    { drivertest.Small(t, newFake(t).Device) }

// TestSplit_failedPart: a part of a graph fails on the driver, then with the answer that its device is dead.
func TestSplit_failedPart(t *testing.T) {
	f := newFake(t)
	before := f.Live()
	lie := func(code uint32, want string) drivertest.Lie {
		return drivertest.At("code Execution_compute", 0, drivertest.Word(code), "ANeuralNetworksExecution_compute: "+want)
	}
	f.subject().FailedPart(t, lie(4, "the driver's code is 4"), func(run func(device.RunRequest) error) {
		f.Lies(t, fault.Device, func() error { return run(device.RunRequest{}) }, nil,
			lie(14, "the driver answers DEAD_OBJECT"))
	})
	assert.Equal(t, before, f.Live())
}
