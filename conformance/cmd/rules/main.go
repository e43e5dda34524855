// Command rules holds a library to the rules of the OH_NN C API, in both modes, and reports what passed.
//
//	rules [-library FILE] [-json FILE] [-junit FILE] [-run SUBSTRING] [-mode manual|reference] [-workers N] [-list] [-v]
//
// The library is that of the -library flag, else of ANYNPU_CTS_LIBRARY, else the tree's own in the folder BUILD
// (build). Modes are the values of ANYNPU_OHNN_COMPAT; the reports of the two are written to FILE with "-manual" or
// "-reference" before its extension. The exit code is 0 when every case passed, 1 when one did not, 2 for wrong usage
// or a library that cannot be used.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/rules"
	"github.com/anynpu/anynpu/internal/built"
)

func main() {
	os.Exit(run())
}

type options struct {
	library, json, junit, filter, mode string
	workers                            int
	verbose, list, child               bool
}

func run() int {
	var o options
	flag.StringVar(&o.library, "library", cmp.Or(os.Getenv("ANYNPU_CTS_LIBRARY"),
		built.Library(".", "libneural_network_core.so")), "library file under test")
	flag.StringVar(&o.json, "json", "", "write the reports as JSON")
	flag.StringVar(&o.junit, "junit", "", "write the reports as JUnit XML")
	flag.StringVar(&o.filter, "run", "", "only cases whose name contains this")
	flag.StringVar(&o.mode, "mode", "", "only this mode")
	flag.IntVar(&o.workers, "workers", 2, "processes at a time")
	flag.BoolVar(&o.verbose, "v", false, "print every case")
	flag.BoolVar(&o.list, "list", false, "print the rules")
	flag.BoolVar(&o.child, "child", false, "compute the cases named on standard input (used by the command itself)")
	flag.Parse()
	if o.list {
		for _, r := range rules.Rules() {
			fmt.Printf("%-46s %s\n", r.ID, r.Text)
		}
		return 0
	}
	if o.child {
		if err := rules.Child(o.library, rules.Mode(o.mode), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		return 0
	}
	ok, err := o.check()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if !ok {
		return 1
	}
	return 0
}

// check runs all cases in the modes and prints the outcome.
func (o *options) check() (bool, error) {
	var cases []*rules.Case
	for _, c := range rules.Cases() {
		if strings.Contains(c.ID(), o.filter) {
			cases = append(cases, c)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	reports := map[rules.Mode]*ohnn.Report{}
	var failures []string
	good, ran := true, 0
	for _, mode := range rules.Modes {
		if o.mode != "" && o.mode != string(mode) {
			continue
		}
		rep, err := rules.Report(cases, mode, func(setup rules.Setup) *ohnn.Runner {
			return &ohnn.Runner{Library: o.library, Workers: o.workers, Command: func() *exec.Cmd {
				c := exec.Command(self, "-child", "-library", o.library, "-mode", string(mode))
				c.Env = rules.Environ(mode, setup)
				return c
			}}
		})
		if err != nil {
			return false, err
		}
		for _, x := range rep.Results {
			if o.verbose || x.Status != ohnn.Pass {
				fmt.Printf("%-5s %s (%s) %s\n", x.Status, x.ID, mode, x.Message)
			}
		}
		bad := len(rep.Results) - rep.Counts[ohnn.Pass]
		ran += len(rep.Results)
		good = good && bad == 0
		failures = append(failures, fmt.Sprintf("failed %d (%s)", bad, mode))
		reports[mode] = rep
		if err := o.write(rep, string(mode)); err != nil {
			return false, err
		}
	}
	if o.filter != "" {
		fmt.Printf("ohnn rules: cases %d, %s\n", ran, strings.Join(failures, ", "))
		return good, nil
	}
	all := rules.Rules()
	for _, r := range all {
		if !r.BothKinds() {
			fmt.Printf("fail  %s: want cases that succeed and cases that are refused\n", r.ID)
			good = false
		}
	}
	covered, functions := rules.Covered(all, reports)
	modes := "in both modes"
	if o.mode != "" {
		modes = "in the mode " + o.mode
	}
	fmt.Printf("ohnn rules: cases %d, %s\n", ran, strings.Join(failures, ", "))
	fmt.Printf("%d of %d functions\n", functions, len(rules.Functions))
	fmt.Printf("%d of %d rules, each with a positive and a negative case, %s\n", covered, len(all), modes)
	return good && covered == len(all) && functions == len(rules.Functions), nil
}

func (o *options) write(rep *ohnn.Report, mode string) error {
	for _, f := range []struct {
		path  string
		write func(io.Writer) error
	}{{o.json, rep.WriteJSON}, {o.junit, rep.WriteJUnit}} {
		if f.path == "" {
			continue
		}
		ext := filepath.Ext(f.path)
		if err := ohnn.Save(strings.TrimSuffix(f.path, ext)+"-"+mode+ext, f.write); err != nil {
			return err
		}
	}
	return nil
}
