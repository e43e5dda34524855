package semantics

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

//go:embed argued.txt
var arguedList string

// Argued returns the mutants of argued.txt that no program can observe: ID to reason.
func Argued() map[string]string {
	out := map[string]string{}
	for l := range strings.Lines(arguedList) {
		l = strings.TrimSpace(l)
		if id, why, ok := strings.Cut(l, " = "); ok && !strings.HasPrefix(l, "#") {
			out[strings.TrimSpace(id)] = strings.TrimSpace(why)
		}
	}
	return out
}

// least is the share of mutants that the suites must find, in percent.
const least = 95

// Run tries the mutants with these IDs, all if there are none, prints survivors, all if verbose, a table and a summary.
// It tells whether enough are found and all that survive are argued for or few.
func (t *Trial) Run(w io.Writer, only []string, verbose bool) (bool, error) {
	begin := time.Now()
	cases, err := t.Baseline()
	if err != nil {
		return false, err
	}
	var numbers []int
	for i, m := range t.Mutants {
		if len(only) == 0 || slices.Contains(only, m.ID) {
			numbers = append(numbers, i+1)
		}
	}
	if len(numbers) == 0 {
		return false, fmt.Errorf("no mutant is named %q", only)
	}
	fmt.Fprintf(w, "semantics: %d cases pass without a mutant in %.0f s; %d mutants take some %.0f min\n", len(cases),
		time.Since(begin).Seconds(), len(numbers), t.estimate(numbers, cases).Minutes())
	outcomes := make([]Outcome, len(numbers))
	failures := make([]error, len(numbers))
	argued := Argued()
	var mu sync.Mutex
	t.each(len(numbers), func(i int) {
		o, err := t.try(numbers[i], cases)
		outcomes[i], failures[i] = o, err
		mu.Lock()
		defer mu.Unlock()
		o.print(w, argued, verbose)
	})
	if err := errors.Join(failures...); err != nil {
		return false, err
	}
	ok := summarize(w, outcomes, argued)
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

func (o *Outcome) print(w io.Writer, argued map[string]string, verbose bool) {
	why, known := argued[o.ID]
	switch {
	case o.Found != "" && known:
		fmt.Fprintf(w, "found     %s, although argued.txt lists it: %s\n", o.ID, o.Found)
	case o.Found != "" && verbose:
		fmt.Fprintf(w, "found     %s: %s\n", o.ID, o.Found)
	case o.Found != "":
	case known:
		fmt.Fprintf(w, "argued    %s: %s\n", o.ID, why)
	default:
		fmt.Fprintf(w, "survived  %s (%d cases come past it, %d are skipped): %s\n", o.ID, o.Reached, o.Skipped, o.About)
	}
}

// summarize prints the table of areas and the last line. Mutants that argued.txt explains are not counted.
func summarize(w io.Writer, outcomes []Outcome, argued map[string]string) (ok bool) {
	ok = true
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "area\tmutants\tfound\tsurvived\tnot reached\targued\t")
	total, found := 0, 0
	for _, a := range Areas {
		var n, hits, unreached, excused int
		for _, o := range outcomes {
			_, known := argued[o.ID]
			switch {
			case o.Area != a.Name:
				continue
			case o.Found != "":
				hits++
				ok = ok && !known
			case known:
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
