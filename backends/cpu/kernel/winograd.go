package kernel

import "fmt"

// Winograd is a 3x3 convolution with stride 1 and dilation 1 of NHWC
// input by Winograd's algorithm F(4x4, 3x3): tiles of 6x6 inputs and
// the filters are transformed, multiplied in 36 matrix products, and
// transformed back to tiles of 4x4 outputs. It needs a quarter of the
// multiplications of the direct form. The epilogue is that of [Gemm]. With Depth
// the kernel has several such planes, and so has the input.
//
// Numeric contract: float32; the transforms lose accuracy, to an absolute error
// of about 2^-17 * sqrt(9*C*planes) * max|In| * max|W|. An infinity or NaN in the input
// makes the outputs of its tiles NaN or infinite, not only those it reaches.
//
// Use: PackWinograd for all channels; Plan; then for each phase in order all its chunks, in
// any order and at once. A chunk's worker index must be below the number of
// threads given to Plan and not be in use by another goroutine. Work holds
// WorkLen values, which Plan sets.
type Winograd struct {
	C, N, Batch int
	In          [2]int // height, width
	Out         [2]int
	Pad         [2]int // before the first row and column
	Depth       Planes
	X           []float32
	LDX         int       // values from one input position to the next
	U           []float32 // from PackWinograd
	Y           []float32
	LDY         int
	Bias        []float32 // N values, or nil
	Res         []float32 // like Y, or nil
	LDR         int
	ResAfter    bool
	Act         Act
	Work        []float32
	WorkLen     int

	threads int
	tiles   [2]int // per image
	block   int    // tiles of one chunk, or all of them when shared
	shared  bool   // three phases over one workspace, instead of one phase over many
	phases  [3]int // chunks
}

// Planes is the first of three spatial dimensions. The zero value is a single plane.
type Planes struct{ In, Out, Kernel, Stride, Dilation, Pad int }

const (
	winoFreqs   = 36
	winoScratch = 36 * 16            // tmp of the transforms
	winoBlock   = 1 << 20 / (4 * 36) // values per frequency of a block's workspace
	winoLarge   = 1 << 20            // bytes of filters that leave the second-level cache between two blocks
	winoWide    = 4                  // how many times larger a block is then, to read them less often
	winoMin     = 8                  // smallest block worth a matrix product
	winoLeft    = winoScratch + 16   // per worker besides the edge tile
	winoGroups  = 3                  // chunks per frequency are at least 36/winoGroups
	winoFlops   = 1 << 20            // least work of a chunk
)

// PackedWinogradLen is the number of values of the packed filters.
func PackedWinogradLen(c, n int) int { return winoFreqs * PackedLen(c, n) }

// PackWinograd transforms and packs the filters w, row-major [9, c1-c0, n] (taps
// in row order), of the input channels c0 <= i < c1, so that threads can share
// the work. The channels of the planes of a kernel follow one another. dst holds
// PackedWinogradLen(c, n) values for all c channels and must be zero before the
// first call. tmp holds 288 values, private to the caller.
func PackWinograd(dst, w []float32, c, n, c0, c1 int, tmp []float32) {
	step := (c1 - c0) * n // from one tap to the next
	need("PackWinograd", "w", len(w), 9*step)
	need("PackWinograd", "dst", len(dst), PackedWinogradLen(c, n))
	need("PackWinograd", "tmp", len(tmp), 18*16)
	uf := PackedLen(c, n)
	for j := 0; j < n; j += PanelCols {
		pw, cols := panelWidth(n, j), min(PanelCols, n-j)
		for i := c0; i < c1; i++ {
			fast.winoFilter(cols, &w[(i-c0)*n+j], 4*step, &dst[c*j+i*pw], 4*uf, &tmp[0])
		}
	}
}

// Plan checks the operands but Work, divides the work for the given number of
// threads, sets WorkLen and returns the number of phases.
func (w *Winograd) Plan(threads int) (phases int) {
	if w.Depth == (Planes{}) {
		w.Depth = Planes{In: 1, Out: 1, Kernel: 1, Stride: 1, Dilation: 1}
	}
	w.check()
	w.threads = max(1, threads)
	w.tiles = [2]int{ceilDiv(w.Out[0], 4), ceilDiv(w.Out[1], 4)}
	total := w.total()
	w.phases = [3]int{}
	if total == 0 || w.N == 0 {
		w.WorkLen = 0
		return 0
	}
	private := w.threads * (winoLeft + winoFreqs*w.C)
	most := winoBlock / max(1, w.inputs()+w.N)
	if w.large() {
		most *= winoWide
	}
	most = max(winoMin, most&^7)
	blocks := ceilDiv(total, most)
	if w.threads > 1 && blocks < 4*w.threads {
		blocks = ceilDiv(blocks, w.threads) * w.threads
	}
	w.block = ceilDiv(total, blocks)
	w.shared = w.threads > 1 && (w.block < 3*winoMin || ceilDiv(total, w.block) < w.threads)
	if w.shared {
		w.block = total
		w.phases = [3]int{ceilDiv(total, w.tileGroup()), winoFreqs * ceilDiv(Panels(w.N), w.panelGroup()),
			ceilDiv(total, w.tileGroup())}
		w.WorkLen = private + w.size()
		return 3
	}
	n := ceilDiv(total, roundUp(w.block, winoMin))
	if n > 1 {
		n = min(total, roundUp(n, w.threads)) // as many blocks for each thread
	}
	w.block = ceilDiv(total, n)
	w.phases[0] = n
	w.WorkLen = private + w.threads*w.size()
	return 1
}

// total is the number of tiles.
func (w *Winograd) total() int { return w.Batch * w.Depth.Out * w.tiles[0] * w.tiles[1] }

// inputs is the number of values that a sum takes of a position of a plane.
func (w *Winograd) inputs() int { return w.C * w.Depth.Kernel }

// large reports whether the filters do not stay in the second-level cache.
func (w *Winograd) large() bool { return 4*PackedWinogradLen(w.inputs(), w.N) > winoLarge }

// step is the distance between the values of two frequencies of n channels: an odd number of cache lines, so that those
// of one tile do not compete for the same places of the first-level cache.
func (w *Winograd) step(n int) int { return (ceilDiv(w.block*n, 16) | 1) * 16 }

// size is the number of values of a workspace, tiles of inputs and of sums.
func (w *Winograd) size() int { return winoFreqs * (w.step(w.inputs()) + w.step(w.N)) }

// tileGroup and panelGroup are the sizes of chunks of the shared form.
func (w *Winograd) tileGroup() int {
	return max(1, min(ceilDiv(w.block, 4*w.threads), 1<<15/max(1, w.inputs()+w.N)))
}

func (w *Winograd) panelGroup() int {
	return max(1, winoFlops/(2*PanelCols*w.block*max(1, w.inputs())))
}

// Chunks is the number of chunks of a phase.
func (w *Winograd) Chunks(phase int) int { return w.phases[phase] }

// Run computes the whole convolution on the calling goroutine.
func (w *Winograd) Run() {
	for p := range w.Plan(1) {
		for i := range w.Chunks(p) {
			w.Chunk(p, i, 0)
		}
	}
}

// Chunk computes chunk i of a phase.
func (w *Winograd) Chunk(phase, i, worker int) {
	total := w.total()
	private := w.Work[worker*(winoLeft+winoFreqs*w.C):][:winoLeft+winoFreqs*w.C]
	rest := w.Work[w.threads*len(private):]
	size, split := w.size(), winoFreqs*w.step(w.inputs())
	if w.shared {
		v, m := rest[:split], rest[split:size]
		switch step := w.tileGroup(); phase {
		case 0:
			w.transform(i*step, min(total, (i+1)*step), 0, v, private)
		case 1:
			pg := w.panelGroup()
			p := i / winoFreqs * pg
			w.product(i%winoFreqs, total, p, min(Panels(w.N), p+pg), v, m)
		case 2:
			w.outputs(i*step, min(total, (i+1)*step), 0, m, private)
		}
		return
	}
	rest = rest[worker*size:][:size]
	v, m := rest[:split], rest[split:]
	t0, t1 := i*total/w.phases[0], (i+1)*total/w.phases[0]
	w.transform(t0, t1, t0, v, private)
	for f := range winoFreqs {
		w.product(f, t1-t0, 0, Panels(w.N), v, m)
	}
	w.outputs(t0, t1, t0, m, private)
}

// place is the plane of the output, and the first row and column there, of a tile.
func (w *Winograd) place(t int) (plane, y, x int) {
	per := w.tiles[0] * w.tiles[1]
	return t / per, t % per / w.tiles[1] * 4, t % w.tiles[1] * 4
}

// transform transforms the inputs of tiles t0 <= t < t1 into rows t-base of v [36][block][inputs].
func (w *Winograd) transform(t0, t1, base int, v, private []float32) {
	if w.C == 0 {
		return
	}
	d, freq := &w.Depth, w.step(w.inputs())
	for t := t0; t < t1; t++ {
		plane, y, x := w.place(t)
		first := plane%d.Out*d.Stride - d.Pad
		for k := range d.Kernel {
			at := (t-base)*w.inputs() + k*w.C
			if z := first + k*d.Dilation; z >= 0 && z < d.In {
				w.tile(plane/d.Out*d.In+z, y-w.Pad[0], x-w.Pad[1], v[at:], 4*freq, private)
				continue
			}
			for f := range winoFreqs {
				clear(v[f*freq+at:][:w.C])
			}
		}
	}
}

// tile transforms the inputs from row y and column x of a plane on, frequencies of bytes apart.
func (w *Winograd) tile(plane, y, x int, out []float32, of int, private []float32) {
	tmp, edge := private[:winoScratch], private[winoLeft:]
	image := w.X[plane*w.In[0]*w.In[1]*w.LDX:]
	if y >= 0 && x >= 0 && y+6 <= w.In[0] && x+6 <= w.In[1] {
		fast.winoInput(w.C, &image[(y*w.In[1]+x)*w.LDX], 4*w.In[1]*w.LDX, 4*w.LDX, &out[0], of, &tmp[0])
		return
	}
	for i := range 6 {
		row := edge[i*6*w.C:][:6*w.C]
		if y+i < 0 || y+i >= w.In[0] {
			clear(row)
			continue
		}
		for j := range 6 {
			d := row[j*w.C:][:w.C]
			if x+j < 0 || x+j >= w.In[1] {
				clear(d)
			} else {
				copy(d, image[((y+i)*w.In[1]+x+j)*w.LDX:])
			}
		}
	}
	fast.winoInput(w.C, &edge[0], 4*6*w.C, 4*w.C, &out[0], of, &tmp[0])
}

// product multiplies frequency f of the first rows tiles for panels p0 <= p < p1.
func (w *Winograd) product(f, rows, p0, p1 int, v, m []float32) {
	k := w.inputs()
	ul := PackedLen(k, w.N)
	g := Gemm{
		M: rows, N: w.N, K: k, LDA: k, LDC: w.N,
		A: v[f*w.step(k):], B: w.U[f*ul:][:ul], C: m[f*w.step(w.N):],
	}
	if f+1 < winoFreqs && w.large() && !w.shared {
		g.next = w.U[(f+1)*ul:][:ul]
	}
	g.Block(0, rows, p0, p1)
}

// outputs transforms rows t-base of m [36][block][N] into tiles t0 <= t < t1 of Y.
func (w *Winograd) outputs(t0, t1, base int, m, private []float32) {
	lo, hi, pass := w.Act.clamp()
	tmp := private[:winoScratch]
	var bias *float32
	if w.Bias != nil {
		bias = &w.Bias[0]
	}
	after := 0
	if w.ResAfter {
		after = 1
	}
	for t := t0; t < t1; t++ {
		plane, y, x := w.place(t)
		ny, nx := min(4, w.Out[0]-y), min(4, w.Out[1]-x)
		first := (plane*w.Out[0]+y)*w.Out[1] + x
		var res *float32
		if w.Res != nil && !(pass && w.ResAfter) {
			res = &w.Res[first*w.LDR]
		}
		fast.winoOutput(w.N, &m[(t-base)*w.N], 4*w.step(w.N), &w.Y[first*w.LDY], 4*w.Out[1]*w.LDY, 4*w.LDY,
			bias, res, 4*w.Out[1]*w.LDR, 4*w.LDR, lo, hi, after, ny, nx, &tmp[0])
		if pass {
			w.activate(first, ny, nx)
		}
	}
}

// activate applies an activation that is no clamp to one tile.
func (w *Winograd) activate(first, ny, nx int) {
	cols := w.N
	if w.LDY == cols && (w.Res == nil || w.LDR == cols) { // a row of the tile is one run
		nx, cols = 1, nx*cols
	}
	for y := range ny {
		for x := range nx {
			p := first + y*w.Out[1] + x
			o := w.Y[p*w.LDY:][:cols]
			Unary(w.Act.Op, o, o, w.Act.Alpha, w.Act.Beta)
			if w.Res != nil && w.ResAfter {
				BinaryVV(Add, o, o, w.Res[p*w.LDR:][:cols])
			}
		}
	}
}

func (w *Winograd) check() {
	d := &w.Depth
	least := min(w.C, w.N, w.Batch, w.In[0], w.In[1], w.Out[0], w.Out[1], d.In, d.Out, d.Kernel-1, d.Stride, d.Dilation)
	if least < 0 || w.LDX < w.C || w.LDY < w.N || w.Res != nil && w.LDR < w.N {
		panic(fmt.Sprintf("kernel: Winograd: bad sizes C=%d N=%d batch=%d in=%v out=%v planes=%+v LDX=%d LDY=%d LDR=%d",
			w.C, w.N, w.Batch, w.In, w.Out, *d, w.LDX, w.LDY, w.LDR))
	}
	positions := w.Batch * d.Out * w.Out[0] * w.Out[1]
	need("Winograd", "X", len(w.X), extent(w.Batch*d.In*w.In[0]*w.In[1], w.C, w.LDX))
	need("Winograd", "U", len(w.U), PackedWinogradLen(w.inputs(), w.N))
	need("Winograd", "Y", len(w.Y), extent(positions, w.N, w.LDY))
	if w.Bias != nil {
		need("Winograd", "Bias", len(w.Bias), w.N)
	}
	if w.Res != nil {
		need("Winograd", "Res", len(w.Res), extent(positions, w.N, w.LDR))
	}
}
