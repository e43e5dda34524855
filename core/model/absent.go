package model

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
)

// Locate is the source itself if there is a file at its path. Else it is the ONNX file that stands for it, as for a
// compiled model that is there, because programs have paths compiled in: the one that the map names for the path,
// NAME.onnx beside it, or NAME.onnx in the map's folder. An error, which is fs.ErrNotExist, names the files that were
// looked for.
func (s Source) Locate(m Map) (found Source, why *Instead, err error) {
	if s.Path == "" {
		return s, nil, nil
	}
	if _, err := os.Stat(s.Path); !errors.Is(err, fs.ErrNotExist) {
		return s, nil, nil
	}
	absent := func(format string, args ...any) error {
		return fault.As(fault.File, fault.Wrap(fs.ErrNotExist, format, args...), "%q: no such file", s.Path)
	}
	ext := filepath.Ext(s.Path)
	switch {
	case m == Off:
		return s, nil, absent("ANYNPU_MODEL_MAP=off forbids another file in its place")
	case ext == ".onnx" || ext == ".json":
		return s, nil, absent("and no other stands for it")
	}
	file, err := m.named(s.Path)
	if err != nil {
		return s, nil, fault.Wrap(err, "%q: no such file", s.Path)
	}
	if file != "" {
		return Source{Path: file}, &Instead{Name: s.Path, Map: m}, nil
	}
	beside := strings.TrimSuffix(s.Path, ext) + ".onnx"
	if plain(beside) {
		return Source{Path: beside}, &Instead{Name: s.Path}, nil
	}
	if !m.Folder() {
		also := "and ANYNPU_MODEL_MAP is not set"
		if m != "" {
			also = "and ANYNPU_MODEL_MAP, " + string(m) + ", has no line for the path"
		}
		return s, nil, absent("nor is there %q beside it, %s", filepath.Base(beside), also)
	}
	if file = filepath.Join(string(m), filepath.Base(beside)); plain(file) {
		return Source{Path: file}, &Instead{Name: s.Path, Map: m}, nil
	}
	return s, nil, absent("nor is there %q beside it or in the folder of ANYNPU_MODEL_MAP, %q", filepath.Base(beside),
		string(m))
}

// plain reports whether there is a regular file.
func plain(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// named returns the file that the map names for a path at which no file is, empty for none.
func (m Map) named(path string) (string, error) {
	if m == "" || m == Off || m.Folder() {
		return "", nil
	}
	entries, err := readMap(string(m))
	if err != nil {
		return "", fault.As(fault.File, err, "ANYNPU_MODEL_MAP=%q", string(m))
	}
	want, err := filepath.Abs(path)
	if err != nil {
		return "", fault.As(fault.File, err, "")
	}
	for _, e := range entries {
		if e.path == "" {
			continue
		}
		if have, err := filepath.Abs(e.path); err == nil && have == want {
			return e.file, nil
		}
	}
	return "", nil
}
