package plan

import (
	"cmp"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
)

const arenaAlign = 64

// life is when an arena buffer is in use: from its first step to its last, both included.
type life struct {
	buf         int
	first, last int
	size        int64
}

// memory gives every buffer a place: operands of concatenations and pieces of splits become parts of the whole, results
// take the memory of operands that are read for the last time, and what is in use at different times shares an arena.
// Kind fault.Unsupported when the arena is larger than limit.
func memory(x *lowered, limit int64) (*Plan, error) {
	for _, s := range x.steps {
		if s.room > 0 {
			x.buffers = append(x.buffers, buffer{place: inArena, size: s.room, output: none})
			s.scratch = len(x.buffers) - 1
		}
	}
	p := &Plan{graph: x.graph, steps: x.steps, fused: x.fused, buffers: x.buffers, outputs: x.outputs}
	q := &placer{p}
	q.joinViews()
	q.shareInPlace()
	q.assign()
	if p.arena > limit {
		return nil, fault.New(fault.Unsupported, "%d bytes of intermediate results", p.arena)
	}
	return p, nil
}

// assign gives every arena buffer a place such that buffers in use at the same time do not overlap, and notes which
// results die at each step.
func (p *placer) assign() {
	lives := make([]life, len(p.buffers))
	for i := range lives {
		lives[i] = life{buf: i, first: len(p.steps), last: -1, size: p.buffers[i].size}
	}
	for i, s := range p.steps {
		for _, list := range [][]int{s.reads, s.writes, {s.scratch}} {
			for _, x := range list {
				if x = p.root(x); x != none {
					lives[x].first = min(lives[x].first, i)
					lives[x].last = max(lives[x].last, i)
				}
			}
		}
	}
	for _, o := range p.outputs {
		lives[p.root(o.buf)].last = len(p.steps)
	}
	var open []life
	for i, l := range lives {
		switch p.buffers[i].place {
		case inArena:
			if l.last >= 0 {
				open = append(open, l)
			}
		case isResult:
			if l.last >= 0 && l.last < len(p.steps) {
				p.steps[l.last].dead = append(p.steps[l.last].dead, i)
			}
		}
	}
	slices.SortStableFunc(open, func(x, y life) int { return cmp.Compare(y.size, x.size) })
	var placed []life // by offset
	for _, l := range open {
		at := int64(0)
		for _, q := range placed {
			if q.first > l.last || l.first > q.last {
				continue
			}
			from := p.buffers[q.buf].offset
			if at+l.size <= from {
				break
			}
			at = max(at, (from+q.size+arenaAlign-1)/arenaAlign*arenaAlign)
		}
		p.buffers[l.buf].offset = at
		p.arena = max(p.arena, at+l.size)
		n, _ := slices.BinarySearchFunc(placed, at, func(q life, at int64) int {
			return cmp.Compare(p.buffers[q.buf].offset, at)
		})
		placed = slices.Insert(placed, n, l)
	}
}

// shareInPlace lets element-wise steps write over an input that nothing reads later, unless they read a part of it as
// another input, too: that may be broadcast, and is read after it would be written over.
func (p *placer) shareInPlace() {
	last, writers := make([]int, len(p.buffers)), make([]int, len(p.buffers))
	for i, s := range p.steps {
		for _, x := range s.reads {
			last[p.root(x)] = i
		}
		for _, x := range s.writes {
			writers[p.root(x)]++
		}
	}
	for _, o := range p.outputs {
		last[o.buf] = len(p.steps)
	}
	to := make([]int, len(p.buffers)) // the buffer that stands for another
	for i := range to {
		to[i] = i
	}
	for i, s := range p.steps {
		rename := func(list []int) {
			for k, x := range list {
				list[k] = to[x]
			}
		}
		rename(s.reads)
		if s.inplace {
			in, out := s.reads[0], s.writes[0]
			x, y := &p.buffers[in], &p.buffers[out]
			part := func(z int) bool { return z != in && z != none && to[p.root(z)] == in }
			if x.place == inArena && y.place == inArena && x.size == y.size && last[in] == i && writers[out] == 1 &&
				y.output == none && !slices.ContainsFunc(s.reads, part) {
				to[out] = in
				last[in] = last[out]
			}
		}
		rename(s.writes)
	}
	for i := range p.buffers {
		if f := &p.buffers[i]; f.place == isView {
			f.base = to[f.base]
		}
	}
}
