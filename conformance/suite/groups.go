package suite

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// Groups makes a suite of cases that are no rules: each Rule that all returns is a group whose Text says what its cases
// compare, and whose ID begins their names. A library other than the project's own may skip cases. all is called once,
// when cases are first asked for: a process that runs another suite does not read the archives of this one.
func Groups[C any](r *Rules[C], all func() []*Rule[C], name, short string) *Suite {
	if r.Part == nil {
		r.Part = func(group *Rule[C]) string { return group.ID }
	}
	load := sync.OnceFunc(func() { r.All = all() })
	s := r.Suite()
	s.Name, s.Short = name, short
	s.Cases = func(mode string) ([]Item, error) { load(); return r.items(mode) }
	s.Open = func(l *Library, mode string) Computer { load(); return r.computer(l, mode) }
	s.List = func(w io.Writer) { load(); r.list(w) }
	s.Summarize = func(w io.Writer, o *Outcome) bool { load(); return r.summarizeGroups(w, o) }
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
