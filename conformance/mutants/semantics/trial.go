package semantics

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/anynpu/anynpu/conformance/suite"
)

// startLimit bounds the start and the end of a child, mutantLimit the cases of one mutant.
const (
	startLimit  = time.Minute
	mutantLimit = 15 * time.Minute
)

// caseLimit bounds a case that takes so long without a mutant.
func caseLimit(usual time.Duration) time.Duration { return 20*time.Second + 20*usual }

// Trial runs suites against a library with mutants.
type Trial struct {
	Mutants []*Mutant
	Suites  []*suite.Suite
	Folder  string // with the libraries in lib, and for what runs leave behind
	Child   func(s *suite.Suite, library, mode string) *exec.Cmd
	Jobs    int // mutants at a time
}

// usual is a case as it is without a mutant.
type usual struct {
	group   *group
	id      string
	time    time.Duration
	reaches []int // mutants that the library comes past
}

// Baseline computes every case without a mutant. All must pass or be skipped. It notes which mutants each comes past:
// only those cases can be different when the mutant is on.
func (t *Trial) Baseline() ([]*usual, error) {
	all, err := groups(t.Suites)
	if err != nil {
		return nil, err
	}
	const most = 150 // cases of a child, so that children are busy to the end
	var parts []*group
	for _, g := range all {
		for ids := range slices.Chunk(g.ids, most) {
			part := *g
			part.ids = ids
			parts = append(parts, &part)
		}
	}
	results := make([][]*usual, len(parts))
	failures := make([]error, len(parts))
	t.each(len(parts), func(i int) { results[i], failures[i] = t.plain(parts[i]) })
	return slices.Concat(results...), errors.Join(failures...)
}

// plain computes the cases of a group without a mutant.
func (t *Trial) plain(g *group) ([]*usual, error) {
	c, err := t.start(g, 0)
	if err != nil {
		return nil, err
	}
	defer c.stop()
	var out []*usual
	begin := c.take() // what is decided once for all cases
	for _, id := range g.ids {
		r, err := c.compute(id, suite.DefaultTimeout)
		if err != nil {
			return nil, err
		}
		if r.Status != suite.Pass && r.Status != suite.Skip {
			return nil, fmt.Errorf("%s: %s: %s without a mutant: %s", g, id, r.Status, r.Message)
		}
		out = append(out, &usual{g, id, r.Time, slices.Concat(begin, c.take())})
	}
	return out, nil
}

// Outcome is what became of a mutant.
type Outcome struct {
	*Mutant
	Reached int    // number of cases that come past it
	Found   string // suite, case and what it said; "" for a survivor
}

// try computes the cases that come past mutant n until one fails.
func (t *Trial) try(n int, cases []*usual) (Outcome, error) {
	m := t.Mutants[n-1]
	out := Outcome{Mutant: m}
	byGroup := map[*group][]*usual{}
	var order []*group
	for _, c := range cases {
		if !slices.Contains(c.reaches, n) {
			continue
		}
		out.Reached++
		if byGroup[c.group] == nil {
			order = append(order, c.group)
		}
		byGroup[c.group] = append(byGroup[c.group], c)
	}
	slices.SortStableFunc(order, func(a, b *group) int { return cmp.Compare(t.distance(m, a), t.distance(m, b)) })
	begin := time.Now()
	for _, g := range order {
		list := byGroup[g]
		// A case that comes past few others is about this one.
		slices.SortStableFunc(list, func(a, b *usual) int {
			return cmp.Or(cmp.Compare(len(a.reaches), len(b.reaches)), cmp.Compare(a.time, b.time))
		})
		found, err := t.tryGroup(n, g, list, begin.Add(mutantLimit))
		if err != nil || found != "" {
			out.Found = found
			return out, err
		}
	}
	return out, nil
}

// distance sorts groups: the suites of the mutant's own API first, and where several serve, those with more in a case.
func (t *Trial) distance(m *Mutant, g *group) int {
	d := slices.Index([]string{"numerics", "networks", "operators", "rules"}, g.suite.Name)
	switch api := g.suite.API.Name; {
	case m.Area == "OH_NN" && api != "ohnn", m.Area == "RKNN" && api != "rknn", m.Area == "ONNX" && api != "rknn":
		d += 10
	}
	if m.Area == "OH_NN" || m.Area == "RKNN" {
		d = -d // rules first
		if d < -5 {
			d = 10
		}
	}
	return d
}

func (t *Trial) tryGroup(n int, g *group, cases []*usual, until time.Time) (found string, err error) {
	c, err := t.start(g, n)
	if err != nil {
		return fmt.Sprintf("%s: %v", g, err), nil // the library without the mutant has started
	}
	defer c.stop()
	for _, u := range cases {
		r, err := c.compute(u.id, caseLimit(u.time))
		if err != nil {
			return "", err
		}
		if r.Status != suite.Pass && r.Status != suite.Skip {
			return fmt.Sprintf("%s: %s: %s", g, u.id, r.Status), nil
		}
		if time.Now().After(until) {
			return "", nil
		}
	}
	return "", nil
}

// each calls f for 0 to n-1, as many at a time as there are jobs.
func (t *Trial) each(n int, f func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range max(t.Jobs, 1) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
