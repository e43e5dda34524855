package ops

import "github.com/anynpu/anynpu/backends/cpu/plan/run"

// walk is the way through operands that are broadcast to a result: dimensions, and for each operand the distance from
// one element to the next along them, 0 where it repeats.
type walk struct {
	dims    []int
	strides [][]int // per operand
	rows    int     // runs of the innermost dimension
	per     int     // runs of a chunk
}

// newWalk is the way through operands of sizes from that are broadcast to dims. Dimensions that all walk as one are
// joined.
func newWalk(dims []int64, from ...[]int64) walk {
	var w walk
	w.strides = make([][]int, len(from))
	whole := make([][]int, len(from))
	for i, own := range from {
		whole[i] = make([]int, len(dims))
		for d, s := range strides(own) {
			if own[d] != 1 {
				whole[i][len(dims)-len(own)+d] = s
			}
		}
	}
	for d, n := range sizes(dims) {
		if n == 1 && (len(w.dims) > 0 || d < len(dims)-1) {
			continue
		}
		k := len(w.dims) - 1
		join := k >= 0
		for i := range whole {
			join = join && w.strides[i][k] == n*whole[i][d]
		}
		if join {
			w.dims[k] *= n
		} else {
			w.dims = append(w.dims, n)
			k++
		}
		for i := range whole {
			w.strides[i] = append(w.strides[i][:k], whole[i][d])
		}
	}
	if len(w.dims) == 0 {
		w.dims = []int{1}
		for i := range w.strides {
			w.strides[i] = []int{0}
		}
	}
	last := w.dims[len(w.dims)-1]
	w.rows = run.Product(dims) / last
	w.per = max(1, run.BlockLen/last)
	return w
}

// chunks is how many parts of the work there are.
func (w *walk) chunks() int { return (w.rows + w.per - 1) / w.per * w.parts() }

// parts is how many pieces a run has that is longer than a block.
func (w *walk) parts() int { return run.Blocks(w.length()) }

// length counts the elements of a run.
func (w *walk) length() int { return w.dims[len(w.dims)-1] }

// at is where run r of an operand begins.
func (w *walk) at(operand, r int) int {
	at := 0
	for d := len(w.dims) - 2; d >= 0; d-- {
		at += r % w.dims[d] * w.strides[operand][d]
		r /= w.dims[d]
	}
	return at
}

// places are where a run of each operand begins.
type places [3]int

// each calls f with the runs of chunk i: where the operands are, which run of the result it is, and n elements of
// it from first on.
func (w *walk) each(i int, f func(at places, r, first, n int)) {
	w.neighbours(i, func(at, step places, r, rows, first, n int) {
		for range rows {
			f(at, r, first, n)
			r++
			at[0], at[1], at[2] = at[0]+step[0], at[1]+step[1], at[2]+step[2]
		}
	})
}

// neighbours calls f with the runs of chunk i, rows of them at once, where operands are step apart from one to the
// next.
func (w *walk) neighbours(i int, f func(at, step places, r, rows, first, n int)) {
	parts := w.parts()
	first := i % parts * run.BlockLen
	n := min(run.BlockLen, w.length()-first)
	r, end := i/parts*w.per, min(w.rows, (i/parts+1)*w.per)
	d := len(w.dims) - 2
	for r < end {
		var at, step places
		rows := 1 // neighbours in the dimension before the last
		if d >= 0 {
			rows = min(end-r, w.dims[d]-r%w.dims[d])
		}
		for k := range w.strides {
			if at[k] = w.at(k, r); d >= 0 {
				step[k] = w.strides[k][d]
			}
		}
		f(at, step, r, rows, first, n)
		r += rows
	}
}
