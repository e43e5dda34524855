package kernel

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gemmCase is one product with everything the oracle needs.
type gemmCase struct {
	m, n, k               int
	padA, padC, padR, off int
	bias, res, after      bool
	act                   Act
}

// oracle is the product in float64 and, per element, the sum of magnitudes that
// bounds rounding.
func (c gemmCase) oracle(a func(i, k int) float32, b func(k, j int) float32, bias, res []float32, ldr, i, j int) (v,
	mag float64) {
	for k := range c.k {
		p := float64(a(i, k)) * float64(b(k, j))
		v += p
		mag += math.Abs(p)
	}
	if bias != nil {
		v += float64(bias[j])
		mag += math.Abs(float64(bias[j]))
	}
	add := 0.0
	if res != nil {
		add = float64(res[i*ldr+j])
		mag += math.Abs(add)
	}
	if !c.after {
		v += add
	}
	out := newGuarded(1, 0).data
	switch c.act.Op {
	case Identity:
	case Relu:
		v = max(v, 0)
	case Relu6:
		v = min(max(v, 0), 6)
	case Clamp:
		v = min(max(v, float64(c.act.Alpha)), float64(c.act.Beta))
	default:
		unaryGeneric[c.act.Op](&out[0], &[]float32{float32(v)}[0], 1, c.act.Alpha, c.act.Beta)
		v, mag = float64(out[0]), mag+1
	}
	if c.after {
		v += add
	}
	return v, mag
}

func (c gemmCase) run(t *testing.T, seed uint64) {
	t.Helper()
	r := rng(seed)
	lda, ldc, ldr := c.k+c.padA, c.n+c.padC, c.n+c.padR
	a := newGuarded(extent(c.m, c.k, lda), c.off)
	fillRand(r, a.data)
	b := fillRand(r, make([]float32, c.k*c.n))
	pb := newGuarded(PackedLen(c.k, c.n), c.off+1)
	PackB(pb.data, b, c.k, c.n, c.n)
	out := newGuarded(extent(c.m, c.n, ldc), c.off+2)
	g := Gemm{M: c.m, N: c.n, K: c.k, A: a.data, LDA: lda, B: pb.data, C: out.data, LDC: ldc, ResAfter: c.after,
		Act: c.act}
	if c.bias {
		g.Bias = fillRand(r, newGuarded(c.n, c.off+3).data)
	}
	if c.res {
		g.Res, g.LDR = fillRand(r, newGuarded(extent(c.m, c.n, ldr), c.off+5).data), ldr
	}
	g.Run()
	out.check(t, "C")
	a.check(t, "A")
	pb.check(t, "B")
	if c.n == 0 {
		return
	}
	step := 1
	if c.m*c.n > 2000 {
		step = thinning
	}
	for i := 0; i < c.m; i += step {
		for j := range ldc {
			if i == c.m-1 && j >= c.n {
				break
			}
			got := out.data[i*ldc+j]
			if j >= c.n {
				require.Equal(t, uint32(guardBits), math.Float32bits(got), "padding of C at %d,%d of %+v", i, j, c)
				continue
			}
			want, mag := c.oracle(func(i, k int) float32 { return a.data[i*lda+k] },
				func(k, j int) float32 { return b[k*c.n+j] }, g.Bias, g.Res, ldr, i, j)
			if d := math.Abs(float64(got) - want); !(d <= 1e-7*float64(c.k+4)*(mag+1e-3)) {
				t.Fatalf("%+v at %d,%d: got %v want %v", c, i, j, got, want)
			}
		}
	}
}

func TestGemm_edges(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		seed := uint64(0)
		for _, m := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 15, 16, 17, 25} {
			for _, n := range []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 47, 48, 49, 63, 64, 65, 80} {
				for _, k := range []int{0, 1, 2, 3, 4, 5, 7, 8, 17} {
					seed++
					if seed%thinning != 0 {
						continue
					}
					gemmCase{
						m: m, n: n, k: k, padA: int(seed % 3), padC: int(seed % 4), padR: int(seed % 5), off: int(seed % 16),
						bias: seed%2 == 0, res: seed%3 == 0, after: seed%6 == 0, act: []Act{{}, {Op: Relu}, {Op: Relu6},
							{Op: Clamp, Alpha: -0.5, Beta: 0.25}}[seed%4],
					}.run(t, seed)
				}
			}
		}
	})
}

func TestGemm_largeAndActivations(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for i, c := range []gemmCase{
			{m: 131, n: 100, k: 77, bias: true, res: true, act: Act{Op: Relu}},
			{m: 300, n: 33, k: 260, bias: true},
			{m: 3, n: 200, k: 517, bias: true},
			{m: 9, n: 40, k: 1601, bias: true, res: true, act: Act{Op: Relu}, padC: 3},
			{m: 60, n: 72, k: 1537, bias: true, res: true, after: true, act: Act{Op: Relu6}, padR: 2},
			{m: 2, n: 33, k: 2051, bias: true, res: true, after: true, act: Act{Op: Sigmoid}},
			{m: 70, n: 40, k: 64, bias: true, act: Act{Op: SiLU}},
			{m: 70, n: 40, k: 64, bias: true, res: true, act: Act{Op: Tanh}},
			{m: 70, n: 72, k: 64, bias: true, res: true, after: true, act: Act{Op: HardSwish}, padC: 5},
		} {
			c.run(t, uint64(i))
		}
	})
}

// Products of several spans, by the fastest kernels alone: spans do not depend on the instruction set.
func TestGemm_deep(t *testing.T) {
	for i, c := range []gemmCase{
		{m: 2, n: 5, k: 300_077, bias: true, res: true, act: Act{Op: Relu}, padC: 1},
		{m: 1, n: 130, k: 200_005, bias: true, res: true, after: true, act: Act{Op: Sigmoid}},
	} {
		c.run(t, uint64(i))
	}
}

// A chunk is where a run can be stopped: its work is bounded at every shape, and the spans compute all of the depth.
func TestGemm_chunksAreBounded(t *testing.T) {
	for _, s := range [][3]int{
		{1, 1, 1 << 30}, {5, 3, 1 << 24}, {24, 1000, 1 << 20}, {4096, 4096, 1 << 16}, {1 << 20, 16, 3}, {300, 300, 300},
	} {
		g := Gemm{M: s[0], N: s[1], K: s[2], LDA: s[2], LDC: s[1]}
		for _, threads := range []int{1, 4} {
			chunks := g.divide(threads)
			parts, step := g.parts()
			most := 0.0
			for i := range min(chunks, 1000) {
				r0, r1, p0, p1 := g.bounds(i)
				most = max(most, 2*float64(r1-r0)*float64(p1-p0)*PanelCols*float64(min(s[2], g.spanParts*step)))
			}
			assert.LessOrEqual(t, most, 1.3*spanFlops, "%v, %d threads", s, threads)
			assert.GreaterOrEqual(t, g.Spans()*g.spanParts, parts)
			assert.Less(t, (g.Spans()-1)*g.spanParts, parts)
		}
	}
}

func TestGemm_everyDivisionIntoChunks(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, s := range [][3]int{{1, 1000, 64}, {64, 64, 64}, {500, 40, 30}, {49, 512, 100}, {1, 1, 1}} {
			m, n, k := s[0], s[1], s[2]
			a, b := randSlice(1, m*k), randSlice(2, k*n)
			pb := make([]float32, PackedLen(k, n))
			PackB(pb, b, k, n, n)
			want, got := make([]float32, m*n), make([]float32, m*n)
			g := Gemm{M: m, N: n, K: k, A: a, LDA: k, B: pb, C: want, LDC: n}
			g.Run()
			for threads := 1; threads <= 16; threads *= 4 {
				g.C = got
				clear(got)
				chunks := g.Plan(threads)
				for i := chunks - 1; i >= 0; i-- {
					g.Chunk(i)
				}
				for i := range want {
					if !(math.Abs(float64(got[i]-want[i])) <= 1e-5*float64(k)) {
						t.Fatalf("threads %d, chunks %d: got %v, want %v", threads, chunks, got[i], want[i])
					}
				}
			}
		}
	})
}

func TestGemm_specialValues(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		nan := float32(math.NaN())
		const n = 40
		pb := make([]float32, PackedLen(1, n))
		b := make([]float32, n)
		for j := range b {
			b[j] = 1
		}
		PackB(pb, b, 1, n, n)
		a := []float32{nan, inf32, -inf32, 1e-40, -1e-40, 7, 0}
		for _, x := range []struct {
			act  Act
			want []float32
		}{
			{Act{Op: Relu6}, []float32{nan, 6, 0, 1e-40, 0, 6, 0}},
			{Act{Op: Relu}, []float32{nan, inf32, 0, 1e-40, 0, 7, 0}},
			{Act{}, []float32{nan, inf32, -inf32, 1e-40, -1e-40, 7, 0}},
			{Act{Op: Clamp, Alpha: -inf32, Beta: 5}, []float32{nan, 5, -inf32, 1e-40, -1e-40, 5, 0}},
		} {
			c := make([]float32, len(a)*n)
			(&Gemm{M: len(a), N: n, K: 1, A: a, LDA: 1, B: pb, C: c, LDC: n, Act: x.act}).Run()
			for i, want := range x.want {
				for j := range n {
					assert.True(t, same(want, c[i*n+j], true), "%+v: row %d column %d: want %v, got %v", x.act, i, j, want, c[i*n+j])
				}
			}
		}
	})
}

func TestGemm_residualIsOutput(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		const m, n, k = 19, 37, 11
		a, b, c := randSlice(1, m*k), randSlice(2, k*n), randSlice(3, m*n)
		pb := make([]float32, PackedLen(k, n))
		PackB(pb, b, k, n, n)
		res := append([]float32(nil), c...)
		want := make([]float32, m*n)
		(&Gemm{M: m, N: n, K: k, A: a, LDA: k, B: pb, C: want, LDC: n, Res: res, LDR: n}).Run()
		(&Gemm{M: m, N: n, K: k, A: a, LDA: k, B: pb, C: c, LDC: n, Res: c, LDR: n}).Run()
		assert.Equal(t, want, c)
	})
}

func TestGemm_shortOperandsPanic(t *testing.T) {
	good := func() *Gemm {
		return &Gemm{M: 4, N: 8, K: 3, A: make([]float32, 12), LDA: 3, B: make([]float32, PackedLen(3, 8)),
			C: make([]float32, 32), LDC: 8}
	}
	good().Run()
	for name, spoil := range map[string]func(*Gemm){
		"A":        func(g *Gemm) { g.A = g.A[:11] },
		"B":        func(g *Gemm) { g.B = g.B[:47] },
		"C":        func(g *Gemm) { g.C = g.C[:31] },
		"Bias":     func(g *Gemm) { g.Bias = make([]float32, 7) },
		"Res":      func(g *Gemm) { g.Res, g.LDR = make([]float32, 31), 8 },
		"stride":   func(g *Gemm) { g.LDC = 7 },
		"negative": func(g *Gemm) { g.M = -1 },
	} {
		g := good()
		spoil(g)
		assert.Panics(t, g.Run, name)
	}
}

func TestPackBT_equalsPackB(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, s := range [][2]int{{1, 1}, {3, 5}, {8, 8}, {17, 33}, {64, 48}, {9, 16}, {130, 65}, {0, 4}} {
			k, n := s[0], s[1]
			b := randSlice(7, k*n)
			bt := make([]float32, k*n)
			for i := range k {
				for j := range n {
					bt[j*k+i] = b[i*n+j]
				}
			}
			want, got := newGuarded(PackedLen(k, n), 0), newGuarded(PackedLen(k, n), 3)
			PackB(want.data, b, k, n, n)
			PackBT(got.data, bt, k, n, k)
			got.check(t, "packed")
			assert.Equal(t, want.data, got.data, "k %d n %d", k, n)
		}
	})
}

// convOracle is a plain convolution of one NHWC image batch.
func convOracle(in []float32, batch, cin, ld int, w Window, f func(tap, ci, co int) float32, co, n, oz, oy, ox int) (v,
	mag float64) {
	tap := 0
	for kz := range w.Kernel[0] {
		for ky := range w.Kernel[1] {
			for kx := range w.Kernel[2] {
				z, y, x := w.at(0, oz, kz), w.at(1, oy, ky), w.at(2, ox, kx)
				if z >= 0 && z < w.In[0] && y >= 0 && y < w.In[1] && x >= 0 && x < w.In[2] {
					o := (((n*w.In[0]+z)*w.In[1]+y)*w.In[2] + x) * ld
					for c := range cin {
						p := float64(in[o+c]) * float64(f(tap, c, co))
						v += p
						mag += math.Abs(p)
					}
				}
				tap++
			}
		}
	}
	return v, mag
}

func TestGemm_indirectConvolution(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for i, c := range []struct {
			w              Window
			batch, ci, co  int
			extraLD, extra int
		}{
			{window2D([2]int{5, 6}, [2]int{3, 3}, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1}, [2]int{5, 6}), 1, 5, 19, 0, 0},
			{window2D([2]int{9, 7}, [2]int{3, 3}, [2]int{2, 2}, [2]int{1, 1}, [2]int{1, 1}, [2]int{5, 4}), 2, 4, 33, 3, 2},
			{window2D([2]int{11, 8}, [2]int{5, 2}, [2]int{1, 2}, [2]int{2, 3}, [2]int{2, 0}, [2]int{7, 3}), 1, 1, 8, 0, 0},
			{window2D([2]int{4, 4}, [2]int{1, 1}, [2]int{2, 2}, [2]int{1, 1}, [2]int{0, 0}, [2]int{2, 2}), 3, 17, 40, 0, 1},
			{window2D([2]int{6, 6}, [2]int{3, 3}, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1}, [2]int{6, 6}), 1, 180, 40, 0, 0},
			{Window{In: [3]int{4, 3, 5}, Kernel: [3]int{2, 3, 2}, Stride: [3]int{1, 1, 2}, Dilation: [3]int{1, 1, 1},
				Pad: [3]int{1, 1, 0}, Out: [3]int{4, 3, 2}}, 2, 3, 24, 1, 0},
		} {
			ld := c.ci + c.extraLD
			in := randSlice(uint64(i), c.batch*c.w.In[0]*c.w.In[1]*c.w.In[2]*ld)
			taps := c.w.Taps()
			wt := randSlice(uint64(i+50), taps*c.ci*c.co)
			pb := make([]float32, PackedLen(taps*c.ci, c.co))
			PackB(pb, wt, taps*c.ci, c.co, c.co)
			ind, err := NewIndirection(c.w, c.batch, ld)
			require.NoError(t, err)
			bias := randSlice(9, c.co)
			m, ldc := c.batch*c.w.Outputs(), c.co+c.extra
			out := newGuarded(extent(m, c.co, ldc), i)
			g := Gemm{M: m, N: c.co, K: c.ci, A: in, B: pb, C: out.data, LDC: ldc, Bias: bias, Ind: ind,
				Zero: make([]float32, c.ci)}
			g.Run()
			out.check(t, "C")
			row := 0
			for n := range c.batch {
				for oz := range c.w.Out[0] {
					for oy := range c.w.Out[1] {
						for ox := range c.w.Out[2] {
							for co := range c.co {
								want, mag := convOracle(in, c.batch, c.ci, ld, c.w,
									func(tap, ci, co int) float32 { return wt[(tap*c.ci+ci)*c.co+co] }, co, n, oz, oy, ox)
								got := float64(out.data[row*ldc+co])
								require.InDelta(t, want+float64(bias[co]), got, 1e-6*(mag+1), "case %d row %d channel %d", i, row, co)
							}
							row++
						}
					}
				}
			}
		}
	})
}

func TestNewIndirection_refusesHugeOffsets(t *testing.T) {
	w := window2D([2]int{1 << 16, 1 << 16}, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1}, [2]int{0, 0}, [2]int{1, 1})
	_, err := NewIndirection(w, 1, 1)
	assert.ErrorContains(t, err, "31 bits")
}

// report publishes the best rate of f as GFLOP/s and as a share of the best
// multiply-add rate. Both are measured by turns, so that they share clock and
// load, in processor time of this thread.
func report(b *testing.B, flops float64, f func()) {
	b.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f()
	sample := func(n int, f func()) time.Duration {
		t := cpuTime()
		for range n {
			f()
		}
		return max(1, cpuTime()-t)
	}
	// Samples of 100 microseconds and more, because reading the clock takes some.
	reps := 1 + int(100*time.Microsecond/sample(1, f))
	const steps = 1 << 14
	rate, peak, perStep := 0.0, 0.0, 0
	for b.Loop() {
		for start := time.Now(); time.Since(start) < 400*time.Millisecond; {
			d := sample(1, func() { perStep = fast.peak(steps) })
			peak = max(peak, float64(perStep)*steps/d.Seconds())
			for range 5 {
				d = sample(reps, f)
				rate = max(rate, flops*float64(reps)/d.Seconds())
				if d > 2*time.Millisecond {
					break
				}
			}
		}
	}
	b.ReportMetric(rate*1e-9, "GFLOP/s")
	b.ReportMetric(100*rate/peak, "%peak")
	b.ReportMetric(flops/rate*1e6, "µs-min")
}

// benchISA runs f for each level but the generic one.
func benchISA(b *testing.B, f func(b *testing.B)) {
	for _, isa := range Supported() {
		if isa == Generic {
			continue
		}
		b.Run(isa.String(), func(b *testing.B) {
			restore, err := Select(isa)
			require.NoError(b, err)
			defer restore()
			f(b)
		})
	}
}

func BenchmarkGemm(b *testing.B) {
	benchISA(b, func(b *testing.B) {
		for _, s := range [][3]int{
			{1024, 1024, 1024}, {512, 512, 512}, {64, 1024, 1024}, {1024, 1024, 4096},
			{1, 1024, 1024}, {4, 1024, 1024}, {1, 1024, 4096}, {1, 128, 128},
			{3136, 64, 64}, {3136, 64, 256}, {784, 512, 128}, {196, 1024, 256}, {49, 512, 2048}, {12544, 16, 32},
			{3136, 144, 24}, {128, 768, 3072},
		} {
			m, n, k := s[0], s[1], s[2]
			b.Run(fmt.Sprintf("%dx%dx%d", m, n, k), func(b *testing.B) {
				a, w, c := Aligned[float32](m*k), randSlice(1, k*n), Aligned[float32](m*n)
				fillRand(rng(2), a)
				pb := Aligned[float32](PackedLen(k, n))
				PackB(pb, w, k, n, n)
				g := Gemm{M: m, N: n, K: k, A: a, LDA: k, B: pb, C: c, LDC: n, Bias: make([]float32, n), Act: Act{Op: Relu}}
				report(b, 2*float64(m)*float64(n)*float64(k), g.Run)
			})
		}
	})
}

func BenchmarkPack(b *testing.B) {
	const k, n = 4608, 512
	w, dst := randSlice(1, k*n), Aligned[float32](PackedLen(k, n))
	b.Run("PackBT", func(b *testing.B) {
		b.SetBytes(4 * k * n)
		for b.Loop() {
			PackBT(dst, w, k, n, k)
		}
	})
	b.Run("PackB", func(b *testing.B) {
		b.SetBytes(4 * k * n)
		for b.Loop() {
			PackB(dst, w, k, n, n)
		}
	})
	b.Run("PackWinograd", func(b *testing.B) {
		u, tmp := Aligned[float32](PackedWinogradLen(k/9, n)), make([]float32, 18*16)
		b.SetBytes(4 * k * n)
		for b.Loop() {
			PackWinograd(u, w, k/9, n, 0, k/9, tmp)
		}
	})
}
