package plan

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/run"
)

// Concatenation and splitting along channels need not move anything: the operands are made and read as columns of the
// whole. That takes steps that can leave a distance between their rows.

// placer places the buffers of a plan.
type placer struct{ *run.Plan }

// touch lists the steps that write and read each buffer.
type touch struct {
	writers, readers [][]*run.Step
	fixed            []bool // outputs of the plan, and buffers that have views
}

func (p *placer) touches() *touch {
	n := len(p.Buffers)
	t := &touch{make([][]*run.Step, n), make([][]*run.Step, n), make([]bool, n)}
	for _, s := range p.Steps {
		for _, x := range s.Reads {
			t.readers[x] = append(t.readers[x], s)
		}
		for _, x := range s.Writes {
			t.writers[x] = append(t.writers[x], s)
		}
	}
	for _, o := range p.Outputs {
		t.fixed[o.Buf] = true
	}
	return t
}

// joinViews turns operands of concatenations and pieces of splits into views, and drops steps that then have nothing to
// move. Later concatenations come first, so that one inside another ends as columns of the outer.
func (p *placer) joinViews() {
	t := p.touches()
	for _, s := range slices.Backward(p.Steps) {
		if s.Strips != nil && !s.Strips.Split {
			whole := s.Writes[0]
			p.joinStrips(t, s, whole, func(t run.Strip) int { return s.Reads[t.Buf] })
		}
	}
	for _, s := range p.Steps {
		if s.Strips != nil && s.Strips.Split {
			whole := s.Reads[0]
			p.joinStrips(t, s, whole, func(t run.Strip) int { return s.Writes[t.Buf] })
		}
	}
	p.Steps = slices.DeleteFunc(p.Steps, func(s *run.Step) bool {
		gone := s.Strips != nil && len(s.Strips.Strips) == 0
		if gone {
			p.Fused = append(p.Fused, s.Node)
		}
		return gone
	})
}

// joinStrips makes views of the strips of step s that can be.
func (p *placer) joinStrips(t *touch, s *run.Step, whole int, of func(run.Strip) int) {
	w := &p.Buffers[whole]
	if w.Place != run.InArena && w.Place != run.IsView || w.Size/4 > math.MaxInt32 {
		return
	}
	oneRun := s.Strips.Rows == 1 && (w.Place == run.InArena || w.Ld == 0)
	s.Strips.Strips = slices.DeleteFunc(s.Strips.Strips, func(part run.Strip) bool {
		x, ld := of(part), s.Strips.Cols
		if oneRun {
			ld = 0
		}
		if x == whole || !p.viewable(t, x, part.Cols, s.Strips.Rows, oneRun) {
			return false
		}
		run.ViewOf(p.Buffers, x, whole, part.At, ld)
		t.fixed[p.Root(whole)] = true
		return true
	})
}

// viewable reports whether buffer x, rows of cols values, may become columns of another, or a run of its values.
func (p *placer) viewable(t *touch, x, cols, rows int, oneRun bool) bool {
	f := &p.Buffers[x]
	if f.Place != run.InArena || t.fixed[x] || len(t.writers[x]) != 1 || f.Size != int64(4*rows*cols) {
		return false
	}
	s := t.writers[x][0]
	if oneRun {
		return !slices.Contains(s.Reads, x)
	}
	if slices.Contains(s.Reads, x) || !fits(s.Writes, s.OutCols, x, cols) {
		return false
	}
	for _, s := range t.readers[x] {
		if !fits(s.Reads, s.InCols, x, cols) {
			return false
		}
	}
	return true
}

// fits reports whether a step takes buffer x of list as rows of cols values at any distance.
func fits(list, widths []int, x, cols int) bool {
	for i, y := range list {
		if y == x && (i >= len(widths) || widths[i] != cols) {
			return false
		}
	}
	return true
}
