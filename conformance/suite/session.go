package suite

import (
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// session runs suites together: the cases of all are one queue, so that no processor waits for the end of a suite.
type session struct {
	options Options
	runs    []*suiteRun
	jobs    []job
	cases   []queued // of the jobs
}

// queued is where the result of a job goes.
type queued struct {
	suite  *Suite
	report *Report
	id     string
	place  Place
}

// suiteRun is one suite of a session.
type suiteRun struct {
	suite   *Suite
	outcome *Outcome
}

// add queues the cases of a suite's modes, those of each setting next to each other.
func (n *session) add(s *Suite) error {
	o := &n.options
	modes, err := s.modes(o.Mode)
	if err != nil {
		return err
	}
	library := o.library(s.API)
	r := &suiteRun{s, &Outcome{Filtered: o.Filter != "", Own: library == s.API.OwnFile(".")}}
	n.runs = append(n.runs, r)
	for _, m := range modes {
		items, err := s.Cases(m.Name)
		if err != nil {
			return err
		}
		rep := &Report{Schema: schema, API: s.API.Name, Suite: s.Name, Mode: m.Name, Library: library,
			Counts: map[Status]int{}}
		r.outcome.Reports = append(r.outcome.Reports, rep)
		for _, g := range groups(items, o) {
			k := &kind{library: library, environ: slices.Concat(s.Environ, m.Environ, g.setting)}
			k.command = func() *exec.Cmd {
				c := o.Child(s, library, m.Name)
				c.Env = append(c.Environ(), k.environ...)
				return c
			}
			for _, c := range g.items {
				n.jobs = append(n.jobs, job{k, task{ID: c.ID}})
				n.cases = append(n.cases, queued{s, rep, c.ID, c.place(s)})
			}
		}
	}
	return nil
}

// run computes the queue and fills the reports.
func (n *session) run() error {
	all, err := (&pool{workers: n.options.Workers}).run(n.jobs)
	if err != nil {
		return err
	}
	begin := map[*Report]time.Time{}
	for i, d := range all {
		to := n.cases[i]
		d.Place = to.place
		to.report.add(d.Result, d.greeting)
		if t, ok := begin[to.report]; !ok || d.start.Before(t) {
			begin[to.report] = d.start
		}
	}
	for i, d := range all {
		r := n.cases[i].report
		r.Seconds = max(r.Seconds, d.end.Sub(begin[r]).Seconds())
	}
	return nil
}

// print prints what came of the cases of a suite and tells whether the library passed.
func (r *suiteRun) print(w io.Writer, verbose bool) bool {
	for _, rep := range r.outcome.Reports {
		where := ""
		if len(r.outcome.Reports) > 1 {
			where = " (" + rep.Mode + ")"
		}
		for _, x := range rep.Results {
			if verbose || x.Status != Pass {
				fmt.Fprintf(w, "%-5s %s%s %s\n", x.Status, x.ID, where, x.Message+x.Refusal)
			}
		}
	}
	return r.suite.Summarize(w, r.outcome)
}

// group is the cases of one setting.
type group struct {
	setting []string
	items   []Item
}

// groups sorts the cases that the options choose by their setting.
func groups(items []Item, o *Options) []*group {
	var out []*group
	for _, c := range items {
		if !strings.Contains(c.ID, o.Filter) || c.Long && !o.Long {
			continue
		}
		i := slices.IndexFunc(out, func(g *group) bool { return slices.Equal(g.setting, c.Setting) })
		if i < 0 {
			i = len(out)
			out = append(out, &group{setting: c.Setting})
		}
		out[i].items = append(out[i].items, c)
	}
	return out
}
