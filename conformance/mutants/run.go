package mutants

import (
	"fmt"
	"io"
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn/operators"
)

// fewest is the number of mutants that every operator must have.
const fewest = 3

// Run tries the mutants of every operator, or of those in only, and prints those that survive, all if verbose, and a
// summary. It tells whether at least 95 % are found, every operator has at least 3, and each survivor is argued for.
func (s *Suite) Run(w io.Writer, only []string, verbose bool) (ok bool, err error) {
	all, err := operators.Cases()
	if err != nil {
		return false, err
	}
	byOp := map[string][]*operators.Case{}
	var names []string
	for _, c := range all {
		if len(only) > 0 && !slices.Contains(only, c.Op) {
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
	argued := Argued()
	total, killed, ok := 0, 0, true
	least := -1
	for _, name := range names {
		list, err := s.Mutations(byOp[name])
		if err != nil {
			return false, err
		}
		if least < 0 || len(list) < least {
			least = len(list)
		}
		if len(list) < fewest {
			fmt.Fprintf(w, "%s has %d mutants, want %d\n", name, len(list), fewest)
		}
		for _, mutation := range list {
			m, err := s.Try(name, mutation, byOp[name])
			if err != nil {
				return false, err
			}
			total++
			why, known := argued[m.ID()]
			switch {
			case m.Killed:
				killed++
				if known {
					fmt.Fprintf(w, "found     %s, although survivors.txt lists it\n", m.ID())
					ok = false
				} else if verbose {
					fmt.Fprintf(w, "found     %s\n", m.ID())
				}
			case known:
				fmt.Fprintf(w, "survived  %s: %s\n", m.ID(), why)
			default:
				fmt.Fprintf(w, "survived  %s: NOT ARGUED\n", m.ID())
				ok = false
			}
		}
	}
	fmt.Fprintf(w, "mutants: %d of %d found (%.1f %%), %d operators, fewest %d\n", killed, total,
		100*float64(killed)/float64(max(total, 1)), len(names), least)
	return ok && least >= fewest && killed*100 >= total*95, nil
}
