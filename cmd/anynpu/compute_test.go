package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/tensor"
)

// restored puts the settings of the process back when a test ends.
func restored(t *testing.T) {
	before := kernel.Active()
	t.Cleanup(func() {
		for _, name := range []string{"ANYNPU_MEMORY_LIMIT", "ANYNPU_MEM"} {
			os.Unsetenv(name) // t.Setenv has put back what was there, or does so next
		}
		code, _, errs := anynpu("check", digits+"digits.onnx")
		assert.Equal(t, 0, code, errs)
		_, err := kernel.Select(before)
		assert.NoError(t, err)
	})
}

// sumOfSquares is y = x·x of 65 float32 values 8192, 1, 1, ..., whose exact sum, 2^26 + 64, a float32 can hold. A sum
// that is kept in float32 loses every 1 that is added to 2^26, as its step there is 8.
func sumOfSquares(t *testing.T) (model, x string) {
	values := []float32{8192}
	for range 64 {
		values = append(values, 1)
	}
	m := new(onnxtest.Model).Input("x", onnxtest.Float, 1, 65).Constant("w", onnxtest.Float, tensor.Float32s(values...),
		65, 1).
		Node("MatMul", "y", "x", "w").Output("y", onnxtest.Float, 1, 1)
	return writeFile(t, "dot.onnx", m.Bytes()),
		writeNPY(t, tensor.Tensor{DType: tensor.Float32, Dims: []int64{1, 65}, Data: tensor.Float32s(values...)})
}

// run runs the tool and returns the bytes of output y.
func run(t *testing.T, args ...string) []byte {
	dir := t.TempDir()
	code, _, errs := anynpu(append([]string{"run", "-o", dir}, args...)...)
	require.Equal(t, 0, code, errs)
	return readNPY(t, filepath.Join(dir, "y.npy")).Data
}

func TestRun_byReference(t *testing.T) {
	restored(t)
	model, x := sumOfSquares(t)
	exact := tensor.Float32s(1<<26 + 64)
	fast := run(t, model, "-i", x)
	assert.NotEqual(t, exact, fast, "the fast kernels add in float32")
	assert.Equal(t, exact, run(t, model, "-i", x, "--ref"))
	t.Setenv("ANYNPU_CPU", "ref")
	assert.Equal(t, exact, run(t, model, "-i", x), "the variable counts")
	assert.Equal(t, fast, run(t, model, "-i", x, "--ref=false"), "the flag wins")
	t.Setenv("ANYNPU_CPU", "auto")
	assert.Equal(t, fast, run(t, model, "-i", x))
	assert.Equal(t, exact, run(t, model, "-i", x, "--ref"))
}

// TestVerbs_readTheEnvironment looks at what each verb says of the threads, kernels and memory that it has.
func TestVerbs_readTheEnvironment(t *testing.T) {
	restored(t)
	model, x := sumOfSquares(t)
	threadsOf := func(args ...string) int {
		code, out, errs := anynpu(append(args, "--json")...)
		require.Equal(t, 0, code, errs)
		var r struct {
			Threads int
			Kernels string
		}
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		assert.Equal(t, kernel.Active().String(), r.Kernels)
		return r.Threads
	}
	verbs := map[string][]string{"run": {"run", model, "-i", x}, "profile": {"profile", model, "-i", x, "--runs", "1"},
		"bench": {"bench", model, "-i", x, "--time", "0s", "--warmup", "0s", "--spread", "1e9"}}
	t.Setenv("ANYNPU_THREADS", "3")
	for name, args := range verbs {
		assert.Equal(t, 3, threadsOf(args...), name)
		assert.Equal(t, 5, threadsOf(append(slices.Clone(args), "--threads", "5")...), "%s: the flag wins", name)
	}
	t.Setenv("ANYNPU_THREADS", "")

	t.Setenv("ANYNPU_CPU_ISA", "generic")
	best := slices.Max(kernel.Supported())
	verbs["check"] = []string{"check", "--engine", model}
	for name, args := range verbs {
		code, _, errs := anynpu(args...)
		require.Equal(t, 0, code, errs)
		assert.Equal(t, kernel.Generic, kernel.Active(), name)
		code, _, errs = anynpu(append(slices.Clone(args), "--isa", best.String())...)
		require.Equal(t, 0, code, errs)
		assert.Equal(t, best, kernel.Active(), "%s: the flag wins", name)
	}
	t.Setenv("ANYNPU_CPU_ISA", "")

	t.Setenv("ANYNPU_CPU", "ref")
	code, out, _ := anynpu(verbs["check"]...)
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "fast kernels compute 0 of 1 nodes")
	_, out, _ = anynpu(verbs["profile"]...)
	assert.Contains(t, out, ", reference")
	code, _, errs := anynpu("check", "--passes", model)
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "--ref=false")
	code, _, errs = anynpu(append(verbs["check"], "--ref=false")...)
	assert.Equal(t, 0, code, errs)
	t.Setenv("ANYNPU_CPU", "")

	t.Setenv("ANYNPU_MEMORY_LIMIT", "1")
	for name, args := range verbs {
		code, _, errs := anynpu(args...)
		assert.NotEqual(t, 0, code, name)
		assert.Contains(t, errs, "ANYNPU_MEMORY_LIMIT", name)
	}
}

// TestVerbs_tellValuesThatMeanNothing: the line is the library's, and goes where its log goes.
func TestVerbs_tellValuesThatMeanNothing(t *testing.T) {
	restored(t)
	model, x := sumOfSquares(t)
	for _, c := range []struct{ name, value, line string }{
		{"ANYNPU_THREADS", "many", "cpu: value ignored ANYNPU_THREADS=many want=\"1 to 1024\" [device-setting-ignored]\n"},
		{"ANYNPU_CPU", "slow", "cpu: value ignored ANYNPU_CPU=slow want=\"auto or ref\" [device-setting-ignored]\n"},
		{"ANYNPU_CPU_ISA", "mmx", "cpu: value ignored ANYNPU_CPU_ISA=mmx why=\"kernel: want instruction set " +
			kernel.ISANames() + ", got \\\"mmx\\\"\" [device-setting-ignored]\n"},
		{"ANYNPU_MEMORY_LIMIT", "1.5G", "cpu: value ignored ANYNPU_MEMORY_LIMIT=1.5G want=\"bytes, as 500000000, 512M or " +
			"4G\" [device-setting-ignored]\n"},
		{"ANYNPU_MEM", "on", "cpu: value ignored ANYNPU_MEM=on want=guard [device-setting-ignored]\n"},
		{"ANYNPU_DEVICE", "npu9", "boundary: value ignored ANYNPU_DEVICE=npu9 want=cpu [device-setting-ignored]\n"},
		{"ANYNPU_LOG", "loud", "boundary: unknown level ignored ANYNPU_LOG=loud levels=\"off error warn info debug " +
			"trace\" [boundary-log-level]\n"},
	} {
		for _, args := range [][]string{{"run", model, "-i", x}, {"check", model}, {"check", "--engine", model},
			{"profile", model, "--runs", "1"}, {"bench", model, "--time", "0s", "--warmup", "0s", "--spread", "1e9"}} {
			t.Setenv(c.name, c.value)
			code, _, errs := anynpu(args...)
			assert.Equal(t, 0, code, "%s: %s", args[0], errs)
			assert.Equal(t, c.line, errs, "%s", args)
			t.Setenv(c.name, "")
		}
	}
	t.Setenv("ANYNPU_THREADS", "many")
	_, _, errs := anynpu("run", model, "-i", x, "--threads", "1")
	assert.Empty(t, errs, "the flag stands in its place")
	file := filepath.Join(t.TempDir(), "log")
	t.Setenv("ANYNPU_LOG_FILE", file)
	_, _, errs = anynpu("run", model, "-i", x)
	assert.Empty(t, errs)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "cpu: value ignored ANYNPU_THREADS=many want=\"1 to 1024\" [device-setting-ignored]\n", string(text))
	t.Setenv("ANYNPU_LOG", "off,cpu=trace")
	_, _, errs = anynpu("run", model, "-i", x)
	assert.Empty(t, errs)
	text, err = os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), "cpu: load: n0 ")
	t.Setenv("ANYNPU_LOG", "off")
	require.NoError(t, os.Remove(file))
	_, _, _ = anynpu("run", model, "-i", x)
	text, err = os.ReadFile(file)
	require.NoError(t, err)
	assert.Empty(t, text)
}

func TestRun_wantedDevices(t *testing.T) {
	model, x := sumOfSquares(t)
	t.Setenv("ANYNPU_DEVICE", "npu9,cpu")
	code, _, errs := anynpu("run", model, "-i", x)
	assert.Equal(t, 0, code)
	assert.Contains(t, errs, "ANYNPU_DEVICE=npu9")
	code, _, errs = anynpu("run", model, "-i", x, "--device", "cpu")
	assert.Equal(t, 0, code)
	assert.Empty(t, errs, "the flag wins")
	code, _, errs = anynpu("run", model, "-i", x, "--device", "npu9")
	assert.Equal(t, 4, code)
	assert.Contains(t, errs, `no device "npu9"`)
}

// TestLoad_mapOfModels: a map names the file that is loaded in place of a model, as for programs.
func TestLoad_mapOfModels(t *testing.T) {
	model := writeFile(t, "m.onnx", vectorModel("Add"))
	other := writeFile(t, "other.onnx", vectorModel("Mul"))
	x := writeNPY(t, tensor.Tensor{DType: tensor.Float32, Dims: []int64{2}, Data: tensor.Float32s(3, 5)})
	assert.Equal(t, tensor.Float32s(6, 10), run(t, model, "-i", x))
	t.Setenv("ANYNPU_MODEL_MAP", writeFile(t, "map", []byte(model+" -> "+other+"\n")))
	assert.Equal(t, tensor.Float32s(9, 25), run(t, model, "-i", x))
	_, _, errs := anynpu("run", model, "-i", x)
	assert.Contains(t, errs, "warning: model "+model+": ANYNPU_MODEL_MAP has "+other+" loaded in its place "+
		"[tool-map-instead]\n")
	t.Setenv("ANYNPU_MODEL_MAP", other)
	_, _, errs = anynpu("run", model, "-i", x)
	assert.Contains(t, errs, "warning: ANYNPU_MODEL_MAP is not used: ")
}

func TestComputeFlags_refused(t *testing.T) {
	model, x := sumOfSquares(t)
	for _, c := range []struct{ flags, says string }{
		{"--threads -1", "--threads -1: want 0 to 1024"},
		{"--threads 1025", "--threads 1025: want 0 to 1024"},
		{"--isa mmx", "--isa mmx: kernel: want instruction set " + kernel.ISANames()},
		{"--isa generic --ref", "want one of the two flags"},
		{"--device=", "--device: want the name of a device"},
		{"--device=,", "--device: want the name of a device"},
	} {
		for _, verb := range []string{"run", "bench", "profile", "check"} {
			args := append([]string{verb, model, "-i", x}, strings.Fields(c.flags)...)
			if verb == "check" {
				args = append(args, "--engine")
			}
			code, out, errs := anynpu(args...)
			assert.Equal(t, 2, code, "%v: %s", args, errs)
			assert.Contains(t, errs, c.says, "%v", args)
			assert.Empty(t, out)
		}
	}
	t.Setenv("ANYNPU_CPU", "ref")
	code, _, errs := anynpu("run", model, "-i", x, "--isa", "generic")
	assert.Equal(t, 0, code)
	assert.Equal(t, "anynpu: warning: --isa generic has no effect with ANYNPU_CPU=ref; --ref=false turns that off "+
		"[tool-isa-no-effect]\n", errs)
	assert.False(t, bytes.Contains([]byte(errs), []byte("value ignored")))
}
