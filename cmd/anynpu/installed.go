package main

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/dl/loader"
	"github.com/anynpu/anynpu/core/spec"
)

// helperFile returns the program that opens drivers first and belongs to this one, "" if there is none.
func helperFile() string { return beside(dl.HelperName) }

// beside returns a program that belongs to this one, "" if there is none.
func beside(name string) string {
	if self, err := os.Executable(); err == nil { // the program that opens drivers lies there too
		if path := filepath.Join(filepath.Dir(self), name); exists(path) {
			return path
		}
	}
	if stubs := stubFolder(); stubs != "" {
		if path := filepath.Join(stubs, name); exists(path) {
			return path
		}
	}
	return ""
}

func exists(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// stubFolder returns the folder of the stub libraries that belong to this program, as it is installed or as it is
// built, "" if there is none.
func stubFolder() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	above := filepath.Dir(filepath.Dir(self))
	triplet := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	for _, folder := range []string{"lib/anynpu", "lib/" + triplet + "/anynpu", "lib64/anynpu", "lib"} {
		folder = filepath.Join(above, folder)
		if file := loader.In(folder, sonames("rknn")[0]); file != "" {
			if f, err := loader.Read(file); err == nil && f.Ours {
				return folder
			}
		}
	}
	return ""
}

// sonames are the file names of one API's libraries, of all for "".
func sonames(api string) (names []string) {
	for _, a := range spec.APIs {
		if api == "" || a.Name == api {
			names = append(names, a.Sonames...)
		}
	}
	return names
}
