package kernel

import "fmt"

// ConvTranspose is a transposed convolution of NHWC input of three spatial
// dimensions: input position i adds X[i]*W[k] to output position
// i*Stride - Pad + k*Dilation. The output is computed phase by phase: positions with the same
// remainder modulo the stride use the same taps, which makes each phase an
// ordinary convolution without wasted products. Semantics and numeric contract
// are those of [Gemm] with an [Indirection], without a residual.
type ConvTranspose struct {
	C, N, Batch      int
	In, Out, Kernel  [3]int
	Stride, Dilation [3]int // at least 1
	Pad              [3]int // before the first plane, row and column
	X                []float32
	LDX              int
	W                []float32 // from PackConvTranspose
	Y                []float32
	LDY              int
	Bias             []float32 // N values, or nil
	Act              Act
	Zero             []float32 // C zeros

	phases    []phase
	rows      []phaseRow
	step      int // rows of a chunk
	panelStep int // panels of a chunk
}

// phase is the output positions first + i*Stride, for i below out.
type phase struct {
	first, out [3]int
	taps       []int // kernel positions that reach it
	pack       []float32
}

// phaseRow is the unit of work: one row of one phase of one image.
type phaseRow struct {
	phase, row int
	ind        Indirection // the row's part of the phase's table
}

// Phases fixes the geometry: it must be called once before PackConvTranspose and
// Plan, and again when sizes change. It fails when offsets do not fit 31 bits.
func (c *ConvTranspose) Phases() error {
	for d := range 3 {
		if c.Stride[d] < 1 || c.Dilation[d] < 1 || c.Kernel[d] < 1 || c.In[d] < 0 || c.Out[d] < 0 {
			panic(fmt.Sprintf("kernel: ConvTranspose: bad sizes in=%v out=%v kernel=%v stride=%v dilation=%v", c.In, c.Out,
				c.Kernel, c.Stride, c.Dilation))
		}
	}
	if float64(c.Batch)*float64(c.In[0])*float64(c.In[1])*float64(c.In[2])*float64(c.LDX) > 1<<31-1 {
		return fmt.Errorf("kernel: transposed convolution: %d inputs of %v positions of %d values do not fit 31 bits", c.Batch,
			c.In, c.LDX)
	}
	c.phases, c.rows = nil, nil
	behind, down, across := c.reaching(0), c.reaching(1), c.reaching(2)
	for z0, kzs := range behind {
		for y0, kys := range down {
			for x0, kxs := range across {
				p := phase{first: [3]int{z0, y0, x0}}
				for d, at := range p.first {
					p.out[d] = ceilDiv(c.Out[d]-at, c.Stride[d])
				}
				for _, kz := range kzs {
					for _, ky := range kys {
						for _, kx := range kxs {
							p.taps = append(p.taps, (kz*c.Kernel[1]+ky)*c.Kernel[2]+kx)
						}
					}
				}
				c.addPhase(p)
			}
		}
	}
	return nil
}

// addPhase adds a phase and its rows.
func (c *ConvTranspose) addPhase(p phase) {
	ind := c.table(&p)
	for r := range c.Batch * p.out[0] * p.out[1] {
		row := phaseRow{len(c.phases), r, ind}
		if len(ind.tab) > 0 {
			row.ind.tab = ind.tab[r*p.out[2]:]
		}
		c.rows = append(c.rows, row)
	}
	c.phases = append(c.phases, p)
}

// reaching lists, for each first output position of a phase in dimension d, the kernel positions that reach it.
func (c *ConvTranspose) reaching(d int) [][]int {
	first := make([][]int, min(c.Stride[d], c.Out[d]))
	for k := range c.Kernel[d] {
		o := (k*c.Dilation[d] - c.Pad[d]) % c.Stride[d]
		if o < 0 {
			o += c.Stride[d]
		}
		if o < len(first) {
			first[o] = append(first[o], k)
		}
	}
	return first
}

// source is the input coordinate that tap k, which reaches output o, adds to it. It may lie outside the input.
func (c *ConvTranspose) source(d, o, k int) int {
	return (o + c.Pad[d] - k*c.Dilation[d]) / c.Stride[d]
}

// Waste is how many products a phase forms for each that the sums have: at the borders taps meet no input, and most do
// where a kernel is much larger than the input.
func (c *ConvTranspose) Waste() float64 {
	waste := 1.0
	for d := range 3 {
		waste *= max(1, float64(c.Out[d])/(float64(c.Stride[d])*float64(max(1, c.In[d]))))
	}
	return waste
}

func (c *ConvTranspose) table(p *phase) Indirection {
	positions := p.out[0] * p.out[1] * p.out[2]
	rows := c.Batch * positions
	ind := Indirection{tab: make([]int32, len(p.taps)*rows), taps: len(p.taps), rows: rows, last: -1, padded: true}
	for t, k := range p.taps {
		tap := places(k, c.Kernel)
		for i := range rows {
			o, inside := i/positions, true
			for d, at := range places(i%positions, p.out) {
				from := c.source(d, p.first[d]+at*c.Stride[d], tap[d])
				inside = inside && from >= 0 && from < c.In[d]
				o = o*c.In[d] + from
			}
			if o *= c.LDX; inside {
				ind.last = max(ind.last, o)
			} else {
				o = -1
			}
			ind.tab[t*rows+i] = int32(o)
		}
	}
	return ind
}

// PackedConvTransposeLen is the number of values that PackConvTranspose writes.
func (c *ConvTranspose) PackedConvTransposeLen() int {
	n := 0
	for i := range c.phases {
		n += PackedLen(len(c.phases[i].taps)*c.C, c.N)
	}
	return n
}

// PackConvTranspose packs filters w, row-major [kernel positions][C][N], for
// every phase.
func (c *ConvTranspose) PackConvTranspose(dst, w []float32) {
	need("PackConvTranspose", "dst", len(dst), c.PackedConvTransposeLen())
	need("PackConvTranspose", "w", len(w), volume(c.Kernel)*c.C*c.N)
	for i := range c.phases {
		p := &c.phases[i]
		k := len(p.taps) * c.C
		rows := make([]float32, 0, k*c.N)
		for _, t := range p.taps {
			rows = append(rows, w[t*c.C*c.N:][:c.C*c.N]...)
		}
		PackB(dst, rows, k, c.N, c.N)
		dst = dst[PackedLen(k, c.N):]
	}
}

// Plan checks the operands, divides the rows of all phases into chunks for the
// given number of threads and returns their number.
func (c *ConvTranspose) Plan(threads int) int {
	if c.LDX < c.C || c.LDY < c.N {
		panic(fmt.Sprintf("kernel: ConvTranspose: stride below row length: C=%d N=%d LDX=%d LDY=%d", c.C, c.N, c.LDX, c.LDY))
	}
	need("ConvTranspose", "X", len(c.X), extent(c.Batch*volume(c.In), c.C, c.LDX))
	need("ConvTranspose", "Y", len(c.Y), extent(c.Batch*volume(c.Out), c.N, c.LDY))
	need("ConvTranspose", "W", len(c.W), c.PackedConvTransposeLen())
	need("ConvTranspose", "Zero", len(c.Zero), c.C)
	if c.Bias != nil {
		need("ConvTranspose", "Bias", len(c.Bias), c.N)
	}
	if c.N == 0 || len(c.rows) == 0 {
		return 0
	}
	w := c.W
	for i := range c.phases {
		n := PackedLen(len(c.phases[i].taps)*c.C, c.N)
		c.phases[i].pack, w = w[:n], w[n:]
	}
	var chunks int
	perRow := 2 * c.C * c.N * volume(c.Kernel) * volume(c.In) * c.Batch / len(c.rows)
	c.step, chunks = splitRows(len(c.rows), perRow, threads)
	panels := Panels(c.N)
	c.panelStep = min(panels, max(1, chunkFlops*panels/max(1, perRow*c.step)))
	return chunks * ceilDiv(panels, c.panelStep)
}

// Chunk computes chunk i of the division that Plan made.
func (c *ConvTranspose) Chunk(i int) {
	panels := Panels(c.N)
	perRows := ceilDiv(panels, c.panelStep)
	at, from := i/perRows*c.step, i%perRows*c.panelStep
	rows := c.rows[at:min(at+c.step, len(c.rows))]
	for i := range rows {
		r := &rows[i]
		p := &c.phases[r.phase]
		y := p.first[1] + r.row%p.out[1]*c.Stride[1]
		z := p.first[0] + r.row/p.out[1]%p.out[0]*c.Stride[0]
		image := r.row / (p.out[0] * p.out[1])
		g := Gemm{
			M: p.out[2], N: c.N, K: c.C, A: c.X, B: p.pack, LDC: c.Stride[2] * c.LDY,
			C:    c.Y[(((image*c.Out[0]+z)*c.Out[1]+y)*c.Out[2]+p.first[2])*c.LDY:],
			Bias: c.Bias, Act: c.Act, Ind: &r.ind, Zero: c.Zero,
		}
		g.Block(0, p.out[2], from, min(from+c.panelStep, panels))
	}
}

// Run computes everything on the calling goroutine.
func (c *ConvTranspose) Run() {
	for i := range c.Plan(1) {
		c.Chunk(i)
	}
}
