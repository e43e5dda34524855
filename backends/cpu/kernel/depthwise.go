package kernel

import "fmt"

// Depthwise is one depthwise convolution of NHWC input: every channel
// has its own filter. In Go, with taps outside the input left out:
//
//	for each output position o and channel c {
//		s := Bias[c]
//		for each tap k { s += In[position(o, k)*LDI+c] * W[k*C+c] }
//		if !ResAfter { s += Res[o*LDR+c] }
//		s = Act(s)
//		if ResAfter { s += Res[o*LDR+c] }
//		Out[o*LDO+c] = s
//	}
//
// Numeric contract: float32, taps in order, fused multiply-add in assembly.
// NaN and infinities propagate through clamps. Bias and Res may be nil. Out must
// not overlap the other slices. The first dimension of Win must be 1 everywhere.
type Depthwise struct {
	C, Batch int
	Win      Window
	In       []float32
	LDI      int       // values from one position to the next, at least C
	W        []float32 // [taps][C]
	Bias     []float32 // C values, or nil
	Out      []float32
	LDO      int // at least C
	Res      []float32
	LDR      int // at least C
	ResAfter bool
	Act      Act

	rows rowChunks
}

// Plan checks the operands, divides the rows of the output into chunks for the
// given number of threads and returns their number.
func (d *Depthwise) Plan(threads int) int {
	checkFlatWindow("Depthwise", &d.Win, d.Batch, d.C, len(d.In), d.LDI, len(d.Out), d.LDO)
	need("Depthwise", "W", len(d.W), d.Win.Taps()*d.C)
	if d.Bias != nil {
		need("Depthwise", "Bias", len(d.Bias), d.C)
	}
	if d.Res != nil {
		if d.LDR < d.C {
			panic(fmt.Sprintf("kernel: Depthwise: LDR=%d, C=%d", d.LDR, d.C))
		}
		need("Depthwise", "Res", len(d.Res), extent(d.Batch*d.Win.Outputs(), d.C, d.LDR))
	}
	d.rows = divideRows(d.Batch*d.Win.Out[1], 2*d.Win.Taps()*d.C*d.Win.Out[2], threads)
	return d.rows.chunks
}

// Chunk computes chunk i of the division that Plan made.
func (d *Depthwise) Chunk(i int) {
	for r, end := d.rows.bounds(i); r < end; r++ {
		d.row(r)
	}
}

// Run computes the whole convolution on the calling goroutine.
func (d *Depthwise) Run() {
	for i := range d.Plan(1) {
		d.Chunk(i)
	}
}

// row computes one row of the output.
func (d *Depthwise) row(r int) {
	if d.C == 0 {
		return
	}
	w := &d.Win
	lo, hi, pass := d.Act.clamp()
	if d.Res != nil && !d.ResAfter {
		lo, hi, pass = -inf32, inf32, d.Act.Op != Identity
	}
	ky0, ky1 := w.valid(1, r%w.Out[1])
	out := d.Out[r*w.Out[2]*d.LDO:]
	in := d.In[r/w.Out[1]*w.In[1]*w.In[2]*d.LDI:]
	if ky0 < ky1 {
		in = in[w.at(1, r%w.Out[1], ky0)*w.In[2]*d.LDI:]
	}
	x0, x1 := w.interior(2)
	for x := 0; x < w.Out[2]; {
		kx0, kx1, t := 0, w.Kernel[2], 1
		if x >= x0 && x < x1 {
			t = x1 - x
		} else {
			kx0, kx1 = w.valid(2, x)
		}
		o := out[x*d.LDO:]
		if ky0 >= ky1 || kx0 >= kx1 {
			d.empty(o[:d.C], lo, hi)
			x++
			continue
		}
		x += d.pixels(o, in[w.at(2, x, kx0)*d.LDI:], ky0, ky1, kx0, kx1, t, lo, hi)
	}
	if pass || d.Res != nil {
		d.finish(r*w.Out[2], pass)
	}
}

// finish adds the residual to the row of positions from the given one on and applies an activation that the kernels
// have not.
func (d *Depthwise) finish(from int, pass bool) {
	rows, cols := d.Win.Out[2], d.C
	if d.LDO == cols && (d.Res == nil || d.LDR == cols) { // they follow each other
		rows, cols = 1, rows*cols
	}
	for x := range rows {
		o := d.Out[(from+x)*d.LDO:][:cols]
		var res []float32
		if d.Res != nil {
			res = d.Res[(from+x)*d.LDR:][:cols]
		}
		if res != nil && !d.ResAfter {
			BinaryVV(Add, o, o, res)
		}
		if pass {
			Unary(d.Act.Op, o, o, d.Act.Alpha, d.Act.Beta)
		}
		if res != nil && d.ResAfter {
			BinaryVV(Add, o, o, res)
		}
	}
}

// empty is a position that no input reaches.
func (d *Depthwise) empty(o []float32, lo, hi float32) {
	clear(o)
	if d.Bias != nil {
		copy(o, d.Bias)
	}
	Unary(Clamp, o, o, lo, hi)
}

// pixels computes up to n neighbouring positions with the same taps and returns
// how many.
func (d *Depthwise) pixels(out, in []float32, ky0, ky1, kx0, kx1, n int, lo, hi float32) int {
	w := &d.Win
	sx, dx, dy := max(1, w.Stride[2]), max(1, w.Dilation[2]), max(1, w.Dilation[1])
	irow, icol, ix := 4*dy*w.In[2]*d.LDI, 4*dx*d.LDI, 4*sx*d.LDI
	wrow, wcol := 4*w.Kernel[2]*d.C, 4*d.C
	wt := &d.W[(ky0*w.Kernel[2]+kx0)*d.C]
	var bias *float32
	if d.Bias != nil {
		bias = &d.Bias[0]
	}
	cols := kx1 - kx0
	if dx == 1 && sx <= 2 && (cols == 3 || cols == 5 || cols == 7) {
		for i := len(dwSizes) - 1; i >= 0; i-- {
			if f := fast.quick[cols/2-1][sx-1][i]; f != nil && dwSizes[i] <= n {
				f(d.C, ky1-ky0, &in[0], irow, icol, wt, wrow, wcol, bias, &out[0], 4*d.LDO, lo, hi)
				return dwSizes[i]
			}
		}
	}
	if n >= 4 {
		fast.window4(d.C, ky1-ky0, cols, &in[0], irow, icol, ix, wt, wrow, wcol, bias, &out[0], 4*d.LDO, lo, hi)
		return 4
	}
	fast.window1(d.C, ky1-ky0, cols, &in[0], irow, icol, ix, wt, wrow, wcol, bias, &out[0], 4*d.LDO, lo, hi)
	return 1
}

// dwSizes are the pixels of one call of the fast kernels.
var dwSizes = [3]int{1, 4, 8}
