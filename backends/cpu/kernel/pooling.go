package kernel

// Pooling is one pooling of NHWC input, channel by channel:
//
//	Max:  Out = the largest of the window's taps inside the input, NaN if one is NaN
//	else: Out = sum(taps inside the input) * (1/count)
//
// count is the number of taps inside the input or, with IncludePad, inside the input and its padding. A window without
// taps gives -Inf or 0. Sums are float32 in tap order; those of windows of more than 512 taps, and of three dimensions,
// are sums of parts. Out must not overlap In.
type Pooling struct {
	C, Batch   int
	Win        Window
	In         []float32
	LDI        int // values from one position to the next, at least C
	Out        []float32
	LDO        int
	Max        bool
	IncludePad bool
	PadAfter   [3]int    // padding after the last element, for IncludePad
	Work       []float32 // of WorkLen values

	rows    rowChunks
	slices  int // parts of the channels
	columns int // parts of an output row
}

// Plan checks the operands, divides the rows of the output into chunks for the
// given number of threads and returns their number.
func (p *Pooling) Plan(threads int) int {
	checkWindow("Pooling", &p.Win, p.Batch, p.C, len(p.In), p.LDI, p.LDO)
	need("Pooling", "Out", len(p.Out), extent(p.Batch*p.Win.Outputs(), p.C, p.LDO))
	rows, work := p.Batch*p.Win.Out[0]*p.Win.Out[1], 4*p.Win.Taps()*p.C*p.Win.Out[2]
	p.rows, p.slices = divideRows(rows, work, threads), 1
	if rows == 1 && work >= 1<<17 { // as of a global pooling
		p.slices = min(threads, ceilDiv(p.C, poolSlice))
	}
	p.columns = min(p.Win.Out[2], 1+work/poolWork)
	return p.rows.chunks * p.slices * p.columns
}

// WorkLen is how many values of scratch memory the chunks of Plan need.
func (p *Pooling) WorkLen() int { return p.rows.chunks * p.slices * p.columns * p.room() }

// room is how many values of scratch memory a chunk needs: a place for sums of parts, and a row of one plane.
func (p *Pooling) room() int {
	n := 0
	if p.parts() {
		n = p.C
	}
	if p.Win.Kernel[0] > 1 {
		n += p.C * ceilDiv(p.Win.Out[2], p.columns)
	}
	return n
}

// parts reports whether windows are summed up in parts: a single sum of many values of one sign loses digits.
func (p *Pooling) parts() bool { return !p.Max && p.Win.Taps() > poolTaps }

const poolTaps = 512

const (
	poolSlice = 64      // channels that are not divided among threads
	poolWork  = 1 << 24 // work of one chunk of a single row
)

// Chunk computes chunk i of the division that Plan made.
func (p *Pooling) Chunk(i int) {
	slices := rowChunks{ceilDiv(p.C, poolSlice), p.slices}
	c0, c1 := slices.bounds(i % p.slices)
	x0, x1 := rowChunks{p.Win.Out[2], p.columns}.bounds(i / p.slices % p.columns)
	for r, end := p.rows.bounds(i / p.slices / p.columns); r < end; r++ {
		p.row(r, x0, x1, c0*poolSlice, min(p.C, c1*poolSlice), i)
	}
}

// Run computes the whole pooling on the calling goroutine.
func (p *Pooling) Run() {
	chunks := p.Plan(1)
	if n := p.WorkLen(); len(p.Work) < n {
		p.Work = make([]float32, n)
	}
	for i := range chunks {
		p.Chunk(i)
	}
}

// poolRun is the number of channels up to which a call takes a whole row.
const poolRun = 16

// row computes channels c0 <= c < c1 of outputs from <= x < to of one row, for a chunk: plane by plane.
func (p *Pooling) row(r, from, to, c0, c1, chunk int) {
	if c0 == c1 || from == to {
		return
	}
	w := &p.Win
	oz, plane := r/w.Out[1]%w.Out[0], w.In[1]*w.In[2]*p.LDI
	z0, z1 := w.valid(0, oz)
	s := poolSegment{oy: r % w.Out[1], from: from, to: to, channels: c1 - c0, planes: z1 - z0,
		out: p.Out[(r*w.Out[2]+from)*p.LDO+c0:], ld: p.LDO}
	if p.IncludePad {
		s.planes = w.padded(0, oz, p.PadAfter[0])
	}
	if n := p.room(); n > 0 {
		s.work = p.Work[chunk*n:][:n]
	}
	if z0 >= z1 {
		p.empty(&s, 0, to-from)
		return
	}
	images := p.In[r/(w.Out[0]*w.Out[1])*w.In[0]*plane+c0:]
	out := s.out
	p.plane(&s, images[w.at(0, oz, z0)*plane:])
	if z1-z0 == 1 {
		return
	}
	s.ld = s.channels
	s.out = s.work[len(s.work)-(to-from)*s.ld:]
	op := Add
	if p.Max {
		op = Max
	}
	for z := z0 + 1; z < z1; z++ {
		p.plane(&s, images[w.at(0, oz, z)*plane:])
		if p.LDO == s.ld {
			BinaryVV(op, out[:len(s.out)], out[:len(s.out)], s.out)
			continue
		}
		for x := range to - from {
			BinaryVV(op, out[x*p.LDO:][:s.ld], out[x*p.LDO:][:s.ld], s.out[x*s.ld:][:s.ld])
		}
	}
}

// poolSegment is some outputs of a row.
type poolSegment struct {
	oy, from, to int
	channels     int
	planes       int       // that a sum is divided by
	out          []float32 // from the first output on
	ld           int       // of out
	work         []float32
}

// empty fills n outputs of s from number i on that have no taps.
func (p *Pooling) empty(s *poolSegment, i, n int) {
	none := float32(0)
	if p.Max {
		none = -inf32
	}
	for x := range n {
		out := s.out[(i+x)*s.ld:][:s.channels]
		for c := range out {
			out[c] = none
		}
	}
}

// plane pools one plane of the window of s.
func (p *Pooling) plane(s *poolSegment, image []float32) {
	w := &p.Win
	ky0, ky1 := w.valid(1, s.oy)
	irow, icol := 4*max(1, w.Dilation[1])*w.In[2]*p.LDI, 4*max(1, w.Dilation[2])*p.LDI
	ix := 4 * max(1, w.Stride[2]) * p.LDI
	x0, x1 := w.interior(2)
	for x := s.from; x < s.to; {
		out := s.out[(x-s.from)*s.ld:]
		kx0, kx1, pixels := 0, w.Kernel[2], 1
		if x >= x0 && x < x1 {
			if pixels = min(x1, s.to) - x; s.channels > poolRun { // a call walks them once per vector of channels
				pixels = min(pixels, 4)
			}
		} else {
			kx0, kx1 = w.valid(2, x)
		}
		if ky0 >= ky1 || kx0 >= kx1 {
			p.empty(s, x-s.from, 1)
			x++
			continue
		}
		at := (w.at(1, s.oy, ky0)*w.In[2] + w.at(2, x, kx0)) * p.LDI
		f, scale := fast.poolMax, float32(0)
		if !p.Max {
			n := (ky1 - ky0) * (kx1 - kx0)
			if p.IncludePad {
				n = w.padded(1, s.oy, p.PadAfter[1]) * w.padded(2, x, p.PadAfter[2])
			}
			f, scale = fast.poolSum, 1/float32(n*s.planes)
		}
		if p.parts() && (ky1-ky0)*(kx1-kx0) > poolTaps {
			p.sumOfParts(out[:s.channels], s.work[:s.channels], image[at:], ky1-ky0, kx1-kx0, irow, icol, scale)
			x++
			continue
		}
		f(s.channels, ky1-ky0, kx1-kx0, pixels, &image[at], irow, icol, ix, &out[0], 4*s.ld, scale)
		x += pixels
	}
}

// sumOfParts computes one output: rows of the window are summed up in parts of about half of poolTaps.
func (p *Pooling) sumOfParts(out, work, in []float32, rows, cols, irow, icol int, scale float32) {
	per := max(1, poolTaps/2/cols)
	for r := 0; r < rows; r += per {
		to := work
		if r == 0 {
			to = out
		}
		fast.poolSum(len(out), min(per, rows-r), cols, 1, &in[r*irow/4], irow, icol, 0, &to[0], 0, scale)
		if r > 0 {
			BinaryVV(Add, out, out, work)
		}
	}
}

// SumTaps adds up the taps of windows: dst[r*ldd+c] is the sum of src[r*lds+c+y*down+x*across] for y < ys and x < xs,
// in that order. ys and xs are at least 1, and no distance is negative.
func SumTaps(dst []float32, ldd int, src []float32, lds, rows, cols, ys, xs, down, across int) {
	if rows <= 0 || cols <= 0 {
		return
	}
	need("SumTaps", "dst", len(dst), extent(rows, cols, ldd))
	need("SumTaps", "src", len(src), extent(rows, cols, lds)+(ys-1)*down+(xs-1)*across)
	per := rows
	if cols > poolRun {
		per = 4
	}
	for r := 0; r < rows; r += per {
		fast.poolSum(cols, ys, xs, min(per, rows-r), &src[r*lds], 4*down, 4*across, 4*lds, &dst[r*ldd], 4*ldd, 1)
	}
}

// MaxTaps finds the largest of taps: dst[c] is the largest src[c+y*down+x*across] for y < ys and x < xs, NaN if one is
// NaN. ys and xs are at least 1, and no distance is negative.
func MaxTaps(dst, src []float32, ys, xs, down, across int) {
	if len(dst) == 0 {
		return
	}
	need("MaxTaps", "src", len(src), len(dst)+(ys-1)*down+(xs-1)*across)
	fast.poolMax(len(dst), ys, xs, 1, &src[0], 4*down, 4*across, 0, &dst[0], 0, 0)
}

// padded counts the taps of output position o inside the input and its padding.
func (w *Window) padded(dim, o, after int) int {
	n := 0
	for k := range w.Kernel[dim] {
		if i := w.at(dim, o, k); i >= -w.Pad[dim] && i < w.In[dim]+after {
			n++
		}
	}
	return n
}
