package mutants

import (
	"fmt"
	"io"
	"slices"
)

// fewest is the number of mutants that every operator must have.
const fewest = 3

// Run tries the mutants of every operator, or of those in only, and prints those that survive, all if verbose, and a
// summary. It tells whether at least 95 % of those that are not argued for are found, every operator has at least 3,
// and each survivor is argued for.
func (t *Trial) Run(w io.Writer, only []string, verbose bool) (ok bool, err error) {
	all, err := t.operators()
	if err != nil {
		return false, err
	}
	argued, err := t.Argued()
	if err != nil {
		return false, err
	}
	if len(only) > 0 {
		all = slices.DeleteFunc(all, func(o *operator) bool { return !slices.Contains(only, o.name) })
	}
	total, killed, excused, ok := 0, 0, 0, true
	least := -1
	for _, o := range all {
		list, err := t.mutations(o.cases)
		if err != nil {
			return false, err
		}
		if least < 0 || len(list) < least {
			least = len(list)
		}
		if len(list) < fewest {
			fmt.Fprintf(w, "%s has %d mutants, want %d\n", o.name, len(list), fewest)
		}
		for _, mutation := range list {
			m, err := t.try(o, mutation)
			if err != nil {
				return false, err
			}
			total++
			why, own := argued[m.ID()]
			known := own
			if !own {
				why, known = argued["* "+mutation]
			}
			switch {
			case m.Killed:
				killed++
				if own {
					fmt.Fprintf(w, "found     %s, although survivors/%s.txt lists it\n", m.ID(), t.Suite.API.Name)
					ok = false
				} else if verbose {
					fmt.Fprintf(w, "found     %s\n", m.ID())
				}
			case known:
				excused++
				fmt.Fprintf(w, "survived  %s: %s\n", m.ID(), why)
			default:
				fmt.Fprintf(w, "survived  %s: NOT ARGUED\n", m.ID())
				ok = false
			}
		}
	}
	if len(all) == 0 {
		return true, nil
	}
	open := total - excused
	fmt.Fprintf(w, "%s mutants: %d of %d found (%.1f %%), %d more argued for, %d operators, fewest %d\n", t.Suite.API.Name,
		killed, open, 100*float64(killed)/float64(max(open, 1)), excused, len(all), least)
	return ok && least >= fewest && killed*100 >= open*95, nil
}
