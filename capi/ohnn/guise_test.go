package ohnn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/core/graph"
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

// without is a device that computes nothing.
type without struct{ device.Device }

func (without) Support(g *graph.Graph, _ device.Options) ([]device.NodeSupport, error) {
	return make([]device.NodeSupport, len(g.Nodes)), nil
}

// TestModel_supportByOthers: an operation that the build leaves to another device is available, unless there is to be
// no other device.
func TestModel_supportByOthers(t *testing.T) {
	useDevices(t, without{toy.New("a")}, toy.New("b"))
	c := addCompilation(t)
	flags, err := c.model.support(deviceList().list[0])
	require.NoError(t, err)
	assert.Equal(t, []bool{true}, flags)
	require.NoError(t, compilationBuild(c))
	assert.Contains(t, string(c.Placement()), `"device":"b"`)

	withSettings(t, func(s *config) { s.strict = true })
	c = addCompilation(t)
	flags, err = c.model.support(deviceList().list[0])
	require.NoError(t, err)
	assert.Equal(t, []bool{false}, flags)
	assert.Equal(t, Failed, status(compilationBuild(c)))
}
