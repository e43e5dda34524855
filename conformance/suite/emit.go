package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/anynpu/anynpu/conformance/suite/trace"
)

// Emit computes a case, in the first of the modes that has it, and returns its result and the case as a C program.
func Emit(suites []*Suite, o Options, id string) (Result, string, error) {
	o.Filter, o.Long, o.Workers = id, true, 1
	n := &session{options: o}
	for _, s := range suites {
		if err := n.add(s); err != nil {
			return Result{}, "", err
		}
	}
	i := slices.IndexFunc(n.jobs, func(j job) bool { return j.task.ID == id })
	if i < 0 {
		return Result{}, "", fmt.Errorf("no case %q", id)
	}
	c := n.programs([]int{i})[0]
	return c.result, c.Source, c.err
}

// program is a case that was computed again, as a C program.
type program struct {
	trace.Program
	result Result
	err    error
}

// programs computes jobs again and returns them as programs.
func (n *session) programs(jobs []int) []program {
	out := make([]program, len(jobs))
	fail := func(err error) []program {
		for i := range out {
			out[i].err = err
		}
		return out
	}
	dir, err := os.MkdirTemp("", "anynpu-records-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	again := make([]job, len(jobs))
	for i, k := range jobs {
		again[i] = n.jobs[k]
		again[i].task.Record = filepath.Join(dir, fmt.Sprint(i))
	}
	all, err := (&pool{workers: n.options.Workers}).run(again)
	if err != nil {
		return fail(err)
	}
	for i, k := range jobs {
		p := &out[i]
		p.result = all[i].Result
		f, err := os.Open(again[i].task.Record)
		if err != nil {
			p.err = err
			continue
		}
		events, err := trace.Read(f)
		f.Close()
		if err != nil {
			p.err = err
			continue
		}
		q := n.cases[k]
		api := q.suite.API
		c := &trace.Case{API: api.Title, Soname: api.Soname, ID: again[i].task.ID, Mode: q.report.Mode,
			Environ: again[i].kind.environ, Codes: api.Codes, Headers: api.Headers}
		if s := p.result.Status; s != Pass && s != Skip {
			c.Message = string(s) + ": " + p.result.Message
		}
		p.Program, p.err = c.Program(events)
	}
	return out
}

// mostPrograms is how many failures of a run are computed again.
const mostPrograms = 60

// explain adds calls and programs to failures.
func (n *session) explain(d *Document) {
	var jobs []int
	var to []*Failure
	for _, a := range d.APIs {
		for _, f := range a.Failures {
			i := slices.IndexFunc(n.cases, func(q queued) bool {
				return q.report.API == a.Name && q.report.Suite == f.Suite && q.report.Mode == f.Mode && q.id == f.ID
			})
			if len(jobs) < mostPrograms {
				jobs, to = append(jobs, i), append(to, f)
			}
		}
	}
	if len(jobs) == 0 {
		return
	}
	for i, p := range n.programs(jobs) {
		f := to[i]
		f.Calls, f.Program = p.Calls, p.Source
		if p.err == nil && p.result.Status == Pass {
			f.Program = ""
			f.Calls = []string{"The case passed when it was computed again."}
		}
	}
}
