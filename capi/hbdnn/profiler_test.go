package hbdnn

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
)

// profiled has the models that the test loads profiled.
func profiled(t *testing.T, folder string) *profiler {
	profiling = &profiler{file: filepath.Join(folder, "profiler.log")}
	t.Cleanup(func() { profiling = nil })
	return profiling
}

// chain is y = Neg(Relu(x)) of a gray image of 2 x 3, less 10 and halved.
func chain(name string) *onnxtest.Model {
	return (&onnxtest.Model{}).Input("x", onnxtest.Float, 1, 1, 2, 3).Output("y", onnxtest.Float, 1, 1, 2, 3).
		Node("Relu", "r", "x").Node("Neg", "y", "r").Meta("anynpu.name", name).Meta("anynpu.input.x.pixel", "gray").
		Meta("anynpu.input.x.mean", "[10]").Meta("anynpu.input.x.std", "[2]")
}

// logged is the objects of a profiler.log.
func logged(t *testing.T, file string) (objects []map[string]map[string]any) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, part := range strings.Split(string(text), "***\n") {
		var o map[string]map[string]any
		require.NoError(t, json.Unmarshal([]byte(part), &o), "%s", part)
		objects = append(objects, o)
	}
	return objects
}

func TestProfiler_log(t *testing.T) {
	runtime.LockOSThread() // thread_num counts the threads that submit tasks
	defer runtime.UnlockOSThread()
	p := profiled(t, t.TempDir())
	p.end()
	_, err := os.Stat(p.file)
	require.True(t, os.IsNotExist(err), "no model has run")
	a, b := ready(t, chain("a")), ready(t, relu(1, 4).Meta("anynpu.name", "b"))
	ready(t, relu(1, 4).Meta("anynpu.name", "never run"))
	for range 3 {
		require.NoError(t, infer(t, a.m, a.in, a.out))
	}
	again := ready(t, chain("a")) // a second model of that name
	require.NoError(t, infer(t, again.m, again.in, again.out))
	task, err := start(a.m, a.in, a.out, &InferCtrlParam{more: 1}) // a task of three members and two models
	require.NoError(t, err)
	require.NoError(t, startInto(&task, b.m, b.in, b.out, &InferCtrlParam{more: 1}))
	require.NoError(t, startInto(&task, a.m, a.in, a.out, &InferCtrlParam{bpu: 1}))
	require.NoError(t, wait(t, task, 0))
	require.NoError(t, dnnReleaseTask(task))
	p.end()
	st, err := os.Stat(p.file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), st.Mode())
	all := logged(t, p.file)
	require.Len(t, all, 4, "two objects for each of two models")
	for i, want := range []struct {
		name   string
		frames float64
		nodes  []string
	}{{"a", 6, []string{"Preprocess", "relu_Relu_r", "neg_Neg_y"}}, {"b", 1, []string{"Preprocess", "relu_Relu_y"}}} {
		run, took := all[2*i], all[2*i+1]
		condition := run["running_condition"]
		require.Equal(t, want.name, condition["model_name"])
		require.Equal(t, want.frames, condition["frame_count"])
		require.EqualValues(t, 1, condition["core_id"], "of the last task")
		require.EqualValues(t, 1, condition["thread_num"])
		require.InEpsilon(t, want.frames*1000, run["perf_result"]["FPS"].(float64)*condition["run_time"].(float64), 1e-9)
		require.Positive(t, run["perf_result"]["average_latency"])
		for _, n := range want.nodes {
			require.Contains(t, took["model_latency"], n)
		}
		require.Len(t, took["model_latency"], len(want.nodes))
		require.Equal(t, map[string]any{"avg_time": 0., "max_time": 0., "min_time": 0.},
			took["chip_latency"]["BPU_inference_time_cost"], "there is no BPU")
		for _, s := range []any{took["chip_latency"]["CPU_inference_time_cost"], took["task_latency"]["TaskPendingTime"],
			took["task_latency"]["TaskRunningTime"]} {
			m := s.(map[string]any)
			require.LessOrEqual(t, m["min_time"], m["avg_time"])
			require.LessOrEqual(t, m["avg_time"], m["max_time"])
			require.Positive(t, m["max_time"])
		}
	}
}

func TestProfiler_cannotWrite(t *testing.T) {
	folder := t.TempDir()
	p := profiled(t, folder)
	o := ready(t, relu(1, 4))
	require.NoError(t, infer(t, o.m, o.in, o.out))
	victim := filepath.Join(folder, "victim")
	require.NoError(t, os.WriteFile(victim, []byte("mine"), 0o600))
	require.NoError(t, os.Symlink(victim, p.file))
	p.end()
	text, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "mine", string(text), "no link is followed")
	require.Len(t, logged(t, p.file), 2, "the log takes the link's place")
	require.NoError(t, os.Remove(p.file))
	require.NoError(t, os.MkdirAll(filepath.Join(p.file, "full"), 0o700))
	p.end()
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, left, 2, "nothing is left of what could not be written")
}

func TestSpan(t *testing.T) {
	var s span
	require.Equal(t, spanText{}, s.text())
	s.add(3e6)
	s.add(1e6)
	s.add(5e6)
	require.Equal(t, spanText{Average: 3, Most: 5, Least: 1}, s.text())
}
