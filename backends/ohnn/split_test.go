package ohnn

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/internal/drivertest"
)

// TestSplit_randomGraphs splits the random graphs over the fake driver and the CPU.
func TestSplit_randomGraphs(t *testing.T) {
	f := newFake(t)
	before := f.Live()
	nodes := drivertest.Split(t, f.Device, drivertest.CPU(t))
	assert.Greater(t, nodes["npu"], nodes["cpu"]/2, "nodes of the driver")
	assert.Positive(t, nodes["cpu"])
	assert.Equal(t, before, f.Live())
}

func TestSplit_crossing(t *testing.T) { drivertest.Crossing(t, newFake(t).Device) }
