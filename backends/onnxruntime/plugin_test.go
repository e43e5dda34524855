package onnxruntime

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// opened opens a provider as a manifest of its own does, made devices after the first.
func opened(t *testing.T, made int, p Provider) (*Device, error) {
	c := Config{}
	c.ID, c.Name, c.Made = "onnxruntime", "test", made
	devices, failed, err := Open(bind(t, newest(t)), c, []Provider{p})
	require.NoError(t, err)
	if len(failed) > 0 {
		return nil, failed[0].Err
	}
	require.Len(t, devices, 1)
	return devices[0], nil
}

// TestOpen_pluginWithTwoSetsOfOptions: one plug-in, named by two manifests, is two devices, each with its own options,
// and is registered once. Another file gets no device under its name.
func TestOpen_pluginWithTwoSetsOfOptions(t *testing.T) {
	p := Provider{Name: "TwoSets", Plugin: file(t, "onnxruntime_qnn/onnxruntime_qnn/libonnxruntime_providers_qnn.so"),
		Options: map[string]string{"backend_type": "htp"}}
	first, err := opened(t, 0, p)
	require.NoError(t, err)
	p.Options = map[string]string{"backend_type": "htp", "htp_performance_mode": "burst"}
	second, err := opened(t, 1, p)
	require.NoError(t, err)
	assert.Equal(t, "onnxruntime", first.Info().ID)
	assert.Equal(t, "onnxruntime2", second.Info().ID)
	assert.NotEqual(t, first.Info().BuildHash, second.Info().BuildHash)
	assert.Equal(t, first.provider.devices, second.provider.devices)
	l := bind(t, newest(t))
	assert.Equal(t, 2, l.plugins["TwoSets"].uses)
	for _, d := range []*Device{first, second} {
		e, out := bound(t, d, products(t, 2, 16), 2)
		require.NoError(t, run(e, time.Time{}))
		data, _ := out.Map()
		assert.EqualValues(t, 4, mem.Elements[float32](data)[0])
		e.Release()
		out.Release()
	}
	p.Options = map[string]string{"backend_type": "cpu"} // a file that the package does not have
	third, err := opened(t, 2, p)
	require.NoError(t, err)
	_, err = third.Compile(context.Background(), device.Unit{Graph: products(t, 2, 16)}, device.Options{})
	assert.Equal(t, fault.Unsupported, fault.KindOf(err), "%v", err)
	supports(t, first, func(b *graph.Builder) graph.Value {
		return b.Add(&op.Relu{}, b.Input("x", tensor.T(tensor.Float32, 1, 4)))
	}, "")
	other := cLibrary(t, noFactory)
	_, err = opened(t, 2, Provider{Name: "TwoSets", Plugin: other})
	assert.ErrorContains(t, err, "the name TwoSets is already registered, for the plug-in "+p.Plugin)
	p.Options = map[string]string{"backend_type": "htp"}
	again, err := opened(t, 3, p)
	require.NoError(t, err)
	assert.Equal(t, "onnxruntime4", again.Info().ID)
}

// TestOpen_nameOfPluginWithoutDevice: a plug-in of which no device was made does not keep its name from another.
func TestOpen_nameOfPluginWithoutDevice(t *testing.T) {
	l := bind(t, newest(t))
	for range 2 {
		p := Provider{Name: "Freed", Plugin: cLibrary(t, noFactory)}
		for range 2 {
			_, err := opened(t, 0, p)
			require.ErrorContains(t, err, "offers no device on this machine")
			assert.Equal(t, &plugin{file: p.Plugin}, l.plugins["Freed"])
		}
	}
	d, err := opened(t, 0, Provider{Name: "Freed", Plugin: file(t,
		"onnxruntime_qnn/onnxruntime_qnn/libonnxruntime_providers_qnn.so"),
		Options: map[string]string{"backend_type": "htp"}})
	require.NoError(t, err)
	assert.Equal(t, 1, d.provider.plugin.uses)
}
