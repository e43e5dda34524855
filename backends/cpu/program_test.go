package cpu

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestProgram_saveAndLoad(t *testing.T) {
	d := newDevice(t, Config{})
	p, err := d.Compile(context.Background(), device.Unit{Graph: chain(t, 2, tensor.Of(2))},
		device.Options{Float16: true, Priority: device.PriorityHigh})
	require.NoError(t, err)
	var saved bytes.Buffer
	require.NoError(t, p.Save(&saved))
	p.Release()
	blob := saved.Bytes()
	p, err = d.Load(context.Background(), bytes.Clone(blob))
	require.NoError(t, err)
	assert.Equal(t, device.Options{Float16: true, Priority: device.PriorityHigh}, p.(*program).options)
	saved.Reset()
	require.NoError(t, p.Save(&saved))
	assert.Equal(t, blob, saved.Bytes())
	e := newExec(t, p, device.ExecOptions{})
	p.Release()
	v := hostView(t, []float32{1, 2}, 2)
	require.NoError(t, e.BindInput(0, v))
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	data, err := e.OutputData(0)
	require.NoError(t, err)
	assert.Equal(t, []float32{3, 4}, floats(t, data))
	e.Release()
	v.Buf.Release()

	for i := range blob {
		bad := bytes.Clone(blob)
		bad[i] ^= 1 << (i % 8)
		_, err := d.Load(context.Background(), bad)
		require.Equal(t, fault.File, fault.KindOf(err), "byte %d: %v", i, err)
		_, err = d.Load(context.Background(), blob[:i])
		require.Equal(t, fault.File, fault.KindOf(err), "cut at %d: %v", i, err)
	}
	other := newDevice(t, Config{})
	other.info.BuildHash = "another build"
	_, err = other.Load(context.Background(), blob)
	assert.ErrorContains(t, err, `this is "another build"`)
}

// A blob with a right checksum around a graph that the device cannot compute.
func TestProgram_loadForeignGraph(t *testing.T) {
	d := newDevice(t, Config{})
	p := &program{dev: d}
	b := graph.NewBuilder("g")
	b.Output(b.Add(&slow{}, b.Input("x", tensor.T(tensor.Float32, 1))))
	g, err := b.Graph()
	require.NoError(t, err)
	p.plan = &refPlan{graph: g}
	var saved bytes.Buffer
	require.NoError(t, p.Save(&saved))
	_, err = d.Load(context.Background(), saved.Bytes())
	assert.Equal(t, fault.File, fault.KindOf(err))
	assert.ErrorContains(t, err, "no kernel")
}
