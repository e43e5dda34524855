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
// with Border[c] for elements outside the input. Sums are int32. The slices of Post are as [InDepthwiseLanes] orders
// them. Out must not overlap anything else. The first dimension of Win must be 1 everywhere.
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
	// Wide says that the numbers of W have 9 bits. [PackDepthwiseInt8] and [InDepthwiseLanes] take it too.
	Wide bool

	rows  rowChunks
	table []*uint8 // per chunk, what the taps of a row point to
}

// BorderLen is how many codes Border has: a row of the input.
func (d *DepthwiseInt8) BorderLen() int { return extent(max(1, d.Win.In[2]), d.C, d.LDI) }

// Plan checks the operands, divides the rows of the output into chunks for the
// given number of threads and returns their number.
func (d *DepthwiseInt8) Plan(threads int) int {
	checkFlatWindow("DepthwiseInt8", &d.Win, d.Batch, d.C, len(d.In), d.LDI, len(d.Out), d.LDO)
	need("DepthwiseInt8", "W", len(d.W), PackedDepthwiseInt8Len(d.taps(), d.C, d.Wide))
	need("DepthwiseInt8", "Border", len(d.Border), d.BorderLen())
	d.Post.check("DepthwiseInt8", DepthwiseLanes(d.taps(), d.C, d.Wide))
	if d.C == 0 {
		return 0
	}
	d.rows = divideRows(d.Batch*d.Win.Out[1], d.taps()*d.C*d.Win.Out[2]/2, threads)
	if n := d.rows.chunks * d.slots(); len(d.table) < n { // a table of a row's own would be an allocation per row
		d.table = make([]*uint8, n)
	}
	return d.rows.chunks
}

// Chunk computes chunk i of the division that Plan made.
func (d *DepthwiseInt8) Chunk(i int) {
	taps := d.table[i*d.slots():][:d.slots()]
	for r, end := d.rows.bounds(i); r < end; r++ {
		d.row(r, taps)
	}
}

// Run computes the whole convolution on the calling goroutine.
func (d *DepthwiseInt8) Run() {
	for i := range d.Plan(1) {
		d.Chunk(i)
	}
}

// slots is the number of taps with those that fill the last group, 0 without assembly.
func (d *DepthwiseInt8) slots() int {
	if !FastDepthwiseInt8(d.taps(), d.C) {
		return 0
	}
	return roundUp(d.taps(), tapGroup)
}

func (d *DepthwiseInt8) taps() int { return d.Win.Taps() }

// row computes one row of the output; taps is overwritten.
func (d *DepthwiseInt8) row(r int, taps []*uint8) {
	w := &d.Win
	oy := r % w.Out[1]
	out := d.Out[r*w.Out[2]*d.LDO:]
	image := r / w.Out[1] * w.In[1] * w.In[2] * d.LDI
	x0, x1 := w.interior(2)
	for x := 0; x < w.Out[2]; {
		n := 1
		if x >= x0 && x < x1 {
			n = x1 - x
		}
		if len(taps) == 0 {
			d.pixelGeneric(out[x*d.LDO:][:d.C], image, oy, x)
			x++
			continue
		}
		first := &d.tap(image, w.at(1, oy, 0), w.at(2, x, 0))[0]
		for t := range taps { // some are multiplied by zero
			taps[t] = first
		}
		for t := range d.taps() {
			taps[depthwiseSlot(&w.Kernel, t)] = &d.tap(image, w.at(1, oy, t/w.Kernel[2]), w.at(2, x, t%w.Kernel[2]))[0]
		}
		d.call(&taps[0], len(taps)/tapGroup, n, &out[x*d.LDO])
		x += n
	}
}

// tap holds the values that a window reads from a position on.
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
	var add, low *float32
	q := &d.Post
	if q.Init != nil {
		init = &q.Init[0]
	}
	if q.Add != nil {
		add = &q.Add[0]
	}
	if q.Low != nil {
		low = &q.Low[0]
	}
	window, slide := fast.dotWindow, fast.dotSlide
	if d.Wide {
		window, slide = fast.wideWindow, fast.wideSlide
	}
	w := &d.Win
	if n > 2 && w.Kernel[1] == 3 && w.Kernel[2] == 3 && max(1, w.Stride[2]) == 1 && max(1, w.Dilation[2]) == 1 &&
		init != nil {
		slide(d.C, n, taps, d.LDI, &d.W[0], out, d.LDO, init, &q.Scale[0], add, low, q.Zero, int(q.Lo),
			int(q.Hi))
		return
	}
	window(d.C, n, groups, taps, max(1, w.Stride[2])*d.LDI, &d.W[0], out, d.LDO, init, &q.Scale[0], add, low,
		q.Zero, int(q.Lo), int(q.Hi))
}

// pixelGeneric computes one position.
func (d *DepthwiseInt8) pixelGeneric(out []uint8, image, oy, x int) {
	w := &d.Win
	taps := d.taps()
	for c := range d.C {
		sum := int32(0)
		if d.Post.Init != nil {
			sum = d.Post.Init[c]
		}
		for t := range taps {
			f := int32(0)
			if d.Wide {
				f = int32(d.W[2*(c*taps+t)+1])<<8 | int32(uint8(d.W[2*(c*taps+t)]))
			} else {
				f = int32(d.W[c*taps+t])
			}
			sum += int32(d.tap(image, w.at(1, oy, t/w.Kernel[2]), w.at(2, x, t%w.Kernel[2]))[c]) * f
		}
		out[c] = d.Post.code(sum, c)
	}
}
