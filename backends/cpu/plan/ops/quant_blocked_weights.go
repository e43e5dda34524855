package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// blockedRows is how many rows of numbers are multiplied by codes as they are where numbers have no digits
// ([kernel.BlockDots]). More are multiplied faster by float32, whose conversion a plan pays once.
const blockedRows = 4

// blockedColumns is how many results a chunk has.
const blockedColumns = 64

// blockedWeights are constant codes [rows, depth] of which each block of a row has a scale and a zero point.
type blockedWeights struct {
	rows, depth, block int
	bits               int
	codes, zeros       []byte // zeros: one for each scale
	scales             []float32
}

// middle is the zero point that kernels take codes to have.
func (w *blockedWeights) middle() byte { return 1 << (w.bits - 1) }

func (w *blockedWeights) blocks() int { return w.depth / w.block }

func (w *blockedWeights) in(data []byte) kernel.BlockRows {
	return kernel.BlockRows{Bits: w.bits, Block: w.block, Blocks: w.blocks(), Data: data}
}

// blockedOf returns the weights that node i makes numbers of, ok false when they are none for kernels.
func blockedOf(g *ir.Network, i int) (w blockedWeights, ok bool) {
	if i < 0 {
		return w, false
	}
	n := &g.Graph.Nodes[i]
	o, is := n.Op.(*op.Dequantize)
	if !is || o.Block < 32 || o.Block%32 != 0 || len(n.Out) != 1 {
		return w, false
	}
	x := &g.Values[n.In[0]]
	if x.Data == nil || len(x.Dims) != 2 || x.Type.DType != tensor.Uint8 || x.Type.Quant != nil ||
		g.Values[n.Out[0]].Type.DType != tensor.Float32 {
		return w, false
	}
	axis, err := op.Axis(o.Axis, 2)
	w = blockedWeights{rows: int(x.Dims[0]), depth: int(x.Dims[1]), block: int(o.Block), bits: 4, codes: x.Data,
		scales: g.Constant(n.In[1])}
	blocks := w.rows * w.depth / w.block
	if err != nil || axis != 1 || w.rows == 0 || w.depth == 0 || w.depth%w.block != 0 || len(w.scales) != blocks {
		return w, false
	}
	if zeros, known := g.Ints(n.In, 2); !known || len(zeros) != 0 && len(zeros) != blocks {
		return w, false
	} else if len(zeros) == 0 {
		w.zeros = make([]byte, blocks)
	} else if z := &g.Values[n.In[2]]; z.Type.DType == tensor.Uint8 {
		w.zeros = z.Data
	} else {
		return w, false
	}
	if slices.Max(x.Data) > 15 {
		w.bits = 8
	}
	return w, true
}

// holdsBlocked reports whether node i makes numbers of weights that a product of few rows multiplies as they are.
func holdsBlocked(g *ir.Network, i int) bool {
	n := &g.Graph.Nodes[i]
	if o, is := n.Op.(*op.Dequantize); !is || o.Block == 0 {
		return false
	}
	u := g.OnlyUse(n.Out[0])
	if u == run.None {
		return false
	}
	r := &g.Graph.Nodes[u]
	m, is := r.Op.(*op.MatMul)
	if !is || !m.TransposeB || m.TransposeA || r.In[1] != n.Out[0] || r.In[0] == n.Out[0] {
		return false
	}
	w, ok := blockedOf(g, i)
	return ok && blockedBy(g, r.In[0], &w) > 0
}

// blockedBy is how many rows of x are multiplied, 0 when they are not known or too many.
func blockedBy(g *ir.Network, v graph.Value, w *blockedWeights) int {
	x := &g.Values[v]
	if !g.IsFloat32(v) || len(x.Dims) == 0 || int(x.Dims[len(x.Dims)-1]) != w.depth {
		return 0
	}
	if rows := x.Count() / w.depth; rows <= blockedRows || w.dots(3).Fast() {
		return rows
	}
	return 0
}

// dots are the weights as factors of numbers in digits.
func (w *blockedWeights) dots(digits int) *kernel.BlockDots {
	return &kernel.BlockDots{Bits: w.bits, Block: w.block, Blocks: w.blocks(), Digits: digits}
}

// moves writes how far the zero points of row r are from the middle of the codes, times the scales.
func (w *blockedWeights) moves(dst []float32, r int) {
	for b := range w.blocks() {
		at := r*w.blocks() + b
		dst[b] = w.scales[at] * float32(int(w.zeros[at])-int(w.middle()))
	}
}
