package kernel

// DepthwiseInt8 is one depthwise convolution of NHWC codes: every
// channel has its own filter. In Go:
//
//	for each output position o and channel c {
//		s := Init[c]
//		for each tap k { s += int32(In[position(o, k)*LDI+c]) * int32(filter[c][k]) }
//		Out[o*LDO+c] = requantized s
//	}
//
// with Border[c] for what lies outside the input. Sums are int32. The slices of
// Post are in the order of [DepthwiseLane] and as long as [DepthwiseLanes] says.
// Out must not overlap anything else. The first dimension of Win must be 1
// everywhere.
type DepthwiseInt8 struct {
	C, Batch int
	Win      Window
	In       []uint8
	LDI      int    // codes from one position to the next, at least C
	W        []int8 // from PackDepthwiseInt8
	Border   []uint8
	Out      []uint8
	LDO      int // at least C
	Post     Requantize

	rows rowChunks
}

// DepthwiseLanes is the number of lanes that c channels take: whole blocks of 64.
func DepthwiseLanes(c int) int { return roundUp(c, IntCols) }

// DepthwiseLane is the lane of channel c. Within blocks of 64 channels the order
// is that in which bytes of four vectors are interleaved.
func DepthwiseLane(c int) int {
	r := c % IntCols
	return c - r + r/4%4*16 + r/16*4 + r%4
}

// PackedDepthwiseInt8Len is the number of bytes of packed depthwise filters.
func PackedDepthwiseInt8Len(taps, c int) int { return roundUp(taps, IntDepth) * DepthwiseLanes(c) }

// PackDepthwiseInt8 packs filters [c][rows][cols] of the given kernel, its last
// two sizes, as [block of 64][taps/4][lane][4]: of 3x3 the taps of a column
// together, else in order.
func PackDepthwiseInt8(dst, w []int8, kernel [3]int, c int) {
	taps := kernel[1] * kernel[2]
	need("PackDepthwiseInt8", "dst", len(dst), PackedDepthwiseInt8Len(taps, c))
	need("PackDepthwiseInt8", "w", len(w), taps*c)
	clear(dst)
	for ch := range c {
		block := dst[ch/IntCols*ceilDiv(taps, IntDepth)*IntCols*IntDepth:]
		for t := range taps {
			s := depthwiseSlot(&kernel, t)
			block[(s/IntDepth*IntCols+DepthwiseLane(ch)%IntCols)*IntDepth+s%IntDepth] = w[ch*taps+t]
		}
	}
}

// depthwiseSlot is where a tap is among the groups of four.
func depthwiseSlot(kernel *[3]int, t int) int {
	if kernel[1] == 3 && kernel[2] == 3 {
		return t%3*IntDepth + t/3
	}
	return t
}

// BorderLen is how many codes Border has: a row of the input.
func (d *DepthwiseInt8) BorderLen() int { return extent(max(1, d.Win.In[2]), d.C, d.LDI) }

// Plan checks the operands, divides the rows of the output into chunks for the
// given number of threads and returns their number.
func (d *DepthwiseInt8) Plan(threads int) int {
	checkWindow("DepthwiseInt8", &d.Win, d.Batch, d.C, len(d.In), d.LDI, len(d.Out), d.LDO)
	need("DepthwiseInt8", "W", len(d.W), PackedDepthwiseInt8Len(d.Win.Taps(), d.C))
	need("DepthwiseInt8", "Border", len(d.Border), d.BorderLen())
	d.Post.check("DepthwiseInt8", DepthwiseLanes(d.C))
	if d.C == 0 {
		return 0
	}
	d.rows = divideRows(d.Batch*d.Win.Out[1], d.Win.Taps()*d.C*d.Win.Out[2]/2, threads)
	return d.rows.chunks
}

// Chunk computes chunk i of the division that Plan made.
func (d *DepthwiseInt8) Chunk(i int) {
	for r, end := d.rows.bounds(i); r < end; r++ {
		d.row(r)
	}
}

// Run computes the whole convolution on the calling goroutine.
func (d *DepthwiseInt8) Run() {
	for i := range d.Plan(1) {
		d.Chunk(i)
	}
}

// depthwiseTaps is the number of taps that assembly takes.
const depthwiseTaps = 64

// FastDepthwiseInt8 reports whether windows of that many taps are computed by
// assembly.
func FastDepthwiseInt8(taps int) bool { return fast.dotWindow != nil && taps <= depthwiseTaps }

// row computes one row of the output.
func (d *DepthwiseInt8) row(r int) {
	w := &d.Win
	oy := r % w.Out[1]
	out := d.Out[r*w.Out[2]*d.LDO:]
	image := r / w.Out[1] * w.In[1] * w.In[2] * d.LDI
	x0, x1 := w.interior(2)
	assembly := FastDepthwiseInt8(w.Taps())
	var taps [depthwiseTaps]*uint8
	for x := 0; x < w.Out[2]; {
		n := 1
		if x >= x0 && x < x1 {
			n = x1 - x
		}
		if !assembly {
			d.pixelGeneric(out[x*d.LDO:][:d.C], image, oy, x)
			x++
			continue
		}
		groups, all := ceilDiv(w.Taps(), IntDepth), w.Taps()
		first := &d.tap(image, w.at(1, oy, 0), w.at(2, x, 0))[0]
		for t := range groups * IntDepth { // some are multiplied by zero
			taps[t] = first
		}
		for t := range all {
			taps[depthwiseSlot(&w.Kernel, t)] = &d.tap(image, w.at(1, oy, t/w.Kernel[2]), w.at(2, x, t%w.Kernel[2]))[0]
		}
		d.call(&taps[0], groups, n, &out[x*d.LDO])
		x += n
	}
}

// tap is what a window reads at a position, from that position on.
func (d *DepthwiseInt8) tap(image, y, x int) []uint8 {
	w := &d.Win
	switch {
	case x < 0 || x >= w.In[2]:
		return d.Border
	case y < 0 || y >= w.In[1]:
		return d.Border[x*d.LDI:]
	}
	return d.In[image+(y*w.In[2]+x)*d.LDI:]
}

func (d *DepthwiseInt8) call(taps **uint8, groups, n int, out *uint8) {
	var init *int32
	var add *float32
	q := &d.Post
	if q.Init != nil {
		init = &q.Init[0]
	}
	if q.Add != nil {
		add = &q.Add[0]
	}
	w := &d.Win
	if n > 2 && w.Kernel[1] == 3 && w.Kernel[2] == 3 && max(1, w.Stride[2]) == 1 && max(1, w.Dilation[2]) == 1 &&
		init != nil {
		fast.dotSlide(d.C, n, taps, d.LDI, &d.W[0], out, d.LDO, init, &q.Scale[0], add, q.Zero, int(q.Lo), int(q.Hi))
		return
	}
	fast.dotWindow(d.C, n, groups, taps, max(1, w.Stride[2])*d.LDI, &d.W[0], out, d.LDO, init, &q.Scale[0], add, q.Zero,
		int(q.Lo), int(q.Hi))
}

// pixelGeneric computes one position.
func (d *DepthwiseInt8) pixelGeneric(out []uint8, image, oy, x int) {
	w := &d.Win
	taps, words := w.Taps(), ceilDiv(w.Taps(), IntDepth)
	for at := 0; at < d.C; at += IntCols {
		n := min(IntCols, d.C-at)
		var acc [IntCols]int32
		if d.Post.Init != nil {
			copy(acc[:], d.Post.Init[at:])
		}
		block := d.W[at/IntCols*words*IntCols*IntDepth:]
		for t := range taps {
			in := d.tap(image, w.at(1, oy, t/w.Kernel[2]), w.at(2, x, t%w.Kernel[2]))[at:][:n]
			slot := depthwiseSlot(&w.Kernel, t)
			f := block[slot/IntDepth*IntCols*IntDepth+slot%IntDepth:]
			for c, v := range in {
				lane := c/4%4*16 + c/16*4 + c%4
				acc[lane] += int32(v) * int32(f[lane*IntDepth])
			}
		}
		for c := range n {
			lane := DepthwiseLane(c)
			out[at+c] = d.Post.code(acc[lane], at+lane)
		}
	}
}
