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
	files   map[string]*file
}

// queued is where the result of a job goes.
type queued struct {
	suite  *Suite
	report *Report
	id     string
	own    string // as in Item
	place  Place
	basis  Basis
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
	if n.files == nil {
		n.files = map[string]*file{}
	}
	on := entry(n.files, s.API.Name+" "+library, func() *file { return &file{path: library} })
	path := Locate(library)
	stops := &line{}
	r := &suiteRun{s, &Outcome{Filtered: o.Filter != "" || o.Sample > 1, Own: library == s.API.OwnFile(".")}}
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
			k := &kind{file: on, environ: slices.Concat(s.Environ, m.Environ, g.setting)}
			k.command = func() *exec.Cmd {
				c := o.Child(s, path, m.Name)
				c.Env = append(c.Environ(), k.environ...)
				return c
			}
			for _, c := range g.items {
				n.jobs = append(n.jobs, job{k, stops, Task{ID: c.ID}})
				n.cases = append(n.cases, queued{s, rep, c.ID, c.Own, c.place(s), c.basis(s, o)})
			}
		}
	}
	return nil
}

// check demands that there are cases.
func (n *session) check() error {
	o := &n.options
	if len(n.jobs) > 0 || o.Filter == "" || o.Sample > 1 {
		return nil
	}
	for _, r := range n.runs {
		for _, m := range orOne(r.suite.Modes) {
			items, err := r.suite.Cases(m.Name)
			if err != nil {
				return err
			}
			if !o.Long && slices.ContainsFunc(items, func(c Item) bool { return strings.Contains(c.ID, o.Filter) }) {
				return fmt.Errorf("all cases whose name contains %q take long: --long runs them", o.Filter)
			}
		}
	}
	return fmt.Errorf("no case's name contains %q", o.Filter)
}

// run computes the queue and fills the reports. An error says that not all of it could be computed.
func (n *session) run() error {
	p := n.options.pool()
	progress := n.options.Progress
	progress.begin(len(n.jobs))
	p.finished = func(i int, d *done) {
		q := &n.cases[i]
		progress.done(q.suite.API.Name+" "+q.suite.Name, d)
	}
	all, failure := p.run(n.options.context(), n.jobs)
	progress.end()
	begin := map[*Report]time.Time{}
	for i, d := range all {
		to := n.cases[i]
		d.Place, d.Basis = to.place, to.basis
		to.report.add(d.Result, d.greeting)
		if t, ok := begin[to.report]; d.Status != NotRun && (!ok || d.start.Before(t)) {
			begin[to.report] = d.start
		}
	}
	for i, d := range all {
		r := n.cases[i].report
		if t, ok := begin[r]; ok && d.Status != NotRun {
			r.Seconds = max(r.Seconds, d.end.Sub(t).Seconds())
		}
	}
	return failure
}

// print prints what came of the cases of a suite and tells whether the library passed.
func (r *suiteRun) print(w io.Writer, o *Options) bool {
	for _, rep := range r.outcome.Reports {
		where := ""
		if len(r.outcome.Reports) > 1 {
			where = " (" + rep.Mode + ")"
		}
		for _, x := range rep.Results {
			if o.Verbose || x.Status != Pass && x.Status != NotRun {
				fmt.Fprintf(w, "%-5s %s%s %s\n", x.Status, x.ID, where, x.Message+x.Refusal)
			}
		}
		if n := rep.Counts[NotRun]; n > 0 {
			fmt.Fprintf(w, "%s %s%s: %d of %d cases were not run: %s\n", rep.API, rep.Suite, where, n, len(rep.Results),
				rep.Stopped)
		}
	}
	good := r.suite.Summarize(w, r.outcome)
	if list := r.misplaced(o.Mode == ""); len(list) > 0 {
		good = false
		fmt.Fprintf(w, "fail  %d cases need a model where conformance/%s/zfree.txt says otherwise, such as %s\n", len(list),
			r.suite.API.Name, list[0])
	}
	return good
}

// group is the cases of one setting.
type group struct {
	setting []string
	items   []Item
}

// groups sorts the cases that the options choose by their setting.
func groups(items []Item, o *Options) []*group {
	var out []*group
	n := 0
	for _, c := range items {
		if !strings.Contains(c.ID, o.Filter) || c.Long && !o.Long {
			continue
		}
		if n++; n%max(o.Sample, 1) != o.Share {
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
