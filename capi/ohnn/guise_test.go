package ohnn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/device/devicetest/toy"
)

func TestReadGuises_attributes(t *testing.T) {
	full := device.Info{Kind: device.CPU, Float16: device.Accepts, Performance: device.Honours, Priority: true,
		Cache: true, Dynamic: true, DimMin: 1, DimMax: 9}
	for text, want := range map[string]func(*device.Info){
		"n":                      func(*device.Info) {},
		"n:no-float16":           func(i *device.Info) { i.Float16 = device.Lacks },
		"n:no-performance":       func(i *device.Info) { i.Performance = device.Lacks },
		" n : no-priority ":      func(i *device.Info) { i.Priority = false },
		"n:no-cache:no-dynamic,": func(i *device.Info) { i.Cache, i.Dynamic = false, false },
		"n:no-ranges":            func(i *device.Info) { i.DimMin, i.DimMax = 0, 0 },
		"n:as-gpu":               func(i *device.Info) { i.Kind = device.GPU },
		"n:as-accelerator":       func(i *device.Info) { i.Kind = device.Accelerator },
		"n:as-other":             func(i *device.Info) { i.Kind = device.Other },
		"n:no-such:no-:relu:":    func(*device.Info) {},
	} {
		got := readGuises(text)
		require.Len(t, got, 1, text)
		info, expected := full, full
		for _, f := range got[0].hide {
			f(&info)
		}
		want(&expected)
		assert.Equal(t, expected, info, text)
		assert.Equal(t, "n", got[0].name)
		assert.Empty(t, got[0].operators, text)
	}
	g, bad := readGuise("a:no-RELU:no-relu:no-ADD:offline:no-cash")
	assert.Equal(t, []string{"RELU", "ADD"}, g.operators)
	assert.Equal(t, []string{"no-relu", "no-cash"}, bad)
	assert.True(t, g.offline)
}

func TestDeviceTable_offline(t *testing.T) {
	table := newDeviceTable([]device.Device{toy.New("a")}, readGuises("x:offline, y"))
	require.Len(t, table.list, 1)
	assert.Equal(t, "y", table.list[0].name)
	table = newDeviceTable([]device.Device{toy.New("a")}, readGuises("x:offline"))
	assert.Empty(t, table.list)
	assert.Zero(t, table.ids.Addr(), "programs want NULL for no device")
}

// TestGuise_lacksOperator: no other device takes over what a guise lacks.
func TestGuise_lacksOperator(t *testing.T) {
	useDevices(t, deviceList().list[0].Device)
	full := deviceList().list[0].Device
	tableMu.Lock()
	table = newDeviceTable([]device.Device{full}, readGuises("small:no-ADD:no-cache, full"))
	tableMu.Unlock()
	c := addCompilation(t)
	flags, err := c.model.support(deviceList().list[0])
	require.NoError(t, err)
	assert.Equal(t, []bool{false}, flags)
	assert.Equal(t, Failed, status(compilationBuild(c)))
	c = addCompilation(t)
	require.NoError(t, compilationSetDevice(c, deviceList().list[1].id))
	require.NoError(t, compilationBuild(c))
}
