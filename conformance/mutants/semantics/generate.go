package semantics

import (
	"cmp"
	"fmt"
	"go/ast"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// generate makes the quota of bugs of every package from its syntax. The seed chooses among the candidates, kind by
// kind in turns, so that a common kind does not crowd out the others. None overlaps a patch or another one.
func generate(l *loader, seed uint64, scope Scope, taken []*Mutant) ([]*Mutant, error) {
	taken = slices.Clone(taken)
	var out []*Mutant
	for _, a := range Areas {
		for _, q := range a.Packages {
			count := cmp.Or(scope.Count, q.Count)
			if count == 0 || !scope.has(q.Folder) {
				continue
			}
			p, err := l.load(q.Folder)
			if err != nil {
				return nil, err
			}
			chosen := choose(candidates(l, p), count, seed, taken)
			if scope.Count == 0 && len(chosen) < count {
				return nil, fmt.Errorf("%s: %d mutants, want %d", q.Folder, len(chosen), count)
			}
			for _, c := range chosen {
				c.Area = a.Name
				out, taken = append(out, &c.Mutant), append(taken, &c.Mutant)
			}
		}
	}
	return out, nil
}

// candidate is a bug that could be made.
type candidate struct {
	Mutant
	kind string
}

// choose takes n candidates, those with the smallest hashes of the seed and their IDs, in turns over the kinds and at
// most two of a function.
func choose(all []*candidate, n int, seed uint64, taken []*Mutant) []*candidate {
	const most = 2
	if len(all) == 0 {
		return nil
	}
	rank := func(s string) uint64 {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %s", seed, s)
		v := h.Sum64() // whose high bits differ little for similar texts
		v ^= v >> 33
		v *= 0xff51afd7ed558ccd
		return v ^ v>>33
	}
	byRank := func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b)) }
	slices.SortFunc(all, func(a, b *candidate) int { return byRank(a.ID, b.ID) })
	folder, _, _ := strings.Cut(all[0].ID, ".")
	byKindRank := func(a, b string) int { return byRank(folder+" "+a, folder+" "+b) }
	byKind := map[string][]*candidate{}
	for _, c := range all {
		byKind[c.kind] = append(byKind[c.kind], c)
	}
	var out []*candidate
	perFunction := map[string]int{}
	for len(out) < n {
		before := len(byKind)
		for _, kind := range slices.SortedFunc(maps.Keys(byKind), byKindRank) {
			if len(out) == n {
				break
			}
			for len(byKind[kind]) > 0 {
				c := byKind[kind][0]
				byKind[kind] = byKind[kind][1:]
				function, _, _ := strings.Cut(c.ID, ":")
				if perFunction[function] == most || slices.ContainsFunc(taken, c.overlaps) ||
					slices.ContainsFunc(out, func(o *candidate) bool { return o.overlaps(&c.Mutant) }) {
					continue
				}
				perFunction[function]++
				out = append(out, c)
				break
			}
			if len(byKind[kind]) == 0 {
				delete(byKind, kind)
			}
		}
		if before == 0 {
			break
		}
	}
	return out
}

// candidates lists what can be made of a package.
func candidates(l *loader, p *loaded) []*candidate {
	var out []*candidate
	seen := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		if leftOut(name) {
			continue
		}
		file := p.files[name]
		start := file.FileStart
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || textual(f) {
				continue
			}
			g := &maker{loaded: p, text: p.texts[name], start: start, function: functionName(f)}
			g.walk(f.Body)
			for _, c := range g.out {
				id := fmt.Sprintf("%s.%s:%s:%s", p.folder, g.function, strings.ReplaceAll(c.kind, " ", "-"), c.ID)
				if seen[id]++; seen[id] > 1 {
					id += "#" + strconv.Itoa(seen[id])
				}
				c.ID, c.File = id, name
				out = append(out, c)
			}
		}
	}
	return out
}

// leftOut are generated files, kernels that not every machine runs, what the command-line tool alone uses, and what
// writes texts, times and files for people or chooses among ways of equal results.
func leftOut(name string) bool {
	base := name[strings.LastIndexByte(name, '/')+1:]
	for _, part := range []string{"_generic.go", "_amd64.go", "_arm64.go", "_noasm.go"} {
		if strings.HasSuffix(base, part) {
			return true
		}
	}
	return base[0] == 'z' || slices.Contains([]string{"text.go", "log.go", "trace.go", "perf.go", "perfrow.go", "peak.go",
		"loglevel.go", "cost.go", "threads.go", "terms.go", "cells.go", "survey.go", "edit.go", "placement.go", "budget.go",
		"usage.go", "announce.go", "profiler.go", "dump.go", "written.go", "flushcheck.go"}, base)
}

// textual are functions that only write texts for people.
func textual(f *ast.FuncDecl) bool {
	return slices.Contains([]string{"String", "Error", "GoString", "Summary", "JSON", "init", "describe", "Profile",
		"note",
		"memSize", "lengths", "tellFormula", "finish"}, f.Name.Name) || strings.HasSuffix(f.Name.Name, "Text") ||
		strings.HasPrefix(f.Name.Name, "explain") || strings.HasPrefix(f.Name.Name, "tell")
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

// locking are methods without which a program deadlocks or races, which no case can judge.
var locking = []string{"Lock", "Unlock", "RLock", "RUnlock", "Wait", "Done", "Add", "Broadcast", "Signal", "Enter",
	"Leave"}

func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}
