package kernel

import (
	"fmt"
	"unsafe"
)

// Axis says how each output coordinate of one resized dimension is made: from
// input First[i] with weight 1-Weight[i] and input Second[i] with Weight[i].
// Nearest-neighbour resizing has no Second and no Weight.
type Axis struct {
	First, Second []int32
	Weight        []float32
}

// Resize is nearest or bilinear resizing of NHWC images. Each output
// position mixes up to four input positions, channel by channel:
//
//	Y = x00*w00 + x01*w01 + x10*w10 + x11*w11
//
// in float32 with fused multiply-add in assembly; weights are products of the
// axes' weights. Nearest copies bits. Both axes are of one kind.
type Resize struct {
	C, Batch   int
	In         [2]int // height, width
	Rows, Cols Axis   // of the output
	X          []float32
	LDX        int
	Y          []float32
	LDY        int

	split rowChunks
}

// Plan checks the operands and returns the number of chunks for the given number
// of threads.
func (r *Resize) Plan(threads int) int {
	r.check()
	r.split = divideRows(r.Batch*len(r.Rows.First), 16*r.C*len(r.Cols.First), threads)
	return r.split.chunks
}

// Chunk computes chunk i of the division that Plan made.
func (r *Resize) Chunk(i int) {
	for row, end := r.split.bounds(i); row < end; row++ {
		r.row(row)
	}
}

// Run resizes everything on the calling goroutine.
func (r *Resize) Run() {
	for i := range r.Plan(1) {
		r.Chunk(i)
	}
}

func (r *Resize) row(row int) {
	if r.C == 0 {
		return
	}
	h, wide := len(r.Rows.First), len(r.Cols.First)
	image := r.X[row/h*r.In[0]*r.In[1]*r.LDX:]
	y := row % h
	out := r.Y[row*wide*r.LDY:]
	at := func(line, x int32) []float32 { return image[(int(line)*r.In[1]+int(x))*r.LDX:] }
	if r.Rows.Weight == nil {
		for x, from := range r.Cols.First {
			copy(out[x*r.LDY:][:r.C], at(r.Rows.First[y], from))
		}
		return
	}
	a, b, wy := r.Rows.First[y], r.Rows.Second[y], r.Rows.Weight[y]
	for x, p := range r.Cols.First {
		q, wx := r.Cols.Second[x], r.Cols.Weight[x]
		fast.mix4(&out[x*r.LDY], &at(a, p)[0], &at(a, q)[0], &at(b, p)[0], &at(b, q)[0], r.C,
			(1-wy)*(1-wx), (1-wy)*wx, wy*(1-wx), wy*wx)
	}
}

func (r *Resize) check() {
	if r.C < 0 || r.Batch < 0 || r.LDX < r.C || r.LDY < r.C || (r.Rows.Weight == nil) != (r.Cols.Weight == nil) {
		panic(fmt.Sprintf("kernel: Resize: C=%d batch=%d LDX=%d LDY=%d, weights on rows %v, on columns %v", r.C, r.Batch,
			r.LDX, r.LDY, r.Rows.Weight != nil, r.Cols.Weight != nil))
	}
	r.Rows.check("rows", r.In[0])
	r.Cols.check("columns", r.In[1])
	need("Resize", "X", len(r.X), extent(r.Batch*r.In[0]*r.In[1], r.C, r.LDX))
	need("Resize", "Y", len(r.Y), extent(r.Batch*len(r.Rows.First)*len(r.Cols.First), r.C, r.LDY))
}

func (a *Axis) check(name string, size int) {
	if a.Weight != nil {
		need("Resize", name+" weights", len(a.Weight), len(a.First))
		need("Resize", name+" second", len(a.Second), len(a.First))
	}
	for _, list := range [][]int32{a.First, a.Second} {
		for i, x := range list {
			if x < 0 || int(x) >= size {
				panic(fmt.Sprintf("kernel: Resize: %s: coordinate %d: want 0 to %d, got %d", name, i, size-1, x))
			}
		}
	}
}

// Mix4 computes dst = a*wa + b*wb + c*wc + d*wd, in place if dst is one of them. The others must be as long as dst.
func Mix4(dst, a, b, c, d []float32, wa, wb, wc, wd float32) {
	for _, x := range [][]float32{a, b, c, d} {
		need("Mix4", "operand", len(x), len(dst))
	}
	if len(dst) > 0 {
		fast.mix4(&dst[0], &a[0], &b[0], &c[0], &d[0], len(dst), wa, wb, wc, wd)
	}
}

func mix4Generic(dst, a, b, c, d *float32, n int, wa, wb, wc, wd float32) {
	o, y, z, w := unsafe.Slice(dst, n), unsafe.Slice(b, n), unsafe.Slice(c, n), unsafe.Slice(d, n)
	for i, x := range unsafe.Slice(a, n) {
		o[i] = x*wa + y[i]*wb + z[i]*wc + w[i]*wd
	}
}
