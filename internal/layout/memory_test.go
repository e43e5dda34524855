package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mayBind lists the folders whose code binds memory to executions: devices, programs made of several, and what tests
// them. All else goes through core/io.
var mayBind = []string{"backends", "core/device", "core/devicetest", "core/exec", "core/io",
	"internal/devicecheck", "internal/drivertest"}

// belowIO lists what core/io may import of this module.
var belowIO = []string{"core/convert", "core/device", "core/mem", "core/tensor"}

// TestBindings_areMadeInOnePlace: what an API's program has at a port goes in and out by core/io.
func TestBindings_areMadeInOnePlace(t *testing.T) {
	top := root(t)
	calls := map[string]int{}
	for _, folder := range []string{"core", "backends", "capi", "cmd", "internal"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(top, folder), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			rel, err := filepath.Rel(top, file)
			if err != nil {
				return err
			}
			dir := path.Dir(filepath.ToSlash(rel))
			fset := token.NewFileSet()
			a, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(a, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if f, ok := call.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "BindInput" || f.Sel.Name == "BindOutput") {
					calls[dir]++
					assert.True(t, below(dir, mayBind), "%s binds memory: Execution of core/io does", fset.Position(call.Pos()))
				}
				return true
			})
			return nil
		}))
	}
	require.Positive(t, calls["core/io"], "the calls were not found")
}

// TestIO_isBelowTheRestOfCore: core/io knows memory, elements and devices, no models and no graphs.
func TestIO_isBelowTheRestOfCore(t *testing.T) {
	seen := 0
	for _, i := range imports(t, root(t)) {
		target, ours := strings.CutPrefix(i.path, module)
		if path.Dir(i.file) == "core/io" && ours && !strings.HasSuffix(i.file, "_test.go") {
			seen++
			assert.True(t, slices.Contains(belowIO, target), "%s imports %s", i.file, i.path)
		}
	}
	require.Positive(t, seen)
}
