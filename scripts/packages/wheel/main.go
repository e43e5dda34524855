// Command wheel writes the Python wheel of an installed tree: python/anynpu, and below it, as prefix, the tree's
// libraries and tool.
//
//	wheel VERSION ROOT FOLDER
//
// ROOT has bin and lib, as `make install` writes them; what only compilers need stays out. The wheel's tag names the
// processor and the libc that the library in ROOT wants. The file in FOLDER is the same whenever and wherever it is
// written: SOURCE_DATE_EPOCH, seconds since 1970, is the time of its entries. The format is that of the binary
// distribution format 1.0 of the Python packaging specifications.
package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// entry is a file of the wheel.
type entry struct {
	name string
	data []byte
	mode fs.FileMode
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: wheel VERSION ROOT FOLDER")
		os.Exit(2)
	}
	name, err := write(os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, "wheel:", err)
		os.Exit(1)
	}
	fmt.Println(name)
}

// write makes the wheel and returns its path.
func write(version, root, folder string) (string, error) {
	system, err := platform(filepath.Join(root, "lib", "libanynpu.so.0"))
	if err != nil {
		return "", err
	}
	tag := "py3-none-" + system
	entries, err := module("python/anynpu")
	if err != nil {
		return "", err
	}
	installed, err := tree(root)
	if err != nil {
		return "", err
	}
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return "", err
	}
	info := "anynpu-" + version + ".dist-info/"
	entries = append(append(entries, installed...),
		entry{info + "METADATA", []byte(metadata(version)), 0o644},
		entry{info + "WHEEL", []byte("Wheel-Version: 1.0\nGenerator: anynpu\nRoot-Is-Purelib: false\nTag: " + tag + "\n"),
			0o644},
		entry{info + "entry_points.txt", []byte("[console_scripts]\nanynpu = anynpu.__main__:main\n"), 0o644},
		entry{info + "licenses/LICENSE", licence, 0o644})
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	entries = append(entries, entry{info + "RECORD", record(entries, info+"RECORD"), 0o644}) // last, as is recommended
	path := filepath.Join(folder, "anynpu-"+version+"-"+tag+".whl")
	return path, store(path, entries)
}

// module returns the Python sources.
func module(folder string) ([]entry, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.py"))
	if err != nil {
		return nil, err
	}
	var entries []entry
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{"anynpu/" + filepath.Base(f), data, 0o644})
	}
	return entries, nil
}

// tree returns what programs need at run time of an installed tree. Links are left out: no program asks for their
// names, and wheels have none.
func tree(root string) ([]entry, error) {
	var entries []entry
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{"include", "share", "lib/pkgconfig", "lib/cmake", "lib/anynpu/single"}, name) {
				return fs.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		entries = append(entries, entry{"anynpu/prefix/" + filepath.ToSlash(name), data, 0o755})
		return nil
	})
	return entries, err
}

func metadata(version string) string {
	return `Metadata-Version: 2.4
Name: anynpu
Version: ` + version + `
Summary: Run programs written for an NPU's C API, and ONNX models, on whatever the machine has
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.8
Requires-Dist: numpy
Description-Content-Type: text/plain

One shared library that runs programs written for OpenHarmony's, Rockchip's, Horizon's and Android's C APIs, its
command-line tool, and a module that runs ONNX models:

    import anynpu
    outputs = anynpu.Session("model.onnx").run({"image": array})
`
}

// record lists every file with its hash and size; its own row has neither.
func record(entries []entry, own string) []byte {
	var b strings.Builder
	for _, e := range entries {
		sum := sha256.Sum256(e.data)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", e.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(e.data))
	}
	fmt.Fprintf(&b, "%s,,\n", own)
	return []byte(b.String())
}

func store(path string, entries []entry) error {
	when, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil || when < 315532800 { // ZIP begins in 1980
		when = 315532800
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(e.mode)
		h.Modified = time.Unix(when, 0).UTC()
		w, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := w.Write(e.data); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return f.Close()
}
