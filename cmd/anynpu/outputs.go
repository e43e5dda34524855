package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/npy"
)

// maxFileName bounds the bytes of an output's name in that of its file; file systems take 255.
const maxFileName = 200

// fileNames gives each output's file a name of its own: characters that could leave the folder become "_", names that
// are long are cut, and one that an earlier output has, in whatever case, gets a number.
func fileNames(ports []device.Port) []string {
	out := make([]string, len(ports))
	taken := map[string]bool{}
	for i, p := range ports {
		safe := strings.Map(func(r rune) rune {
			if r == '_' || r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
				return r
			}
			return '_'
		}, p.Name)
		safe = safe[:min(len(safe), maxFileName)]
		name := safe
		for n := 2; taken[strings.ToLower(name)]; n++ {
			name = safe + "-" + strconv.Itoa(n)
		}
		taken[strings.ToLower(name)] = true
		out[i] = name + ".npy"
	}
	return out
}

// save writes the output name to a file of dir and returns the file's path.
func save(dir, file, name string, t tensor.Tensor) (string, error) {
	path := filepath.Join(dir, file)
	f, err := os.Create(path)
	if err != nil {
		return "", fault.As(fault.File, err, "output %q", name)
	}
	if err := npy.Write(f, t); err != nil {
		f.Close()
		return "", fault.Wrap(err, "output %q", name)
	}
	return path, fault.As(fault.File, f.Close(), "output %q", name)
}
