package suite

import (
	"fmt"
	"io"
	"strings"
)

// Groups makes a suite of cases that are no rules: each Rule of r is a group whose Text says what its cases compare,
// and whose ID begins their names. A library other than the project's own may skip cases.
func Groups[C any](r *Rules[C], name, short string) *Suite {
	if r.Part == nil {
		r.Part = func(group *Rule[C]) string { return group.ID }
	}
	s := r.Suite()
	s.Name, s.Short, s.Summarize = name, short, r.summarizeGroups
	return s
}

// summarizeGroups prints a line for each group and one for all.
func (r *Rules[C]) summarizeGroups(w io.Writer, o *Outcome) bool {
	good := true
	for _, rep := range o.Reports {
		all := map[Status]int{}
		for _, g := range r.All {
			in := map[Status]int{}
			for _, x := range rep.Results {
				if strings.HasPrefix(x.ID, g.ID+"/") {
					in[x.Status]++
					all[x.Status]++
				}
			}
			if len(in) > 0 {
				fmt.Fprintf(w, "%s %s: %s\n", r.API.Name, g.ID, counted(in))
			}
		}
		good = good && o.Passed(rep)
		fmt.Fprintf(w, "%s %s: %s\n", r.API.Name, rep.Suite, counted(all))
	}
	return good
}

// counted shows how many cases there are of each kind.
func counted(in map[Status]int) string {
	n := 0
	for _, c := range in {
		n += c
	}
	text := fmt.Sprintf("cases %d, failed %d", n, n-in[Pass]-in[Skip])
	for _, s := range []Status{Crash, Hang, Skip} {
		if in[s] > 0 {
			text += fmt.Sprintf(", %s %d", s, in[s])
		}
	}
	return text
}
