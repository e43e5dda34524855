package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
)

// tapsFirst returns how the filters are packed for depthwise convolution: [taps, c].
func tapsFirst(c *convolution) ir.Packed {
	w, scale, taps, n := c.weights, c.epi.scale, c.taps, c.c
	p := ir.Packed{Value: c.filter, Kind: "depthwise", Beside: run.NumbersOf(run.BytesOf(scale)), Len: taps * n, Parts: 1}
	p.Fill = func(dst []float32, _ int) {
		kernel.Transpose(dst, n, w, taps, n, taps)
		if scale != nil {
			kernel.BinaryRows(kernel.Mul, dst, dst, scale, taps, n)
		}
	}
	if scale != nil {
		p.Kind += ", normalized"
		return p
	}
	p.Restore = func(dst, form []float32) { kernel.Transpose(dst, taps, form, n, taps, n) }
	return p
}

type depthwiseTask struct {
	st   *run.Step
	conv *convolution
	kernel.Depthwise
}

func lowerDepthwise(c *convolution, w *ir.Lowering) func(s *run.State, st *run.Step) run.Process {
	packed := w.Packer.Order(c.at, tapsFirst(c))
	return func(_ *run.State, st *run.Step) run.Process {
		return &depthwiseTask{st, c, kernel.Depthwise{
			C: c.c, Batch: c.batch, Win: acrossPlanes(c.win), W: packed, Bias: c.bias, ResAfter: c.epi.after, Act: c.epi.act,
		}}
	}
}

func (t *depthwiseTask) Run(s *run.State) error {
	t.In, t.LDI = s.Rows(t.st.Reads[0], t.C)
	t.Out, t.LDO = s.Rows(t.st.Writes[0], t.C)
	t.Res, t.LDR = t.conv.residualOf(s, t.st)
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
