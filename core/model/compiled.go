package model

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/rknn"
)

// loadInstead loads the ONNX file that stands for a compiled model.
func loadInstead(s Source, f *File, o Options) (*Model, error) {
	c, err := rknn.Read(f, f.Size)
	if err != nil { // encrypted
		c = &rknn.File{Size: f.Size, Unread: []string{err.Error()}}
	}
	file, by, err := standIn(s, f, c, o.Map)
	if err != nil {
		return nil, err
	}
	return loadOther(s, f, file, &Instead{Name: s.name(), Map: by, Compiled: c}, o)
}

// standIn returns the ONNX file to load instead of a compiled model, and the map that names it, empty if it lies beside
// it. Without one, the error says what the model is and what to do.
func standIn(s Source, f *File, c *rknn.File, m Map) (file string, by Map, err error) {
	chip := "a Rockchip NPU"
	if len(c.Targets) > 0 {
		chip = "the NPU of " + strings.Join(c.Targets, ", ")
	}
	what := fmt.Sprintf("%sit is an .rknn file, code compiled for %s, which cannot run elsewhere", s.label(), chip)
	if m == Off {
		return "", "", fault.New(fault.File, "%s, and ANYNPU_MODEL_MAP=off forbids another file in its place: pass the ONNX "+
			"file that it was made from", what)
	}
	file, err = m.Find(f, f.Size, s.Path)
	if err != nil {
		return "", "", fault.Wrap(err, "%sit is an .rknn file", s.label())
	}
	if file != "" {
		return file, m, nil
	}
	if s.Path != "" {
		beside := Beside(s.Path)
		if st, err := os.Stat(beside); err == nil && st.Mode().IsRegular() {
			return beside, "", nil
		}
		return "", "", fault.New(fault.File, "%s: put the ONNX file that it was made from beside it as %s, name that in the "+
			"map file of ANYNPU_MODEL_MAP, or pass it instead", what, filepath.Base(beside))
	}
	h, err := Sum(f, f.Size)
	if err != nil {
		return "", "", err
	}
	return "", "", fault.New(fault.File, "%s: pass the ONNX file that it was made from, or name that for SHA-256 %s in "+
		"the map file of ANYNPU_MODEL_MAP", what, h)
}

// Beside is the ONNX file that is loaded for a compiled model at path where no map names one: NAME.onnx for NAME.rknn.
func Beside(path string) string { return strings.TrimSuffix(path, ".rknn") + ".onnx" }

// Differences says how a model differs from the compiled one that it is loaded for, as far as that can be read: in and
// out are the model's ports, with sizes in set. Dimensions are compared in any order, since the two may be laid out
// differently, and all types of real numbers count as one.
func Differences(c *rknn.File, in, out []*Port, set ShapeSet) []string {
	var list []string
	for _, side := range []struct {
		what  string
		there []rknn.Port
		here  []*Port
		dims  [][]int64
	}{{"input", c.Inputs, in, set.In}, {"output", c.Outputs, out, set.Out}} {
		if len(side.there) == 0 {
			continue
		}
		if len(side.there) != len(side.here) {
			list = append(list, fmt.Sprintf("%d %ss there, %d here", len(side.there), side.what, len(side.here)))
			continue
		}
		for i, t := range side.there {
			p, what := side.here[i], fmt.Sprintf("%s %d", side.what, i)
			if t.Name != "" && t.Name != p.Name {
				list = append(list, fmt.Sprintf("%s is named %q there, %q here", what, t.Name, p.Name))
			}
			if len(t.Dims) > 0 && !slices.Equal(slices.Sorted(slices.Values(t.Dims)),
				slices.Sorted(slices.Values(side.dims[i]))) {
				list = append(list, fmt.Sprintf("%s has the shape %v there, %v here", what, t.Dims, side.dims[i]))
			}
			if here := p.Type.String(); t.Type != "" && t.Type != here &&
				!(strings.Contains(t.Type, "float") && p.Type.IsFloat()) {
				list = append(list, fmt.Sprintf("%s has the type %s there, %s here", what, t.Type, here))
			}
		}
	}
	return list
}
