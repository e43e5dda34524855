// Goruntime adapts Go's runtime to a library that is a guest in another's process. It copies the few files concerned
// from the Go that builds the library, with the edits of edits.go, and writes an overlay for `go build -overlay`.
//
// Every edit names the exact text that it replaces. It fails unless the text is there once, so that another Go release
// is either edited as this one or not at all.
//
//	go run ./capi/goruntime GOROOT GOMODCACHE DIR [OVERLAY]
//
// OVERLAY is another such file, of which the one in DIR then has every entry too.
//
// DIR receives overlay.json and the edited files. It prints the GOROOT to build with: the given one, so that all
// checkouts share what Go has compiled, or a symbolic link to it in DIR where it lies in the module cache, as a
// toolchain does that Go has downloaded: there overlays are refused.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 4 && len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: goruntime GOROOT GOMODCACHE DIR [OVERLAY]")
		os.Exit(2)
	}
	more := ""
	if len(os.Args) == 5 {
		more = os.Args[4]
	}
	root, err := run(os.Args[1], os.Args[2], os.Args[3], more, edits)
	if err != nil {
		fmt.Fprintln(os.Stderr, "goruntime:", err)
		os.Exit(1)
	}
	fmt.Println(root)
}

// An edit replaces a text of a file of package runtime by another.
type edit struct{ file, from, to string }

// run writes the overlay and returns the GOROOT to build with.
func run(goroot, modcache, dir, more string, edits []edit) (root string, err error) {
	for _, path := range []*string{&goroot, &dir} {
		if *path, err = filepath.Abs(*path); err != nil {
			return "", err
		}
	}
	texts, err := edited(goroot, edits)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	root = goroot
	if strings.HasPrefix(goroot, modcache+string(filepath.Separator)) {
		root = filepath.Join(dir, "goroot")
		if to, err := os.Readlink(root); err != nil || to != goroot {
			if err := replaced(root, func(name string) error { return os.Symlink(goroot, name) }); err != nil {
				return "", err
			}
		}
	}
	replace := map[string]string{}
	for name, text := range texts {
		file := filepath.Join(dir, name)
		replace[filepath.Join(root, "src/runtime", name)] = file
		if err := write(file, []byte(text)); err != nil {
			return "", err
		}
	}
	if more != "" {
		data, err := os.ReadFile(more)
		if err != nil {
			return "", err
		}
		var others struct{ Replace map[string]string }
		if err := json.Unmarshal(data, &others); err != nil {
			return "", fmt.Errorf("%s: %w", more, err)
		}
		maps.Copy(replace, others.Replace)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return root, write(filepath.Join(dir, "overlay.json"), overlay)
}

// write makes a file hold data. Other links of the same make may read it: they see all of it, before and after.
func write(file string, data []byte) error {
	if have, err := os.ReadFile(file); err == nil && bytes.Equal(have, data) {
		return nil
	}
	return replaced(file, func(name string) error { return os.WriteFile(name, data, 0o644) })
}

// replaced puts what create makes under a name of its own in the place of path.
func replaced(path string, create func(name string) error) error {
	own := fmt.Sprintf("%s.%d", path, os.Getpid())
	defer os.Remove(own)
	if err := create(own); err != nil {
		return err
	}
	return os.Rename(own, path)
}

// edited returns the edited files of the runtime in goroot, by name.
func edited(goroot string, edits []edit) (map[string]string, error) {
	texts := map[string]string{}
	for _, e := range edits {
		path := filepath.Join(goroot, "src/runtime", e.file)
		if _, read := texts[e.file]; !read {
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			texts[e.file] = string(data)
		}
		if n := strings.Count(texts[e.file], e.from); n != 1 {
			return nil, fmt.Errorf("%s: %d times, want once: %q: this Go release needs other edits in capi/goruntime/edits.go",
				path, n, e.from)
		}
		texts[e.file] = strings.Replace(texts[e.file], e.from, e.to, 1)
	}
	return texts, nil
}
