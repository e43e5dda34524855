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
// Numeric contract: float32, taps in order, fused multiply-add in assembly. Sums
// of several planes, and of rows of more than 7 taps, are sums of parts.
// NaN and infinities propagate through clamps. Bias and Res may be nil. Out must
// not overlap the other slices.
//
// A chunk's worker index must be below the number of threads given to Plan and
// not be in use by another goroutine. Work holds WorkLen values.
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
	Work     []float32
	// Outputs need not be neighbours: with Size, the output is images of that many positions, of which these are Step
	// apart, and Res is nil.
	Size, Step [3]int

	rows    rowChunks
	threads int
	parts   []int // taps of a row that are summed up at once, where there are several sums
}

// Plan checks the operands, divides the rows of the output into chunks for the
// given number of threads and returns their number.
func (d *Depthwise) Plan(threads int) int {
	if d.Size == ([3]int{}) {
		d.Size, d.Step = d.Win.Out, [3]int{1, 1, 1}
	}
	d.check()
	d.rows = divideRows(d.Batch*d.Win.Out[0]*d.Win.Out[1], 2*d.Win.Taps()*d.C*d.Win.Out[2], threads)
	d.threads = max(1, threads)
	if d.parts = d.parts[:0]; d.Win.Stride[2] <= 2 && (d.Win.Stride[2] <= 1 || d.Win.Dilation[2] <= 1) {
		d.parts = appendParts(d.parts, d.Win.Kernel[2])
	} else {
		d.parts = append(d.parts, d.Win.Kernel[2])
	}
	return d.rows.chunks
}

func (d *Depthwise) check() {
	checkWindow("Depthwise", &d.Win, d.Batch, d.C, len(d.In), d.LDI, d.LDO)
	last := d.Batch - 1 // position
	for i, n := range d.Win.Out {
		if n > 0 && (d.Step[i] < 1 || (n-1)*d.Step[i] >= d.Size[i]) {
			panic(fmt.Sprintf("kernel: Depthwise: %v positions %v apart do not fit %v", d.Win.Out, d.Step, d.Size))
		}
		last = last*d.Size[i] + (n-1)*d.Step[i]
	}
	if d.Batch*d.Win.Outputs() > 0 {
		need("Depthwise", "Out", len(d.Out), extent(last+1, d.C, d.LDO))
	}
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
}

// appendParts divides n taps into as few parts as there are kernels for: 3, 5 or 7 neighbouring ones. Up to 7 stay
// together.
func appendParts(parts []int, n int) []int {
	const most, least = 7, 3
	if n <= most {
		return append(parts, n)
	}
	count := ceilDiv(n, most)
	count += (n - count) % 2 // as many odd numbers
	for ; count > 0; count-- {
		part := min(most, n-least*(count-1))
		parts = append(parts, part)
		n -= part
	}
	return parts
}

// WorkLen is how many values of scratch memory the chunks of Plan need.
func (d *Depthwise) WorkLen() int {
	if !d.divided() {
		return 0
	}
	return d.threads * d.C * d.Win.Out[2]
}

// divided reports whether an output is a sum of parts.
func (d *Depthwise) divided() bool { return d.Win.Kernel[0]*len(d.parts) > 1 }

// Chunk computes chunk i of the division that Plan made.
func (d *Depthwise) Chunk(i, worker int) {
	for r, end := d.rows.bounds(i); r < end; r++ {
		d.row(r, worker)
	}
}

// Run computes the whole convolution on the calling goroutine.
func (d *Depthwise) Run() {
	chunks := d.Plan(1)
	if n := d.WorkLen(); len(d.Work) < n {
		d.Work = make([]float32, n)
	}
	for i := range chunks {
		d.Chunk(i, 0)
	}
}

// row computes one row of the output.
func (d *Depthwise) row(r, worker int) {
	if d.C == 0 {
		return
	}
	w := &d.Win
	lo, hi, pass := d.Act.clamp()
	if d.Res != nil && !d.ResAfter {
		lo, hi, pass = -inf32, inf32, d.Act.Op != Identity
	}
	volume, oz, oy := r/(w.Out[0]*w.Out[1]), r/w.Out[1]%w.Out[0], r%w.Out[1]
	z0, z1 := w.valid(0, oz)
	y0, y1 := w.valid(1, oy)
	out := d.Out[((volume*d.Size[0]+oz*d.Step[0])*d.Size[1]+oy*d.Step[1])*d.Size[2]*d.LDO:]
	l := dwLine{rows: y1 - y0, ldi: d.LDI, out: out, ldo: d.Step[2] * d.LDO, bias: d.Bias, lo: lo, hi: hi}
	if d.divided() {
		l.lo, l.hi = -inf32, inf32
	}
	if z0 >= z1 || y0 >= y1 {
		l.rows = 0
		d.line(&l, 0, w.Kernel[2])
	} else {
		first := w.at(1, oy, y0) * w.In[2] * d.LDI
		for z := z0; z < z1; z++ {
			plane := volume*w.In[0] + w.at(0, oz, z)
			l.in = d.In[plane*w.In[1]*w.In[2]*d.LDI+first:]
			l.taps = d.W[(z*w.Kernel[1]+y0)*w.Kernel[2]*d.C:]
			from := 0
			for _, n := range d.parts {
				d.line(&l, from, from+n)
				if l.bias = nil; z > z0 || from > 0 {
					d.add(out, l.out)
				} else if d.divided() {
					l.out, l.ldo = d.Work[worker*d.C*w.Out[2]:], d.C
				}
				from += n
			}
		}
	}
	if d.divided() && (lo > -inf32 || hi < inf32) {
		rows, cols := d.runs()
		for x := range rows {
			o := out[x*d.Step[2]*d.LDO:][:cols]
			Unary(Clamp, o, o, lo, hi)
		}
	}
	if pass || d.Res != nil {
		d.finish(out, r*w.Out[2], pass)
	}
}

// add adds a row of sums of parts to those of the output.
func (d *Depthwise) add(out, part []float32) {
	rows, cols := d.runs()
	for x := range rows {
		o := out[x*d.Step[2]*d.LDO:][:cols]
		BinaryVV(Add, o, o, part[x*cols:][:cols])
	}
}

// runs is how many runs of how many values a row of the output is.
func (d *Depthwise) runs() (rows, cols int) {
	if d.LDO == d.C && d.Step[2] == 1 {
		return 1, d.Win.Out[2] * d.C
	}
	return d.Win.Out[2], d.C
}

// dwLine is sums of taps of one plane.
type dwLine struct {
	rows     int       // of taps inside; 0: sums are the bias
	in, taps []float32 // from the first row of taps on
	ldi      int
	out      []float32
	ldo      int
	bias     []float32
	lo, hi   float32
}

// pageLines is a distance of bytes at which neighbours compete for the same places of the first-level cache.
const pageLines = 2048

// line computes a row of sums of taps from <= k < to of each row. At a stride of 1 and a dilation of n, each nth
// position is a line of its own, whose taps are neighbours.
func (d *Depthwise) line(l *dwLine, from, to int) {
	w := &d.Win
	n := max(1, w.Dilation[2])
	if w.Stride[2] > 1 || n == 1 || w.Out[2] < 2*n || 4*n*l.ldi%pageLines == 0 {
		across := Window{In: w.In, Out: w.Out, Stride: w.Stride, Dilation: w.Dilation, Pad: w.Pad}
		across.Kernel[2], across.Pad[2] = to-from, w.Pad[2]-from*n
		d.positions(l, &across, from)
		return
	}
	for x := range n {
		at := x - w.Pad[2] + from*n // of the first tap
		rest := (at%n + n) % n
		across := Window{}
		across.In[2], across.Out[2] = ceilDiv(max(0, w.In[2]-rest), n), ceilDiv(w.Out[2]-x, n)
		across.Kernel[2], across.Pad[2] = to-from, (rest-at)/n
		own := *l
		own.ldi, own.out, own.ldo = n*l.ldi, l.out[x*l.ldo:], n*l.ldo
		if len(l.in) > 0 {
			own.in = l.in[min(rest*l.ldi, len(l.in)):]
		}
		d.positions(&own, &across, from)
	}
}

// positions computes the sums of a line. w holds its last dimension alone, from tap on.
func (d *Depthwise) positions(l *dwLine, w *Window, tap int) {
	x0, x1 := w.interior(2)
	for x := 0; x < w.Out[2]; {
		k0, k1, n := 0, w.Kernel[2], 1
		if x >= x0 && x < x1 {
			n = x1 - x
		} else {
			k0, k1 = w.valid(2, x)
		}
		o := l.out[x*l.ldo:]
		if l.rows <= 0 || k0 >= k1 {
			o = o[:d.C]
			clear(o)
			copy(o, l.bias)
			Unary(Clamp, o, o, l.lo, l.hi)
			x++
			continue
		}
		x += d.pixels(l, o, l.in[w.at(2, x, k0)*l.ldi:], w, tap+k0, k1-k0, n)
	}
}

// finish adds the residual, from the given position on, to a row of outputs and applies an activation that the kernels
// have not.
func (d *Depthwise) finish(out []float32, from int, pass bool) {
	rows, cols := d.runs()
	if d.Res != nil && d.LDR != d.C {
		rows, cols = d.Win.Out[2], d.C
	}
	for x := range rows {
		o := out[x*d.Step[2]*d.LDO:][:cols]
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

// pixels computes up to n neighbouring positions with the same taps, cols of each row from tap on, and returns how
// many.
func (d *Depthwise) pixels(l *dwLine, out, in []float32, w *Window, tap, cols, n int) int {
	sx, dx := max(1, w.Stride[2]), max(1, w.Dilation[2])
	irow, icol, ix := 4*max(1, d.Win.Dilation[1])*d.Win.In[2]*d.LDI, 4*dx*l.ldi, 4*sx*l.ldi
	wrow, wcol := 4*d.Win.Kernel[2]*d.C, 4*d.C
	wt := &l.taps[tap*d.C]
	var bias *float32
	if l.bias != nil {
		bias = &l.bias[0]
	}
	if dx == 1 && sx <= 2 && (cols == 3 || cols == 5 || cols == 7) {
		for i := len(dwSizes) - 1; i >= 0; i-- {
			if f := fast.quick[cols/2-1][sx-1][i]; f != nil && dwSizes[i] <= n {
				f(d.C, l.rows, &in[0], irow, icol, wt, wrow, wcol, bias, &out[0], 4*l.ldo, l.lo, l.hi)
				return dwSizes[i]
			}
		}
	}
	if n >= 4 {
		fast.window4(d.C, l.rows, cols, &in[0], irow, icol, ix, wt, wrow, wcol, bias, &out[0], 4*l.ldo, l.lo, l.hi)
		return 4
	}
	fast.window1(d.C, l.rows, cols, &in[0], irow, icol, ix, wt, wrow, wcol, bias, &out[0], 4*l.ldo, l.lo, l.hi)
	return 1
}

// dwSizes are the pixels of one call of the fast kernels.
var dwSizes = [3]int{1, 4, 8}
