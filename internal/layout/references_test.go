package layout

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostBack bounds, for each package of many files, the references between its files that run back: the smallest number
// found without which the files can be read in one order, each after those that it refers to. A package that is not
// listed has none. The aim is 0: lower a number when you cut a reference, and do not raise one.
var mostBack = map[string]int{
	"backends/cpu": 3, "backends/cpu/ref": 2, "backends/driver": 3, "backends/nnapi": 13, "backends/ohnn": 3,
	"capi/boundary": 5, "capi/hbdnn": 1, "capi/nnapi": 1, "capi/nnapi/lowering": 2, "core/device": 3,
	"core/devicetest": 11, "core/format/rknn": 4, "core/graph": 4, "core/mem": 3, "core/model": 7,
}

// fewFiles is how many files a package has at least whose references are counted.
const fewFiles = 10

// TestFiles_referToOneAnotherInOneOrder compares with mostBack.
func TestFiles_referToOneAnotherInOneOrder(t *testing.T) {
	for _, folder := range []string{"core", "backends", "capi", "cmd"} {
		for dir, files := range packageFiles(t, "../../"+folder) {
			if len(files) < fewFiles {
				continue
			}
			name := strings.TrimPrefix(filepath.ToSlash(dir), "../../")
			refs := references(t, files)
			back := backward(refs)
			if len(back) > mostBack[name] {
				t.Errorf("%s: %d references between files run back, at most %d may: %s", name, len(back), mostBack[name],
					strings.Join(back, ", "))
			}
		}
	}
}

// TestBackward_closedForms checks the count against graphs whose smallest number is known.
func TestBackward_closedForms(t *testing.T) {
	ring := func(n int) refs {
		r := refs{}
		for i := range n {
			r.add(fmt.Sprint(i), fmt.Sprint((i+1)%n))
		}
		return r
	}
	all := refs{} // each of 5 files refers to each other: 10 of 20 references run back
	for i := range 5 {
		for j := range 5 {
			if i != j {
				all.add(fmt.Sprint(i), fmt.Sprint(j))
			}
		}
	}
	chain := refs{}
	for i := range 9 {
		for j := range i {
			chain.add(fmt.Sprint(i), fmt.Sprint(j))
		}
	}
	assert.Len(t, backward(ring(7)), 1)
	assert.Len(t, backward(all), 10)
	assert.Empty(t, backward(chain))
}

// refs holds the files that each file refers to.
type refs map[string]map[string]bool

func (r refs) add(from, to string) {
	if r[from] == nil {
		r[from] = map[string]bool{}
	}
	if r[to] == nil {
		r[to] = map[string]bool{}
	}
	r[from][to] = true
}

// packageFiles returns the Go files of each folder below root that a build for linux on amd64 has, without tests.
func packageFiles(t *testing.T, root string) map[string][]string {
	c := build.Default
	c.GOOS, c.GOARCH, c.CgoEnabled, c.BuildTags = "linux", "amd64", true, []string{"drivers"}
	out := map[string][]string{}
	found, err := filepath.Glob(root + "/*.go")
	require.NoError(t, err)
	for depth := range 6 {
		more, err := filepath.Glob(root + strings.Repeat("/*", depth+1) + "/*.go")
		require.NoError(t, err)
		found = append(found, more...)
	}
	for _, f := range found {
		dir, name := filepath.Split(f)
		if strings.HasSuffix(name, "_test.go") || strings.Contains(f, "/testdata/") || strings.Contains(f, "/gen/") {
			continue
		}
		match, err := c.MatchFile(dir, name)
		require.NoError(t, err)
		if match {
			out[path.Clean(filepath.ToSlash(dir))] = append(out[path.Clean(filepath.ToSlash(dir))], f)
		}
	}
	return out
}

// references returns which files of a package refer to functions, types, variables, constants, methods and fields of
// which others. Calls through interfaces count for the interface alone.
func references(t *testing.T, files []string) refs {
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, f := range files {
		a, err := parser.ParseFile(fset, f, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		parsed = append(parsed, a)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: nothing{}, FakeImportC: true, DisableUnusedImportCheck: true, Error: func(error) {}}
	pkg, _ := conf.Check("p", fset, parsed, &info)
	out := refs{}
	for id, o := range info.Uses {
		if o.Pkg() != pkg || !o.Pos().IsValid() || o.Parent() != nil && o.Parent() != pkg.Scope() {
			continue
		}
		from, to := filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(o.Pos()).Filename)
		if from != to {
			out.add(from, to)
		}
	}
	return out
}

// backward returns the references that run back in the best order of files that it finds: the fewest within a group of
// files that refer to one another in a ring.
func backward(r refs) []string {
	var out []string
	for _, group := range rings(r) {
		order := settle(r, group)
		at := map[string]int{}
		for i, f := range order {
			at[f] = i
		}
		for i, f := range order {
			for to := range r[f] {
				if j, inside := at[to]; inside && j > i {
					out = append(out, strings.TrimSuffix(f, ".go")+"->"+strings.TrimSuffix(to, ".go"))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// rings returns the groups of two and more files each of which can be reached from each.
func rings(r refs) [][]string {
	reach := map[string]map[string]bool{}
	for f := range r {
		seen, queue := map[string]bool{}, []string{f}
		for len(queue) > 0 {
			x := queue[0]
			queue = queue[1:]
			for to := range r[x] {
				if !seen[to] {
					seen[to] = true
					queue = append(queue, to)
				}
			}
		}
		reach[f] = seen
	}
	var out [][]string
	taken := map[string]bool{}
	for _, f := range slices.Sorted(maps.Keys(r)) {
		if taken[f] || !reach[f][f] {
			continue
		}
		var group []string
		for _, g := range slices.Sorted(maps.Keys(reach[f])) {
			if reach[g][f] {
				group = append(group, g)
				taken[g] = true
			}
		}
		out = append(out, group)
	}
	return out
}

// settle orders files so that few references run back: from several starts each file moves to its best place until
// none has a better one.
func settle(r refs, group []string) []string {
	cost := func(order []string) (n int) {
		for i, f := range order {
			for _, g := range order[:i] {
				if r[g][f] {
					n++
				}
			}
		}
		return n
	}
	var best []string
	for start := range 8 {
		order := slices.Clone(group)
		switch start {
		case 0:
			slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(len(r[a]), len(r[b])) })
		default: // a shuffle that is the same in every run
			state := uint32(start)
			for i := len(order) - 1; i > 0; i-- {
				state = state*1664525 + 1013904223
				j := int(state>>8) % (i + 1)
				order[i], order[j] = order[j], order[i]
			}
		}
		for moved := true; moved; {
			moved = false
			for _, f := range group {
				moved = sift(r, order, f) || moved
			}
		}
		if best == nil || cost(order) < cost(best) {
			best = order
		}
	}
	return best
}

// sift moves f to the place where the fewest of its references run back, and reports whether that is a better one.
func sift(r refs, order []string, f string) bool {
	from := slices.Index(order, f)
	rest := slices.Delete(slices.Clone(order), from, from+1)
	n := 0 // with f in front, those to each file after it
	for _, g := range rest {
		if r[f][g] {
			n++
		}
	}
	place, fewest, now := 0, n, n
	for i, g := range rest {
		if r[f][g] {
			n--
		}
		if r[g][f] {
			n++
		}
		if n < fewest {
			place, fewest = i+1, n
		}
		if i+1 == from {
			now = n
		}
	}
	if fewest >= now {
		return false
	}
	copy(order, slices.Insert(rest, place, f))
	return true
}
