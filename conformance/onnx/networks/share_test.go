package networks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/internal/profile"
)

const archive = "../../../bench/networks.zip"

func twoThreads() (device.Device, error) { return cpu.New(cpu.Config{Threads: 2}) }

func TestShares_smallNetworks(t *testing.T) {
	for _, name := range []string{"lenet_28", "encoder_256x4_s128"} {
		var out strings.Builder
		bad, err := Shares(&out, archive, name, twoThreads)
		require.NoError(t, err)
		assert.Zero(t, bad, out.String())
		assert.Contains(t, out.String(), "100.00 % of")
		assert.Contains(t, out.String(), ", 0 bytes per run\n")
	}
	var out strings.Builder
	bad, err := Shares(&out, archive, "yolo_heads", twoThreads)
	require.NoError(t, err)
	assert.Zero(t, bad, out.String())
	assert.Equal(t, 2, strings.Count(out.String(), "(100.0 %), 100.00 % of"), out.String())
	assert.Contains(t, out.String(), "yolo_heads_320_qdq, integers ")
	_, err = Shares(&out, archive, "no such network", twoThreads)
	assert.Error(t, err)
	_, err = Shares(&out, "nowhere.zip", "", twoThreads)
	assert.Error(t, err)
}

func TestComplaint_table(t *testing.T) {
	slow := profile.Node{NodeTime: device.NodeTime{Node: 3, Op: "gelu"}, FLOPs: 5}
	part := profile.Share{Nodes: 2, FastNodes: 1, FLOPs: 10, FastFLOPs: 5, Slow: []profile.Node{slow}}
	whole := profile.Share{Nodes: 1, FastNodes: 1, FLOPs: 5, FastFLOPs: 5}
	for _, c := range []struct {
		f    findings
		want string
	}{
		{findings{share: whole}, ""},
		{findings{share: part}, "by reference: operator 3 gelu"},
		{findings{share: whole, bytes: 8}, "a run allocates"},
		{findings{share: profile.Share{Nodes: 2, FastNodes: 1, FLOPs: 5, FastFLOPs: 5, Slow: []profile.Node{slow}}}, ""},
		{findings{share: profile.Share{Nodes: 2, FastNodes: 1, Elements: 7, FastElements: 6, Slow: []profile.Node{slow}}},
			"by reference: operator 3 gelu"},
		{findings{quantized: true, share: profile.Share{Nodes: 2, FastNodes: 1, FLOPs: 5, FastFLOPs: 5,
			Slow: []profile.Node{slow}}}, "by reference: operator 3 gelu"},
		{findings{share: part, bytes: 8}, "by reference: operator 3 gelu; a run allocates"},
	} {
		assert.Equal(t, c.want, c.f.complaint())
	}
}
