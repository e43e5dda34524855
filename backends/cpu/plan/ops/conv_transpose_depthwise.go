package ops

import (
	"fmt"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
)

// transposedDepthwise is a transposed convolution with constant filters, one for each channel.
type transposedDepthwise struct {
	ir.InOrder
	kernel  kernel.DepthwiseTranspose
	filters ir.Packed
	bias    []float32
}

// phaseRoom is about what the window of a phase takes. Every state has its own.
const phaseRoom = 512

// depthwiseTransposed replaces node i, whose channels are as many groups; axis is theirs.
func depthwiseTransposed(p *ir.Program, i int, c *kernel.ConvTranspose, w, bias []float32, axis int) *ir.Patch {
	n := &p.Net.Graph.Nodes[i]
	phases := phasesOf(c)
	room := run.Saturated(phaseRoom, phases[0], phases[1], phases[2])
	if !p.Net.Budget.Allows(room) {
		return nil
	}
	epi := epilogueOf(p, n.Out[0], axis, false)
	k := kernel.DepthwiseTranspose{C: c.LDX, Batch: c.Batch, In: c.In, Out: c.Out, Kernel: c.Kernel, Stride: c.Stride,
		Dilation: c.Dilation, Pad: c.Pad, Act: epi.act}
	k.Phases()
	q := &transposedDepthwise{InOrder: ir.InOrder{Order: run.OrderOf(axis > 1)}, kernel: k, bias: epi.normalized(bias),
		filters: transposedTaps(n.In[1], w, k, phases, epi.scale)}
	found := ir.One(i, q, n.In[:1], []graph.Value{epi.out}, epi.nodes...)
	found.Tables = room
	return found
}

// transposedTaps returns how filters [channels, taps] are packed, multiplied by a batch normalization that follows.
func transposedTaps(v graph.Value, w []float32, k kernel.DepthwiseTranspose, phases [3]int, scale []float32) ir.Packed {
	p := ir.Packed{Value: v, Kind: fmt.Sprintf("transposed depthwise %v %v", k.Pad, phases), Len: k.PackedLen(), Parts: 1,
		Beside: run.NumbersOf(run.BytesOf(scale))}
	if scale != nil {
		p.Kind += ", normalized"
	}
	p.Fill = func(dst []float32, _ int) {
		taps := len(w) / k.C
		rows := make([]float32, len(w)) // [taps, channels]
		kernel.Transpose(rows, k.C, w, taps, k.C, taps)
		if scale != nil {
			kernel.BinaryRows(kernel.Mul, rows, rows, scale, taps, k.C)
		}
		k.PackDepthwiseTranspose(dst, rows)
	}
	return p
}

func (q *transposedDepthwise) Lower(w *ir.Lowering, n *ir.Node) run.Step {
	packed := w.Packer.Order(n.At, q.filters)
	c, bias := q.kernel, q.bias
	s := run.Step{Fast: true, InCols: []int{c.C}, OutCols: []int{c.C}}
	s.Start = func(_ *run.State, st *run.Step) run.Process {
		t := &transposedDepthwiseTask{st: st, DepthwiseTranspose: c}
		t.Phases() // windows of its own: a run notes its chunks there
		t.W, t.Bias = packed, bias
		return t
	}
	return s
}

type transposedDepthwiseTask struct {
	st *run.Step
	kernel.DepthwiseTranspose
}

func (t *transposedDepthwiseTask) Run(s *run.State) error {
	t.X, t.LDX = s.Rows(t.st.Reads[0], t.C)
	t.Y, t.LDY = s.Rows(t.st.Writes[0], t.C)
	chunks := t.Plan(s.Threads)
	if n := t.WorkLen(); n > 0 {
		var err error
		if t.Work, err = s.Borrow(n); err != nil {
			return err
		}
	}
	s.Do(chunks, t)
	return nil
}
