package rknn

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
)

// A compiled model cannot run without the NPU that it was compiled for; the ONNX model that it was made from is loaded instead if the map file
// of ANYNPU_MODEL_MAP names one, or one lies beside it. A line of a map file is KEY -> FILE; KEY is the SHA-256 of the compiled
// model or its path. Paths are relative to the map file. Empty lines and those that begin with # are left out.

// maxMap bounds the size of a map file, maxHashed that of a compiled model that is looked up by its SHA-256.
const (
	maxMap    = 1 << 20
	maxHashed = 1 << 33
)

// mapEntry is one line of a map file.
type mapEntry struct {
	hash string // lower-case SHA-256, or
	path string
	onnx string
}

var hashRE = regexp.MustCompile(`^[0-9A-Fa-f]{64}$`)

// readMap reads a map file; kind fault.File.
func readMap(path string) ([]mapEntry, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxMap {
		return nil, fault.New(fault.File, "it is no regular file of at most %d bytes", maxMap)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, fault.New(fault.File, "it is no text")
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // as some editors begin a file
	folder := filepath.Dir(path)
	absolute := func(p string) string {
		if filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(folder, p)
	}
	var entries []mapEntry
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, onnx, ok := strings.Cut(line, "->")
		key, onnx = strings.TrimSpace(key), strings.TrimSpace(onnx)
		if !ok || key == "" || onnx == "" {
			return nil, fault.New(fault.File, "line %d: %.80q: want KEY -> FILE, where KEY is a SHA-256 or a path", i+1, line)
		}
		e := mapEntry{onnx: absolute(onnx)}
		if hashRE.MatchString(key) {
			e.hash = strings.ToLower(key)
		} else {
			e.path = absolute(key)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// readerAt is a compiled model: the bytes that a program passed, or its file.
type readerAt interface {
	io.ReaderAt
	io.Reader
}

// substitute returns the ONNX file to load instead of a compiled model, and the place that names it. path is empty for a model that was passed
// as bytes. Without one, the error says what the model is and what to do. All errors have the code RKNN_ERR_MODEL_INVALID.
func substitute(r readerAt, path string, c *container) (onnx, from string, err error) {
	where, chip := "model", "a Rockchip NPU"
	if path != "" {
		where += ": " + filepath.Base(path)
	}
	if c.target != "" {
		chip = "the NPU of " + c.target
	}
	setting := boundary.Getenv("ANYNPU_MODEL_MAP")
	if setting == "off" {
		return "", "", refuse(errModel, "%s: it is an .rknn file, code compiled for %s, which cannot run elsewhere, and ANYNPU_MODEL_MAP=off forbids another file in its place: pass the ONNX file that it was made from", where, chip)
	}
	hash := ""
	sum := func() (string, error) {
		if hash != "" || c.size > maxHashed {
			return hash, nil
		}
		h := sha256.New()
		if _, err := io.Copy(h, io.NewSectionReader(r, 0, c.size)); err != nil {
			return "", refuseFor(errModel, err, "%s", where)
		}
		hash = hex.EncodeToString(h.Sum(nil))
		return hash, nil
	}
	if setting != "" {
		entries, err := readMap(setting)
		if err != nil {
			return "", "", refuseFor(errModel, err, "%s: it is an .rknn file; ANYNPU_MODEL_MAP=%q", where, setting)
		}
		for _, e := range entries {
			match := e.hash == "" && path != "" && sameFile(e.path, path)
			if e.hash != "" {
				h, err := sum()
				if err != nil {
					return "", "", err
				}
				match = h == e.hash
			}
			if match {
				return e.onnx, setting, nil
			}
		}
	}
	if path != "" {
		beside := strings.TrimSuffix(path, ".rknn") + ".onnx"
		if st, err := os.Stat(beside); err == nil && st.Mode().IsRegular() {
			return beside, "", nil
		}
		return "", "", refuse(errModel, "%s: it is an .rknn file, code compiled for %s, which cannot run elsewhere: put the ONNX file that it was made from beside it as %s, name that in the map file of ANYNPU_MODEL_MAP, or pass it instead", where, chip, filepath.Base(beside))
	}
	h, err := sum()
	if err != nil {
		return "", "", err
	}
	return "", "", refuse(errModel, "%s: it is an .rknn file, code compiled for %s, which cannot run elsewhere: pass the ONNX file that it was made from, or name that for SHA-256 %s in the map file of ANYNPU_MODEL_MAP", where, chip, h)
}

// sameFile says whether two paths lead to one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
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
