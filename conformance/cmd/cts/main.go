// Command cts computes the OH_NN operator suite with a library and reports what passed.
//
//	cts [-library FILE] [-json FILE] [-junit FILE] [-run SUBSTRING] [-workers N] [-reference] [-v]
//
// The library is that of the -library flag, else of ANYNPU_CTS_LIBRARY, else the tree's own in the folder BUILD
// (build). The exit code is 0 when every case passed, 1 when one did not, where a library other than the tree's own may
// lack operations (skip), 2 for wrong usage or a library that cannot be used.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/internal/built"
)

func main() {
	os.Exit(run())
}

func run() int {
	own := built.Library(".", "libneural_network_core.so")
	library := flag.String("library", cmp.Or(os.Getenv("ANYNPU_CTS_LIBRARY"), own), "library file under test")
	jsonFile := flag.String("json", "", "write the report as JSON to this file")
	junitFile := flag.String("junit", "", "write the report as JUnit XML to this file")
	filter := flag.String("run", "", "only cases whose OPERATOR/name contains this")
	workers := flag.Int("workers", 2, "processes at a time")
	verbose := flag.Bool("v", false, "print every case")
	reference := flag.Bool("reference", false, "in reference mode, only cases that Build refuses: there it succeeds, "+
		"and the runs are refused")
	child := flag.Bool("child", false, "compute the cases named on standard input (used by the command itself)")
	flag.Parse()
	if *child {
		var change func(*ohnn.Case) *ohnn.Case
		if *reference {
			change = (*ohnn.Case).InReference
		}
		if err := ohnn.Child(*library, os.Stdin, os.Stdout, change); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		return 0
	}
	cases, err := ohnn.Cases()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	selected := cases[:0:0]
	for _, c := range cases {
		if strings.Contains(c.ID(), *filter) && (!*reference || c.InReference() != nil) {
			selected = append(selected, c)
		}
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	r := &ohnn.Runner{Library: *library, Workers: *workers, Command: func() *exec.Cmd {
		c := exec.Command(self, "-child", "-library", *library, fmt.Sprintf("-reference=%t", *reference))
		c.Env = ohnn.Environ()
		if *reference {
			c.Env = append(c.Env, "ANYNPU_OHNN_COMPAT=reference")
		}
		return c
	}}
	rep, err := r.Run(selected)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	for _, x := range rep.Results {
		if *verbose || x.Status != ohnn.Pass {
			fmt.Printf("%-5s %s %s\n", x.Status, x.ID, x.Message+x.Refusal)
		}
	}
	for _, f := range []struct {
		path  string
		write func(io.Writer) error
	}{{*jsonFile, rep.WriteJSON}, {*junitFile, rep.WriteJUnit}} {
		if err := ohnn.Save(f.path, f.write); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	fmt.Println(rep.Summary(selected))
	good := rep.Counts[ohnn.Pass]
	if *library != own {
		good += rep.Counts[ohnn.Skip]
	}
	if good != len(selected) {
		return 1
	}
	return 0
}
