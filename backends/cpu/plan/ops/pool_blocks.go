package ops

import (
	"math/bits"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/mem"
)

// poolBlocks joins the elements of windows, many lines at once: blocks of padded lines lie one behind the other, so
// that a tap is all of a block at a distance. With a stride of s, lines, and the elements of a line, lie in s parts,
// those of which the number leaves one rest.
type poolBlocks struct {
	poolJoin
	win         kernel.Window
	images      int
	unit        int // bytes of one place
	line        int // bytes of a padded line
	rows, count int // lines of results in a block, and blocks of an image
	down        taps
	across      taps
}

// taps are where a window's taps along a dimension are.
type taps struct {
	n, distance, stride int
	parts               []int // the rests that taps have
}

func tapsOf(w *kernel.Window, dim int) taps {
	t := taps{n: w.Kernel[dim], distance: max(1, w.Dilation[dim]), stride: max(1, w.Stride[dim])}
	for k := range min(t.n, t.stride) {
		if t.place(k) == k {
			t.parts = append(t.parts, k*t.distance%t.stride)
		}
	}
	return t
}

// place is the first tap with the rest of tap k.
func (t *taps) place(k int) int {
	for i := range k {
		if (k-i)*t.distance%t.stride == 0 {
			return i
		}
	}
	return k
}

// reach is how far taps go beyond the first one, in elements of a part.
func (t *taps) reach() int { return (t.n - 1) * t.distance / t.stride }

const (
	blockBytes = 16 << 10  // of the lines of a block
	reachBytes = 128 << 10 // of those with tall windows
	placeBytes = 128       // of a place that is joined alone
	partsMost  = 8         // parts of lines
)

// blocksOf resolves windows, nil when most of the padded lines would be padding, or where the channels of a place are
// enough for calls of their own.
func blocksOf(w *kernel.Window, j poolJoin, images, inner int) *poolBlocks {
	q := &poolBlocks{poolJoin: j, win: *w, images: images, unit: inner * j.size}
	if q.unit >= placeBytes || w.Pad[1] < 0 || w.Pad[2] < 0 || w.Stride[1] > partsMost || w.Stride[2] > partsMost {
		return nil
	}
	q.down, q.across = tapsOf(w, 1), tapsOf(w, 2)
	line := max(w.Pad[2]+w.In[2], (w.Out[2]-1)*q.across.stride+(w.Kernel[2]-1)*q.across.distance+1)
	line += (q.across.stride - line%q.across.stride) % q.across.stride
	if line > 2*w.In[2]+16 || q.down.reach() > 2*w.In[1]+16 {
		return nil
	}
	q.line = line * q.unit
	rows := max(1, blockBytes/(q.line*len(q.down.parts)))
	if reach := q.down.reach(); rows < 2*reach { // blocks share lines, which each of them takes
		rows = max(rows, min(2*reach, reachBytes/q.line))
	}
	q.rows = min(rows, w.Out[1])
	q.count = (w.Out[1] + q.rows - 1) / q.rows
	return q
}

// slack is how far behind a block is read, where no part of a result comes from.
func (q *poolBlocks) slack() int { return (q.across.reach()+1)*q.across.stride*q.unit + 64 }

// part is how many bytes a part of lines has.
func (q *poolBlocks) part() int { return cacheLines((q.rows+q.down.reach())*q.line + q.slack()) }

// block is how many bytes joined lines have.
func (q *poolBlocks) block() int { return cacheLines(q.rows*q.line + q.slack()) }

// cacheLines rounds a number of bytes up to whole cache lines.
func cacheLines(n int) int { return (n + 63) &^ 63 }

// room counts the float32 of scratch memory that a thread needs: the parts of lines, three rooms for lines that are
// joined, and the parts of the elements of a block.
func (q *poolBlocks) room() int {
	return ((len(q.down.parts)+3)*q.part() + len(q.across.parts)*q.block()) / 4
}

func (q *poolBlocks) start(st *run.Step) run.Process { return &blocksTask{poolBlocks: q, st: st} }

type blocksTask struct {
	*poolBlocks
	st   *run.Step
	x, y []byte
	work []float32
}

func (t *blocksTask) Run(s *run.State) error {
	t.x, t.y = s.Mem[t.st.Reads[0]], s.Mem[t.st.Writes[0]]
	var err error
	if t.work, err = s.Borrow(max(1, s.Threads) * t.room()); err != nil {
		return err
	}
	for w := range max(1, s.Threads) { // chunks leave the padding beside lines as it is
		t.pad(mem.Bytes(t.work[w*t.room():])[:len(t.down.parts)*t.part()])
	}
	s.Do(t.images*t.win.Out[0]*t.count, t)
	return nil
}

// Chunk makes a block of lines of results.
func (t *blocksTask) Chunk(i, worker int) {
	w := &t.win
	plane, first := i/t.count, i%t.count*t.rows
	rows := min(t.rows, w.Out[1]-first)
	work := mem.Bytes(t.work[worker*t.room():][:t.room()])
	lines, rest := work[:len(t.down.parts)*t.part()], work[len(t.down.parts)*t.part():]
	n := t.part()
	rooms := [3][]byte{rest[:n], rest[n : 2*n], rest[2*n : 3*n]}
	rest = rest[3*n:]
	in := w.In[2] * t.unit
	image := t.x[plane/w.Out[0]*w.In[0]*w.In[1]*in:]
	joined, some := rooms[0], false
	for k := range w.Kernel[0] {
		z, inside := tap(w, 0, plane%w.Out[0], k)
		if !inside {
			continue
		}
		t.gather(lines, image[z*w.In[1]*in:][:w.In[1]*in], first, rows)
		made := t.joinLines(lines, rows, &rooms, some)
		if some {
			n := inVectors(rows * t.line)
			t.join(joined[:n], joined[:n], made[:n])
			continue
		}
		joined, some = made, true
	}
	if !some {
		t.pad(joined[:rows*t.line])
	}
	joined = t.joinElements(joined, rows, rooms[1:], rest)
	out := w.Out[2] * t.unit
	y := t.y[(plane*w.Out[1]+first)*out:][:rows*out]
	kernel.CopyRows(y, out, joined, t.line/t.across.stride, rows, out)
	if t.power != 0 {
		t.root(run.Floats(y))
	}
}

// tap is where tap k of a window is in the operand, inside false: in its padding.
func tap(w *kernel.Window, dim, o, k int) (at int, inside bool) {
	at = o*w.Stride[dim] + k*w.Dilation[dim] - w.Pad[dim]
	return at, at >= 0 && at < w.In[dim]
}

// inVectors rounds a number of bytes up to those that kernels take at once.
func inVectors(n int) int { return (n + 31) &^ 31 }

// gather fills the parts with the lines of a plane that a block needs.
func (t *blocksTask) gather(lines, plane []byte, first, rows int) {
	w, in, s := &t.win, t.win.In[2]*t.unit, t.down.stride
	count := rows + t.down.reach()
	for p, rest := range t.down.parts {
		part := lines[p*t.part():][:count*t.line]
		top := first*s + rest - w.Pad[1] // the line of the plane that is the first
		from := 0
		if top < 0 {
			from = min(count, (-top+s-1)/s)
		}
		to := from
		if last := w.In[1] - 1 - top; last >= 0 {
			to = max(from, min(count, last/s+1))
		}
		t.pad(part[:from*t.line])
		t.pad(part[to*t.line:])
		if from < to {
			kernel.CopyRows(part[from*t.line+w.Pad[2]*t.unit:], t.line, plane[(top+from*s)*in:], s*in, to-from, in)
		}
		if t.power != 0 {
			t.raise(run.Floats(part), run.Floats(part))
		}
	}
}

// joinLines joins the lines of windows, in the last two rooms when the first one is taken.
func (t *blocksTask) joinLines(lines []byte, rows int, rooms *[3][]byte, taken bool) []byte {
	if t.down.n == 1 && t.win.Kernel[0] == 1 {
		return lines
	}
	to := rooms[0]
	if taken {
		to = rooms[1]
	}
	if t.down.n == 1 {
		copy(to[:rows*t.line], lines)
		return to
	}
	return t.joinTaps(&t.down, lines, t.part(), t.line, rows*t.line, to, rooms[2])
}

// joinElements joins elements of joined lines.
func (t *blocksTask) joinElements(x []byte, rows int, rooms [][]byte, parts []byte) []byte {
	a := &t.across
	if a.n == 1 && a.stride == 1 {
		return x
	}
	if a.stride == 1 {
		return t.joinTaps(a, x, 0, t.unit, rows*t.line, rooms[0], rooms[1])
	}
	count := rows*t.line/a.stride/t.unit + a.reach()
	for p, rest := range a.parts {
		part := parts[p*t.block():][:t.block()]
		if t.unit == t.size {
			kernel.Thin(part, x[rest*t.unit:], t.size, a.stride, count)
			continue
		}
		kernel.CopyRows(part, t.unit, x[rest*t.unit:], a.stride*t.unit, count, t.unit)
	}
	if a.n == 1 {
		return parts
	}
	return t.joinTaps(a, parts, t.block(), t.unit, rows*t.line/a.stride, rooms[0], rooms[1])
}

// joinTaps joins n bytes of each tap into to; parts are apart bytes from one another, elements of them unit bytes. The
// other room is for the steps on the way.
func (t *blocksTask) joinTaps(a *taps, x []byte, apart, unit, n int, to, other []byte) []byte {
	n = inVectors(n)
	at := func(k int) []byte {
		p := a.place(k)
		for i := range p { // the number of its part
			if a.place(i) != i {
				p--
			}
		}
		return x[p*apart+k*a.distance/a.stride*unit:][:n]
	}
	if a.stride > 1 || t.power != 0 || a.n < 4 {
		t.join(to[:n], at(0), at(1))
		for k := 2; k < a.n; k++ {
			t.join(to[:n], to[:n], at(k))
		}
		return to
	}
	step, made := a.distance*unit, to
	if bits.Len(uint(a.n-1))%2 == 0 { // the last of the steps writes to
		made, other = other, made
	}
	for have := 1; have < a.n; { // the largest of two, four and so on
		more := min(have, a.n-have)
		have += more
		m := inVectors(n + (a.n-have)*step) // later steps read behind the last result
		t.join(made[:m], x[:m], x[more*step:][:m])
		x, made, other = made, other, made
	}
	return to
}
