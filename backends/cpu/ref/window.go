package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// tap is one cell that a window covers: its position in the image and in the kernel, both flattened row-major over the
// spatial dimensions.
type tap struct{ in, k int }

// grid lists, for a sliding window in any number of dimensions, the taps of every output position.
type grid struct {
	out, in, kernel []int64
	// per dimension, per output index: the covered cells, already scaled by the dimension's stride
	axes      [][][]tap
	pos       []int
	buf, next []tap
}

// newGrid returns the grid of w. list(w, o) calls f with each pair (input cell, kernel cell) of output cell o
// inside the input, of which there are at most most(w). The output must not be empty: then its sizes bound the work.
func newGrid(w []op.Window, list func(w op.Window, o int64, f func(in, k int64)), most func(w op.Window) int64) *grid {
	g := &grid{pos: make([]int, len(w)), axes: make([][][]tap, len(w))}
	for _, d := range w {
		g.out, g.in, g.kernel = append(g.out, d.Out), append(g.in, d.In), append(g.kernel, d.Kernel)
	}
	inStride, kStride := 1, 1
	covered := int64(1)
	for i := len(w) - 1; i >= 0; i-- {
		cells := min(w[i].Kernel, w[i].In, most(w[i])) // at most, of one position
		covered = satMul(covered, cells)
		admit(satMul(w[i].Out, satMul(40, cells)))
		g.axes[i] = alloc[[]tap](w[i].Out)
		for o := range g.axes[i] {
			tick()
			list(w[i], int64(o), func(in, k int64) {
				g.axes[i][o] = append(g.axes[i][o], tap{int(in) * inStride, int(k) * kStride})
			})
		}
		inStride, kStride = inStride*int(w[i].In), kStride*int(w[i].Kernel)
	}
	admit(satMul(64, covered)) // buf and next
	return g
}

// sliding is the cells of a convolution or pooling window.
func sliding(w op.Window, o int64, f func(in, k int64)) {
	start := o*w.Stride - w.Before
	for k := steps(-start, w.Dilation); k < min(w.Kernel, steps(w.In-start, w.Dilation)); k++ {
		tick()
		f(start+k*w.Dilation, k)
	}
}

// steps is the smallest k >= 0 with k*step >= n.
func steps(n, step int64) int64 {
	if n <= 0 {
		return 0
	}
	return (n-1)/step + 1
}

// slid is at most how many cells sliding lists.
func slid(w op.Window) int64 { return w.Kernel }

// scattered is at most how many cells scattering lists: every stride/divisor-th of the kernel.
func scattered(w op.Window) int64 {
	common, _ := divisor(w.Dilation%w.Stride, w.Stride)
	return steps(w.Kernel, w.Stride/common)
}

// scattering is the cells of a transposed convolution: those whose window covers output cell o. Input cell i reaches
// at = i*stride + k*dilation. So k lies between two bounds, and one of its values solves the equation modulo the
// stride: the others follow at a fixed distance, and no other k is looked at.
func scattering(w op.Window, o int64, f func(in, k int64)) {
	at := o + w.Before
	if at < 0 || w.In == 0 {
		return
	}
	common, inverse := divisor(w.Dilation%w.Stride, w.Stride)
	if at%common != 0 {
		return
	}
	apart := w.Stride / common
	first := at / common % apart * inverse % apart
	if at/w.Stride >= w.In {
		least := steps(at-(w.In-1)*w.Stride, w.Dilation)
		first += steps(least-first, apart) * apart
	}
	for k := first; k < w.Kernel && k*w.Dilation <= at; k += apart {
		tick()
		f((at-k*w.Dilation)/w.Stride, k)
	}
}

// divisor is the greatest common divisor of a and m > 0, and the inverse of a/divisor modulo m/divisor.
func divisor(a, m int64) (d, inverse int64) {
	d, next, x, y := m, a, int64(0), int64(1)
	for next != 0 {
		q := d / next
		d, next, x, y = next, d-q*next, y, x-q*y
	}
	n := m / d
	return d, (x%n + n) % n
}

// each calls f for every output position in row-major order with its taps in row-major order of the kernel; f must not
// keep them.
func (g *grid) each(f func(p int, taps []tap)) {
	total := cellCount(g.out)
	clear(g.pos)
	for p := range total {
		tick()
		f(p, g.taps())
		for i := len(g.pos) - 1; i >= 0; i-- {
			if g.pos[i]++; g.pos[i] < len(g.axes[i]) {
				break
			}
			g.pos[i] = 0
		}
	}
}

// taps is the product of the dimensions' cells at the current position.
func (g *grid) taps() []tap {
	g.buf = append(g.buf[:0], tap{})
	for i, o := range g.pos {
		g.next = g.next[:0]
		for _, t := range g.buf {
			for _, c := range g.axes[i][o] {
				tick()
				g.next = append(g.next, tap{t.in + c.in, t.k + c.k})
			}
		}
		g.buf, g.next = g.next, g.buf
	}
	return g.buf
}

// cellCount returns the number of cells of a validated shape.
func cellCount(dims []int64) int {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	return n
}

// extent is an image tensor's sizes: n images, c channels, the spatial sizes and their product.
type extent struct {
	n, c, cells int
	spatial     []int64
	last        bool
}

func extentOf(dims []int64, channelsLast bool) extent {
	r := len(dims)
	e := extent{n: int(dims[0]), c: int(dims[1]), spatial: dims[2:], last: channelsLast}
	if channelsLast {
		e.c, e.spatial = int(dims[r-1]), dims[1:r-1]
	}
	e.cells = cellCount(e.spatial)
	return e
}

// index is the position of channel c, cell p of image n.
func (e extent) index(n, c, p int) int {
	if e.last {
		return (n*e.cells+p)*e.c + c
	}
	return (n*e.c+c)*e.cells + p
}

// step is the distance between neighbouring cells of one channel.
func (e extent) step() int {
	if e.last {
		return e.c
	}
	return 1
}

// pixels returns x with the channels of each cell side by side: x itself when channels are last.
func pixels[T elem](e extent, x []T) []T {
	if e.last || e.c == 1 || e.cells == 1 {
		return x
	}
	y := alloc[T](len(x))
	for n := range e.n {
		for c := range e.c {
			row := x[(n*e.c+c)*e.cells:][:e.cells]
			for p, v := range row {
				tick()
				y[(n*e.cells+p)*e.c+c] = v
			}
		}
	}
	return y
}

// zeros returns zeroed tensors of the given types.
func zeros(out []tensor.Type) []tensor.Tensor {
	res := make([]tensor.Tensor, len(out))
	for i, t := range out {
		dims, _ := t.Shape.Ints()
		res[i] = newTensor(t.DType, dims...)
		res[i].Quant = t.Quant
	}
	return res
}

// empty reports whether a tensor of known sizes has no elements.
func empty(t tensor.Type) bool {
	n, _ := t.Shape.Count()
	return n == 0
}
