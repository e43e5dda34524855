package networks

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/session"
)

// expected is index.json.
type expected struct {
	Runtime string                 `json:"onnxruntime"`
	Models  map[string]expectation `json:"models"`
}

// expectation is what is expected of one model.
type expectation struct {
	SHA256  string `json:"sha256"`
	Outputs []struct {
		Name  string  `json:"name"`
		Dims  []int64 `json:"dims"`
		Step  int     `json:"step"`  // every Step-th element is stored
		Scale float64 `json:"scale"` // quantization step of the output, 0: float
		File  string  `json:"file"`
	} `json:"outputs"`
}

// Compare computes the models of bench/gen_bench_models.py that are in folder and whose names contain filter, and
// prints how their outputs compare with those of ONNX Runtime in the archive at path, which bench/expect.py has
// written. It returns how many do not agree.
func Compare(w io.Writer, folder, path, filter string, newDevice NewDevice) (bad int, err error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return 0, fault.As(fault.File, err, "expected outputs")
	}
	defer z.Close()
	text, err := fs.ReadFile(z, "index.json")
	if err != nil {
		return 0, fault.As(fault.File, err, "expected outputs")
	}
	var all expected
	if err := json.Unmarshal(text, &all); err != nil {
		return 0, fault.As(fault.File, err, "expected outputs")
	}
	names := []string{}
	for name := range all.Models {
		if strings.Contains(name, filter) {
			names = append(names, name)
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.onnx"))
	if err != nil {
		return 0, fault.As(fault.Argument, err, "models")
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".onnx")
		if _, known := all.Models[name]; !known && strings.Contains(name, filter) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	found := 0
	for _, name := range names {
		file := filepath.Join(folder, name+".onnx")
		if _, known := all.Models[name]; !known {
			fmt.Fprintf(w, "%-28s FAILED: no outputs of ONNX Runtime are stored for it\n", name)
			found, bad = found+1, bad+1
			continue
		}
		if _, err := os.Stat(file); os.IsNotExist(err) {
			fmt.Fprintf(w, "%-28s not in the folder\n", name)
			continue
		}
		found++
		begin := time.Now()
		verdict, err := compare(file, all.Models[name], z, newDevice)
		if err != nil {
			verdict = "FAILED: " + err.Error()
			bad++
		}
		fmt.Fprintf(w, "%-28s %s (%.1f s)\n", name, verdict, time.Since(begin).Seconds())
	}
	if found == 0 {
		return 0, fault.New(fault.File, "%s: none of the %d models is there", folder, len(names))
	}
	fmt.Fprintf(w, "%d of %d networks agree with ONNX Runtime %s\n", found-bad, len(names), all.Runtime)
	return bad, nil
}

// pattern fills an input as bench/expect.py does.
func pattern(dims []int64) tensor.Tensor {
	t := tensor.New(tensor.Float32, dims...)
	for i := range t.Count() {
		tensor.PutFloat(tensor.Float32, t.Data, i, float64((2654435761*uint64(i)+12345)%(1<<32))/(1<<31)-1, false)
	}
	return t
}

// patterns returns the inputs of a session, all of which are float32.
func patterns(s *session.Session) ([]tensor.Tensor, error) {
	ports, _ := s.Ports()
	var in []tensor.Tensor
	for _, p := range ports {
		dims, ok := p.Type.Shape.Ints()
		if !ok || p.Type.DType != tensor.Float32 {
			return nil, fault.New(fault.Unsupported, "input %q is %v", p.Name, p.Type)
		}
		in = append(in, pattern(dims))
	}
	return in, nil
}

// compare runs one model; the verdict gives the largest differences.
func compare(file string, m expectation, files fs.FS, newDevice NewDevice) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != m.SHA256 {
		return "", fault.New(fault.File, "another model: SHA-256 %x", sum)
	}
	w := mem.NewWeights()
	defer w.Release()
	im, err := onnx.Import(data, onnx.Options{Weights: w})
	if err != nil {
		return "", err
	}
	d, err := newDevice()
	if err != nil {
		return "", err
	}
	s, err := session.Open(context.Background(), im.Graph, []device.Device{d}, compile.Options{Weights: w, Consume: true},
		device.ExecOptions{})
	if err != nil {
		return "", err
	}
	defer s.Close()
	in, err := patterns(s)
	if err != nil {
		return "", err
	}
	got, err := s.Run(context.Background(), in, time.Time{})
	if err != nil {
		return "", err
	}
	verdicts := []string{}
	for i, o := range m.Outputs {
		raw, err := fs.ReadFile(files, o.File)
		if err != nil {
			return "", fault.As(fault.File, err, "expected outputs")
		}
		want, err := tensor.ReadFloat32s(raw, len(raw)/4)
		if err != nil {
			return "", err
		}
		if tensor.Of(got[i].Dims...).String() != tensor.Of(o.Dims...).String() || got[i].DType != tensor.Float32 {
			return "", fault.New(fault.Shape, "output %q: %v, want float32%v", o.Name, got[i].Type(), o.Dims)
		}
		values := make([]float64, len(want))
		for k := range values {
			values[k] = tensor.FloatAt(tensor.Float32, got[i].Data, k*o.Step)
		}
		v, err := judge(values, want, o.Scale)
		if err != nil {
			return "", fault.Wrap(err, "output %q", o.Name)
		}
		if o.Step > 1 {
			v += fmt.Sprintf(" (%d of %d values compared)", len(want), got[i].Count())
		}
		verdicts = append(verdicts, v)
	}
	return strings.Join(verdicts, "; "), nil
}

// judge holds float outputs to 1e-4 of the largest expected value, quantized ones to the same top-1 and at most 2 % of
// the outputs more than one step away.
func judge(got []float64, want []float32, scale float64) (string, error) {
	largest, worst, off := 0.0, 0.0, 0
	top := [2]int{}
	for i := range want {
		w := float64(want[i])
		largest = max(largest, math.Abs(w))
		diff := math.Abs(got[i] - w)
		if math.IsNaN(diff) {
			diff = math.Inf(1)
		}
		worst = max(worst, diff)
		if diff > 1.01*scale {
			off++
		}
		if got[i] > got[top[0]] {
			top[0] = i
		}
		if w > float64(want[top[1]]) {
			top[1] = i
		}
	}
	if scale == 0 {
		v := fmt.Sprintf("largest difference %.2g of %.3g", worst, largest)
		if worst > 1e-4*largest {
			return "", fault.New(fault.Data, "%s, want at most 1e-4 of it", v)
		}
		return v, nil
	}
	// Equal largest values: either index is the top.
	same := want[top[0]] == want[top[1]]
	v := fmt.Sprintf("top-1 %d (expected %d), %d of %d more than one step away", top[0], top[1], off, len(want))
	if !same || math.IsInf(worst, 0) || float64(off) > 0.02*float64(len(want)) {
		return "", fault.New(fault.Data, "%s", v)
	}
	return v, nil
}
