package ohnn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/device/devicetest/toy"
)

func TestDeviceTable_offline(t *testing.T) {
	table := newDeviceTable([]device.Device{toy.New("a")}, guises.Read("x:offline, y"))
	require.Len(t, table.list, 1)
	assert.Equal(t, "y", table.list[0].name)
	table = newDeviceTable([]device.Device{toy.New("a")}, guises.Read("x:offline"))
	assert.Empty(t, table.list)
	assert.Zero(t, table.ids.Addr(), "programs want NULL for no device")
}

// TestGuise_lacksOperator: no other device takes over what a guise lacks.
func TestGuise_lacksOperator(t *testing.T) {
	useDevices(t, deviceList().list[0].Device)
	full := deviceList().list[0].Device
	tableMu.Lock()
	table = newDeviceTable([]device.Device{full}, guises.Read("small:no-ADD:no-cache, full"))
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
