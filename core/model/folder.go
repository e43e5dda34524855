package model

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/format/rknn"
)

// Limits of a folder of ONNX files.
const (
	maxFiles   = 10_000
	maxEntries = 100_000
	maxBelow   = 8 // folders below it, one in the other
)

// Folder reports whether the map is a folder of ONNX files.
func (m Map) Folder() bool {
	if m == "" || m == Off {
		return false
	}
	st, err := os.Stat(string(m))
	return err == nil && st.IsDir()
}

// How well a file must agree at least, and by how much better than the next. One whose inputs, outputs and shapes all
// agree is also taken with less, if the next is far behind.
const (
	minScore = 0.6
	minInner = 0.5
	margin   = 0.002

	clearInner = 0.3
	clearLead  = 0.3 // a third of it before one with other inputs, outputs or shapes
)

// candidate is a file of a folder and how well it agrees.
type candidate struct {
	file string
	size int64
	*nameSets
	agreement
}

// Search returns the ONNX file of the folder whose names of inputs, outputs and inner tensors agree best with those of
// a compiled model. Kind fault.File, with the two nearest files, if none agrees well enough or two agree alike; nearest
// is then the best of them, empty for none.
func (m Map) Search(c *rknn.File) (file, nearest string, err error) {
	folder := fmt.Sprintf("ANYNPU_MODEL_MAP=%q", string(m))
	want := wanted(c)
	if len(want.in)+len(want.out) == 0 {
		return "", "", fault.New(fault.File, "%s: the .rknn file does not tell the names of its inputs and outputs, by "+
			"which "+
			"an ONNX file would be found", folder)
	}
	files, err := listONNX(string(m))
	if err != nil {
		return "", "", fault.As(fault.File, err, "%s", folder)
	}
	var list []candidate
	for _, f := range files {
		if n := index.names(f.path, f.info); n != nil {
			list = append(list, candidate{f.path, f.info.Size(), n, want.compare(n)})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	list = distinct(list)
	if len(list) == 0 {
		return "", "", fault.New(fault.File, "%s: there is no ONNX file in this folder", folder)
	}
	shown := make([]string, 0, 2)
	for _, c := range list[:min(len(list), 2)] {
		shown = append(shown, fmt.Sprintf("%q (%.0f %%)", m.below(c.file), 100*max(c.score, 0)))
	}
	best, next := &list[0], agreement{}
	if len(list) > 1 {
		next = list[1].agreement
	}
	switch {
	case best.fits() && next.fits() && best.score-next.score < margin:
		return "", best.file, fault.New(fault.File, "%s: two ONNX files agree alike with the .rknn's names: %s; %s", folder,
			strings.Join(shown, ", "), difference(best, &list[1]))
	case best.fits(), best.clear() && (best.score-max(next.score, 0) >= clearLead ||
		!next.ports && best.score-next.score >= clearLead/3):
		return best.file, "", nil
	}
	return "", best.file, fault.New(fault.File, "%s: no ONNX file in this folder has the names of the .rknn's inputs, "+
		"outputs "+
		"and inner tensors; the nearest: %s; wanted are %.0f %%, and of the inner tensors %.0f %%", folder,
		strings.Join(shown, ", "), 100*minScore, 100*minInner)
}

// below is the path of a file of the folder, as seen from there.
func (m Map) below(file string) string {
	if rel, err := filepath.Rel(string(m), file); err == nil {
		return rel
	}
	return file
}

// distinct leaves out what has the same bytes as a file before it that agrees as well.
func distinct(list []candidate) []candidate {
	var kept []candidate
	for _, c := range list {
		if !slices.ContainsFunc(kept, func(k candidate) bool {
			return k.score == c.score && k.size == c.size && sameBytes(k.file, c.file)
		}) {
			kept = append(kept, c)
		}
	}
	return kept
}

// sameBytes reports whether two files have the same content.
func sameBytes(a, b string) bool {
	x, err := sumOf(a)
	if err != nil {
		return false
	}
	y, err := sumOf(b)
	return err == nil && x == y
}

func sumOf(path string) (string, error) {
	f, err := (Source{Path: path}).Open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	return Sum(f, f.Size)
}

// difference names the parts in which two files differ.
func difference(a, b *candidate) string {
	name := func(c *candidate) string { return filepath.Base(c.file) }
	for _, side := range []struct {
		what string
		a, b map[string][]int64
	}{{"input", a.in, b.in}, {"output", a.out, b.out}, {"tensor", a.sizes, b.sizes}} {
		for _, k := range slices.Sorted(maps.Keys(side.a)) {
			if d, ok := side.b[k]; !ok {
				return fmt.Sprintf("only %q has the %s %q", name(a), side.what, k)
			} else if !slices.Equal(d, side.a[k]) {
				return fmt.Sprintf("%s %q is %v in %q, %v in %q", side.what, k, side.a[k], name(a), d, name(b))
			}
		}
		for _, k := range slices.Sorted(maps.Keys(side.b)) {
			if _, ok := side.a[k]; !ok {
				return fmt.Sprintf("only %q has the %s %q", name(b), side.what, k)
			}
		}
	}
	return fmt.Sprintf("they have the same names and sizes and other numbers: %d and %d bytes", a.size, b.size)
}

// onnxFile is a file of a folder.
type onnxFile struct {
	path string
	info fs.FileInfo
}

// listONNX lists the ONNX files of a folder and those below it, links not followed, hidden ones left out.
func listONNX(folder string) (files []onnxFile, err error) {
	seen := 0
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if path == folder {
				return err
			}
			return nil // a folder that cannot be read has nothing to offer
		}
		if seen++; seen > maxEntries || len(files) > maxFiles {
			return fault.New(fault.File, "it has more than %d entries or %d ONNX files", maxEntries, maxFiles)
		}
		below, _ := filepath.Rel(folder, path)
		switch {
		case d.IsDir() && path != folder && (d.Name()[0] == '.' ||
			strings.Count(below, string(filepath.Separator)) >= maxBelow):
			return filepath.SkipDir
		case d.Type().IsRegular() && strings.EqualFold(filepath.Ext(path), ".onnx") && d.Name()[0] != '.':
			if info, err := d.Info(); err == nil {
				files = append(files, onnxFile{path, info})
			}
		}
		return nil
	})
	return files, err
}

// index keeps the names of ONNX files for as long as they do not change.
var index = &nameIndex{kept: map[string]*indexed{}}

type nameIndex struct {
	mu   sync.Mutex
	kept map[string]*indexed
}

// indexed are the names in a file of a size and time; nil if they cannot be read.
type indexed struct {
	size int64
	time time.Time
	*nameSets
}

func (x *nameIndex) names(path string, info fs.FileInfo) *nameSets {
	x.mu.Lock()
	defer x.mu.Unlock()
	if k := x.kept[path]; k != nil && k.size == info.Size() && k.time.Equal(info.ModTime()) {
		return k.nameSets
	}
	k := &indexed{size: info.Size(), time: info.ModTime()}
	if f, err := (Source{Path: path}).Open(); err == nil {
		if f.Format == ONNX {
			if n, err := onnx.ReadNames(f, f.Size); err == nil {
				k.nameSets = setsOf(n)
			}
		}
		f.Close()
	}
	if len(x.kept) > maxFiles {
		clear(x.kept)
	}
	x.kept[path] = k
	return k.nameSets
}

// nameSets are names of a model with the sizes that are known.
type nameSets struct {
	in, out      map[string][]int64
	inner, nodes map[string]bool
	sizes        map[string][]int64
}

func setsOf(n *onnx.Names) *nameSets {
	ports := func(list []onnx.Port) map[string][]int64 {
		m := map[string][]int64{}
		for _, p := range list {
			m[p.Name] = n.Sizes[p.Name]
			if dims := sizesOf(p.Dims); dims != nil {
				m[p.Name] = dims
			}
		}
		return m
	}
	s := &nameSets{in: ports(n.In), out: ports(n.Out), inner: map[string]bool{}, nodes: map[string]bool{}, sizes: n.Sizes}
	for _, name := range n.Inner {
		s.inner[name] = true
	}
	for _, name := range n.Nodes {
		s.nodes[name] = true
	}
	return s
}

// sizesOf are sizes as numbers, -1 for open ones.
func sizesOf(dims []string) []int64 {
	var out []int64
	for _, d := range dims {
		n := int64(-1)
		if _, err := fmt.Sscan(d, &n); err != nil {
			n = -1
		}
		out = append(out, n)
	}
	return out
}
