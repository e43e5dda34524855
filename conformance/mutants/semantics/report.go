package semantics

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"text/tabwriter"
	"time"
)

// least is the share of mutants that the suites must find, in percent.
const least = 95

// Run tries the mutants with these IDs, all if there are none, prints survivors, all if verbose, a table and a summary.
// It tells whether enough are found and all that survive are argued for or few. Mutants that are in t.Tried already are
// not tried again, and with t.Unargued neither are those that argued.txt explains.
func (t *Trial) Run(w io.Writer, only []string, verbose bool) (bool, error) {
	begin := time.Now()
	argued, err := Argued()
	if err != nil {
		return false, err
	}
	cases, err := t.Baseline()
	if err != nil {
		return false, err
	}
	var numbers []int
	var outcomes []Outcome
	for i, m := range t.Mutants {
		if len(only) > 0 && !slices.Contains(only, m.ID) {
			continue
		}
		if why, _ := argued.of(m.ID); why != "" && t.Unargued {
			outcomes = append(outcomes, Outcome{Mutant: m})
			continue
		}
		if o, ok := t.Tried[m.ID]; ok {
			outcomes = append(outcomes, o)
		} else {
			numbers = append(numbers, i+1)
		}
	}
	if len(numbers)+len(outcomes) == 0 {
		return false, fmt.Errorf("no mutant is named %q", only)
	}
	fmt.Fprintf(w, "semantics: %d cases pass without a mutant in %.0f s; %d mutants take some %.0f min\n", len(cases),
		time.Since(begin).Seconds(), len(numbers), t.estimate(numbers, cases).Minutes())
	fresh := make([]Outcome, len(numbers))
	failures := make([]error, len(numbers))
	var mu sync.Mutex
	t.each(len(numbers), func(i int) {
		o, err := t.try(numbers[i], cases)
		fresh[i], failures[i] = o, err
		mu.Lock()
		defer mu.Unlock()
		o.print(w, argued, verbose)
	})
	if err := errors.Join(failures...); err != nil {
		return false, err
	}
	if t.Tried == nil {
		t.Tried = map[string]Outcome{}
	}
	for _, o := range fresh {
		t.Tried[o.ID] = o
	}
	ok := summarize(w, append(outcomes, fresh...), argued)
	fmt.Fprintf(w, "semantics: %.1f min\n", time.Since(begin).Minutes())
	return ok, nil
}

// estimate takes it that most mutants are found by a tenth of the cases that come past them.
func (t *Trial) estimate(numbers []int, cases []*usual) time.Duration {
	var all time.Duration
	for _, n := range numbers {
		all += time.Second
		for _, c := range cases {
			if slices.Contains(c.reaches, n) {
				all += c.time / 10
			}
		}
	}
	return all / time.Duration(max(t.Jobs, 1))
}

func (o *Outcome) print(w io.Writer, argued Arguments, verbose bool) {
	why, exact := argued.of(o.ID)
	switch {
	case o.Found != "" && exact:
		fmt.Fprintf(w, "found     %s, although argued.txt lists it: %s\n", o.ID, o.Found)
	case o.Found != "" && verbose:
		fmt.Fprintf(w, "found     %s: %s\n", o.ID, o.Found)
	case o.Found != "":
	case why != "":
		fmt.Fprintf(w, "argued    %s: %s\n", o.ID, why)
	default:
		fmt.Fprintf(w, "survived  %s (%d cases come past it, %d are skipped): %s\n", o.ID, o.Reached, o.Skipped, o.About)
	}
}

// summarize prints the table of areas and the last line. Mutants that argued.txt explains are not counted.
func summarize(w io.Writer, outcomes []Outcome, argued Arguments) (ok bool) {
	ok = true
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "area\tmutants\tfound\tsurvived\tnot reached\targued\t")
	total, found := 0, 0
	for _, a := range Areas {
		var n, hits, unreached, excused int
		for _, o := range outcomes {
			why, exact := argued.of(o.ID)
			switch {
			case o.Area != a.Name:
				continue
			case o.Found != "":
				hits++
				ok = ok && !exact
			case why != "":
				excused++
				continue
			case o.Reached == 0:
				unreached++
			}
			n++
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t\n", a.Name, n, hits, n-hits, unreached, excused)
		total, found = total+n, found+hits
	}
	table.Flush()
	fmt.Fprintf(w, "semantics: %d of %d found by conformance alone (%.1f %%)\n", found, total,
		100*float64(found)/float64(max(total, 1)))
	return ok && 100*found >= least*total
}

// Reach prints how many cases come past each mutant.
func (t *Trial) Reach(w io.Writer) error {
	cases, err := t.Baseline()
	if err != nil {
		return err
	}
	for i, m := range t.Mutants {
		n := 0
		for _, c := range cases {
			if slices.Contains(c.reaches, i+1) {
				n++
			}
		}
		fmt.Fprintf(w, "%-7s %6d %s: %s\n", m.Area, n, m.ID, m.About)
	}
	return nil
}

// List prints the mutants.
func List(w io.Writer, mutants []*Mutant) {
	for _, m := range mutants {
		fmt.Fprintf(w, "%-7s %s\n        %s: %s\n", m.Area, m.ID, m.File, m.About)
	}
}
