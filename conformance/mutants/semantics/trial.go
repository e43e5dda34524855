package semantics

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anynpu/anynpu/conformance/suite"
)

// startLimit bounds the start and the end of a child, mutantLimit the cases of one mutant.
const (
	startLimit  = time.Minute
	mutantLimit = 15 * time.Minute
)

// retries is how often a case that fails without a mutant is computed again, alone: one that waits for other threads
// can fail on a machine that is busy.
const retries = 2

// caseLimit bounds a case that takes so long without a mutant.
func caseLimit(usual time.Duration) time.Duration { return 20*time.Second + 20*usual }

// Trial runs suites against a library with mutants.
type Trial struct {
	Mutants []*Mutant
	Suites  []*suite.Suite
	Folder  string // with the libraries in lib, and for what runs leave behind
	Child   func(s *suite.Suite, library, mode string) *exec.Cmd
	Jobs    int                // mutants at a time
	Tried   map[string]Outcome // what Run has found out, by ID

	Unargued bool // those that argued.txt explains are not tried
}

// usual is a case as it is without a mutant.
type usual struct {
	group   *group
	id      string
	status  suite.Status
	time    time.Duration
	reaches []int // mutants that the library comes past
}

// Baseline computes every case without a mutant. All must pass or be skipped, alone if not at first. It notes which
// mutants each comes past: only those cases can be different when the mutant is on.
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
func (t *Trial) plain(g *group) (out []*usual, err error) {
	c, err := t.start(g, 0)
	if err != nil {
		return nil, err
	}
	defer func() { c.stop() }()
	begin := c.take() // what is decided once for all cases
	for _, id := range g.ids {
		r, err := c.compute(id, suite.DefaultTimeout)
		for again := 0; again < retries && failed(r.Status) && err == nil; again++ {
			c.stop()
			if c, err = t.start(g, 0); err == nil {
				r, err = c.compute(id, suite.DefaultTimeout)
			}
		}
		switch {
		case err != nil:
			return nil, err
		case failed(r.Status):
			return nil, fmt.Errorf("%s: %s: %s without a mutant: %s", g, id, r.Status, r.Message)
		}
		out = append(out, &usual{g, id, r.Status, r.Time, slices.Concat(begin, c.take())})
	}
	return out, nil
}

func failed(s suite.Status) bool { return s != suite.Pass && s != suite.Skip }

// Outcome is what became of a mutant.
type Outcome struct {
	*Mutant
	Reached int    // number of cases that come past it
	Skipped int    // number of these that are skipped when it is on and pass when it is not
	Found   string // suite, case and what it said; "" for a survivor
}

// part is cases of a group that come past a mutant.
type part struct {
	group *group
	cases []*usual
}

// parts sorts the cases that come past mutant n so that one that fails comes early: a few of every group first, the
// nearest groups first, and in a group those that come past few other mutants, since they are about this one.
func (t *Trial) parts(n int, cases []*usual) []part {
	const few = 30
	byGroup := map[string][]*usual{}
	var order []*usual // the first of each group
	for _, c := range cases {
		if slices.Contains(c.reaches, n) {
			key := c.group.String() + fmt.Sprint(c.group.setting)
			if byGroup[key] == nil {
				order = append(order, c)
			}
			byGroup[key] = append(byGroup[key], c)
		}
	}
	m := t.Mutants[n-1]
	slices.SortStableFunc(order, func(a, b *usual) int {
		return cmp.Compare(t.distance(m, a.group), t.distance(m, b.group))
	})
	var front, back []part
	for _, first := range order {
		g := first.group
		list := byGroup[g.String()+fmt.Sprint(g.setting)]
		slices.SortStableFunc(list, func(a, b *usual) int {
			return cmp.Or(cmp.Compare(len(a.reaches), len(b.reaches)), cmp.Compare(a.time, b.time))
		})
		at := len(list)
		if at > 2*few {
			at = few
			back = append(back, part{g, list[at:]})
		}
		front = append(front, part{g, list[:at]})
	}
	return append(front, back...)
}

// try computes the cases that come past mutant n until one fails.
func (t *Trial) try(n int, cases []*usual) (Outcome, error) {
	out := Outcome{Mutant: t.Mutants[n-1]}
	parts := t.parts(n, cases)
	for _, p := range parts {
		out.Reached += len(p.cases)
	}
	until := time.Now().Add(mutantLimit)
	for _, p := range parts {
		if err := t.tryPart(&out, n, p, until); err != nil || out.Found != "" {
			return out, err
		}
	}
	return out, nil
}

// distance sorts groups: the suites of the mutant's own API first, rules first for the API layers and last for what
// lies below, and the first mode of a suite before the others.
func (t *Trial) distance(m *Mutant, g *group) int {
	d := 10 * slices.Index([]string{"numerics", "networks", "operators", "rules"}, g.suite.Name)
	api := map[string]string{"OH_NN": "ohnn", "RKNN": "rknn", "hbDNN": "hbdnn", "NNAPI": "nnapi"}[m.Area]
	if strings.HasPrefix(m.File, "capi/hbucp/") {
		api = "hbucp"
	}
	if api != "" {
		d = 30 - d
	}
	if m.Area == "ONNX" {
		api = "rknn"
	}
	if api != "" && api != g.suite.API.Name {
		d += 100
	}
	if len(g.suite.Modes) > 0 && g.mode.Name != g.suite.Modes[0].Name {
		d += 50
	}
	return d
}

// tryPart computes cases with mutant n until one fails, and fails again, or the time is over.
func (t *Trial) tryPart(out *Outcome, n int, p part, until time.Time) error {
	for from := 0; from < len(p.cases) && time.Now().Before(until); {
		list := p.cases[from:]
		at, status, err := t.firstFailure(out, n, part{p.group, list}, until)
		if err != nil || status == "" {
			return err
		}
		// A case that waits for other threads can fail on a machine that is busy: alone it fails again, or after those
		// that came before it.
		for _, cases := range [][]*usual{list[at : at+1], list[:at+1]} {
			_, again, err := t.firstFailure(&Outcome{}, n, part{p.group, cases}, until)
			if err != nil {
				return err
			}
			if again != "" {
				out.Found = fmt.Sprintf("%s: %s: %s", p.group, list[at].id, status)
				return nil
			}
		}
		from += at + 1
	}
	return nil
}

// firstFailure computes cases in one process and returns the place of the first that fails, "" when none does. A
// process that does not start fails the first: without the mutant it has started.
func (t *Trial) firstFailure(out *Outcome, n int, p part, until time.Time) (at int, status suite.Status, err error) {
	c, err := t.start(p.group, n)
	if errors.Is(err, errUnusable) {
		return 0, suite.Crash, nil
	} else if err != nil {
		return 0, "", err
	}
	defer c.stop()
	for i, u := range p.cases {
		r, err := c.compute(u.id, caseLimit(u.time))
		switch {
		case err != nil:
			return 0, "", err
		case r.Status == suite.Skip && u.status == suite.Pass:
			out.Skipped++
		case failed(r.Status):
			return i, r.Status, nil
		case time.Now().After(until):
			return 0, "", nil
		}
	}
	return 0, "", nil
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
