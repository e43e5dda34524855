package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/session"
)

// topCode is the code of the largest number that a calibration has seen. 32 bits leave room for 127 times as much, and
// have the numbers of a float32.
var topCode = map[tensor.DType]float64{tensor.Int8: math.MaxInt8, tensor.Int16: math.MaxInt16, tensor.Int32: 1 << 24}

// ranges are the least and greatest results of an output that programs see as quantized values.
type ranges struct {
	name  string
	codes metadata.Codes // as the metadata have them, else int32
	axis  int            // of the dimensions that programs see
	own   int            // the same in the model's order
	most  []float64      // the largest magnitude for each index of the axis
}

// calibrate runs a model on every file of a folder, as the metadata given say its inputs, and returns the entries that
// have programs see its outputs as codes: those that the metadata call codes, or all of real numbers if they call none.
func calibrate(path, dir string, stderr io.Writer) (map[string]string, error) {
	files, err := filesOf(dir)
	if err != nil {
		return nil, exit(exitUsage, err)
	}
	plain := computeFlags{}
	plain.add(&cobra.Command{}) // the environment alone says what computes
	on, err := plain.open(stderr, nil)
	if err != nil {
		return nil, err
	}
	defer on.close()
	m, err := load(path, on.devices, stderr)
	if err != nil {
		return nil, err
	}
	defer m.weights.Release()
	options := m.options(compile.Options{Weights: m.weights, Consume: true}, on, stderr)
	ctx := context.Background()
	s, err := session.Open(ctx, m.Graph, on.devices, options, device.ExecOptions{})
	if err != nil {
		return nil, exit(exitModel, err)
	}
	defer s.Close()
	in, out := s.Ports()
	list := m.rangesOf(out)
	for _, file := range files {
		x, err := m.calibrationInputs(file, in, stderr)
		if err != nil {
			return nil, exit(exitUsage, err)
		}
		y, err := s.Run(ctx, x, time.Time{})
		if err != nil {
			return nil, exit(exitRun, fault.Wrap(err, "--calibrate: %s", file))
		}
		for i := range out {
			if list[i] == nil {
				continue
			}
			if err := list[i].see(y[i]); err != nil {
				return nil, exit(exitRun, fault.Wrap(err, "--calibrate: %s: output %q", file, out[i].Name))
			}
		}
	}
	entries := map[string]string{}
	for _, r := range list {
		if r == nil {
			continue
		}
		text, err := r.entry()
		if err != nil {
			return nil, exit(exitRun, err)
		}
		entries["anynpu.output."+r.name+".codes"] = text
	}
	if len(entries) == 0 {
		return nil, usage("--calibrate %s: the model has no output of real numbers that could be codes "+
			"[tool-calibrate-model-no]", dir)
	}
	printf(stderr, "calibrated: %d outputs on %d files\n", len(entries), len(files))
	return entries, nil
}

// filesOf are the regular files of a folder in the order of their names.
func filesOf(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fault.As(fault.File, cause(err), "--calibrate %s", dir)
	}
	for _, e := range entries {
		if st, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && st.Mode().IsRegular() &&
			!strings.HasPrefix(e.Name(), ".") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fault.New(fault.File, "--calibrate %s: there are no files in it [tool-calibrate-there-no]", dir)
	}
	return files, nil
}

// calibrationInputs are the inputs that a file gives: an image or array that of the only one, a .npz those of its
// names.
func (m *loaded) calibrationInputs(file string, in []device.Port, stderr io.Writer) ([]tensor.Tensor, error) {
	f := inputFlags{files: []string{file}}
	if !isPack(file) {
		f.files = nil
		first := m.imageOf(in[0].Name)
		for i, p := range in {
			if im := m.imageOf(p.Name); i > 0 && (im == nil || first == nil || im.Input != first.Input) {
				return nil, fault.New(fault.File, "%s: the model has more than one input: want .npz files with an array for each "+
					"[tool-model-more-than]",
					file)
			}
			f.files = append(f.files, p.Name+"="+file) // of NV12 both planes
		}
	}
	return f.tensors(m, in, stderr)
}

// rangesOf returns the ranges of the outputs, nil for one without quantized values.
func (m *loaded) rangesOf(out []device.Port) []*ranges {
	list, named := make([]*ranges, len(out)), m.Meta.Codes != nil
	for _, o := range m.Meta.Outputs {
		named = named || o.Codes != nil
	}
	for i, p := range out {
		says := m.Meta.Outputs[p.Name]
		codes := says.Codes
		if codes == nil {
			codes = m.Meta.Codes
		}
		if !p.Type.DType.IsFloat() || named && codes == nil {
			continue
		}
		r := &ranges{name: p.Name, codes: metadata.Codes{Type: tensor.Int32}, axis: p.Type.Shape.Rank() - 1}
		if codes != nil {
			r.codes = *codes
		}
		if r.codes.Axis != nil {
			if r.axis = *r.codes.Axis; r.axis < 0 {
				r.axis += p.Type.Shape.Rank()
			}
		}
		r.own = r.axis
		if rank4 := p.Type.Shape.Rank() == 4; rank4 && says.Layout == "nhwc" && says.Native != "nhwc" {
			r.own = tensor.ChannelsLast(4)[r.axis]
		} else if rank4 && says.Layout == "nchw" && says.Native == "nhwc" {
			r.own = []int{0, 3, 1, 2}[r.axis]
		}
		list[i] = r
	}
	return list
}

// see takes a result into the ranges.
func (r *ranges) see(t tensor.Tensor) error {
	size, inner := 1, 1
	if len(t.Dims) > 0 {
		if r.own < 0 || r.own >= len(t.Dims) {
			return fault.New(fault.File, "axis is %d: the output has the shape %v [tool-axis-output-shape]", r.axis, t.Dims)
		}
		size = int(t.Dims[r.own])
		for _, d := range t.Dims[r.own+1:] {
			inner *= int(d)
		}
	}
	if r.most == nil {
		r.most = make([]float64, size)
	}
	if len(r.most) != size {
		return fault.New(fault.Shape, "it has the shape %v, and %d indices of that axis before "+
			"[tool-shape-indices-axis]", t.Dims, len(r.most))
	}
	n, _ := tensor.Count(t.Dims)
	for i := range int(n) {
		v := math.Abs(tensor.FloatAt(t.DType, t.Data, i))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fault.New(fault.Data, "element %d is %v: a calibration wants numbers [tool-element-calibration-wants]", i, v)
		}
		k := i / inner % size
		r.most[k] = max(r.most[k], v)
	}
	return nil
}

// entry are the codes as metadata have them: of 32 bits, or where an axis is named, a scale for each index, else one.
// An index that was never anything but 0 has the largest scale of the others.
func (r *ranges) entry() (string, error) {
	top, all := topCode[r.codes.Type], 0.0
	for _, v := range r.most {
		all = max(all, v)
	}
	if all == 0 {
		all = top / (1 << 16)
	}
	one := struct {
		Type  string    `json:"type"`
		Scale []float32 `json:"scale"`
		Axis  *int      `json:"axis,omitempty"`
	}{Type: r.codes.Type.String()}
	if r.codes.Type != tensor.Int32 && r.codes.Axis == nil || r.axis < 0 {
		one.Scale = []float32{float32(all / top)}
	} else {
		one.Axis = &r.axis
		for _, v := range r.most {
			if v == 0 {
				v = all
			}
			one.Scale = append(one.Scale, max(float32(v/top), math.SmallestNonzeroFloat32))
		}
	}
	text, err := json.Marshal(one)
	if err != nil {
		return "", fmt.Errorf("codes of output %q: %w", r.name, err)
	}
	return string(text), nil
}
