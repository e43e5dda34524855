package rknn

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/anynpu/anynpu/capi/modelmap"
)

// A compiled model cannot run without the NPU that it was compiled for; the ONNX model that it was made from is loaded
// instead if the map file of ANYNPU_MODEL_MAP names one, or one lies beside it. The map can name another file for an
// ONNX model too, such as the same one with metadata beside it for a program that passes bytes.

// readerAt is a compiled model: the bytes that a program passed, or its file.
type readerAt interface {
	io.ReaderAt
	io.Reader
}

// substitute returns the ONNX file to load instead of a compiled model, and the place that names it. path is empty for
// a model that was passed as bytes. Without one, the error says what the model is and what to do. All errors have the
// code RKNN_ERR_MODEL_INVALID.
func substitute(r readerAt, path string, c *container) (onnx, from string, err error) {
	where, chip := "model", "a Rockchip NPU"
	if path != "" {
		where += ": " + filepath.Base(path)
	}
	if c.target != "" {
		chip = "the NPU of " + c.target
	}
	if modelmap.Setting() == modelmap.Off {
		return "", "", refuse(errModel, "%s: it is an .rknn file, code compiled for %s, which cannot run elsewhere, and "+
			"ANYNPU_MODEL_MAP=off forbids another file in its place: pass the ONNX file that it was made from", where, chip)
	}
	file, err := modelmap.Find(r, c.size, path)
	if err != nil {
		return "", "", refuseFor(errModel, err, "%s: it is an .rknn file", where)
	}
	if file != "" {
		return file, modelmap.Setting(), nil
	}
	if path != "" {
		beside := strings.TrimSuffix(path, ".rknn") + ".onnx"
		if st, err := os.Stat(beside); err == nil && st.Mode().IsRegular() {
			return beside, "", nil
		}
		return "", "", refuse(errModel, "%s: it is an .rknn file, code compiled for %s, which cannot run elsewhere: put "+
			"the ONNX file that it was made from beside it as %s, name that in the map file of ANYNPU_MODEL_MAP, or pass it "+
			"instead", where, chip, filepath.Base(beside))
	}
	h, err := modelmap.Sum(r, c.size)
	if err != nil {
		return "", "", refuseFor(errModel, err, "%s", where)
	}
	return "", "", refuse(errModel, "%s: it is an .rknn file, code compiled for %s, which cannot run elsewhere: pass "+
		"the ONNX file that it was made from, or name that for SHA-256 %s in the map file of ANYNPU_MODEL_MAP", where, chip,
		h)
}

// mapped returns the file that the map names for an ONNX model, "" if it is the model itself that is to be loaded. A
// map that cannot be read is a warning then: the model can be loaded as it is.
func mapped(r io.ReaderAt, size int64, path string) string {
	file, err := modelmap.Find(r, size, path)
	if err != nil {
		caution("the model map is not used", "error", err)
	}
	return file
}

// tellSubstitute warns that another file is loaded than the program named, and how it differs.
func (m *model) tellSubstitute(im *imported) {
	c := im.instead
	differs, tell := "nothing that can be read", warn
	if len(c.in)+len(c.out) == 0 {
		differs = "not known: the .rknn does not describe its inputs and outputs"
	} else if list := c.differences(m); len(list) > 0 {
		differs, tell = strings.Join(list, "; "), caution
	}
	pairs := []any{"rknn", im.insteadOf, "target", c.target, "onnx", im.path, "differs", differs}
	if im.from != "" {
		pairs = append(pairs, "map", im.from)
	}
	tell("an ONNX file is loaded instead of an .rknn", pairs...)
}
