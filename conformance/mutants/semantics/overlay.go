package semantics

import (
	_ "embed"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

//go:embed mutant.go.txt
var switchSource string

// switchPackage is the folder of the package with the switch; the repository has none of the name.
const switchPackage = "core/mutant"

// Overlay returns the changed and added files of a library with the mutants: path from the root to text.
func Overlay(root string, mutants []*Mutant) (map[string]string, error) {
	edits := map[string][]edit{}
	for i, m := range mutants {
		for _, e := range m.edits {
			edits[m.File] = append(edits[m.File], e.numbered(i+1))
		}
	}
	files := map[string]string{switchPackage + "/mutant.go": switchSource}
	for file, list := range edits {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		if files[file], err = edited(file, string(text), list); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// numbered is the edit of mutant n.
func (e edit) numbered(n int) edit {
	e.text = strings.ReplaceAll(e.text, on, fmt.Sprintf("mutant.On(%d)", n))
	e.text = strings.ReplaceAll(e.text, number, strconv.Itoa(n))
	return e
}

// edited returns a file with the edits and the import of the switch.
func edited(name, text string, edits []edit) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.PackageClauseOnly)
	if err != nil {
		return "", err
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out strings.Builder
	at := int(file.Name.End() - file.FileStart)
	fmt.Fprintf(&out, "%s\n\nimport %q\n", text[:at], modulePath+switchPackage)
	for _, e := range edits {
		if e.from < at {
			return "", fmt.Errorf("%s: two mutants change the text at %d", name, e.from)
		}
		out.WriteString(text[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.WriteString(text[at:])
	changed := out.String()
	if _, err := parser.ParseFile(token.NewFileSet(), name, changed, 0); err != nil {
		return "", fmt.Errorf("with the mutants: %w", err)
	}
	return changed, nil
}
