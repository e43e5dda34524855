// Package mutants measures the operator suites: it builds copies of the library in which one operator computes wrongly
// (an axis or stride off by one, an operand dropped or swapped, the sign, rounding or order of the result wrong) and
// sees whether the suites' cases of that operator fail. A mutation that every case survives is either equivalent or a
// hole in the suite; survivors/API.txt argues for each.
package mutants

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/suite"
)

//go:embed mutant.go.txt
var mutantSource string

// Overlay returns the changed and added files of a library with the hook: path from the root to text. root is the
// repository.
func Overlay(root string) (map[string]string, error) {
	const ref, from, to = "backends/cpu/ref", "func ComputeContext(", "func computeContext("
	text, err := os.ReadFile(filepath.Join(root, ref, "ref.go"))
	if err != nil {
		return nil, err
	}
	if strings.Count(string(text), from) != 1 {
		return nil, fmt.Errorf("ref.go: want one %q", from)
	}
	return map[string]string{
		ref + "/ref.go":    strings.Replace(string(text), from, to, 1),
		ref + "/mutant.go": mutantSource,
	}, nil
}

// Build makes the libraries with the files of overlays in the folder lib of folder. root is the repository.
func Build(root, folder string, overlays ...map[string]string) error {
	replace := map[string]string{}
	for _, files := range overlays {
		for name, text := range files {
			to := filepath.Join(root, name)
			if replace[to] != "" {
				return fmt.Errorf("%s: changed twice", name)
			}
			// The same base name, which cgo wants, in a folder that begins with _, so that it is no package of the module.
			path := filepath.Join(folder, "_overlay", name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return err
			}
			replace[to] = path
		}
	}
	spec, err := json.Marshal(struct{ Replace map[string]string }{replace})
	if err != nil {
		return err
	}
	specFile := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(specFile, spec, 0o644); err != nil {
		return err
	}
	for _, stale := range []string{"obj", "lib"} { // make does not know of the overlay
		if err := os.RemoveAll(filepath.Join(folder, stale)); err != nil {
			return err
		}
	}
	cmd := exec.Command("make", "--no-print-directory", "libs", "BUILD="+folder, "OVERLAY="+specFile)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %s", err, out)
	}
	return nil
}

// A Mutant is one way of computing an operator wrongly, and whether the suite notices it.
type Mutant struct {
	Operator string // of the API
	Mutation string // operator of the project:kind[:place]
	Killed   bool
}

// ID names the mutant in survivors/API.txt.
func (m Mutant) ID() string { return m.Operator + " " + m.Mutation }

// Trial runs the cases of a subject with a library that has the hook.
type Trial struct {
	*Subject
	Library string
	Folder  string           // for what runs leave behind
	Child   func() *exec.Cmd // starts Serve of the subject's suite on Library
}

// run computes cases with variables of the environment, NAME=VALUE, and returns the results.
func (t *Trial) run(cases []testCase, env ...string) ([]suite.Result, error) {
	r := &suite.Runner{Library: t.Library, Command: func() *exec.Cmd {
		c := t.Child()
		c.Env = slices.Concat(c.Environ(), []string{"ANYNPU_LOG=off", "ANYNPU_CPU=ref"}, env) // the hook is in the reference
		return c
	}}
	ids := make([]string, len(cases))
	for i, c := range cases {
		ids[i] = c.id
	}
	results, _, err := r.Run(ids)
	return results, err
}

func failed(r suite.Result) bool { return r.Status != suite.Pass }

// mutations returns the mutations of an API's operator: those of the project's operators that its cases use at least
// half as often as the commonest one.
func (t *Trial) mutations(cases []testCase) ([]string, error) {
	uses := map[string]int{}
	for _, c := range cases {
		if c.fails {
			continue
		}
		trace := filepath.Join(t.Folder, "trace")
		os.Remove(trace)
		results, err := t.run([]testCase{c}, "ANYNPU_MUTANT_TRACE="+trace)
		if err != nil {
			return nil, err
		}
		if failed(results[0]) {
			return nil, fmt.Errorf("%s fails without a mutation: %s", c.id, results[0].Message)
		}
		text, err := os.ReadFile(trace)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.id, err)
		}
		for _, l := range strings.Fields(string(text)) {
			uses[l]++
		}
	}
	most := map[string]int{} // per operator of the project
	for l, n := range uses {
		name, _, _ := strings.Cut(l, ":")
		most[name] = max(most[name], n)
	}
	commonest := 0
	for _, n := range most {
		commonest = max(commonest, n)
	}
	var out []string
	for l := range uses {
		if name, _, _ := strings.Cut(l, ":"); 2*most[name] >= commonest {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return out, nil
}

// try runs the cases of an operator against one mutation.
func (t *Trial) try(o *operator, mutation string) (Mutant, error) {
	results, err := t.run(o.cases, "ANYNPU_MUTANT="+mutation)
	if err != nil {
		return Mutant{}, err
	}
	return Mutant{o.name, mutation, slices.ContainsFunc(results, failed)}, nil
}
