package suite

import (
	"fmt"
	"io"
	"strings"
)

// Rules is the rule suite of an API.
type Rules[C any] struct {
	API     *API
	All     []*Rule[C]
	New     func(*T) C            // what cases run with
	Modes   []Mode                // descriptions of the API that a library can be held to, none if there is one
	Environ []string              // NAME=VALUE of every child
	Object  func(*Rule[C]) string // of the API that a rule is about, as reports sort rules; nil: the rule's ID
	Part    func(*Rule[C]) string // of what is judged, as reports sort rules; nil: that of Item
	Tally   string                // format of the line that counts covered rules and all rules

	// NotCovered are the statements of docs/abi that no case can show.
	NotCovered []Statement
}

// Statement is a statement about an API that no case covers, with the reason.
type Statement struct{ Text, Reason string }

// Suite is the rules as Run and Serve need them.
func (r *Rules[C]) Suite() *Suite {
	return &Suite{API: r.API, Name: "rules", Short: "Hold a library to the rules of the " + r.API.Title, Modes: r.Modes,
		Environ: r.Environ, Cases: r.items, Open: r.computer, Summarize: r.summarize, List: r.list}
}

func (r *Rules[C]) items(mode string) ([]Item, error) {
	var out []Item
	for _, rule := range r.All {
		for _, c := range rule.Cases {
			if c.appliesIn(mode) {
				out = append(out, Item{ID: c.ID(), Setting: c.Setting, Part: r.part(rule),
					Object: r.object(rule), Rule: rule.Text, Own: c.own(r.API)})
			}
		}
	}
	return out, nil
}

func (r *Rules[C]) part(rule *Rule[C]) string {
	if r.Part == nil {
		return ""
	}
	return r.Part(rule)
}

func (r *Rules[C]) object(rule *Rule[C]) string {
	if r.Object == nil {
		return rule.ID
	}
	return r.Object(rule)
}

func (r *Rules[C]) computer(l *Library, mode string) Computer {
	byID := map[string]*Case[C]{}
	for _, rule := range r.All {
		for _, c := range rule.Cases {
			byID[c.ID()] = c
		}
	}
	return func(id, dir string) (Result, error) {
		c := byID[id]
		if c == nil {
			return Result{}, fmt.Errorf("no case %q", id)
		}
		l.reset()
		if why := c.own(r.API); why != "" && !l.Ours() {
			return Result{Status: Skip, Message: why}, nil
		}
		res := Judge(c.compute(&T{Library: l, Mode: mode, Dir: dir}, r.New))
		res.Functions = l.Called()
		res.NeedsModel = l.handed.any
		if l.exchange.dir != "" {
			res.Models = l.handed.names
		}
		return res, nil
	}
}

func (r *Rules[C]) list(w io.Writer) {
	width := 0
	for _, rule := range r.All {
		width = max(width, len(rule.ID))
	}
	for _, rule := range r.All {
		fmt.Fprintf(w, "%-*s %s\n", width, rule.ID, rule.Text)
	}
	for _, s := range r.NotCovered {
		fmt.Fprintf(w, "not checked: %s: %s\n", s.Text, s.Reason)
	}
}

// summarize prints what is covered and tells whether everything is: every rule has cases of both kinds, each passed in
// its modes, and every function was called in each mode. A library that is not the project's own may have cases
// skipped, and with them rules and functions.
func (r *Rules[C]) summarize(w io.Writer, o *Outcome) bool {
	var failures []string
	ran, skipped, good := 0, 0, true
	for _, rep := range o.Reports {
		bad := len(rep.Results) - rep.Counts[Pass]
		if !o.Own { // may lack what some cases are about
			bad -= rep.Counts[Skip]
			skipped += rep.Counts[Skip]
		}
		ran, good = ran+len(rep.Results), good && bad == 0
		f := fmt.Sprintf("failed %d", bad)
		if rep.Mode != "" {
			f += " (" + rep.Mode + ")"
		}
		failures = append(failures, f)
	}
	if skipped > 0 {
		failures = append(failures, fmt.Sprintf("skipped %d", skipped))
	}
	head := fmt.Sprintf("%s rules: cases %d, %s\n", r.API.Name, ran, strings.Join(failures, ", "))
	if o.Filtered {
		fmt.Fprint(w, head)
		return good
	}
	for _, rule := range r.All {
		if !rule.BothKinds(r.Modes) {
			fmt.Fprintf(w, "fail  %s: want cases that succeed and cases that are refused\n", rule.ID)
		}
	}
	covered, called := r.covered(o.Reports), calledInAll(o.Reports)
	count := func(names []string) (n int) {
		for _, f := range names {
			if called[f] {
				n++
			} else {
				fmt.Fprintf(w, "fail  no case calls %s\n", f)
				good = good && skipped > 0
			}
		}
		return n
	}
	functions := fmt.Sprintf("%d of %d functions", count(r.API.Functions), len(r.API.Functions))
	if old := r.API.Historical; old != nil {
		functions += fmt.Sprintf(" (+ %d of %d historical names)", count(old), len(old))
	}
	fmt.Fprintf(w, "%s%s\n"+r.Tally+", each with a positive and a negative case", head, functions, covered, len(r.All))
	switch {
	case len(r.Modes) > 0 && len(o.Reports) == 1:
		fmt.Fprintf(w, ", in the mode %s", o.Reports[0].Mode)
	case len(r.Modes) == 2:
		fmt.Fprint(w, ", in both modes")
	case len(r.Modes) > 0:
		fmt.Fprintf(w, ", in %d modes", len(r.Modes))
	}
	fmt.Fprintln(w)
	return good && (covered == len(r.All) || skipped > 0)
}

// covered counts the rules with cases of both kinds that have all passed in all the modes they belong to.
func (r *Rules[C]) covered(reports []*Report) int {
	passed := map[string]map[string]bool{} // by mode
	for _, rep := range reports {
		passed[rep.Mode] = rep.passed()
	}
	n := 0
	for _, rule := range r.All {
		good := rule.BothKinds(r.Modes)
		for mode, in := range passed {
			for _, c := range rule.Cases {
				good = good && (!c.appliesIn(mode) || in[c.ID()])
			}
		}
		if good {
			n++
		}
	}
	return n
}

// calledInAll are the functions that a case of each report has called.
func calledInAll(reports []*Report) map[string]bool {
	in := map[string]int{}
	for _, rep := range reports {
		seen := map[string]bool{}
		for _, x := range rep.Results {
			for _, f := range x.Functions {
				seen[f] = true
			}
		}
		for f := range seen {
			in[f]++
		}
	}
	out := map[string]bool{}
	for f, n := range in {
		out[f] = n == len(reports)
	}
	return out
}
