package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/leak"
	"github.com/anynpu/anynpu/internal/profile"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

const archive = "../../../bench/networks.zip"

func TestRun_smallNetworks(t *testing.T) {
	for _, name := range []string{"lenet_28", "encoder_256x4_s128"} {
		var out strings.Builder
		bad, err := run(archive, name, &out)
		require.NoError(t, err)
		assert.Zero(t, bad, out.String())
		assert.Contains(t, out.String(), "100.00 % of")
		assert.Contains(t, out.String(), ", 0 bytes per run\n")
	}
	var out strings.Builder
	bad, err := run(archive, "yolo_heads", &out)
	require.NoError(t, err)
	assert.Zero(t, bad, out.String())
	assert.Equal(t, 2, strings.Count(out.String(), "(100.0 %), 100.00 % of"), out.String())
	assert.Contains(t, out.String(), "yolo_heads_320_qdq, integers ")
	_, err = run(archive, "no such network", &strings.Builder{})
	assert.Error(t, err)
	_, err = run("nowhere.zip", "", &strings.Builder{})
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
		{findings{quantized: true, share: profile.Share{Nodes: 2, FastNodes: 1, FLOPs: 5, FastFLOPs: 5,
			Slow: []profile.Node{slow}}}, "by reference: operator 3 gelu"},
		{findings{share: part, bytes: 8}, "by reference: operator 3 gelu; a run allocates"},
	} {
		assert.Equal(t, c.want, c.f.complaint())
	}
}
