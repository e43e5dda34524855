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

// planFiles parses the package that makes plans, tests left out.
func planFiles(t *testing.T, fset *token.FileSet) []*ast.File {
	paths, err := filepath.Glob(filepath.Join(root(t), planFolder, "*.go"))
	require.NoError(t, err)
	var files []*ast.File
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, f)
	}
	return files
}

func planFile(fset *token.FileSet, pos token.Pos) string {
	return strings.TrimSuffix(filepath.Base(fset.Position(pos).Filename), ".go")
}

// planLayers reads the layers of files from the package comment, the first one first.
func planLayers(t *testing.T, files []*ast.File) [][]string {
	layer := regexp.MustCompile(`(?m)^\t[a-z]+: +([a-z0-9 \n\t]+?)$`)
	for _, f := range files {
		if f.Doc == nil {
			continue
		}
		var layers [][]string
		for _, m := range layer.FindAllStringSubmatch(f.Doc.Text(), -1) {
			layers = append(layers, strings.Fields(m[1]))
		}
		return layers
	}
	require.Fail(t, "no package comment")
	return nil
}

// Files of the plan refer to their own layer and to those before it: calls between passes run one way.
func TestPlan_layersRunOneWay(t *testing.T) {
	fset := token.NewFileSet()
	files := planFiles(t, fset)
	rank := map[string]int{}
	others := -1
	for i, names := range planLayers(t, files) {
		if slices.Equal(names, []string{"the", "others"}) {
			others = i
			continue
		}
		for _, n := range names {
			assert.NotContains(t, rank, n, "a file of two layers")
			rank[n] = i
		}
	}
	require.Positive(t, others)
	of := func(file string) int {
		if r, ok := rank[file]; ok {
			return r
		}
		return others
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	c := types.Config{Importer: nothing{}, Error: func(error) {}} // what is imported makes no difference
	p, _ := c.Check(module+planFolder, fset, files, &info)
	found := map[string]bool{}
	for id, o := range info.Uses {
		if o.Pkg() != p || o.Pos() == token.NoPos {
			continue
		}
		from, to := planFile(fset, id.Pos()), planFile(fset, o.Pos())
		found[to] = true
		assert.GreaterOrEqual(t, of(from), of(to), "%s refers to %s of %s", fset.Position(id.Pos()), id.Name, to)
	}
	assert.Greater(t, len(info.Uses), 10000, "too little of the package is understood")
	for file := range rank {
		if file != "build" {
			assert.True(t, found[file], "nothing refers to %s", file)
		}
	}
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
	fset := token.NewFileSet()
	where := map[string][]string{}
	for _, f := range planFiles(t, fset) {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			name := strings.TrimPrefix(types.ExprString(fn.Recv.List[0].Type), "*")
			if file := planFile(fset, fn.Pos()); !slices.Contains(where[name], file) {
				where[name] = append(where[name], file)
			}
		}
	}
	require.Greater(t, len(where), 50)
	for name, files := range where {
		assert.LessOrEqual(t, len(files), 3, "methods of %s are in %v", name, files)
	}
}

func root(t *testing.T) string {
	dir, err := os.Getwd()
	require.NoError(t, err)
	return filepath.Join(dir, "..", "..")
}
