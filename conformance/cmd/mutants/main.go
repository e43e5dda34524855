// Command mutants measures how many seeded wrong kernels the operator suite finds.
//
//	mutants [-run OPERATOR] [-v]
//
// It is run in the repository's root. The exit code is 0 when at least 95 % are found, every operator has at least 3,
// and each survivor is argued for in conformance/mutants/survivors.txt.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/anynpu/anynpu/conformance/mutants"
	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/internal/built"
)

// fewest is the number of mutants that every operator must have.
const fewest = 3

func main() {
	only := flag.String("run", "", "only this operator")
	verbose := flag.Bool("v", false, "print every mutant")
	child := flag.String("child", "", "compute the cases named on standard input with this library (used by the command "+
		"itself)")
	flag.Parse()
	if *child != "" {
		if err := ohnn.Child(*child, os.Stdin, os.Stdout, nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		return
	}
	ok, err := run(*only, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(only string, verbose bool) (ok bool, err error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return false, err
	}
	folder := filepath.Join(built.Folder(), "mutants")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return false, err
	}
	library, err := mutants.Build(root, folder)
	if err != nil {
		return false, err
	}
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	suite := &mutants.Suite{Library: library, Folder: folder, Self: func(env ...string) *exec.Cmd {
		c := exec.Command(self, "-child", library)
		c.Env = append(append(ohnn.Environ(), "ANYNPU_CPU=ref"), env...) // the hook is in the reference
		return c
	}}
	all, err := ohnn.Cases()
	if err != nil {
		return false, err
	}
	byOp := map[string][]*ohnn.Case{}
	var names []string
	for _, c := range all {
		if only != "" && c.Op != only {
			continue
		}
		// no kernel is asked, or one that the judged case asks too
		if c.Of != "" && (c.Reject == nil || c.Reject.Stage != "run") {
			continue
		}
		if byOp[c.Op] == nil {
			names = append(names, c.Op)
		}
		byOp[c.Op] = append(byOp[c.Op], c)
	}
	argued := mutants.Argued()
	total, killed, ok := 0, 0, true
	least := -1
	for _, name := range names {
		list, err := suite.Mutations(byOp[name])
		if err != nil {
			return false, err
		}
		if least < 0 || len(list) < least {
			least = len(list)
		}
		if len(list) < fewest {
			fmt.Printf("%s has %d mutants, want %d\n", name, len(list), fewest)
		}
		for _, mutation := range list {
			m, err := suite.Try(name, mutation, byOp[name])
			if err != nil {
				return false, err
			}
			total++
			why, known := argued[m.ID()]
			switch {
			case m.Killed:
				killed++
				if known {
					fmt.Printf("found     %s, although survivors.txt lists it\n", m.ID())
					ok = false
				} else if verbose {
					fmt.Printf("found     %s\n", m.ID())
				}
			case known:
				fmt.Printf("survived  %s: %s\n", m.ID(), why)
			default:
				fmt.Printf("survived  %s: NOT ARGUED\n", m.ID())
				ok = false
			}
		}
	}
	fmt.Printf("mutants: %d of %d found (%.1f %%), %d operators, fewest %d\n", killed, total,
		100*float64(killed)/float64(max(total, 1)), len(names), least)
	return ok && least >= fewest && killed*100 >= total*95, nil
}
