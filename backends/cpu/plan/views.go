package plan

import (
	"math"
	"slices"
)

// Concatenation and splitting along channels need not move anything: the operands are made and read as columns of the
// whole. That takes steps that can leave a distance between their rows.

// placer places the buffers of a plan.
type placer struct{ *Plan }

// touch lists the steps that write and read each buffer.
type touch struct {
	writers, readers [][]*step
	fixed            []bool // outputs of the plan, and buffers that have views
}

func (p *placer) touches() *touch {
	n := len(p.buffers)
	t := &touch{make([][]*step, n), make([][]*step, n), make([]bool, n)}
	for _, s := range p.steps {
		for _, x := range s.reads {
			t.readers[x] = append(t.readers[x], s)
		}
		for _, x := range s.writes {
			t.writers[x] = append(t.writers[x], s)
		}
	}
	for _, o := range p.outputs {
		t.fixed[o.buf] = true
	}
	return t
}

// joinViews turns operands of concatenations and pieces of splits into views, and drops steps that then have nothing to
// move. Later concatenations come first, so that one inside another ends as columns of the outer.
func (p *placer) joinViews() {
	t := p.touches()
	for _, s := range slices.Backward(p.steps) {
		if s.strips != nil && !s.strips.split {
			whole := s.writes[0]
			p.joinStrips(t, s, whole, func(t strip) int { return s.reads[t.buf] })
		}
	}
	for _, s := range p.steps {
		if s.strips != nil && s.strips.split {
			whole := s.reads[0]
			p.joinStrips(t, s, whole, func(t strip) int { return s.writes[t.buf] })
		}
	}
	p.steps = slices.DeleteFunc(p.steps, func(s *step) bool {
		gone := s.strips != nil && len(s.strips.strips) == 0
		if gone {
			p.fused = append(p.fused, s.node)
		}
		return gone
	})
}

// joinStrips makes views of the strips of step s that can be.
func (p *placer) joinStrips(t *touch, s *step, whole int, of func(strip) int) {
	w := &p.buffers[whole]
	if w.place != inArena && w.place != isView || w.size/4 > math.MaxInt32 {
		return
	}
	oneRun := s.strips.rows == 1 && (w.place == inArena || w.ld == 0)
	s.strips.strips = slices.DeleteFunc(s.strips.strips, func(part strip) bool {
		x, ld := of(part), s.strips.cols
		if oneRun {
			ld = 0
		}
		if x == whole || !p.viewable(t, x, part.cols, s.strips.rows, oneRun) {
			return false
		}
		viewOf(p.buffers, x, whole, part.at, ld)
		t.fixed[p.root(whole)] = true
		return true
	})
}

// viewable reports whether buffer x, rows of cols values, may become columns of another, or a run of its values.
func (p *placer) viewable(t *touch, x, cols, rows int, oneRun bool) bool {
	f := &p.buffers[x]
	if f.place != inArena || t.fixed[x] || len(t.writers[x]) != 1 || f.size != int64(4*rows*cols) {
		return false
	}
	s := t.writers[x][0]
	if oneRun {
		return !slices.Contains(s.reads, x)
	}
	if slices.Contains(s.reads, x) || !fits(s.writes, s.outCols, x, cols) {
		return false
	}
	for _, s := range t.readers[x] {
		if !fits(s.reads, s.inCols, x, cols) {
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
