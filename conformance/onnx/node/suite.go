// Package node runs the backend node tests of the ONNX project: folders with a model.onnx and, per data set,
// input_N.pb and output_N.pb.
package node

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
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
	"github.com/anynpu/anynpu/internal/tensordiff"
)

// Result is what became of one test.
type Result struct {
	Name     string
	Excluded string // kind of test that is not ours to pass, empty for one that counts
	Failure  string // empty: passed
	Refused  bool   // failed because the model has what the project does not support, which the failure names
}

// Run runs the tests of the folders below root whose names contain filter, in the order of their names.
func Run(ctx context.Context, root, filter string, d device.Device) ([]Result, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fault.As(fault.File, err, "tests")
	}
	var out []Result
	for _, e := range entries {
		if !e.IsDir() || !strings.Contains(e.Name(), filter) {
			continue
		}
		r := Result{Name: e.Name()}
		dir := filepath.Join(root, e.Name())
		if r.Excluded, err = Excluded(dir); err != nil {
			return nil, fault.Wrap(err, "%s", e.Name())
		}
		if r.Excluded == "" {
			if err := RunCase(ctx, os.DirFS(root), e.Name(), d, tensordiff.Default); err != nil {
				r.Failure, r.Refused = err.Error(), fault.KindOf(err) == fault.Unsupported
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// Excluded names the kind of a test outside the scope: training, strings, image decoding, the domain ai.onnx.ml, and
// sequences or optional values as inputs or outputs of a graph.
func Excluded(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return "", fault.As(fault.File, err, "read")
	}
	s, err := onnx.Survey(data)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(filepath.Base(dir), "test_training_") || strings.Contains(filepath.Base(dir), "_training_mode") {
		return "training", nil
	}
	for _, kind := range []string{"sequence", "optional"} {
		if slices.Contains(s.Kinds, kind) {
			return kind, nil
		}
	}
	if s.Strings {
		return "string", nil
	}
	for _, op := range sortedOps(s.Ops) {
		switch {
		case op == "ImageDecoder":
			return "image decoder", nil
		case strings.HasPrefix(op, "String") || op == "RegexFullMatch":
			return "string", nil
		case strings.HasPrefix(op, "ai.onnx.preview.training"):
			return "training", nil
		case strings.HasPrefix(op, "ai.onnx.ml"):
			return "ai.onnx.ml", nil
		}
	}
	return "", nil
}

func sortedOps(m map[string]int) []string {
	ops := make([]string, 0, len(m))
	for op := range m {
		ops = append(ops, op)
	}
	sort.Strings(ops)
	return ops
}

// RunCase imports dir/model.onnx of fsys and compares its outputs for every data set, the folders test_data_set_* in
// dir or dir itself.
func RunCase(ctx context.Context, fsys fs.FS, dir string, d device.Device, tol tensordiff.Tolerance) error {
	data, err := fs.ReadFile(fsys, path.Join(dir, "model.onnx"))
	if err != nil {
		return fault.As(fault.File, err, "read")
	}
	weights := mem.NewWeights()
	defer weights.Release()
	m, err := onnx.Import(data, onnx.Options{Weights: weights})
	if err != nil {
		return fault.Wrap(err, "import")
	}
	drawn, seeded, greater := drawsNumbers(m.Graph)
	s, err := session.Open(ctx, m.Graph, []device.Device{d}, compile.Options{}, device.ExecOptions{})
	if err != nil {
		return err
	}
	defer s.Close()
	sets, err := fs.Glob(fsys, path.Join(dir, "test_data_set_*"))
	if err != nil || len(sets) == 0 {
		sets = []string{dir}
	}
	ins, outs := s.Ports()
	for _, set := range sets {
		in, err := readTensors(fsys, set, "input", ins)
		if err != nil {
			return err
		}
		want, err := readTensors(fsys, set, "output", outs)
		if err != nil {
			return err
		}
		got, err := s.Run(ctx, in, time.Now().Add(time.Minute))
		if err != nil {
			return fault.Wrap(err, "run")
		}
		if drawn && isBernoulli(path.Base(dir)) && len(in) == 1 && len(want) == 1 {
			if err := checkBernoulli(drawsOf(ctx, s, greater), seeded, in[0], want[0]); err != nil {
				return err
			}
			continue
		}
		if drawn {
			if err := checkDrawn(got, want); err != nil {
				return err
			}
			continue
		}
		for i := range outs {
			if bad := tensordiff.Compare(got[i], want[i], tol); bad != "" {
				return fmt.Errorf("output %d: %s", i, bad)
			}
		}
	}
	return nil
}

// readTensors reads the files of one side of a data set. A model may have its input as an initializer: then there are
// more files than ports, and names decide.
func readTensors(fsys fs.FS, set, side string, ports []device.Port) ([]tensor.Tensor, error) {
	files, err := fs.Glob(fsys, path.Join(set, side+"_*.pb"))
	if err != nil {
		return nil, fault.As(fault.File, err, "data set")
	}
	all := make([]tensor.Tensor, len(files))
	byName := map[string]tensor.Tensor{}
	for i := range files {
		file := path.Join(set, fmt.Sprintf("%s_%d.pb", side, i))
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, fault.As(fault.File, err, "read")
		}
		name, t, err := onnx.ReadTensor(data)
		if err != nil {
			return nil, fault.Wrap(err, "%s", file)
		}
		if t.DType == tensor.Uint16 && i < len(ports) && ports[i].Type.DType == tensor.BFloat16 {
			t.DType = tensor.BFloat16 // the ONNX project stores its bfloat16 data as uint16
		}
		all[i], byName[name] = t, t
	}
	if len(all) == len(ports) {
		return all, nil
	}
	out := make([]tensor.Tensor, len(ports))
	for i, p := range ports {
		t, ok := byName[p.Name]
		if !ok {
			return nil, fault.New(fault.File, "%s: no %s named %q among %d", set, side, p.Name, len(all))
		}
		out[i] = t
	}
	return out, nil
}
