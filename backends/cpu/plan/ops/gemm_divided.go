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

// divided reports whether threads share each of n products, instead of computing one each: products that take long, and
// those that are too few for the threads to end together.
func divided(n, flops, threads int) bool {
	return flops > wholeFlops || flops > dividedFlops && n < 4*threads && n%threads != 0
}

// dividedProduct is a product that threads share, with a right side that is packed before.
type dividedProduct struct {
	kernel.Gemm
	pack packTask
}

// packTask packs a right side of depth rows and cols columns.
type packTask struct {
	to, from          []float32
	depth, cols, ld   int
	transposed        bool
	scale             []float32 // one value per column; nil: ones
	panels, perPanels int
}

// Chunk packs some panels.
func (t *packTask) Chunk(i, _ int) {
	from := i * t.perPanels
	to := min(from+t.perPanels, t.panels)
	if t.transposed {
		kernel.PackBTPanels(t.to, t.from, t.depth, t.cols, t.ld, from, to)
	} else {
		kernel.PackBPanels(t.to, t.from, t.depth, t.cols, t.ld, from, to)
	}
	if t.scale != nil {
		kernel.ScalePacked(t.to, t.scale, t.depth, t.cols, from, to, 0, t.depth)
	}
}

func (t *packTask) run(s *run.State) {
	t.panels = kernel.Panels(t.cols)
	t.perPanels = max(1, packBlock/max(1, t.depth*kernel.PanelCols))
	s.Do((t.panels+t.perPanels-1)/t.perPanels, t)
}

// Chunk computes a part of the product as its plan divides it.
func (t *dividedProduct) Chunk(i, _ int) { t.Gemm.Chunk(i) }

func (t *dividedProduct) run(s *run.State) { s.DoProduct(&t.Gemm, t) }
