package models

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
)

// maxEntries bounds the entries of a folder that are looked at.
const maxEntries = 10000

// scan returns the file of each version of each model in the folder.
func (r *Repository) scan() (map[string]map[int]string, error) {
	entries, err := list(r.config.Dir)
	if err != nil {
		return nil, err
	}
	found := map[string]map[int]string{}
	add := func(name string, n int, path string) {
		if name == "" || strings.HasPrefix(name, ".") {
			return
		}
		if found[name] == nil {
			found[name] = map[int]string{}
		}
		if has := found[name][n]; has != "" && has != path {
			r.config.Log("model " + path + " is left out: " + has + " has the same name and version")
			return
		}
		found[name][n] = path
	}
	for _, e := range entries {
		path := filepath.Join(r.config.Dir, e.Name())
		switch st, err := os.Stat(path); {
		case err != nil: // gone meanwhile, or a link to nothing
		case st.IsDir():
			for n, file := range r.versions(path) {
				add(e.Name(), n, file)
			}
		case st.Mode().IsRegular() && r.config.Known(path):
			add(strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())), 1, path)
		}
	}
	return found, nil
}

// versions returns the file of each version of the model that has a folder of its own.
func (r *Repository) versions(dir string) map[int]string {
	entries, err := list(dir)
	if err != nil {
		r.config.Log("folder " + dir + " is left out: " + err.Error())
		return nil
	}
	found := map[int]string{}
	for _, e := range entries {
		n, ok := number(e.Name())
		if !ok {
			continue
		}
		folder := filepath.Join(dir, e.Name())
		files, err := list(folder)
		if err != nil {
			continue // a file, or gone meanwhile
		}
		for _, f := range files {
			path := filepath.Join(folder, f.Name())
			if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() || !r.config.Known(path) {
				continue
			}
			if has := found[n]; has != "" {
				r.config.Log("model " + path + " is left out: " + has + " is in the same folder")
				continue
			}
			found[n] = path
		}
	}
	return found
}

// number reads the name of a version: a whole number of 1 or more without zeros in front.
func number(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 1 && strconv.Itoa(n) == s
}

// list returns the entries of a folder in the order of their names.
func list(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, fault.As(fault.File, err, "folder %s", dir)
	}
	if len(entries) > maxEntries {
		return nil, fault.New(fault.File, "folder %s: %d entries, want at most %d", dir, len(entries), maxEntries)
	}
	return entries, nil
}
