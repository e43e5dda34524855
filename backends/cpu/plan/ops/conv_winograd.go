package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
)

// The transformed Winograd filters take four times the memory of the model's: they are made by the first
// run, so that a program that is only loaded, and layers that other sizes compute otherwise, do not pay for them.

func winogradKind(c *convolution) string {
	if c.epi.scale != nil {
		return "winograd, normalized"
	}
	return "winograd"
}

// winogradChannels is the number of input channels that one chunk transforms.
const winogradChannels = 16

// filterTask transforms filters. Those of several planes count as further channels.
type filterTask struct {
	w, scale, dst, work []float32
	c, n, planes        int
}

// blocks is the number of chunks of a plane.
func (t *filterTask) blocks() int { return (t.c + winogradChannels - 1) / winogradChannels }

// work of one thread: filters of some channels by tap, and the kernel's.
func (t *filterTask) perThread() int { return 9*winogradChannels*t.n + 288 }

// Chunk transforms the filters of some input channels.
func (t *filterTask) Chunk(i, worker int) {
	plane, c0 := i/t.blocks(), i%t.blocks()*winogradChannels
	c1 := min(t.c, c0+winogradChannels)
	work := t.work[worker*t.perThread():][:t.perThread()]
	part, tmp := work[:9*(c1-c0)*t.n], work[len(work)-288:]
	for tap := range 9 {
		rows := part[tap*(c1-c0)*t.n:][:(c1-c0)*t.n]
		kernel.Transpose(rows, t.n, t.w[(plane*9+tap)*t.c+c0:], t.planes*9*t.c, t.n, c1-c0)
		if t.scale != nil {
			kernel.BinaryRows(kernel.Mul, rows, rows, t.scale, c1-c0, t.n)
		}
	}
	kernel.PackWinograd(t.dst, part, t.planes*t.c, t.n, plane*t.c+c0, plane*t.c+c1, tmp)
}

// fillWinograd returns what makes the transformed filters.
func fillWinograd(c *convolution) func(s *run.State, dst []float32) error {
	t := filterTask{w: c.weights, scale: c.epi.scale, c: c.c, n: c.n, planes: c.win.Kernel[0]}
	return func(s *run.State, dst []float32) error {
		own := t
		var err error
		if own.work, err = s.Borrow(max(1, s.Threads) * own.perThread()); err != nil {
			return err
		}
		own.dst = dst
		s.Do(own.planes*own.blocks(), &own)
		return nil
	}
}

type winogradTask struct {
	st      *run.Step
	conv    *convolution
	filters *run.Deferred
	phase   int
	kernel.Winograd
}

func lowerWinograd(c *convolution, w *ir.Lowering) func(s *run.State, st *run.Step) run.Process {
	filters := w.Packer.OrderLater(c.at, c.filter, winogradKind(c), kernel.PackedWinogradLen(c.win.Kernel[0]*c.c, c.n),
		run.NumbersOf(run.BytesOf(c.epi.scale)), fillWinograd(c))
	return func(_ *run.State, st *run.Step) run.Process {
		w := &c.win
		return &winogradTask{st: st, conv: c, filters: filters, Winograd: kernel.Winograd{
			C: c.c, N: c.n, Batch: c.batch, In: [2]int{w.In[1], w.In[2]}, Out: [2]int{w.Out[1], w.Out[2]},
			Pad: [2]int{w.Pad[1], w.Pad[2]},
			Depth: kernel.Planes{In: w.In[0], Out: w.Out[0], Kernel: w.Kernel[0], Stride: w.Stride[0],
				Dilation: w.Dilation[0], Pad: w.Pad[0]},
			Bias: c.bias, ResAfter: c.epi.after, Act: c.epi.act,
		}}
	}
}

func (t *winogradTask) Run(s *run.State) error {
	t.X, t.LDX = s.Rows(t.st.Reads[0], t.C)
	t.Y, t.LDY = s.Rows(t.st.Writes[0], t.N)
	t.Res, t.LDR = t.conv.residualOf(s, t.st)
	var err error
	if t.U, err = t.filters.Get(s); err != nil {
		return err
	}
	phases := t.Plan(s.Threads)
	if t.Work, err = s.Borrow(t.WorkLen); err != nil {
		return err
	}
	for t.phase = range phases {
		s.Do(t.Chunks(t.phase), t)
	}
	return nil
}

// Chunk computes part of a phase.
func (t *winogradTask) Chunk(i, worker int) { t.Winograd.Chunk(t.phase, i, worker) }
