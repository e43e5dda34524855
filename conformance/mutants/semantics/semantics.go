// Package semantics measures the conformance suites: it builds one copy of the library with some two hundred bugs in
// it, each behind a switch, and sees for each whether a case fails when it is on. A bug that every case survives is a
// hole in the suites, unless no program can observe it, which argued.txt then explains.
//
// Half of the bugs are patches, written by people who have not seen the cases; the others are made from the syntax of
// the library and sampled by a seed, so that another seed gives bugs that nobody has seen.
package semantics

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// An Area is a part of the library, with bugs of its own.
type Area struct {
	Name     string
	Packages []Quota
}

// Quota says how many bugs are made from the syntax of a package.
type Quota struct {
	Folder string
	Count  int
}

// Areas are the parts of the library, in the order of the report. A patch belongs to the area that lists its package.
var Areas = []Area{
	{"OH_NN", []Quota{{"capi/ohnn", 26}}},
	{"RKNN", []Quota{{"capi/rknn", 26}}},
	{"hbDNN", []Quota{{"capi/hbdnn", 14}, {"capi/hb", 6}, {"capi/hbucp", 12}}},
	{"NNAPI", []Quota{{"capi/nnapi", 16}, {"capi/nnapi/lowering", 12}, {"core/spec/nnapi", 4}}},
	{"engine", []Quota{
		{"backends/cpu/plan/ops", 8}, {"backends/cpu/plan/ir", 3}, {"backends/cpu/plan/run", 2},
		{"backends/cpu/plan", 1}, {"backends/cpu/kernel", 7}, {"backends/cpu", 3}, {"backends/cpu/matmul", 2},
		{"backends/cpu/pool", 1}, {"backends/cpu/ref", 0}}},
	{"ONNX", []Quota{{"core/format/onnx", 4}, {"core/format/onnx/expand", 5}, {"core/format/onnx/lower", 10},
		{"core/format/onnx/proto", 5}}},
	{"core", []Quota{
		{"core/op", 6}, {"core/convert", 3}, {"core/mem", 3}, {"core/exec", 3}, {"core/graph", 2}, {"core/model", 3},
		{"core/compile", 2}, {"core/cache", 2}, {"core/tensor", 2}, {"core/matrix", 1},
		{"core/io", 2},
		{"capi/handle", 1}, {"capi/boundary", 1}}},
}

// A Mutant is one bug.
type Mutant struct {
	ID    string
	Area  string
	About string // what is wrong
	File  string // from the repository's root
	edits []edit
}

// edit replaces a part of a file. In the text, on stands for the condition that the mutant is on, and number for its
// number.
type edit struct {
	from, to int // offsets
	text     string
}

const (
	on     = "\x00ON\x00"
	number = "\x00NUMBER\x00"
)

func (e edit) overlaps(o edit) bool {
	return e.from < o.to && o.from < e.to || e.from == o.from || e.from == o.to || e.to == o.from
}

func (m *Mutant) overlaps(o *Mutant) bool {
	return m.File == o.File && slices.ContainsFunc(m.edits, func(a edit) bool {
		return slices.ContainsFunc(o.edits, a.overlaps)
	})
}

func areaOf(folder string) (string, error) {
	for _, a := range Areas {
		if slices.ContainsFunc(a.Packages, func(q Quota) bool { return q.Folder == folder }) {
			return a.Name, nil
		}
	}
	return "", fmt.Errorf("no area has the folder %s", folder)
}

// Scope limits the mutants to some folders of the library. The zero Scope is all of them.
type Scope struct {
	Folders []string
	Count   int // bugs that are made from the syntax of each folder, as far as it gives so many; 0 for its quota
}

// Whole tells that nothing is left out.
func (s Scope) Whole() bool { return len(s.Folders) == 0 }

func (s Scope) has(folder string) bool { return s.Whole() || slices.Contains(s.Folders, folder) }

// check finds folders that are of no area.
func (s Scope) check() error {
	for _, f := range s.Folders {
		if _, err := areaOf(f); err != nil {
			return err
		}
	}
	return nil
}

// Mutants lists the bugs for a seed: the patches, then those made from the syntax, which keep clear of the patches. A
// mutant's number is its place in the list, from 1. root is the repository.
func Mutants(root string, seed uint64, scope Scope) ([]*Mutant, error) {
	return mutants(newLoader(root, nil), seed, scope)
}

// mutants lists the bugs of the sources that l has.
func mutants(l *loader, seed uint64, scope Scope) ([]*Mutant, error) {
	if err := scope.check(); err != nil {
		return nil, err
	}
	all, err := patches(l.root)
	if err != nil {
		return nil, err
	}
	made, err := generate(l, seed, scope, all)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(m *Mutant) bool { return !scope.has(path.Dir(m.File)) })
	all = append(all, made...)
	seen := map[string]bool{}
	for _, m := range all {
		if seen[m.ID] {
			return nil, fmt.Errorf("two mutants are named %s", m.ID)
		}
		seen[m.ID] = true
	}
	return all, nil
}

// compact leaves out the spaces of s and shortens it.
func compact(s string) string {
	s = strings.Join(strings.Fields(s), "")
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60])
	}
	return s
}
