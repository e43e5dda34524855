// Command ort is one engine of the comparison: ONNX Runtime through its C API. It loads a model file, runs it for some
// time and prints one JSON object; the outputs of the last run go to a file as they are in memory, one after another.
//
//	ort LIBRARY THREADS MODEL SECONDS RUNS OUTPUTS
//
// Each run is followed by a call of getppid, at which an emulator can tell runs apart (bench/arm64_count.c).
//
// Inputs and outputs are those that models.json beside the model names (gen_bench_models.py): to ask the runtime would
// load the model twice.
package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	onnxruntime "github.com/yalue/onnxruntime_go"
)

// figures is what the program prints; times are in seconds.
type figures struct {
	Version string  `json:"version"`
	Load    float64 `json:"load"`
	Runs    int     `json:"runs"`
	Best    float64 `json:"best"`
	Median  float64 `json:"median"`
	PeakRSS int64   `json:"peak_rss"`
}

func main() {
	if len(os.Args) != 7 {
		fmt.Fprintln(os.Stderr, "usage: ort LIBRARY THREADS MODEL SECONDS RUNS OUTPUTS")
		os.Exit(2)
	}
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	f, err := run(os.Args[1:])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ort:", err)
		os.Exit(1)
	}
}

func run(args []string) (f figures, err error) {
	threads, err := strconv.Atoi(args[1])
	if err != nil {
		return f, err
	}
	seconds, err := strconv.ParseFloat(args[3], 64)
	if err != nil {
		return f, err
	}
	least, err := strconv.Atoi(args[4])
	if err != nil {
		return f, err
	}
	onnxruntime.SetSharedLibraryPath(args[0])
	if err := onnxruntime.InitializeEnvironment(onnxruntime.WithLogLevelError()); err != nil {
		return f, err
	}
	f.Version = onnxruntime.GetVersion()
	p, err := readPorts(args[2])
	if err != nil {
		return f, err
	}
	m, err := open(args[2], p, threads)
	if err != nil {
		return f, err
	}
	f.Load = m.load.Seconds()
	limit := time.Duration(seconds * float64(time.Second))
	for start, i := time.Now(), 0; i < 2 || time.Since(start) < limit/10; i++ {
		if err := m.session.Run(); err != nil {
			return f, err
		}
		os.Getppid()
	}
	samples := make([]time.Duration, 0, 1<<20)
	for begin := time.Now(); len(samples) < least || time.Since(begin) < limit; {
		t := time.Now()
		if err := m.session.Run(); err != nil {
			return f, err
		}
		samples = append(samples, time.Since(t))
		os.Getppid()
	}
	slices.Sort(samples)
	f.Runs, f.Best, f.Median = len(samples), samples[0].Seconds(), samples[len(samples)/2].Seconds()
	if f.PeakRSS, err = peakRSS(); err != nil {
		return f, err
	}
	return f, m.write(args[5])
}

// peakRSS returns the largest resident size of this program so far in bytes. getrusage would count what the process
// that started it had resident.
func peakRSS() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		var kib int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			return kib * 1024, nil
		}
	}
	return 0, errors.New("/proc/self/status has no VmHWM")
}

// model is a session with tensors for all its ports.
type model struct {
	session *onnxruntime.AdvancedSession
	load    time.Duration
	out     []*onnxruntime.Tensor[float32]
}

// port is an input or output in models.json; all are float32.
type port struct {
	Name  string  `json:"name"`
	Shape []int64 `json:"shape"`
}

type ports struct {
	In  []port `json:"inputs"`
	Out []port `json:"outputs"`
}

func readPorts(model string) (ports, error) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(model), "models.json"))
	if err != nil {
		return ports{}, err
	}
	var all map[string]ports
	if err := json.Unmarshal(text, &all); err != nil {
		return ports{}, err
	}
	name := strings.TrimSuffix(filepath.Base(model), ".onnx")
	p, ok := all[name]
	if !ok {
		return p, fmt.Errorf("models.json has no %q", name)
	}
	return p, nil
}

func open(path string, p ports, threads int) (*model, error) {
	m := &model{}
	var inNames, outNames []string
	var in, out []onnxruntime.Value
	for _, q := range p.In {
		t, err := onnxruntime.NewEmptyTensor[float32](q.Shape)
		if err != nil {
			return nil, err
		}
		fill(t.GetData())
		inNames, in = append(inNames, q.Name), append(in, t)
	}
	for _, q := range p.Out {
		t, err := onnxruntime.NewEmptyTensor[float32](q.Shape)
		if err != nil {
			return nil, err
		}
		m.out = append(m.out, t)
		outNames, out = append(outNames, q.Name), append(out, t)
	}
	o, err := onnxruntime.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	for _, set := range []func() error{
		func() error { return o.SetIntraOpNumThreads(threads) },
		func() error { return o.SetInterOpNumThreads(1) },
		func() error { return o.SetGraphOptimizationLevel(onnxruntime.GraphOptimizationLevelEnableAll) },
	} {
		if err := set(); err != nil {
			return nil, err
		}
	}
	start := time.Now()
	m.session, err = onnxruntime.NewAdvancedSession(path, inNames, outNames, in, out, o)
	m.load = time.Since(start)
	return m, err
}

// fill sets element i to ((2654435761 i + 12345) mod 2^32) / 2^31 - 1, as every engine fills its inputs.
func fill(x []float32) {
	for i := range x {
		x[i] = float32(float64(uint32(2654435761*uint64(i)+12345))/(1<<31) - 1)
	}
}

func (m *model) write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for _, t := range m.out {
		if err := binary.Write(f, binary.NativeEndian, t.GetData()); err != nil {
			f.Close()
			return err
		}
	}
	return f.Close()
}
