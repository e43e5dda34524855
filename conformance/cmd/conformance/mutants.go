package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/conformance/mutants"
	"github.com/anynpu/anynpu/conformance/mutants/semantics"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/internal/built"
)

// mutantRun is what the flags of the command say.
type mutantRun struct {
	only                                   []string
	api                                    string
	verbose, kernels, meaning, list, reach bool
	seeds                                  []uint
	jobs                                   int
	scope                                  semantics.Scope
	cases                                  []string
	unargued                               bool
}

func newMutants() *cobra.Command {
	var r mutantRun
	c := &cobra.Command{
		Use:   "mutants",
		Short: "Measure how many seeded bugs the suites find",
		Long: `Measure how many seeded bugs the suites find, in a copy of the library that has
all of them behind a switch.

Kernels: one operator computes wrongly, and the operator suites of OH_NN and NNAPI
must notice. Every operator must have at least 3, each survivor must be argued for
in conformance/mutants/survivors/API.txt, and 95 % of the others must be found.

Semantics: return codes, lifetimes, stale state, fields of queries, layouts,
fusion, tiles, the import of models; all suites run through the C APIs. At least
95 % must be found of those that conformance/mutants/semantics/argued.txt does
not explain. Half of them are made from the sources by --seed: another seed gives
others. For a change of one package, --folder, --count and --cases try more bugs of
its own by the suites of its API, and --unargued leaves out those of argued.txt.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd) },
	}
	f := c.Flags()
	f.StringArrayVar(&r.only, "run", nil, "only this `mutant`, may be repeated: an operator of kernels, or an ID of "+
		"--semantics --list")
	f.BoolVarP(&r.verbose, "verbose", "v", false, "print every mutant")
	f.BoolVar(&r.kernels, "kernels", false, "only kernels")
	f.StringVar(&r.api, "api", "", "only kernels of this `API`: ohnn or nnapi")
	f.BoolVar(&r.meaning, "semantics", false, "only semantics")
	f.BoolVar(&r.list, "list", false, "print the mutants of semantics")
	f.BoolVar(&r.reach, "reach", false, "print how many cases come past each mutant of semantics")
	f.UintSliceVar(&r.seeds, "seed", []uint{1}, "which of the bugs that the sources give are tried, `numbers` with commas")
	f.StringSliceVar(&r.scope.Folders, "folder", nil, "only mutants of semantics in these `folders`")
	f.IntVar(&r.scope.Count, "count", 0, "`number` of bugs from the sources of each folder, as far as they give so many; "+
		"0 for the quota")
	f.StringSliceVar(&r.cases, "cases", nil, "only cases of these `APIs` try the mutants of semantics")
	f.BoolVar(&r.unargued, "unargued", false, "try no mutant of semantics that argued.txt explains")
	f.IntVar(&r.jobs, "jobs", 2, "mutants of semantics at a time")
	c.MarkFlagsMutuallyExclusive("kernels", "semantics")
	return c
}

func (r *mutantRun) run(cmd *cobra.Command) error {
	tried := map[string]semantics.Outcome{}
	passed := true
	for i, seed := range r.seeds {
		if len(r.seeds) > 1 {
			fmt.Fprintf(cmd.OutOrStdout(), "seed %d\n", seed)
		}
		ok, err := r.runSeed(cmd, uint64(seed), i == 0, tried)
		if err != nil {
			return err
		}
		passed = passed && ok
	}
	if !passed {
		return errFailed
	}
	return nil
}

// runSeed tries the bugs of a seed, but those that an earlier seed has given, too. Bugs of kernels follow from no seed:
// the first one tries them.
func (r *mutantRun) runSeed(cmd *cobra.Command, seed uint64, first bool, tried map[string]semantics.Outcome) (bool,
	error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return false, err
	}
	list, err := semantics.Mutants(root, seed, r.scope)
	if err != nil {
		return false, err
	}
	if r.list {
		semantics.List(cmd.OutOrStdout(), list)
		return true, nil
	}
	folder, err := r.build(root, list)
	if err != nil {
		return false, err
	}
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	child := func(s *suite.Suite, library, mode string) *exec.Cmd {
		return exec.Command(self, s.API.Name, s.Name, "--child", "--library", library, "--mode", mode)
	}
	judges := suites()
	if len(r.cases) > 0 {
		judges = slices.DeleteFunc(judges, func(s *suite.Suite) bool { return !slices.Contains(r.cases, s.API.Name) })
	}
	t := &semantics.Trial{Mutants: list, Suites: judges, Folder: folder, Child: child, Jobs: r.jobs, Tried: tried,
		Unargued: r.unargued}
	if r.reach {
		return true, t.Reach(cmd.OutOrStdout())
	}
	passed := true
	if !r.meaning && first && r.scope.Whole() {
		if passed, err = r.runKernels(cmd, folder, child); err != nil {
			return false, err
		}
	}
	if !r.kernels {
		ok, err := t.Run(cmd.OutOrStdout(), r.only, r.verbose)
		if err != nil {
			return false, err
		}
		passed = passed && ok
	}
	return passed, nil
}

// build makes the libraries with the bugs and returns their folder.
func (r *mutantRun) build(root string, list []*semantics.Mutant) (folder string, err error) {
	if folder, err = filepath.Abs(filepath.Join(built.Folder(), "mutants")); err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	meaning, err := semantics.Overlay(root, list)
	if err != nil {
		return "", err
	}
	if !r.scope.Whole() { // kernels stay as they are
		return folder, mutants.Build(root, folder, meaning)
	}
	kernels, err := mutants.Overlay(root)
	if err != nil {
		return "", err
	}
	return folder, mutants.Build(root, folder, kernels, meaning)
}

func (r *mutantRun) runKernels(cmd *cobra.Command, folder string,
	child func(s *suite.Suite, library, mode string) *exec.Cmd) (bool, error) {
	passed := true
	for _, s := range mutants.Subjects() {
		if r.api != "" && r.api != s.Suite.API.Name {
			continue
		}
		library := filepath.Join(folder, "lib", s.Suite.API.Soname)
		m := &mutants.Trial{Subject: s, Library: library, Folder: folder, Child: func() *exec.Cmd {
			return child(s.Suite, library, s.Mode)
		}}
		ok, err := m.Run(cmd.OutOrStdout(), r.only, r.verbose)
		if err != nil {
			return false, err
		}
		passed = passed && ok
	}
	return passed, nil
}
