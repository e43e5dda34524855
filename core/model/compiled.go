package model

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/format/rknn"
)

// loadInstead loads the ONNX file that stands for a compiled model.
func loadInstead(s Source, f *File, o Options) (*Model, error) {
	c, err := rknn.Read(f, f.Size)
	if err != nil { // encrypted
		c = &rknn.File{Size: f.Size, Unread: []string{err.Error()}, Lost: true}
	}
	file, by, err := standIn(s, f, c, o.Map)
	if err != nil {
		return nil, err
	}
	why := &Instead{Name: s.name(), Map: by, Compiled: c}
	o.below = func(n *onnx.Names) map[string]string {
		why.Described = Describe(c, n)
		return why.Described.Entries
	}
	return loadOther(s, f, file, why, o)
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
	}
	if m.Folder() {
		file, nearest, err := m.Search(c)
		if err == nil {
			return file, m, nil
		}
		err = fault.Wrap(err, "%s", what)
		h, e := Sum(f, f.Size)
		if e != nil {
			return "", "", err
		}
		if nearest == "" {
			nearest = "the ONNX file"
		}
		return "", "", fault.As(fault.KindOf(err), fmt.Errorf("%w; to name the file yourself, write the line \"%s -> %s\" "+
			"into "+
			"a text file and set ANYNPU_MODEL_MAP to that", err, h, nearest), "")
	}
	if s.Path != "" {
		beside := Beside(s.Path)
		return "", "", fault.New(fault.File, "%s: put the ONNX file that it was made from beside it as %s, name that or its "+
			"folder in ANYNPU_MODEL_MAP, or pass it instead", what, filepath.Base(beside))
	}
	h, err := Sum(f, f.Size)
	if err != nil {
		return "", "", err
	}
	return "", "", fault.New(fault.File, "%s: the program hands over bytes, and beside bytes no file can lie: pass the "+
		"ONNX "+
		"file that it was made from, or set ANYNPU_MODEL_MAP to the folder of that file, or to a text file with the line "+
		"\"%s -> FILE.onnx\", which begins with their SHA-256", what, h)
}

// Beside is the ONNX file that is loaded for a compiled model at path where no map names one: NAME.onnx for NAME.rknn.
func Beside(path string) string { return strings.TrimSuffix(path, ".rknn") + ".onnx" }

// Differences says how a model differs from the compiled one that it is loaded for, as far as that can be read: in and
// out are the model's ports, with the sizes that they may have in sets. All types of real numbers count as one, and
// with real quantized ones as well.
func Differences(c *rknn.File, in, out []*Port, sets []ShapeSet, real bool) []string {
	var list []string
	for _, side := range []struct {
		what  string
		there []rknn.Port
		here  []*Port
		dims  func(s *ShapeSet) [][]int64
	}{{"input", c.Inputs, in, func(s *ShapeSet) [][]int64 { return s.In }},
		{"output", c.Outputs, out, func(s *ShapeSet) [][]int64 { return s.Out }}} {
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
			if text := unlike(c, t.Dims, sets, func(s *ShapeSet) []int64 { return side.dims(s)[i] }); text != "" {
				list = append(list, what+" has the shape "+text)
			}
			if here := p.Type.String(); t.Type != "" && t.Type != here && !(p.Type.IsFloat() &&
				(strings.Contains(t.Type, "float") || real && (t.Type == "int8" || t.Type == "int16"))) {
				list = append(list, fmt.Sprintf("%s has the type %s there, %s here", what, t.Type, here))
			}
		}
	}
	return list
}

// unlike says how a shape differs from all that a port may have here, empty if it is one of them, maybe in NHWC. The
// file has its batch beside its shapes.
func unlike(c *rknn.File, there []int64, sets []ShapeSet, of func(s *ShapeSet) []int64) string {
	if len(there) == 0 || len(sets) == 0 {
		return ""
	}
	there = slices.Clone(there)
	if there[0] == 1 && c.Batch > 1 {
		there[0] = int64(c.Batch)
	}
	var here []int64
	for i := range sets {
		here = of(&sets[i])
		if slices.Equal(there, here) || len(here) == 4 && slices.Equal(there, []int64{here[0], here[2], here[3], here[1]}) {
			return ""
		}
	}
	text := fmt.Sprintf("%v there, %v here", there, here)
	switch {
	case len(there) == 4 && len(here) == 4 && slices.Equal(there, []int64{here[0], here[1], here[3], here[2]}):
		text += " (height and width are swapped)"
	case len(there) == len(here) && slices.Equal(there[1:], here[1:]):
		text += " (the batch differs)"
	}
	return text
}
