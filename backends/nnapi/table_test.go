package nnapi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/internal/drivertest"
)

func api(t *testing.T) dl.API {
	a, ok := dl.Find("nnapi")
	require.True(t, ok)
	return a
}

// functions are the entries of a driver's table.
func functions(t *testing.T, d *drivertest.Driver) (lookup func(symbol string) uintptr, err error) {
	lookup, table, err := driver.Opening{}.Functions(d.Opened, api(t))
	require.True(t, table)
	return lookup, err
}

// TestTable_order: each function is where the vendor's struct has it, which C knows by its fields.
func TestTable_order(t *testing.T) {
	fakeTable.Need(t)
	a := api(t)
	lookup, table, err := driver.Opening{}.Functions(fakeTable.Opened, a)
	require.NoError(t, err)
	assert.False(t, table, "it exports its functions")
	assert.Equal(t, fakeTable.Lookup("ANeuralNetworksModel_create"), lookup("ANeuralNetworksModel_create"))

	a.Required = []string{"ANeuralNetworksModel_none"}
	lookup, table, err = driver.Opening{}.Functions(fakeTable.Opened, a)
	require.NoError(t, err)
	require.True(t, table)
	there := 0
	for _, s := range a.Table.Symbols {
		assert.Equal(t, fakeTable.Lookup(s), lookup(s), s)
		if lookup(s) != 0 {
			there++
		}
	}
	assert.Equal(t, 106-33, there, "all but those with SL_")
	for _, s := range []string{"ANeuralNetworksCompilation_create", "ANeuralNetworksExecution_startCompute"} {
		assert.NotZero(t, fakeTable.Lookup(s))
		assert.Zero(t, lookup(s), "it is in no table")
	}
}

// TestTable_isADevice with all that it has: graphs, bursts, fences.
func TestTable_isADevice(t *testing.T) {
	fakeLibrary.Need(t)
	require.Zero(t, fakeLibrary.Lookup("ANeuralNetworksModel_create"))
	before := fakeLibrary.Live()
	lookup, err := functions(t, fakeLibrary)
	require.NoError(t, err)
	all, err := Open(Bind(fakeLibrary.File, lookup), driver.Config{ID: "npu"})
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.NoError(t, drivertest.OnceSum(all[0]))
	p := drivertest.Subject{Device: all[0], Life: all[0].Life, Driver: fakeLibrary}.Program(t)
	assert.True(t, device.TakesFences(p))
	e := drivertest.Execution(t, p)
	p.Release()
	var b device.Burst
	runs(t, e, &b, 2)
	assert.EqualValues(t, 2, fakeLibrary.Count("computed in a burst"))
	b.End()
	e.Release()
	assert.Equal(t, before, fakeLibrary.Live())
}

// TestTable_levels: the level says how long the table is.
func TestTable_levels(t *testing.T) {
	fakeLibrary.Need(t)
	defer fakeLibrary.Honest()
	const last = "ANeuralNetworksExecution_addExtensionAttribute"
	for level, long := range map[uint64]bool{31: false, 1_000_006: false, 1_000_007: false, 1_000_008: true,
		1_000_009: true, 2_000_000: true} {
		fakeLibrary.Lie("table's content", 0, drivertest.Long(level))
		lookup, err := functions(t, fakeLibrary)
		require.NoError(t, err, level)
		assert.NotZero(t, lookup("ANeuralNetworks_getRuntimeFeatureLevel"))
		assert.Equal(t, long, lookup(last) != 0, level)
		fakeLibrary.Honest()
	}
	for _, level := range []uint64{0, 8, 30, 32, 1_000_005, 1 << 63} {
		fakeLibrary.Lie("table's content", 0, drivertest.Long(level))
		_, err := functions(t, fakeLibrary)
		assert.Equal(t, fault.File, fault.KindOf(err), "%v", err)
		assert.ErrorContains(t, err, "libdriver.so: the table of ANeuralNetworks_getSLDriverImpl has the level ")
		fakeLibrary.Honest()
	}
}

// TestTable_damaged: what cannot be used is an error that says so; what a device can do without is missing.
func TestTable_damaged(t *testing.T) {
	fakeLibrary.Need(t)
	defer fakeLibrary.Honest()
	const model, burst = 8 + 53*8, 8 // where the struct has Model_create and Burst_create
	for want, lie := range map[string]drivertest.Lie{
		"ANeuralNetworks_getSLDriverImpl gives no table": {What: "table", Data: drivertest.Long(0)},
		"cannot be read": {What: "table", Data: drivertest.Nowhere},
		"the table of ANeuralNetworks_getSLDriverImpl lacks ANeuralNetworksModel_create": {What: "table's content",
			Offset: model, Data: drivertest.Long(0)},
	} {
		fakeLibrary.Lie(lie.What, lie.Offset, lie.Data)
		_, err := functions(t, fakeLibrary)
		assert.Equal(t, fault.File, fault.KindOf(err), "%v", err)
		assert.ErrorContains(t, err, want)
		fakeLibrary.Honest()
	}
	fakeLibrary.Lie("table's content", burst, drivertest.Long(0))
	lookup, err := functions(t, fakeLibrary)
	fakeLibrary.Honest()
	require.NoError(t, err)
	l := Bind(fakeLibrary.File, lookup)
	assert.Contains(t, l.Missing(), "ANeuralNetworksBurst_create")
	all, err := Open(l, driver.Config{ID: "npu"})
	require.NoError(t, err)
	require.NoError(t, drivertest.OnceSum(all[0]))
}
