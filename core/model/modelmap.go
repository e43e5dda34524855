package model

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

	"github.com/anynpu/anynpu/core/fault"
)

// maxMap bounds the size of a map file, maxHashed that of a model that is looked up by its SHA-256.
const (
	maxMap    = 1 << 20
	maxHashed = 1 << 33
)

// entry is one line of a map file.
type entry struct {
	hash string // lower-case SHA-256, or
	path string
	file string
}

var hashRE = regexp.MustCompile(`^[0-9A-Fa-f]{64}$`)

// readMap reads a map file; kind fault.File.
func readMap(path string) ([]entry, error) {
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
	var entries []entry
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, file, ok := strings.Cut(line, "->")
		key, file = strings.TrimSpace(key), strings.TrimSpace(file)
		if !ok || key == "" || file == "" {
			return nil, fault.New(fault.File, "line %d: %.80q: want KEY -> FILE, where KEY is a SHA-256 or a path", i+1, line)
		}
		e := entry{file: absolute(file)}
		if hashRE.MatchString(key) {
			e.hash = strings.ToLower(key)
		} else {
			e.path = absolute(key)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// Map is the value of ANYNPU_MODEL_MAP: the name of a map file, which says which ONNX file is loaded in place of the
// model that a program hands over, empty for none, or Off. A line is KEY -> FILE; KEY is the SHA-256 of that model or
// its path. Paths are relative to the map file. Empty lines and those that begin with # are left out. It can be a
// folder of ONNX files, too, in which the one for a compiled model is looked for by its names ([Map.Search]).
type Map string

// Off is the Map that forbids any file in place of another.
const Off Map = "off"

// Find returns the file that the map names for a model of size bytes, "" if there is no map or it does not name the
// model. path is empty for a model in memory. Errors of the map are of kind fault.File.
func (m Map) Find(r io.ReaderAt, size int64, path string) (file string, err error) {
	if m == "" || m == Off || m.Folder() {
		return "", nil
	}
	entries, err := readMap(string(m))
	if err != nil {
		return "", fault.As(fault.File, err, "ANYNPU_MODEL_MAP=%q", string(m))
	}
	hash := ""
	for _, e := range entries {
		if e.hash == "" {
			if path != "" && sameFile(e.path, path) {
				return e.file, nil
			}
			continue
		}
		if hash == "" {
			if hash, err = Sum(r, size); err != nil {
				return "", err
			}
		}
		if hash == e.hash {
			return e.file, nil
		}
	}
	return "", nil
}

// Sum is the SHA-256 of a model as a map file has it, "none" for one that is too large to be looked up by it.
func Sum(r io.ReaderAt, size int64) (string, error) {
	if size > maxHashed {
		return "none", nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(r, 0, size)); err != nil {
		return "", fault.As(fault.File, err, "SHA-256")
	}
	return hex.EncodeToString(h.Sum(nil)), nil
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
