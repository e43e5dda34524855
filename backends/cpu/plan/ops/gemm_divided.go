package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
)

const (
	wholeFlops   = 64 << 20 // a product of more is divided: as one chunk it would take longer than a millisecond
	dividedFlops = 2 << 20  // one of fewer is not worth dividing
	packBlock    = 64 << 10 // values of a right side that one chunk packs
)

// divided reports whether threads share each product, instead of computing one each: products that take long, and those
// that are too few for the threads to end together.
func (t *batchTask) divided(threads int) bool {
	n, flops := len(t.a.at), 2*t.rows*t.col*t.depth
	return flops > wholeFlops || flops > dividedFlops && n < 4*threads && n%threads != 0
}

// packTask packs a part of a right side.
type packTask struct {
	*batchTask
	w   []float32
	per int // panels of a chunk
}

func (t *packTask) Chunk(i, _ int) {
	from := i * t.per
	to := min(from+t.per, kernel.Panels(t.col))
	if t.b.transposed {
		kernel.PackBTPanels(t.work, t.w, t.depth, t.col, t.b.ld, from, to)
	} else {
		kernel.PackBPanels(t.work, t.w, t.depth, t.col, t.b.ld, from, to)
	}
	if t.scale != nil {
		kernel.ScalePacked(t.work, t.scale, t.depth, t.col, from, to, 0, t.depth)
	}
}

// productTask is a product whose chunks are those of its plan.
type productTask struct{ kernel.Gemm }

func (t *productTask) Chunk(i, _ int) { t.Gemm.Chunk(i) }

// runDivided computes one product after the other, each with all threads.
func (t *batchTask) runDivided(s *run.State) error {
	var err error
	if t.work, err = s.Borrow(t.packed); err != nil {
		return err
	}
	pack, panels := &t.pack, kernel.Panels(t.col)
	pack.batchTask, pack.per = t, max(1, packBlock/max(1, t.depth*kernel.PanelCols))
	for i := range t.a.at {
		pack.w = t.w[t.b.at[i]:]
		if i == 0 || t.b.at[i] != t.b.at[i-1] {
			s.Do((panels+pack.per-1)/pack.per, pack)
		}
		t.whole.Gemm = t.product(i, t.work)
		s.Do(t.whole.Plan(s.Threads), &t.whole)
	}
	return nil
}
