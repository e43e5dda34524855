package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
)

// planes finds the largest of windows of images in NCHW: first lines join lines, then the elements of a line join those
// beside them, all lines of some planes at once.
type planes struct {
	down       kernel.Pooling // joins lines that are not one below the other: as channels of positions
	high       int            // lines of a padded plane, 0: down makes those of the result
	above      int            // of them, before the first
	count, per int            // planes, and those of a chunk
	line       int            // values of a padded line
	before     int            // the padding before its elements
	taps, step int            // of a window along a line
	out        int            // results of a line
}

// planeWidth is the least width of planes: below it, the work of a line is less than its overhead.
const planeWidth = 12

// planeLines is how many values of padded lines a chunk has: they stay in the first cache, with what is made of them.
const planeLines = 2 << 10

// planeMost is the size of the largest planes, in values: one is computed in one chunk, where nothing can stop it.
const planeMost = 1 << 19

// planesOf resolves a pooling, nil when images in NHWC take less time.
func planesOf(k *kernel.Pooling) *planes {
	w := &k.Win
	step := max(1, w.Stride[2])
	if !k.Max || dimensions(w) > 2 || w.Dilation[2] > 1 || step > 2 || w.Pad[2] < 0 || w.In[2] < planeWidth ||
		w.Out[1] < 1 || w.Out[2] < 1 {
		return nil
	}
	q := &planes{count: k.Batch * k.C, before: w.Pad[2], taps: w.Kernel[2], step: step, out: w.Out[2]}
	q.line = max(q.before+w.In[2], (w.Out[2]-1)*step+w.Kernel[2])
	q.line += q.line % step
	if w.Stride[1] <= 1 && w.Dilation[1] <= 1 && w.Pad[1] >= 0 {
		q.above, q.high = w.Pad[1], max(w.Pad[1]+w.In[1], w.Out[1]+w.Kernel[1]-1)
	}
	plane := q.line * max(w.Out[1], q.high)
	if q.count < 1 || q.line > 2*w.In[2]+16 || q.high > 2*w.In[1]+16 || plane > planeMost {
		return nil
	}
	q.per = min(q.count, max(1, planeLines/plane))
	q.down = kernel.Pooling{C: w.In[2], LDI: w.In[2], LDO: q.line, Max: true}
	q.down.Win = kernel.Window{In: [3]int{1, 1, w.In[1]}, Kernel: [3]int{1, 1, w.Kernel[1]}, Out: [3]int{1, 1, w.Out[1]},
		Stride: [3]int{1, 1, w.Stride[1]}, Dilation: [3]int{1, 1, w.Dilation[1]}, Pad: [3]int{0, 0, w.Pad[1]}}
	return q
}

// padded is how many values the lines of a chunk have, with those that windows behind the last one reach.
func (q *planes) padded() int {
	w := &q.down.Win
	return (q.per*max(w.Out[2], q.high)+w.Kernel[2])*q.line + q.taps + q.step + kernel.PairsBehind
}

// planeRooms counts the parts of a thread's scratch memory: the lines, two for joined windows, and one for elements
// apart.
const planeRooms = 4

func (q *planes) start(st *run.Step) run.Process { return &planesTask{planes: q, st: st} }

type planesTask struct {
	*planes
	st         *run.Step
	x, y, work []float32
}

func (t *planesTask) Run(s *run.State) error {
	t.x, t.y = s.F32(t.st.Reads[0]), s.F32(t.st.Writes[0])
	var err error
	room := planeRooms * t.padded()
	if t.work, err = s.Borrow(max(1, s.Threads) * room); err != nil {
		return err
	}
	for i := 0; i < len(t.work); i += room { // chunks leave the padding as it is
		fill(t.work[i:][:t.padded()], float32(math.Inf(-1)))
	}
	s.Do((t.count+t.per-1)/t.per, t)
	return nil
}

// Chunk computes some planes.
func (t *planesTask) Chunk(i, worker int) {
	n := t.padded()
	work := t.work[worker*planeRooms*n:][:planeRooms*n]
	j := windowsOf{x: work[:n], a: work[n : 2*n], b: work[2*n : 3*n]}
	down := t.down
	in, out, rows := down.Win.In[2], down.Win.Out[2], max(t.high, down.Win.Out[2])
	first := i * t.per
	down.Batch = min(t.per, t.count-first)
	x, y := t.x[first*in*down.C:], t.y[first*out*t.out:]
	count := down.Batch * rows * t.line
	if t.high == 0 {
		down.In, down.Out = x[:down.Batch*in*down.C], j.x[t.before:]
		down.Run()
	} else {
		for k := range down.Batch {
			kernel.CopyRows(j.x[(k*rows+t.above)*t.line+t.before:], t.line, x[k*in*down.C:], down.C, in, down.C)
		}
		j.join(count+t.taps-1, down.Win.Kernel[2], t.line)
	}
	line := t.line
	if t.step == 2 && (t.taps == 2 || t.taps == 3) && kernel.FastPairs() {
		for k := range down.Batch {
			kernel.MaxPairs(y[k*out*t.out:], t.out, j.x[k*rows*line:], line, t.out, out, t.taps)
		}
		return
	}
	if t.step == 1 {
		j.join(count, t.taps, 1)
	} else {
		j.x, line = t.apart(j.x, j.a, work[3*n:], count/2), line/2
	}
	for k := range down.Batch {
		kernel.CopyRows(y[k*out*t.out:], t.out, j.x[k*rows*line:], line, out, t.out)
	}
}

// windowsOf holds values, and two rooms for the windows joined so far.
type windowsOf struct{ x, a, b []float32 }

// join makes n results of windows of neighbours, which are unit values apart: the largest of two or three, of two or
// three such windows, and so on, and at last of all taps.
func (j *windowsOf) join(n, taps, unit int) {
	for have := 1; have < taps; {
		more := min(have, taps-have)
		last := 0
		if kernel.FastPairs() {
			last = min(have, taps-have-more)
		}
		have += more + last
		m := n + (taps-have)*unit // later steps read behind the last result
		if next := j.x[more*unit:]; last > 0 {
			kernel.Max3(j.a[:m], j.x[:m], next[:m], next[last*unit:][:m])
		} else {
			kernel.BinaryVV(kernel.Max, j.a[:m], j.x[:m], next[:m])
		}
		j.x, j.a, j.b = j.a, j.b, j.a
	}
}

// apart returns n results of windows two elements apart, which are made of the even elements and the odd ones; halves
// has room for both.
func (t *planesTask) apart(lines, a, halves []float32, n int) []float32 {
	m := n + (t.taps-1)/2
	kernel.Split(run.BytesOf(halves), 4*m, 0, run.BytesOf(lines), 0, 4, 2, m, 1)
	if t.taps == 1 {
		return halves
	}
	kernel.BinaryVV(kernel.Max, a[:n], halves[:n], halves[m:][:n])
	for k := 2; k < t.taps; k++ {
		kernel.BinaryVV(kernel.Max, a[:n], a[:n], halves[k%2*m+k/2:][:n])
	}
	return a
}
