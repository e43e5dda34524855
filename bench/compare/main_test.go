package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// script writes an executable shell script.
func script(t *testing.T, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\nset -e\n"+text), 0o700))
	return path
}

// models makes a folder with a models.json.
func models(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "models.json"),
		[]byte(`{"matmul_small": {"format": "fp32", "macs": 1000000},
		"net": {"format": "fp32", "macs": 2000000}, "tiny": {"format": "fp32", "macs": 10},
		"net_f16": {"format": "fp16", "macs": 2000000}, "net_qdq": {"format": "int8-qdq", "macs": 2000000}}`), 0o600))
	return dir
}

// engines returns a comparison of two fake engines; each writes its name to the log and outputs one value, and takes 2
// ms or 3 ms, of which two threads take half.
func engines(t *testing.T, ours, theirs string) (c comparison, log string) {
	log = filepath.Join(t.TempDir(), "log")
	c.engines = []engine{
		{"anynpu", []string{script(t, "ours", "threads=$ANYNPU_THREADS\n"+fake("ours", log, ours, "0.002", "0.001"))}},
		{"onnxruntime", []string{script(t, "peer", "shift; threads=$1; shift\n"+fake("peer", log, theirs, "0.003", "0.0015")),
			"lib"}},
	}
	c.settings = Settings{[]int{1, 2}, 0.5, 3, 7}
	return c, log
}

// fake is the script of an engine from its argument of a model on: best times with one thread and with more.
func fake(name, log, value, one, two string) string {
	return `echo "` + name + ` $threads $(basename $1) $2 $3" >> ` + log + `
printf '` + value + `' > "$4"
if [ "$threads" = 1 ]; then best=` + one + `; else best=` + two + `; fi
echo "{\"version\": \"9\", \"load\": 0.1, \"runs\": 4, \"best\": $best, \"median\": 0.005, \"peak_rss\": 2000000}"
`
}

// addPeer adds a fake peer that takes 1 ms.
func addPeer(t *testing.T, c *comparison, name, log, value string) {
	text := "threads=$1; shift\n" + fake(name, log, value, "0.001", "0.001")
	require.NoError(t, c.addPeers(name+"=/bin/sh "+script(t, name, text)))
}

const oneHalf = `\000\000\000\077` // float32 0.5, little-endian

func TestCompare_byTurnsWithFakeEngines(t *testing.T) {
	c, log := engines(t, oneHalf, oneHalf)
	var out bytes.Buffer
	r, err := c.compare(models(t), []string{"net"}, &out)
	require.NoError(t, err)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	var want []string
	for _, threads := range []string{"1", "2"} {
		for _, engine := range []string{"ours", "peer", "peer", "ours", "ours", "peer"} {
			want = append(want, engine+" "+threads+" net.onnx 0.5 7")
		}
	}
	assert.Equal(t, want, strings.Split(strings.TrimSpace(string(text)), "\n"))
	require.Len(t, r.Results, 2)
	x := r.Results[0]
	assert.Equal(t, Figure{BestMS: 2, MedianMS: 5, GFLOPS: 2, LoadMS: 100, RSSMB: 2, Runs: 12}, x.AnyNPU)
	assert.InDelta(t, 1.5, x.Ratio, 1e-12)
	assert.Zero(t, x.Difference)
	assert.Zero(t, r.failures())
	assert.Equal(t, map[string]string{"anynpu": "9", "onnxruntime": "9"}, r.Engines)
	assert.Positive(t, r.peak(1))
	assert.Positive(t, r.peak(2))
	got := map[string]float64{}
	for _, s := range r.Summaries {
		got[s.Set] += s.Ratio
	}
	assert.InDelta(t, 3, got["float32 networks above 1 ms, x the fastest peer"], 1e-9, "1 and 2 threads")
	assert.InDelta(t, 2, got["one thread's time by that of more, float32 above 1 ms"], 1e-9)
	assert.Contains(t, out.String(), "net ")
}

func TestCompare_failures(t *testing.T) {
	for _, c := range []struct{ name, ours, theirs, says string }{
		{"other outputs", oneHalf, `\000\000\200\077`, "outputs differ by 0.5 of the largest value"},
		{"not a number", `\000\000\300\177`, oneHalf, "outputs: value 0 is NaN and 0.5"},
		{"fewer outputs", oneHalf + oneHalf, oneHalf, "outputs of 2 and 1 values"},
	} {
		x, _ := engines(t, c.ours, c.theirs)
		r, err := x.compare(models(t), []string{"net"}, &bytes.Buffer{})
		require.NoError(t, err)
		assert.Contains(t, r.Results[0].Error, c.says, c.name)
		assert.Equal(t, 2, r.failures(), c.name)
		assert.Empty(t, r.Summaries, "%s: no mean over failures", c.name)
	}
	x, _ := engines(t, oneHalf, oneHalf)
	x.engines[reference].command[0] = script(t, "broken", "echo no such model >&2; exit 4")
	r, err := x.compare(models(t), []string{"net"}, &bytes.Buffer{})
	require.NoError(t, err)
	assert.Contains(t, r.Results[0].Error, "exit status 4: no such model")
	x.engines[reference].command[0] = script(t, "silent", "echo '{}'")
	r, err = x.compare(models(t), []string{"net"}, &bytes.Buffer{})
	require.NoError(t, err)
	assert.Contains(t, r.Results[0].Error, "no figures")
	_, err = x.compare(models(t), []string{"absent"}, &bytes.Buffer{})
	assert.ErrorContains(t, err, "none of the 5 networks matches absent")
}

func TestNetworks_order(t *testing.T) {
	ns, err := networks(models(t), []string{"*"})
	require.NoError(t, err)
	var names []string
	for _, n := range ns {
		names = append(names, n.name)
	}
	assert.Equal(t, []string{"tiny", "net", "matmul_small", "net_f16", "net_qdq"}, names)
}

func TestSummarize_geometricMeanAboveOneMillisecond(t *testing.T) {
	result := func(name string, threads int, ours, theirs float64) Result {
		return Result{Network: name, Format: "fp32", Threads: threads, AnyNPU: Figure{BestMS: ours},
			ORT: Figure{BestMS: theirs}, Peers: []Peer{{Ratio: theirs / ours}, {Reason: "absent"}}, Ratio: theirs / ours}
	}
	peers := []string{"onnxruntime", "other"}
	r := Report{peers: peers, Settings: Settings{Threads: []int{1, 2}}, Results: []Result{
		result("a", 1, 2, 4), result("b", 1, 8, 4), result("c", 1, 0.1, 0.9), result("d", 1, 1, 8),
		result("a", 2, 1, 0.9), // above 1 ms with one thread
	}}
	r.summarize()
	one := r.Summaries[0]
	assert.InDeltaMapValues(t, map[string]float64{"onnxruntime": 2}, one.Peers, 1e-12, "the other one has no figures")
	assert.InDelta(t, 2, one.Ratio, 1e-12)
	one.Peers, one.Ratio = nil, 2
	assert.Equal(t, Summary{sets[0].name + fastest, 1, 3, 2, 0.5, "b", nil, peers}, one)
	assert.InDelta(t, 0.9, r.Summaries[2].Ratio, 1e-12)
}

func TestWrite_jsonAndPage(t *testing.T) {
	c, _ := engines(t, oneHalf, oneHalf)
	r, err := c.compare(models(t), []string{"*"}, &bytes.Buffer{})
	require.NoError(t, err)
	r.Results[0].Error = "a <failure>"
	dir := t.TempDir()
	require.NoError(t, r.write(dir))
	text, err := os.ReadFile(filepath.Join(dir, "bench.json"))
	require.NoError(t, err)
	var back map[string]any
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, "anynpu.comparison/1", back["schema"])
	for _, key := range []string{"date", "machine", "settings", "engines", "peaks", "results", "summaries"} {
		assert.Contains(t, back, key)
	}
	page, err := os.ReadFile(filepath.Join(dir, "bench.html"))
	require.NoError(t, err)
	assert.Contains(t, string(page), "a &lt;failure&gt;")
	assert.Contains(t, string(page), "net_qdq")
	assert.Contains(t, string(page), "width:")
	assert.NotContains(t, string(page), "http", "the page needs nothing else")
	assert.NotContains(t, string(page), "ZgotmplZ", "what the template refuses to write")
}

func TestPage_aNetworkThatFailedShowsTheReasonAndNoFigures(t *testing.T) {
	r := Report{Settings: Settings{Threads: []int{1}}, Results: []Result{
		{Network: "fine", Format: "fp32", Threads: 1, AnyNPU: Figure{GFLOPS: 50, Runs: 3}, Peers: []Peer{
			{Name: "onnxruntime", Figure: Figure{GFLOPS: 100, Runs: 3}}, {Name: "other", Reason: "other: it <cannot>"}},
			Peer: "onnxruntime", Ratio: 0.5},
		{Network: "broken", Format: "fp32", Threads: 1, Error: "engine: exit status 4"},
	}, Peaks: []Peak{{1, 200}}}
	page, err := r.page()
	require.NoError(t, err)
	_, rows, _ := strings.Cut(string(page), `class="rows"`)
	fine, broken, ok := strings.Cut(rows, "broken")
	require.True(t, ok)
	assert.Contains(t, fine, `width:25.00%`)
	assert.Contains(t, fine, `left:100.00%`)
	assert.Contains(t, fine, "50 %", "of the peak")
	assert.Contains(t, fine, "ONNX Runtime")
	assert.Contains(t, fine, "other: it &lt;cannot&gt;")
	assert.Equal(t, 2, strings.Count(fine, `class="track"`), "no bar of the peer that has no figures")
	assert.Contains(t, broken, "exit status 4")
	assert.NotContains(t, broken, "0.000 (0.000)")
}

func TestCheck_flags(t *testing.T) {
	for _, c := range []struct {
		s       Settings
		threads string
		ok      bool
	}{
		{Settings{Seconds: 1, Rounds: 1, Runs: 1}, "1,2,4", true},
		{Settings{Seconds: 1, Rounds: 1, Runs: 1}, "1,,2", false},
		{Settings{Seconds: 1, Rounds: 1, Runs: 1}, "0", false},
		{Settings{Seconds: -1, Rounds: 1, Runs: 1}, "1", false},
		{Settings{Seconds: 1, Rounds: 0, Runs: 1}, "1", false},
	} {
		x := comparison{settings: c.s}
		assert.Equal(t, c.ok, x.check(nil, c.threads) == nil, "%+v %s", c.s, c.threads)
	}
	x := comparison{settings: Settings{Rounds: 1, Runs: 1}}
	assert.Error(t, x.check([]string{"extra"}, "1"))
}

func TestAgree_relativeToTheLargest(t *testing.T) {
	file := func(v ...float32) string {
		path := filepath.Join(t.TempDir(), "x")
		var b bytes.Buffer
		require.NoError(t, binary.Write(&b, binary.NativeEndian, v))
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
		return path
	}
	exact, chosen := &network{Format: "fp32", Selects: true}, &network{Format: "fp16", Selects: true}
	d, err := agree(file(1, -2.5), file(1.5, -4), exact)
	assert.ErrorContains(t, err, "outputs differ by 0.38 of the largest value")
	assert.InDelta(t, 1.5/4, d, 1e-12)
	_, err = agree(file(), file(), exact)
	assert.Error(t, err, "no outputs")
	nan := float32(math.NaN())
	_, err = agree(file(1, nan), file(1, nan), exact)
	assert.ErrorContains(t, err, "value 1 is NaN")
	_, err = agree(file(1), file(0), exact)
	assert.ErrorContains(t, err, "value 0 is 1, all of the other engine are 0")
	_, err = agree(file(1), file(0), chosen)
	assert.ErrorContains(t, err, "all of the other engine are 0")
	d, err = agree(file(3, 1, 2), file(1, 2, 3.03), chosen)
	require.NoError(t, err, "another order")
	assert.InDelta(t, 0.01/3.03, d, 1e-6)
	_, err = agree(file(3, 1, 2), file(1, 2, 5), chosen)
	assert.ErrorContains(t, err, "outputs differ by 0.13 of the largest value")
	_, err = agree(file(3, 1, 2), file(1, 2, 3), exact)
	assert.ErrorContains(t, err, "outputs differ by 0.67")
}
