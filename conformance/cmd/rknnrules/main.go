// Command rknnrules holds a library to the rules of Rockchip's RKNN runtime C API and reports what passed.
//
//	rknnrules [-library FILE] [-json FILE] [-junit FILE] [-run SUBSTRING] [-workers N] [-list] [-v]
//
// The library is that of the -library flag, else of ANYNPU_RKNN_LIBRARY, else the tree's own in the folder BUILD
// (build). The exit code is 0 when every case passed, every rule has cases of both kinds and every function was called,
// 1 when not, 2 for wrong usage or a library that cannot be used.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/rknnrules"
	"github.com/anynpu/anynpu/internal/built"
)

func main() { os.Exit(run()) }

type options struct {
	library, json, junit, filter string
	workers                      int
	verbose, list, child         bool
}

func run() int {
	var o options
	flag.StringVar(&o.library, "library", cmp.Or(os.Getenv("ANYNPU_RKNN_LIBRARY"), built.Library(".", "librknnrt.so")),
		"library file under test")
	flag.StringVar(&o.json, "json", "", "write the report as JSON")
	flag.StringVar(&o.junit, "junit", "", "write the report as JUnit XML")
	flag.StringVar(&o.filter, "run", "", "only cases whose name contains this")
	flag.IntVar(&o.workers, "workers", 2, "processes at a time")
	flag.BoolVar(&o.verbose, "v", false, "print every case")
	flag.BoolVar(&o.list, "list", false, "print the rules, and the statements that only a board can show")
	flag.BoolVar(&o.child, "child", false, "compute the cases named on standard input (used by the command itself)")
	flag.Parse()
	switch {
	case o.list:
		for _, r := range rknnrules.Rules() {
			fmt.Printf("%-34s %s\n", r.ID, r.Text)
		}
		for _, b := range rknnrules.BoardOnly {
			fmt.Printf("not checked: %s: %s\n", b[0], b[1])
		}
		return 0
	case o.child:
		if err := rknnrules.Child(o.library, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		return 0
	}
	ok, err := o.check()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 2
	case !ok:
		return 1
	}
	return 0
}

// report runs the cases, those of each setting in processes of their own.
func (o *options) report(cases []*rknnrules.Case) (*ohnn.Report, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	out := &ohnn.Report{Library: o.library, Counts: map[ohnn.Status]int{}}
	for _, g := range rknnrules.Groups(cases) {
		r := &ohnn.Runner{Library: o.library, Workers: o.workers, Command: func() *exec.Cmd {
			c := exec.Command(self, "-child", "-library", o.library)
			c.Env = rknnrules.Environ(g.Setting)
			return c
		}}
		rep, err := r.RunIDs(g.IDs)
		if err != nil {
			return nil, err
		}
		out.Schema, out.Version = rep.Schema, rep.Version
		out.Results = append(out.Results, rep.Results...)
		for status, n := range rep.Counts {
			out.Counts[status] += n
		}
	}
	return out, nil
}

// check runs all cases and prints the outcome.
func (o *options) check() (bool, error) {
	var cases []*rknnrules.Case
	for _, c := range rknnrules.Cases() {
		if strings.Contains(c.ID(), o.filter) {
			cases = append(cases, c)
		}
	}
	rep, err := o.report(cases)
	if err != nil {
		return false, err
	}
	for _, x := range rep.Results {
		if o.verbose || x.Status != ohnn.Pass {
			fmt.Printf("%-5s %s %s\n", x.Status, x.ID, x.Message)
		}
	}
	for path, write := range map[string]func(io.Writer) error{o.json: rep.WriteJSON, o.junit: rep.WriteJUnit} {
		if err := ohnn.Save(path, write); err != nil {
			return false, err
		}
	}
	bad := len(rep.Results) - rep.Counts[ohnn.Pass]
	fmt.Printf("rknn rules: cases %d, failed %d\n", len(rep.Results), bad)
	if o.filter != "" {
		return bad == 0, nil
	}
	good := bad == 0
	rules := rknnrules.Rules()
	for _, r := range rules {
		if !r.BothKinds() {
			fmt.Printf("fail  %s: want cases that succeed and cases that are refused\n", r.ID)
		}
	}
	called := rknnrules.Called(rep.Results)
	for _, f := range rknnrules.Required {
		if !called[f] {
			fmt.Printf("fail  no case calls %s\n", f)
			good = false
		}
	}
	covered := rknnrules.Covered(rules, rep.Results)
	count := func(names []string) (n int) {
		for _, f := range names {
			if called[f] {
				n++
			}
		}
		return n
	}
	fmt.Printf("rknn rules %d of %d, each with a positive and a negative case\n", covered, len(rules))
	fmt.Printf("%d of %d functions (+ %d of %d historical names)\n", count(rknnrules.Functions), len(rknnrules.Functions),
		count(rknnrules.Historical), len(rknnrules.Historical))
	return good && covered == len(rules) &&
		!slices.ContainsFunc(rules, func(r *rknnrules.Rule) bool { return len(r.Cases) == 0 }), nil
}
