package plan

import (
	"cmp"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
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
func memory(x *ir.Lowered, limit int64) (*run.Plan, error) {
	for _, s := range x.Steps {
		if s.Room > 0 {
			x.Buffers = append(x.Buffers, run.Buffer{Place: run.InArena, Size: s.Room, Output: run.None})
			s.Scratch = len(x.Buffers) - 1
		}
	}
	p := &run.Plan{Graph: x.Graph, Steps: x.Steps, Fused: x.Fused, Buffers: x.Buffers, Outputs: x.Outputs}
	q := &placer{p}
	q.joinViews()
	q.shareInPlace()
	q.assign()
	if p.Arena > limit {
		return nil, fault.New(fault.Unsupported, "%d bytes of intermediate results", p.Arena)
	}
	return p, nil
}

// assign gives every arena buffer a place such that buffers in use at the same time do not overlap, and notes which
// results die at each step.
func (p *placer) assign() {
	lives := make([]life, len(p.Buffers))
	for i := range lives {
		lives[i] = life{buf: i, first: len(p.Steps), last: -1, size: p.Buffers[i].Size}
	}
	for i, s := range p.Steps {
		for _, list := range [][]int{s.Reads, s.Writes, {s.Scratch}} {
			for _, x := range list {
				if x = p.Root(x); x != run.None {
					lives[x].first = min(lives[x].first, i)
					lives[x].last = max(lives[x].last, i)
				}
			}
		}
	}
	for _, o := range p.Outputs {
		lives[p.Root(o.Buf)].last = len(p.Steps)
	}
	var open []life
	for i, l := range lives {
		switch p.Buffers[i].Place {
		case run.InArena:
			if l.last >= 0 {
				open = append(open, l)
			}
		case run.IsResult:
			if l.last >= 0 && l.last < len(p.Steps) {
				p.Steps[l.last].Dead = append(p.Steps[l.last].Dead, i)
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
			from := p.Buffers[q.buf].Offset
			if at+l.size <= from {
				break
			}
			at = max(at, (from+q.size+arenaAlign-1)/arenaAlign*arenaAlign)
		}
		p.Buffers[l.buf].Offset = at
		p.Arena = max(p.Arena, at+l.size)
		n, _ := slices.BinarySearchFunc(placed, at, func(q life, at int64) int {
			return cmp.Compare(p.Buffers[q.buf].Offset, at)
		})
		placed = slices.Insert(placed, n, l)
	}
}

// shareInPlace lets element-wise steps write over an input that nothing reads later, unless they read a part of it as
// another input, too: that may be broadcast, and is read after it would be written over.
func (p *placer) shareInPlace() {
	last, writers := make([]int, len(p.Buffers)), make([]int, len(p.Buffers))
	for i, s := range p.Steps {
		for _, x := range s.Reads {
			last[p.Root(x)] = i
		}
		for _, x := range s.Writes {
			writers[p.Root(x)]++
		}
	}
	for _, o := range p.Outputs {
		last[o.Buf] = len(p.Steps)
	}
	to := make([]int, len(p.Buffers)) // the buffer that stands for another
	for i := range to {
		to[i] = i
	}
	for i, s := range p.Steps {
		rename := func(list []int) {
			for k, x := range list {
				list[k] = to[x]
			}
		}
		rename(s.Reads)
		if s.Inplace {
			in, out := s.Reads[0], s.Writes[0]
			x, y := &p.Buffers[in], &p.Buffers[out]
			part := func(z int) bool { return z != in && z != run.None && to[p.Root(z)] == in }
			if x.Place == run.InArena && y.Place == run.InArena && x.Size == y.Size && last[in] == i && writers[out] == 1 &&
				y.Output == run.None && !slices.ContainsFunc(s.Reads, part) {
				to[out] = in
				last[in] = last[out]
			}
		}
		rename(s.Writes)
	}
	for i := range p.Buffers {
		if f := &p.Buffers[i]; f.Place == run.IsView {
			f.Base = to[f.Base]
		}
	}
}
