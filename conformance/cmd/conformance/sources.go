package main

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/anynpu/anynpu/conformance/statements"
	"github.com/anynpu/anynpu/conformance/suite"
)

// mostStatements bounds the statements that a report names as the source of a case.
const mostStatements = 3

// sources returns a function that tells where the rule of a case stands: the statements of the notes about its API that
// it shows, else the folder of its suite. root is the repository's root.
func sources(root string) func(s *suite.Suite, id string) string {
	known := map[*suite.Suite]func(string) []statements.Statement{}
	return func(s *suite.Suite, id string) string {
		about := known[s]
		if about == nil {
			about = statementsOf(root, s)
			known[s] = about
		}
		var out []string
		all := about(id)
		for i, x := range all {
			if i == mostStatements {
				out = append(out, fmt.Sprintf("and %d more", len(all)-i))
				break
			}
			out = append(out, x.ID+": "+x.Text)
		}
		if len(out) == 0 {
			return path.Join("conformance", s.API.Name, s.Name)
		}
		return fmt.Sprintf("docs/conformance_%s.md, %s", s.API.Name, strings.Join(out, "; "))
	}
}

// statementsOf reads the statements about a suite's API; outside of the repository there are none.
func statementsOf(root string, s *suite.Suite) func(string) []statements.Statement {
	none := func(string) []statements.Statement { return nil }
	f, err := os.Open(filepath.Join(root, "conformance", s.API.Name, "statements.txt"))
	if err != nil {
		return none
	}
	defer f.Close()
	text := ""
	if s.Stated != nil {
		if text, err = s.Stated(); err != nil {
			return none
		}
	}
	list, err := statements.Read(io.MultiReader(f, strings.NewReader("\n"+text)))
	if err != nil {
		return none
	}
	return list.About(s.Name)
}
