package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// stridedCopy is a set of elements that are copied: the one at index i of a box of the given sizes is read at fromAt +
// i*from and written at toAt + i*to. A stride of 0 reads the same element again, a negative one goes backwards.
type stridedCopy struct {
	size, from, to []int
	fromAt, toAt   int
}

// merged drops dimensions of size 1 and joins those that are walked as one; the result has at least two dimensions.
func (x stridedCopy) merged() stridedCopy {
	m := stridedCopy{fromAt: x.fromAt, toAt: x.toAt}
	for i, n := range x.size {
		if n == 1 {
			continue
		}
		if k := len(m.size) - 1; k >= 0 && m.from[k] == n*x.from[i] && m.to[k] == n*x.to[i] {
			m.size[k], m.from[k], m.to[k] = m.size[k]*n, x.from[i], x.to[i]
			continue
		}
		m.size, m.from, m.to = append(m.size, n), append(m.from, x.from[i]), append(m.to, x.to[i])
	}
	for len(m.size) < 2 {
		m.size, m.from, m.to = append([]int{1}, m.size...), append([]int{0}, m.from...), append([]int{0}, m.to...)
	}
	return m
}

// strides returns the strides of a row-major tensor.
func strides(dims []int64) []int {
	out := make([]int, len(dims))
	for i, s := range tensor.RowMajor(dims) {
		out[i] = int(s)
	}
	return out
}

func sizes(dims []int64) []int {
	out := make([]int, len(dims))
	for i, n := range dims {
		out[i] = int(n)
	}
	return out
}

// stridedCopyTask copies one box.
type stridedCopyTask struct {
	st   *run.Step
	box  stridedCopy
	rows int // all runs of the innermost dimension
	per  int // runs of a chunk
	x, y []float32
}

// step returns the step that runs t.
func (t stridedCopyTask) step() run.Step {
	t.box = t.box.merged()
	last := len(t.box.size) - 1
	t.rows = 1
	for _, n := range t.box.size[:last] {
		t.rows *= n
	}
	t.per = max(1, run.BlockLen/max(1, t.box.size[last]))
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

func (t *stridedCopyTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	s.Do((t.rows+t.per-1)/t.per, t)
	return nil
}

// Chunk copies some runs.
func (t *stridedCopyTask) Chunk(i, _ int) {
	b := &t.box
	last := len(b.size) - 1
	n, end := b.size[last-1], min(t.rows, (i+1)*t.per)
	for r := i * t.per; r < end; {
		k := r % n // place in the dimension before the last
		from, to, rest := b.fromAt+k*b.from[last-1], b.toAt+k*b.to[last-1], r/n
		for d := last - 2; d >= 0; d-- {
			from += rest % b.size[d] * b.from[d]
			to += rest % b.size[d] * b.to[d]
			rest /= b.size[d]
		}
		rows := min(end-r, n-k)
		t.runs(from, to, rows)
		r += rows
	}
}

// runs copies neighbouring runs of the innermost dimension.
func (t *stridedCopyTask) runs(from, to, rows int) {
	b := &t.box
	last := len(b.size) - 1
	n, fs, ts := b.size[last], b.from[last], b.to[last]
	fr, tr := b.from[last-1], b.to[last-1]
	if fs == 1 && ts == 1 && fr >= 0 && tr > 0 {
		kernel.CopyRows(t.y[to:], tr, t.x[from:], fr, rows, n)
		return
	}
	for range rows {
		switch {
		case fs == 1 && ts == 1:
			kernel.Copy(t.y[to:][:n], t.x[from:])
		case fs == 0 && ts == 1:
			t.y[to] = t.x[from]
			kernel.Repeat(t.y[to:][:n], 1)
		case fs > 1 && ts == 1:
			kernel.Thin(mem.Bytes(t.y[to:to+n]), mem.Bytes(t.x[from:]), 4, fs, n)
		default:
			for k := range n {
				t.y[to+k*ts] = t.x[from+k*fs]
			}
		}
		from, to = from+fr, to+tr
	}
}

func fill(v []float32, with float32) {
	for i := range v {
		v[i] = with
	}
}
