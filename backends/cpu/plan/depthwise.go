package plan

import "github.com/anynpu/anynpu/backends/cpu/kernel"

// tapsFirst returns how the filters are packed for depthwise convolution: [taps, c].
func tapsFirst(c *convolution) packed {
	w, scale, taps, n := c.weights, c.epi.scale, c.taps, c.c
	p := packed{value: c.filter, kind: "depthwise", beside: numbersOf(bytesOf(scale)), len: taps * n, parts: 1}
	p.fill = func(dst []float32, _ int) {
		kernel.Transpose(dst, n, w, taps, n, taps)
		if scale != nil {
			kernel.BinaryRows(kernel.Mul, dst, dst, scale, taps, n, false)
		}
	}
	if scale != nil {
		p.kind += ", normalized"
		return p
	}
	p.restore = func(dst, form []float32) { kernel.Transpose(dst, taps, form, n, taps, n) }
	return p
}

type depthwiseTask struct {
	st   *step
	conv *convolution
	kernel.Depthwise
}

func lowerDepthwise(c *convolution, w *lowering) func(s *State, st *step) process {
	packed := w.packer.order(c.at, tapsFirst(c))
	return func(_ *State, st *step) process {
		return &depthwiseTask{st, c, kernel.Depthwise{
			C: c.c, Batch: c.batch, Win: c.win, W: packed, Bias: c.bias, ResAfter: c.epi.after, Act: c.epi.act,
		}}
	}
}

func (t *depthwiseTask) run(s *State) error {
	t.In, t.LDI = s.rows(t.st.reads[0], t.C)
	t.Out, t.LDO = s.rows(t.st.writes[0], t.C)
	t.Res, t.LDR = t.conv.residualOf(s, t.st)
	s.do(t.Plan(s.threads), t)
	return nil
}

// Chunk computes some rows.
func (t *depthwiseTask) Chunk(i, _ int) { t.Depthwise.Chunk(i) }
