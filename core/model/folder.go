package model

import (
	"cmp"
	"fmt"
	"io/fs"
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

// What a file must agree with at least, and by how much better than the next.
const (
	minScore = 0.6
	minInner = 0.5
	margin   = 0.002
)

// Search returns the ONNX file of the folder whose names of inputs, outputs and inner tensors agree best with those of
// a compiled model. Kind fault.File, with the two nearest files, if none agrees well enough or two agree alike.
func (m Map) Search(c *rknn.File) (string, error) {
	folder := fmt.Sprintf("ANYNPU_MODEL_MAP=%q", string(m))
	want := wanted(c)
	if len(want.in)+len(want.out) == 0 {
		return "", fault.New(fault.File, "%s: the .rknn file does not tell the names of its inputs and outputs, by which an "+
			"ONNX file would be found", folder)
	}
	files, err := listONNX(string(m))
	if err != nil {
		return "", fault.As(fault.File, err, "%s", folder)
	}
	type candidate struct {
		file  string
		score float64
		fits  bool
	}
	var list []candidate
	for _, f := range files {
		n := index.names(f.path, f.info)
		if n == nil {
			continue
		}
		score, fits := want.score(n)
		list = append(list, candidate{f.path, score, fits && score >= minScore})
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	nearest := make([]string, 0, 2)
	for _, c := range list[:min(len(list), 2)] {
		nearest = append(nearest, fmt.Sprintf("%q (%.0f %%)", filepath.Base(c.file), 100*max(c.score, 0)))
	}
	switch {
	case len(list) == 0:
		return "", fault.New(fault.File, "%s: there is no ONNX file in this folder", folder)
	case !list[0].fits:
		return "", fault.New(fault.File, "%s: no ONNX file in this folder has the names of the .rknn's inputs, outputs and "+
			"inner tensors; the nearest: %s", folder, strings.Join(nearest, ", "))
	case len(list) > 1 && list[1].fits && list[0].score-list[1].score < margin:
		return "", fault.New(fault.File, "%s: two ONNX files agree alike with the .rknn's names: %s; name one in a map file, "+
			"or put it beside the .rknn under its name", folder, strings.Join(nearest, ", "))
	}
	return list[0].file, nil
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
		case d.IsDir() && path != folder && (d.Name()[0] == '.' || strings.Count(below, string(filepath.Separator)) >= maxBelow):
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
	in, out map[string][]int64
	inner   map[string]bool
	sizes   map[string][]int64
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
	s := &nameSets{in: ports(n.In), out: ports(n.Out), inner: map[string]bool{}, sizes: n.Sizes}
	for _, name := range n.Inner {
		s.inner[name] = true
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

// sought is what is looked for.
type sought struct {
	in, out          map[string][]int64
	inner, constants map[string][]int64
}

func wanted(c *rknn.File) *sought {
	ports := func(list []rknn.Port) map[string][]int64 {
		m := map[string][]int64{}
		for _, p := range list {
			if p.Name != "" {
				m[p.Name] = p.Dims
			}
		}
		return m
	}
	s := &sought{in: ports(c.Inputs), out: ports(c.Outputs), inner: map[string][]int64{}, constants: map[string][]int64{}}
	if len(c.Graphs) == 0 {
		return s
	}
	for i := range c.Graphs[0].Tensors {
		switch t := &c.Graphs[0].Tensors[i]; {
		case t.Name == "":
		case t.Kind == rknn.Intermediate:
			s.inner[t.Name] = t.Dims
		case t.Kind == rknn.Other:
			s.constants[t.Name] = t.Dims
		case t.Kind == rknn.Input && len(c.Inputs) == 0:
			s.in[t.Name] = t.Dims
		case t.Kind == rknn.Output && len(c.Outputs) == 0:
			s.out[t.Name] = t.Dims
		}
	}
	return s
}

// score says how well a model agrees, 1 at best, and whether its inner tensors are those that are looked for.
func (s *sought) score(n *nameSets) (score float64, fits bool) {
	ports, unlike := (alike(s.in, n.in)+alike(s.out, n.out))/2, 0.0
	for _, side := range [][2]map[string][]int64{{s.in, n.in}, {s.out, n.out}} {
		for name, dims := range side[0] {
			if here, ok := side[1][name]; ok && !sameSizes(dims, here) {
				unlike++
			}
		}
	}
	unlike /= float64(max(1, len(s.in)+len(s.out)))
	common, other := 0, 0 // constants
	for name, dims := range s.constants {
		if here, ok := n.sizes[name]; ok && len(dims) > 0 {
			common++
			if !sameElements(dims, here) {
				other++
			}
		}
	}
	score, fits = ports, len(s.inner) > 0 || unlike == 0
	if len(s.inner) > 0 {
		hits := 0
		for name, dims := range s.inner {
			if n.inner[name] && sameChannels(dims, n.sizes[name]) {
				hits++
			}
		}
		inner := float64(hits) / float64(len(s.inner))
		fits = inner >= minInner
		score = (ports+inner)/2 - 0.05*(1-float64(hits)/float64(max(1, len(n.inner))))
	}
	if common > 0 {
		agree := 1 - float64(other)/float64(common)
		fits = fits && agree >= minInner
		score *= (1 + agree) / 2
	}
	return score - 0.1*unlike, fits
}

// alike is twice the number of common names by the number of all.
func alike(a, b map[string][]int64) float64 {
	common := 0
	for name := range a {
		if _, ok := b[name]; ok {
			common++
		}
	}
	return 2 * float64(common) / float64(max(1, len(a)+len(b)))
}

// sameSizes reports whether sizes agree as far as both are known; the first may be another batch.
func sameSizes(a, b []int64) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	if len(a) != len(b) {
		return false
	}
	for i := 1; i < len(a); i++ {
		if a[i] != b[i] && a[i] > 0 && b[i] > 0 {
			return false
		}
	}
	return true
}

// sameElements reports whether constants have as many elements: the converter may give them other dimensions.
func sameElements(a, b []int64) bool {
	x, y := int64(1), int64(1)
	for _, d := range a {
		x *= d
	}
	for _, d := range b {
		y *= d
	}
	return x == y
}

// sameChannels reports whether images have as many channels, as far as both are known: the others of their sizes follow
// those of the inputs, which a conversion may change.
func sameChannels(a, b []int64) bool {
	return len(a) != 4 || len(b) != 4 || a[1] < 1 || b[1] < 1 || a[1] == b[1]
}
