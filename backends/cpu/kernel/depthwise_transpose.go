package kernel

// DepthwiseTranspose is a transposed convolution of NHWC input in which every channel has its own filter. It is a
// [ConvTranspose] for each channel. Each phase is a depthwise convolution whose outputs are a stride apart.
type DepthwiseTranspose struct {
	C, Batch         int
	In, Out, Kernel  [3]int
	Stride, Dilation [3]int // at least 1
	Pad              [3]int // before the first plane, row and column
	X                []float32
	LDX              int
	W                []float32 // from PackDepthwiseTranspose
	Y                []float32
	LDY              int
	Bias             []float32 // C values, or nil
	Act              Act
	Work             []float32 // of WorkLen values

	phases  []Depthwise
	taps    [][]int // of each phase, in the order of its window; -1: none
	chunks  []int   // before each phase, and in all
	room    int     // values of scratch memory of a thread, in any phase
	workers int
}

// Phases fixes the geometry: it must be called once before PackDepthwiseTranspose and Plan.
func (c *DepthwiseTranspose) Phases() {
	t := ConvTranspose{In: c.In, Out: c.Out, Kernel: c.Kernel, Stride: c.Stride, Dilation: c.Dilation, Pad: c.Pad}
	c.phases, c.taps = nil, nil
	behind, down, across := t.reaching(0), t.reaching(1), t.reaching(2)
	for z0, kzs := range behind {
		for y0, kys := range down {
			for x0, kxs := range across {
				c.addPhase(&t, [3]int{z0, y0, x0}, [3][]int{kzs, kys, kxs})
			}
		}
	}
}

// addPhase adds the phase of the outputs from first on, which the given taps of each dimension reach. Neighbouring ones
// reach inputs in falling order.
func (c *DepthwiseTranspose) addPhase(t *ConvTranspose, first [3]int, reached [3][]int) {
	p := Depthwise{Size: c.Out, Step: c.Stride}
	w := &p.Win
	w.In = c.In
	taps := []int{0}
	for d, ks := range reached {
		w.Out[d], w.Kernel[d], w.Stride[d], w.Dilation[d] = ceilDiv(c.Out[d]-first[d], c.Stride[d]), len(ks), 1, 1
		if len(ks) == 0 { // one that reaches no input
			w.Kernel[d], w.Pad[d], ks = 1, w.Out[d]+1, []int{-1}
		} else if w.Pad[d] = -t.source(d, first[d], ks[len(ks)-1]); len(ks) > 1 {
			w.Dilation[d] = t.source(d, first[d], ks[0]) - t.source(d, first[d], ks[1])
		}
		var all []int
		for _, tap := range taps {
			for i := len(ks) - 1; i >= 0; i-- {
				if tap < 0 || ks[i] < 0 {
					all = append(all, -1)
				} else {
					all = append(all, tap*c.Kernel[d]+ks[i])
				}
			}
		}
		taps = all
	}
	c.phases, c.taps = append(c.phases, p), append(c.taps, taps)
}

// PackedLen is the number of values that PackDepthwiseTranspose writes.
func (c *DepthwiseTranspose) PackedLen() int {
	n := 0
	for _, taps := range c.taps {
		n += len(taps) * c.C
	}
	return n
}

// PackDepthwiseTranspose packs filters w, row-major [kernel positions][C], for every phase.
func (c *DepthwiseTranspose) PackDepthwiseTranspose(dst, w []float32) {
	need("PackDepthwiseTranspose", "dst", len(dst), c.PackedLen())
	need("PackDepthwiseTranspose", "w", len(w), volume(c.Kernel)*c.C)
	for _, taps := range c.taps {
		for _, k := range taps {
			if d := dst[:c.C]; k < 0 {
				clear(d)
			} else {
				copy(d, w[k*c.C:])
			}
			dst = dst[c.C:]
		}
	}
}

// Plan checks the operands, divides the work into chunks for the given number of threads and returns their number.
func (c *DepthwiseTranspose) Plan(threads int) int {
	need("DepthwiseTranspose", "W", len(c.W), c.PackedLen())
	c.chunks = append(c.chunks[:0], 0)
	c.room, c.workers = 0, max(1, threads)
	w, y, n := c.W, c.Y, 0
	for i := range c.phases {
		p := &c.phases[i]
		p.C, p.Batch, p.In, p.LDI, p.LDO, p.Bias, p.Act = c.C, c.Batch, c.X, c.LDX, c.LDY, c.Bias, c.Act
		first := c.first(i)
		p.W, p.Out = w, y[min(len(y), ((first[0]*c.Out[1]+first[1])*c.Out[2]+first[2])*c.LDY):]
		w = w[len(c.taps[i])*c.C:]
		n += p.Plan(threads)
		c.room = max(c.room, p.WorkLen()/c.workers)
		c.chunks = append(c.chunks, n)
	}
	return n
}

// first is the first output of a phase.
func (c *DepthwiseTranspose) first(phase int) [3]int {
	var n [3]int
	for d := range n {
		n[d] = min(c.Stride[d], c.Out[d])
	}
	return places(phase, n)
}

// WorkLen is how many values of scratch memory the chunks of Plan need.
func (c *DepthwiseTranspose) WorkLen() int { return c.workers * c.room }

// Chunk computes chunk i of the division that Plan made; worker is as that of [Depthwise].
func (c *DepthwiseTranspose) Chunk(i, worker int) {
	for k := range c.phases {
		if i < c.chunks[k+1] {
			p := c.phases[k]
			p.Work = c.Work[worker*c.room:][:c.room] // phases differ in the room that they need
			p.Chunk(i-c.chunks[k], 0)
			return
		}
	}
}
