package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	if err := n.survey(io.Discard); err != nil {
		return Result{}, "", err
	}
	c := n.programs(o.context(), []int{i})[0]
	return c.result, c.Source, c.err
}

// program is a case that was computed again, as a C program.
type program struct {
	trace.Program
	result Result
	err    error
}

// programs computes jobs again and returns them as programs. A record is made a program, and removed, as soon as its
// case is done.
func (n *session) programs(ctx context.Context, jobs []int) []program {
	out := make([]program, len(jobs))
	for i := range out {
		out[i].err = errors.New(interrupted)
	}
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
	if dir, err = filepath.Abs(dir); err != nil {
		return fail(err)
	}
	again := make([]job, len(jobs))
	stops := map[*line]*line{}
	for i, k := range jobs {
		again[i] = n.jobs[k]
		again[i].task.Record = filepath.Join(dir, fmt.Sprint(i))
		again[i].line = entry(stops, again[i].line, func() *line { return &line{} })
	}
	p := n.options.pool()
	p.finished = func(i int, d *done) {
		defer os.Remove(again[i].task.Record)
		out[i].result = d.Result
		out[i].Program, out[i].err = n.program(jobs[i], &again[i], d)
	}
	if _, err := p.run(ctx, again); err != nil && len(jobs) == 1 {
		return fail(err)
	}
	return out
}

// program makes a program of the record of job k, which was computed again.
func (n *session) program(k int, again *job, d *done) (trace.Program, error) {
	if d.Status == NotRun {
		return trace.Program{}, errors.New(d.Message)
	}
	f, err := os.Open(again.task.Record)
	if errors.Is(err, os.ErrNotExist) { // the library was not loaded
		return trace.Program{}, errors.New(d.Message)
	}
	if err != nil {
		return trace.Program{}, err
	}
	events, err := trace.Read(f)
	f.Close()
	if err != nil {
		return trace.Program{}, err
	}
	q := n.cases[k]
	api := q.suite.API
	c := &trace.Case{API: api.Title, Soname: api.Soname, ID: again.task.ID, Mode: q.report.Mode,
		Environ: again.kind.environ, Codes: api.Codes, Headers: api.Headers}
	if d.Status.bad() {
		c.Message = string(d.Status) + ": " + d.Message
	}
	return c.Program(events)
}

// What of failures is computed again for the document: so many, so many of those that hung, for so long, and so many
// bytes of a program.
const (
	mostPrograms = 60
	mostHung     = 2
	mostTime     = 5 * time.Minute
	mostSource   = 256 << 10
)

// explain adds calls and programs to failures, those of all APIs in turn, and tells whether there are any.
func (n *session) explain(d *Document) bool {
	var jobs []int
	var to []*Failure
	at := map[string]int{} // jobs by what they are
	for i, q := range n.cases {
		at[q.key()] = i
	}
	hung := 0
	for k, more := 0, true; more && len(jobs) < mostPrograms; k++ {
		more = false
		for _, a := range d.APIs {
			if k >= len(a.Failures) {
				continue
			}
			more = true
			f := a.Failures[k]
			i, known := at[strings.Join([]string{a.Name, f.Suite, f.Mode, f.ID}, " ")]
			if f.Status == Hang {
				if hung++; hung > mostHung {
					continue
				}
			}
			if known && n.jobs[i].kind.file.why() == "" && len(jobs) < mostPrograms {
				jobs, to = append(jobs, i), append(to, f)
			}
		}
	}
	if len(jobs) == 0 {
		return false
	}
	ctx, stop := context.WithTimeout(n.options.context(), mostTime)
	defer stop()
	for i, p := range n.programs(ctx, jobs) {
		f := to[i]
		f.Calls, f.Program = short(p.Calls), p.Source
		if len(p.Source) > mostSource {
			f.Program = fmt.Sprintf("/* %d bytes long: --emit-c %s prints it */\n", len(p.Source), f.ID)
		}
		if p.err == nil && p.result.Status == Pass {
			f.Program = ""
			f.Calls = []string{"The case passed when it was computed again."}
		}
	}
	return true
}

func (q *queued) key() string {
	return strings.Join([]string{q.report.API, q.report.Suite, q.report.Mode, q.id}, " ")
}

// short is a list of calls without the middle of a long one.
func short(calls []string) []string {
	const most = 200
	if len(calls) <= most {
		return calls
	}
	left := len(calls) - most
	return slices.Concat(calls[:most/2], []string{fmt.Sprintf("... %d more calls ...", left)}, calls[len(calls)-most/2:])
}
