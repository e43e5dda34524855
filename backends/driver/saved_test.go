package driver

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestGraphProgram_saved: what was saved is read again; a byte changed, cut off or added anywhere is an error of kind
// fault.File, and so is another device's magic.
func TestGraphProgram_saved(t *testing.T) {
	b := graph.NewBuilder("saved")
	b.Output(b.Add(&op.Relu{}, b.Input("x", tensor.T(tensor.Float32, 2, 3))))
	g, err := b.Graph()
	require.NoError(t, err)
	const magic = "ANPUTEST"
	ended := 0
	p := &GraphProgram{}
	p.Hold(device.Unit{Graph: g}, device.Options{Float16: true, Priority: device.PriorityHigh}, func() { ended++ })
	in, out := p.Ports()
	assert.Equal(t, "x", in[0].Name)
	assert.Equal(t, []int64{2, 3}, out[0].Max)
	var saved bytes.Buffer
	require.NoError(t, p.Write(&saved, magic, "npu"))
	data := saved.Bytes()
	u, o, err := read(data, magic, "npu")
	require.NoError(t, err)
	assert.Equal(t, p.Options, o)
	assert.Equal(t, "relu", graph.NameOf(u.Graph.Nodes[0].Op))
	bad := func(data []byte, magic string) {
		t.Helper()
		_, _, err := read(data, magic, "npu")
		assert.Equal(t, fault.File, fault.KindOf(err), "%v", err)
	}
	bad(data, "ANPUOHN1")
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 0x10
		bad(changed, magic)
		bad(data[:i], magic)
	}
	bad(append(bytes.Clone(data), 0), magic)

	p.Options.Unsaved = true
	assert.Equal(t, fault.Unsupported, fault.KindOf(p.Write(&saved, magic, "npu")))
	p.Retain()
	p.Release()
	assert.Zero(t, ended)
	p.Release()
	assert.Equal(t, 1, ended)
	assert.Panics(t, p.Retain)
	assert.Panics(t, func() { p.Release(); p.Release() })
}
