package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/onnx/networks"
)

// ticks replaces the clock: every look at it adds the next step, cyclically.
func ticks(t *testing.T, steps ...time.Duration) {
	before := clock
	t.Cleanup(func() { clock = before })
	now, i := time.Duration(0), 0
	clock = func() time.Duration {
		now += steps[i%len(steps)]
		i++
		return now
	}
}

func TestTimings_partsAndWarmUp(t *testing.T) {
	ticks(t, time.Millisecond)
	runs := 0
	parts, err := timings(func() error { runs++; return nil }, 0, 100*time.Millisecond)
	require.NoError(t, err)
	require.Len(t, parts, 5)
	timed := 0
	for _, p := range parts {
		assert.InDelta(t, 10, len(p), 1, "20 ms of runs of 1 ms, and 1 ms between them")
		timed += len(p)
	}
	assert.Equal(t, runs-2, timed, "two runs warm up")
	assert.Zero(t, spread(parts))

	_, err = timings(func() error { return errors.New("broken") }, 0, 0)
	assert.ErrorContains(t, err, "broken")
}

func TestFigures_closedForm(t *testing.T) {
	ms := func(from, to int) (d []time.Duration) {
		for i := from; i <= to; i++ {
			d = append(d, time.Duration(i)*time.Millisecond)
		}
		return d
	}
	f := figures([][]time.Duration{ms(51, 100), ms(1, 50)})
	assert.Equal(t, benchFigures{Runs: 100, MinMS: 1, MedianMS: 51, P90MS: 91, P99MS: 100, MeanMS: 50.5,
		Throughput: 100 / 5.05}, *f)
	assert.InDelta(t, 50.0, spread([][]time.Duration{ms(51, 100), ms(1, 50)}), 1e-9)
}

func TestBench_jsonAndBaseline(t *testing.T) {
	ticks(t, time.Millisecond)
	model := writeFile(t, "m.onnx", vectorModel("Add"))
	args := []string{"bench", model, "--shape", "x=1000", "--time", "20ms", "--warmup", "0s", "--threads", "1"}
	code, out, errs := anynpu(append(args, "--json")...)
	require.Equal(t, 0, code, errs)
	var r map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	for _, key := range []string{"schema", "file", "device", "threads", "load_ms", "stable", "spread", "figures",
		"peak_bytes", "peak_rss_bytes"} {
		assert.Contains(t, r, key)
	}
	assert.Equal(t, "anynpu.bench/1", r["schema"])
	assert.EqualValues(t, 1, r["threads"])
	assert.Positive(t, r["load_ms"])
	assert.Greater(t, r["peak_rss_bytes"], 1e6)
	f := r["figures"].(map[string]any)
	assert.EqualValues(t, 1, f["min_ms"])
	assert.EqualValues(t, 1, f["p99_ms"])
	assert.EqualValues(t, 1000, f["runs_per_second"])
	assert.InDelta(t, 1e-6, f["gflop"], 1e-12, "1000 additions")
	assert.InDelta(t, 1e-3, f["gflops"], 1e-9)
	assert.NotContains(t, r, "baseline")

	base := writeFile(t, "base.json", []byte(out))
	code, out, errs = anynpu(append(args, "--baseline", base)...)
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, "baseline    1.0000 ms, now +0.0 %")
	ticks(t, 2*time.Millisecond)
	code, out, errs = anynpu(append(args, "--baseline", base, "--json")...)
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, "100.0 % slower than")
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Equal(t, map[string]any{"file": base, "min_ms": 1.0, "change": 1.0, "slower": true}, r["baseline"])
	code, _, errs = anynpu(append(args, "--baseline", base, "--tolerance", "1")...)
	assert.Equal(t, 0, code, errs)

	other := writeFile(t, "other.onnx", vectorModel("Add"))
	code, _, errs = anynpu("bench", other, "--shape", "x=5", "--threads", "1", "--baseline", base)
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "measured "+model+" with 1 thread, not")
}

func TestBench_marksUnstableFigures(t *testing.T) {
	// Runs take 1 ms in the first part and 2 ms later.
	before := clock
	t.Cleanup(func() { clock = before })
	now, looks := time.Duration(0), 0
	clock = func() time.Duration {
		if looks++; looks%40 < 8 {
			now += time.Millisecond
		} else {
			now += 2 * time.Millisecond
		}
		return now
	}
	model := writeFile(t, "m.onnx", vectorModel("Add"))
	args := []string{"bench", model, "--shape", "x=3", "--time", "50ms", "--warmup", "0s"}
	code, out, errs := anynpu(args...)
	assert.Equal(t, 6, code)
	assert.Contains(t, out, "min         1.0000 ms")
	assert.Contains(t, out, "median      2.0000 ms")
	assert.Contains(t, out, "spread      100.0 %, not stable: want at most 10 %, or --spread 1\n")
	assert.Contains(t, errs, "not stable: the lowest times of 5 parts differ by 100 %, want at most 10 %; "+
		"is the machine busy? --spread 1 accepts them")
	code, out, _ = anynpu(append(args, "--json")...)
	assert.Equal(t, 6, code)
	var r benchReport
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.False(t, r.Stable)
	assert.InDelta(t, 1.0, r.Spread, 1e-9)
	assert.InDelta(t, 0.1, r.Limit, 1e-9)
	require.NotNil(t, r.Figures)
	assert.InDelta(t, 1.0, r.Figures.MinMS, 1e-9)
	code, _, errs = anynpu("bench", model, "--baseline", writeFile(t, "unstable.json", []byte(out)))
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "was measured while the machine was busy")
	code, out, errs = anynpu(append(args, "--spread", "1", "--json")...)
	assert.Equal(t, 0, code, "what the message says helps: %s", errs)
	base := writeFile(t, "base.json", []byte(out))
	code, out, _ = anynpu(append(args, "--baseline", base)...)
	assert.Equal(t, 6, code, "times that are not stable are neither slower nor faster")
	assert.Contains(t, out, "baseline    1.0000 ms, now +0.0 %\n")
}

// TestBench_showsTheCalmestAttempt: the second of three attempts differs least.
func TestBench_showsTheCalmestAttempt(t *testing.T) {
	times := []int{3, 2, 4} // milliseconds of the runs of the first part of each attempt, beside 1
	attempt := -1
	parts, took := attempts(func() ([][]time.Duration, error) {
		attempt++
		first := time.Duration(times[attempt]) * time.Millisecond
		return [][]time.Duration{{first}, {time.Millisecond}}, nil
	}, 0.1)
	assert.NoError(t, took)
	assert.Equal(t, 2, attempt)
	assert.Equal(t, [][]time.Duration{{2 * time.Millisecond}, {time.Millisecond}}, parts)
}

func TestAccepting_isRoundedUp(t *testing.T) {
	for spread, want := range map[float64]string{1: "1", 0.4501: "0.46", 0.45: "0.45", 0.1004: "0.11", 12.34: "12.34"} {
		assert.Equal(t, want, accepting(spread), spread)
	}
}

func TestProfile_jsonAndTrace(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace.json")
	code, out, errs := anynpu("profile", digits+"digits.onnx", "--shape", "image=1,1,8,8", "--json", "-o", trace)
	require.Equal(t, 0, code, errs)
	var r profileReport
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Equal(t, "anynpu.profile/1", r.Schema)
	assert.Equal(t, 10, r.Runs)
	nodes, sum := 0, 0.0
	for _, o := range r.Operators {
		nodes += o.Nodes
		sum += o.Share
	}
	assert.Len(t, r.Nodes, nodes)
	assert.InDelta(t, 1, sum, 1e-9)
	assert.LessOrEqual(t, r.StepsMS, r.TotalMS)
	assert.Positive(t, r.GFLOP)

	text, err := os.ReadFile(trace)
	require.NoError(t, err)
	var events struct {
		TraceEvents []struct {
			Name, PH string
			TS, Dur  *float64
			PID, TID *int
		}
	}
	require.NoError(t, json.Unmarshal(text, &events))
	steps, end := 0, 0.0
	for _, e := range events.TraceEvents {
		require.NotNil(t, e.TS)
		require.NotNil(t, e.PID)
		require.NotNil(t, e.TID)
		switch e.PH {
		case "M":
			continue
		case "X":
			require.NotNil(t, e.Dur)
			assert.GreaterOrEqual(t, *e.TS, end, "%s begins after the one before has ended", e.Name)
			end = *e.TS + *e.Dur
			steps++
		default:
			t.Errorf("%s: phase %q", e.Name, e.PH)
		}
	}
	fused := 0
	for _, n := range r.Nodes {
		if n.Kernel == "fused" {
			fused++
		}
	}
	assert.Equal(t, len(r.Nodes)-fused, steps)
	assert.Positive(t, steps)
}

func TestProfile_tables(t *testing.T) {
	code, out, errs := anynpu("profile", digits+"digits.onnx", "--shape", "image=1,1,8,8", "--top", "1", "--threads", "1")
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, "1 thread: fastest of 10 runs")
	_, nodes, ok := strings.Cut(out, "between the nodes\n\n")
	require.True(t, ok)
	assert.Equal(t, 2, strings.Count(nodes, "\n"), "a heading and one node: %q", nodes)
}

func TestCheckEngine_share(t *testing.T) {
	code, out, errs := anynpu("check", "--engine", "--shape", "image=1,1,8,8", digits+"digits.onnx")
	require.Equal(t, 0, code, errs)
	assert.Contains(t, out, "(100.0 %), 100.00 % of ")
	assert.Equal(t, 1, strings.Count(out, "\n"))
	code, out, _ = anynpu("check", "--engine", "--json", "--shape", "x=5", writeFile(t, "m.onnx", vectorModel("Mod")))
	assert.Equal(t, 1, code)
	var r checkReport
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.NotNil(t, r.Engine)
	assert.Equal(t, engineShare{Nodes: 1, GFLOP: 5e-9, Elements: 5, Slow: []slowNodes{{"Mod", 1, 5e-9, 5}}}, *r.Engine)
}

func TestHelp_namesWhatAVerbDoes(t *testing.T) {
	for verb, says := range map[string][]string{
		"":        {"bench", "profile", "check", "inspect", "metadata", "run", "6  times are not stable"},
		"bench":   {"--baseline", "--time", "--warmup", "--spread", "--threads", "--json", "exit code 6", "anynpu.bench/1"},
		"profile": {"--output", "--runs", "--top", "Perfetto", "anynpu.profile/1"},
		"check":   {"--engine", "--json"},
	} {
		args := []string{verb, "--help"}
		if verb == "" {
			args = args[1:]
		}
		code, out, _ := anynpu(args...)
		assert.Equal(t, 0, code, verb)
		for _, s := range says {
			assert.Contains(t, out, s, verb)
		}
	}
}

// quantizedModel writes a benchmark network whose inputs and outputs are quantized.
func quantizedModel(t *testing.T) string {
	c, err := networks.Open("../../bench/networks.zip")
	require.NoError(t, err)
	defer c.Close()
	model, err := c.Model("matmul_m1_k1024_n1024_qdq")
	require.NoError(t, err)
	return writeFile(t, "quantized.onnx", model)
}

func TestProfile_integersCrossTheBorder(t *testing.T) {
	model := quantizedModel(t)
	count := func(api string) (quantize int) {
		code, out, errs := anynpu("profile", model, "--json", "--threads", "1", "--runs", "1", "--api", api)
		require.Equal(t, 0, code, errs)
		var r profileReport
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		assert.Equal(t, api, r.API)
		for _, n := range r.Nodes {
			assert.Contains(t, []string{"fast", "fused"}, n.Kernel, n.Op)
			if n.Op == "QuantizeLinear" {
				quantize++
			}
		}
		return quantize
	}
	assert.Equal(t, 2, count("ohnn"), "of the input and of the output")
	assert.Equal(t, 1, count("rknn"), "the program quantizes the input")
}

func TestBench_baselineOfAnotherAPI(t *testing.T) {
	ticks(t, time.Millisecond)
	args := []string{"bench", quantizedModel(t), "--time", "20ms", "--warmup", "0s", "--threads", "1", "--json"}
	code, out, errs := anynpu(args...)
	require.Equal(t, 0, code, errs)
	base := writeFile(t, "base.json", []byte(out))
	code, _, errs = anynpu(append(args, "--baseline", base, "--api", "rknn")...)
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "measured with --api ohnn, not rknn")
}
