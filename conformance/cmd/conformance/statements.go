package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/conformance/statements"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/core/rewrite"
)

func newStatements() *cobra.Command {
	return &cobra.Command{
		Use:   "statements FOLDER",
		Short: "Write the tables of what the suites show of each API, conformance_API.md",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			tables, err := statementTables(".")
			if err != nil {
				return err
			}
			for name, text := range tables {
				if err := rewrite.File(filepath.Join(args[0], name), text); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// statementTables are the documents of the APIs by their file names. root is the repository's root.
func statementTables(root string) (map[string][]byte, error) {
	known := map[*suite.API]map[string][]string{}
	added := map[*suite.API]string{}
	for _, s := range suites() {
		if known[s.API] == nil {
			known[s.API] = map[string][]string{}
		}
		ids, err := caseIDs(s)
		if err != nil {
			return nil, err
		}
		known[s.API][s.Name] = ids
		if s.Stated != nil {
			text, err := s.Stated()
			if err != nil {
				return nil, err
			}
			added[s.API] += "\n" + text
		}
	}
	out := map[string][]byte{}
	for api, ids := range known {
		var err error
		if ids["ctest"], err = files(filepath.Join(root, "ctest")); err != nil {
			return nil, err
		}
		if ids["headers"], err = headerNames(filepath.Join(root, "capi/abi/abicheck/"+api.Name+"*.json")); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(filepath.Join(root, "conformance", api.Name, "statements.txt"))
		if err != nil {
			return nil, err
		}
		list, err := statements.Read(io.MultiReader(bytes.NewReader(text), strings.NewReader(added[api])))
		if err == nil {
			err = list.Check(ids)
		}
		if err != nil {
			return nil, fmt.Errorf("conformance/%s/statements.txt: %w", api.Name, err)
		}
		out["conformance_"+api.Name+".md"] = []byte(list.Table(api.Title))
	}
	return out, nil
}

// caseIDs are those of all modes of a suite.
func caseIDs(s *suite.Suite) ([]string, error) {
	modes := s.Modes
	if len(modes) == 0 {
		modes = []suite.Mode{{}}
	}
	var out []string
	for _, m := range modes {
		items, err := s.Cases(m.Name)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			out = append(out, item.ID)
		}
	}
	return out, nil
}

func files(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out, err
}

var headerName = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*`)

// headerNames are the words in the specifications that headers are checked against.
func headerNames(pattern string) ([]string, error) {
	specs, err := filepath.Glob(pattern)
	var out []string
	for _, file := range specs {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		out = append(out, headerName.FindAllString(string(text), -1)...)
	}
	return out, err
}
