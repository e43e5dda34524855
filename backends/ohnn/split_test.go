package ohnn

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/conformance/graphs"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/internal/drivertest"
)

// TestSplit_randomGraphs splits the random graphs over the fake driver and the CPU.
func TestSplit_randomGraphs(t *testing.T) {
	f := newFake(t)
	before := f.Live()
	nodes := drivertest.Split(t, graphs.Cases, f.Device, drivertest.CPU(t))
	assert.Greater(t, nodes["npu"], nodes["cpu"]/2, "nodes of the driver")
	assert.Positive(t, nodes["cpu"])
	assert.Equal(t, before, f.Live())
}

func TestSplit_crossing(t *testing.T) { drivertest.Crossing(t, newFake(t).Device) }
func TestSplit_small(t *testing.T)    { drivertest.Small(t, newFake(t).Device) }

// TestSplit_failedPart: a part of a graph fails on the driver, then by a run that does not return. The driver takes no
// files, as it keeps what it has of a device that has died.
func TestSplit_failedPart(t *testing.T) {
	newFake(t)
	lookup := func(symbol string) uintptr {
		if symbol == "OH_NNTensor_CreateWithFd" {
			return 0
		}
		return fakeDriver.Lookup(symbol)
	}
	told := make(chan string, 1)
	all, err := Open(Bind(fakeDriver.File, lookup), driver.Config{ID: "npu", Patience: 50 * time.Millisecond,
		Died: func(reason string) { told <- reason }})
	require.NoError(t, err)
	failure := drivertest.At("code Executor_RunSync", 0, drivertest.Word(1),
		"OH_NNExecutor_RunSync: the driver's code is 1")
	(&fake{all[0], fakeDriver}).subject().FailedPart(t, failure, func(run func(device.RunRequest) error) {
		fakeDriver.Block(true)
		defer fakeDriver.Block(false)
		err := run(device.RunRequest{Deadline: time.Now().Add(20 * time.Millisecond)})
		require.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
		require.Contains(t, <-told, "OH_NNExecutor_RunSync did not return within 50ms")
	})
}
