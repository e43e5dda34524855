package main

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// declared returns the names of the plain functions in the hand-written Go files of a directory.
func declared(dir string) (map[string]bool, error) {
	names := map[string]bool{}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		base := filepath.Base(path)
		if strings.HasPrefix(base, "z") || strings.HasSuffix(base, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				names[fn.Name.Name] = true
			}
		}
	}
	return names, nil
}

func (img *image) goFile(name, text string) error {
	out, err := format.Source([]byte(text))
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, text)
	}
	img.files[name] = out
	return nil
}
