package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCompare_theFastestPeerCounts(t *testing.T) {
	c, log := engines(t, oneHalf, oneHalf)
	addPeer(t, &c, "quick", log, oneHalf)
	c.settings.Threads = []int{1}
	var out bytes.Buffer
	r, err := c.compare(models(t), []string{"net"}, &out)
	require.NoError(t, err)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	var turns []string
	for line := range strings.Lines(string(text)) {
		turns = append(turns, strings.Fields(line)[0])
	}
	assert.Equal(t, strings.Fields("ours peer quick peer quick ours quick ours peer"), turns)
	x := r.Results[0]
	assert.Equal(t, "quick", x.Peer)
	assert.InDelta(t, 0.5, x.Ratio, 1e-12)
	require.Len(t, x.Peers, 2)
	assert.InDelta(t, 1.5, x.Peers[0].Ratio, 1e-12)
	assert.Equal(t, x.ORT, x.Peers[0].Figure)
	assert.InDelta(t, 1, x.Peers[1].BestMS, 1e-12)
	assert.Equal(t, map[string]string{"anynpu": "9", "onnxruntime": "9", "quick": "9"}, r.Engines)
	s := r.Summaries[0]
	assert.InDelta(t, 0.5, s.Ratio, 1e-12)
	assert.InDeltaMapValues(t, map[string]float64{"onnxruntime": 1.5, "quick": 0.5}, s.Peers, 1e-12)
	assert.Equal(t, "net", s.Network)
	assert.Contains(t, out.String(), "lowest 0.500 net; ONNX Runtime 1.500; quick 0.500")
}

func TestCompare_peersThatFailOrAreWrongHaveNoFigures(t *testing.T) {
	c, log := engines(t, oneHalf, oneHalf)
	addPeer(t, &c, "wrong", log, `\000\000\200\077`)
	require.NoError(t, c.addPeers("lame="+script(t, "lame", "echo no such layer >&2; exit 1")+",dead="+
		script(t, "dead", "kill -SEGV $$")))
	c.settings.Threads, c.settings.Rounds = []int{1}, 2
	var out bytes.Buffer
	r, err := c.compare(models(t), []string{"net"}, &out)
	require.NoError(t, err)
	assert.Zero(t, r.failures())
	x := r.Results[0]
	assert.Equal(t, "onnxruntime", x.Peer)
	assert.InDelta(t, 1.5, x.Ratio, 1e-12)
	require.Len(t, x.Peers, 4)
	says := []string{"", "wrong: outputs differ by 1 of", "lame: exit status 1: no such layer", "dead: signal: "}
	for i, says := range says {
		p := x.Peers[i]
		assert.Contains(t, p.Reason, says)
		assert.Equal(t, i == 0, p.Runs > 0 && p.Ratio > 0, p.Name)
	}
	assert.Len(t, r.Engines, 3, "those that have run")
	assert.Contains(t, out.String(), "no such layer")
}

func TestTolerance_byFormat(t *testing.T) {
	for format, want := range map[string]float64{"fp32": 1e-3, "fp16": 2e-2, "int8-qdq": 0.1} {
		assert.Equal(t, want, tolerance(&network{Format: format}), format)
	}
}

func TestSummarize_aSetForEachFormat(t *testing.T) {
	r := Report{Settings: Settings{Threads: []int{1}}}
	for _, format := range []string{"fp32", "fp16", "int8-qdq"} {
		r.Results = append(r.Results, Result{Network: format, Format: format, Threads: 1, Ratio: 1})
	}
	r.summarize()
	var got []string
	for _, s := range r.Summaries {
		got = append(got, s.Set+": "+s.Network)
	}
	assert.Equal(t, []string{"float32 networks" + fastest + ": fp32", "float16 networks" + fastest + ": fp16",
		"int8 networks" + fastest + ": int8-qdq"}, got)
}

func TestAddPeers_list(t *testing.T) {
	c := comparison{engines: []engine{{name: "anynpu"}}}
	require.NoError(t, c.addPeers(""))
	require.NoError(t, c.addPeers(" a=python a.py, b=b,"))
	assert.Equal(t, []engine{{name: "anynpu"}, {"a", []string{"python", "a.py"}}, {"b", []string{"b"}}}, c.engines)
	for _, list := range []string{"c", "c=", "=c", "a=again", "anynpu=x", "../c=x"} {
		assert.Error(t, c.addPeers(list), list)
	}
}
