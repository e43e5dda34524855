package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const planFolder = "backends/cpu/plan"

// planPackages are the packages of the engine's plans and what they may import of each other: the package comment lists
// them, each behind those that it may import.
func planPackages(t *testing.T) []string {
	var names []string
	for _, m := range tabbed(t, planFolder, `([a-z]+) +[A-Za-z][^\n]*`) {
		names = append(names, m[1])
	}
	require.Contains(t, names, "ops")
	require.Equal(t, "plan", names[len(names)-1])
	return names
}

// tabbed returns the indented lines of a package comment that match line as a whole.
func tabbed(t *testing.T, folder, line string) [][]string {
	text, err := os.ReadFile(filepath.Join(root(t), folder, "doc.go"))
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^//\t`+line+`$`).FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, found, "the package comment of %s lists nothing", folder)
	return found
}

// planSources are the files of one of the packages, tests left out.
func planSources(t *testing.T, name string) []string {
	folder := filepath.Join(root(t), planFolder)
	if name != "plan" {
		folder = filepath.Join(folder, name)
	}
	all, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	return slices.DeleteFunc(all, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
}

// Packages import those before them in the list alone, and every folder is in it.
func TestPlan_packagesImportOneWay(t *testing.T) {
	names := planPackages(t)
	entries, err := os.ReadDir(filepath.Join(root(t), planFolder))
	require.NoError(t, err)
	for _, e := range entries {
		assert.True(t, !e.IsDir() || e.Name() == "testdata" || slices.Contains(names, e.Name()), "%s is not listed", e.Name())
	}
	imports := 0
	for i, name := range names {
		for _, file := range planSources(t, name) {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			require.NoError(t, err)
			for _, s := range f.Imports {
				to, inside := strings.CutPrefix(strings.Trim(s.Path.Value, `"`), module+planFolder)
				if !inside {
					continue
				}
				imports++
				assert.Contains(t, names[:i], strings.TrimPrefix(to, "/"), "%s imports it", file)
			}
		}
	}
	assert.Greater(t, imports, 100, "too few imports are seen")
}

// Files of the packages refer to one another in one order, few as they may be.
func TestPlan_noReferenceRunsBack(t *testing.T) {
	for _, name := range planPackages(t) {
		assert.Empty(t, backward(references(t, planSources(t, name))), name)
	}
}

// Families of operations refer to their own layer and to those before it.
func TestPlan_familiesRunOneWay(t *testing.T) {
	rank := map[string]int{}
	for i, m := range tabbed(t, planFolder+"/ops", `[a-z ]+: +([a-z ]+)`) {
		for _, family := range strings.Fields(m[1]) {
			assert.NotContains(t, rank, family, "a family of two layers")
			rank[family] = i
		}
	}
	family := func(file string) string {
		name, _, _ := strings.Cut(strings.TrimSuffix(file, ".go"), "_")
		return name
	}
	seen := map[string]bool{}
	for _, file := range planSources(t, "ops") {
		if name := family(filepath.Base(file)); name != "doc" {
			assert.Contains(t, rank, name, "%s is of no family that the package comment lists", file)
			seen[name] = true
		}
	}
	for from, list := range references(t, planSources(t, "ops")) {
		for to := range list {
			assert.GreaterOrEqual(t, rank[family(from)], rank[family(to)], "%s refers to %s", from, to)
		}
	}
	assert.Len(t, seen, len(rank), "a family without files is listed")
}

// nothing imports empty packages.
type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}

// A type whose methods are spread over many files has no one place.
func TestPlan_methodsStandTogether(t *testing.T) {
	count := 0
	for _, name := range planPackages(t) {
		where := map[string][]string{}
		for _, file := range planSources(t, name) {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			require.NoError(t, err)
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Recv == nil {
					continue
				}
				of := strings.TrimPrefix(types.ExprString(fn.Recv.List[0].Type), "*")
				if !slices.Contains(where[of], file) {
					where[of] = append(where[of], file)
				}
			}
		}
		for of, files := range where {
			assert.LessOrEqual(t, len(files), 3, "methods of %s are in %v", of, files)
		}
		count += len(where)
	}
	require.Greater(t, count, 50)
}

func root(t *testing.T) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	return filepath.Join(dir, "..", "..")
}
