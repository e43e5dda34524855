package semantics

import (
	"errors"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

const modulePath = "github.com/anynpu/anynpu/"

// loader type-checks packages of the repository from their sources; C stays unknown.
type loader struct {
	root     string
	set      *token.FileSet
	overlay  map[string]string // path from the root to text
	others   types.ImporterFrom
	packages map[string]*loaded
}

// loaded is a package with the syntax and the types of its files.
type loaded struct {
	folder string
	files  map[string]*ast.File // by path from the root
	texts  map[string]string
	info   *types.Info
	types  *types.Package
	err    error // the first that concerns no C
}

// sources type-checks the packages of Go and of other modules, for all loaders.
var sources = sync.OnceValues(func() (*token.FileSet, types.ImporterFrom) {
	findGo()
	set := token.NewFileSet()
	return set, importer.ForCompiler(set, "source", nil).(types.ImporterFrom)
})

// findGo tells package build where Go's own packages are, which a program built with -trimpath does not know.
func findGo() {
	if build.Default.GOROOT == "" {
		if out, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
			build.Default.GOROOT = strings.TrimSpace(string(out))
		}
	}
}

func newLoader(root string, overlay map[string]string) *loader {
	set, others := sources()
	return &loader{root: root, set: set, overlay: overlay, others: others, packages: map[string]*loaded{}}
}

// Import gives package types the imports of what is loaded.
func (l *loader) Import(path string) (*types.Package, error) {
	if folder, ours := strings.CutPrefix(path, modulePath); ours {
		p, err := l.load(folder)
		if err != nil {
			return nil, err
		}
		return p.types, nil
	}
	return l.others.ImportFrom(path, l.root, 0)
}

func (l *loader) load(folder string) (*loaded, error) {
	if p := l.packages[folder]; p != nil {
		return p, nil
	}
	names, err := l.names(folder)
	if err != nil {
		return nil, err
	}
	p := &loaded{folder: folder, files: map[string]*ast.File{}, texts: map[string]string{}, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}}}
	for _, name := range names {
		text, err := l.read(name)
		if err != nil {
			return nil, err
		}
		if p.files[name], err = parser.ParseFile(l.set, name, text,
			parser.SkipObjectResolution|parser.ParseComments); err != nil {
			return nil, err
		}
		p.texts[name] = text
	}
	files := make([]*ast.File, len(names))
	for i, n := range names {
		files[i] = p.files[n]
	}
	config := types.Config{Importer: l, FakeImportC: true, Error: func(err error) {
		if p.err == nil && !aboutC(err) {
			p.err = err
		}
	}}
	p.types, _ = config.Check(modulePath+folder, l.set, files, p.info) // errors are in p.err
	l.packages[folder] = p
	return p, nil
}

// aboutC tells whether an error comes from C's names, which are not known here.
func aboutC(err error) bool {
	var e types.Error
	return errors.As(err, &e) && e.Soft && strings.Contains(e.Msg, `"C" imported and not used`)
}

// names lists the files of a package for this machine.
func (l *loader) names(folder string) ([]string, error) {
	context := build.Default
	context.CgoEnabled = true
	seen := map[string]bool{}
	if p, err := context.ImportDir(filepath.Join(l.root, folder), 0); err == nil {
		for _, n := range slices.Concat(p.GoFiles, p.CgoFiles) {
			seen[folder+"/"+n] = true
		}
	}
	for name := range l.overlay {
		if filepath.Dir(name) == folder {
			seen[name] = true
		}
	}
	if len(seen) == 0 {
		return nil, errors.New(folder + " has no Go files")
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

func (l *loader) read(name string) (string, error) {
	if text, ok := l.overlay[name]; ok {
		return text, nil
	}
	b, err := os.ReadFile(filepath.Join(l.root, name))
	return string(b), err
}
