package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSmallConv_againstDirect(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for i, s := range []struct {
			c, n, batch int
			w           Window
		}{
			{3, 32, 1, window2D([2]int{20, 33}, [2]int{3, 3}, [2]int{2, 2}, [2]int{1, 1}, [2]int{1, 1}, [2]int{10, 17})},
			{3, 40, 2, window2D([2]int{15, 16}, [2]int{7, 7}, [2]int{2, 2}, [2]int{1, 1}, [2]int{3, 3}, [2]int{8, 8})},
			{1, 6, 1, window2D([2]int{28, 28}, [2]int{5, 5}, [2]int{1, 1}, [2]int{1, 1}, [2]int{2, 2}, [2]int{28, 28})},
			{4, 17, 1, window2D([2]int{9, 5}, [2]int{6, 6}, [2]int{2, 2}, [2]int{1, 1}, [2]int{2, 2}, [2]int{4, 2})},
			{2, 9, 1, window2D([2]int{9, 5}, [2]int{3, 1}, [2]int{1, 3}, [2]int{2, 1}, [2]int{0, 0}, [2]int{5, 2})},
			{3, 8, 1, window2D([2]int{1, 2}, [2]int{3, 3}, [2]int{1, 1}, [2]int{1, 1}, [2]int{4, 4}, [2]int{7, 8})},
		} {
			for mode := range 4 {
				planar, threads := mode&1 != 0, 1+mode
				ldx, ldy := s.c+mode, s.n+mode
				x := randSlice(uint64(i), extent(s.batch*s.w.In[1]*s.w.In[2], s.c, ldx))
				given := x
				if planar {
					given = make([]float32, s.batch*s.c*s.w.In[1]*s.w.In[2])
					for j := range given {
						area := s.w.In[1] * s.w.In[2]
						given[j] = x[(j/area/s.c*area+j%area)*ldx+j/area%s.c]
					}
				}
				k := s.w.Taps() * s.c
				wt := randSlice(uint64(i+3), k*s.n)
				pb := make([]float32, PackedLen(k, s.n))
				PackB(pb, wt, k, s.n, s.n)
				y := newGuarded(extent(s.batch*s.w.Outputs(), s.n, ldy), i)
				f := SmallConv{C: s.c, N: s.n, Batch: s.batch, Win: s.w, X: given, LDX: ldx, Planar: planar, B: pb, Y: y.data,
					LDY: ldy, Bias: randSlice(5, s.n), Act: Act{Op: Relu}}
				chunks := f.Plan(threads)
				work := newGuarded(f.WorkLen, 0)
				f.Work = work.data
				for j := chunks - 1; j >= 0; j-- {
					f.Chunk(j, j%threads)
				}
				y.check(t, "Y")
				work.check(t, "Work")
				for p := 0; p < s.batch*s.w.Outputs(); p += thinning {
					for o := range s.n {
						per := s.w.Outputs()
						v, mag := convOracle(x, s.batch, s.c, ldx, s.w, func(tap, ci, co int) float32 { return wt[(tap*s.c+ci)*s.n+co] },
							o, p/per, 0, p%per/s.w.Out[2], p%s.w.Out[2])
						require.InDelta(t, max(0, v+float64(f.Bias[o])), y.data[p*ldy+o], 1e-6*(mag+1),
							"case %d mode %d position %d channel %d", i, mode, p, o)
					}
				}
			}
		}
	})
}

func TestConvTranspose_againstScatter(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for i, s := range []struct {
			c, n, batch                            int
			in, kernel, stride, dilation, pad, out [3]int
		}{
			{5, 19, 1, [3]int{1, 4, 5}, [3]int{1, 2, 2}, [3]int{1, 2, 2}, [3]int{1, 1, 1}, [3]int{0, 0, 0}, [3]int{1, 8, 10}},
			{8, 33, 2, [3]int{1, 3, 4}, [3]int{1, 4, 4}, [3]int{1, 2, 2}, [3]int{1, 1, 1}, [3]int{0, 1, 1}, [3]int{1, 6, 8}},
			{3, 7, 1, [3]int{1, 5, 3}, [3]int{1, 3, 3}, [3]int{1, 1, 1}, [3]int{1, 2, 1}, [3]int{0, 1, 1}, [3]int{1, 7, 3}},
			{4, 4, 1, [3]int{1, 3, 3}, [3]int{1, 2, 1}, [3]int{1, 3, 4}, [3]int{1, 1, 1}, [3]int{0, 0, 0}, [3]int{1, 9, 12}},
			{6, 40, 1, [3]int{1, 2, 6}, [3]int{1, 5, 3}, [3]int{1, 2, 3}, [3]int{1, 1, 2}, [3]int{0, 2, 1}, [3]int{1, 4, 18}},
			{5, 19, 2, [3]int{3, 4, 5}, [3]int{2, 2, 2}, [3]int{2, 2, 2}, [3]int{1, 1, 1}, [3]int{0, 0, 0}, [3]int{6, 8, 10}},
			{4, 33, 1, [3]int{2, 3, 3}, [3]int{4, 3, 4}, [3]int{2, 1, 2}, [3]int{1, 2, 1}, [3]int{1, 0, 1}, [3]int{4, 7, 6}},
			{3, 8, 1, [3]int{4, 2, 3}, [3]int{3, 1, 2}, [3]int{1, 3, 2}, [3]int{2, 1, 1}, [3]int{2, 0, 1}, [3]int{4, 6, 5}},
			{2, 5, 1, [3]int{2, 2, 2}, [3]int{2, 5, 1}, [3]int{3, 2, 1}, [3]int{1, 1, 1}, [3]int{0, 2, 0}, [3]int{7, 4, 2}},
		} {
			ldx, ldy := s.c+1, s.n+2
			x := randSlice(uint64(i), extent(s.batch*volume(s.in), s.c, ldx))
			w := randSlice(uint64(i+7), volume(s.kernel)*s.c*s.n)
			y := newGuarded(extent(s.batch*volume(s.out), s.n, ldy), i)
			c := ConvTranspose{
				C: s.c, N: s.n, Batch: s.batch, In: s.in, Out: s.out, Kernel: s.kernel, Stride: s.stride, Dilation: s.dilation,
				Pad: s.pad,
				X:   x, LDX: ldx, Y: y.data, LDY: ldy, Bias: randSlice(3, s.n), Zero: make([]float32, s.c),
			}
			require.NoError(t, c.Phases())
			c.W = make([]float32, c.PackedConvTransposeLen())
			c.PackConvTranspose(c.W, w)
			for j := c.Plan(1+i) - 1; j >= 0; j-- {
				c.Chunk(j)
			}
			y.check(t, "Y")
			want := make([]float64, s.batch*volume(s.out)*s.n)
			for p := range want {
				want[p] = float64(c.Bias[p%s.n])
			}
			for p := range s.batch * volume(s.in) {
				n, from := p/volume(s.in), places(p%volume(s.in), s.in)
				for k := range volume(s.kernel) {
					to, inside := n, true
					for d, tap := range places(k, s.kernel) {
						o := from[d]*s.stride[d] - s.pad[d] + tap*s.dilation[d]
						inside = inside && o >= 0 && o < s.out[d]
						to = to*s.out[d] + o
					}
					if !inside {
						continue
					}
					for ci := range s.c {
						for o := range s.n {
							want[to*s.n+o] += float64(x[p*ldx+ci]) * float64(w[(k*s.c+ci)*s.n+o])
						}
					}
				}
			}
			for p, v := range want {
				require.InDelta(t, v, y.data[p/s.n*ldy+p%s.n], 1e-5, "case %d position %d channel %d", i, p/s.n, p%s.n)
			}
		}
	})
}

// With a filter for each channel, phases are depthwise convolutions.
func TestDepthwiseTranspose_againstScatter(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for i := range 60 {
			r := rng(uint64(i))
			c := DepthwiseTranspose{C: []int{1, 5, 16, 37}[i%4], Batch: 1 + i%2, Act: []Act{{}, {Op: Relu6}, {Op: SiLU}}[i%3]}
			for d := range 3 {
				if d > 0 || i%3 == 0 {
					c.In[d], c.Kernel[d], c.Stride[d], c.Dilation[d] = 1+r.IntN(7), 1+r.IntN(4), 1+r.IntN(4), 1+r.IntN(3)
				} else {
					c.In[d], c.Kernel[d], c.Stride[d], c.Dilation[d] = 1, 1, 1, 1
				}
				c.Pad[d] = r.IntN(c.Kernel[d])
				c.Out[d] = max(1, (c.In[d]-1)*c.Stride[d]-c.Pad[d]+(c.Kernel[d]-1)*c.Dilation[d]+1-r.IntN(3)+r.IntN(3))
			}
			if i%5 == 0 {
				c.Kernel[2], c.Stride[2], c.Dilation[2] = 20, 2, 1 // a phase has ten taps of a row
				c.Out[2] += 24
			}
			c.LDX, c.LDY = c.C+i%3, c.C+i%4
			c.X = randSlice(uint64(i), extent(c.Batch*volume(c.In), c.C, c.LDX))
			w := randSlice(uint64(i+7), volume(c.Kernel)*c.C)
			y := newGuarded(extent(c.Batch*volume(c.Out), c.C, c.LDY), i)
			c.Y, c.Bias = y.data, randSlice(3, c.C)
			c.Phases()
			c.W = make([]float32, c.PackedLen())
			c.PackDepthwiseTranspose(c.W, w)
			threads := 1 + i%3
			chunks := c.Plan(threads)
			work := newGuarded(c.WorkLen(), 0)
			c.Work = work.data
			for j := chunks - 1; j >= 0; j-- {
				for k := range c.Work {
					c.Work[k] = float32(math.Inf(1))
				}
				c.Chunk(j, j%threads)
				for k, v := range c.Work { // phases need different room, and run at once
					require.True(t, k*threads/len(c.Work) == j%threads || math.IsInf(float64(v), 1),
						"%d: thread %d writes into the room of another", i, j%threads)
				}
			}
			y.check(t, "Y")
			work.check(t, "Work")
			want := make([]float64, c.Batch*volume(c.Out)*c.C)
			for p := range want {
				want[p] = float64(c.Bias[p%c.C])
			}
			for p := range c.Batch * volume(c.In) {
				from := places(p%volume(c.In), c.In)
				for k := range volume(c.Kernel) {
					to, inside := p/volume(c.In), true
					for d, tap := range places(k, c.Kernel) {
						o := from[d]*c.Stride[d] - c.Pad[d] + tap*c.Dilation[d]
						inside = inside && o >= 0 && o < c.Out[d]
						to = to*c.Out[d] + o
					}
					for ch := 0; inside && ch < c.C; ch++ {
						want[to*c.C+ch] += float64(c.X[p*c.LDX+ch]) * float64(w[k*c.C+ch])
					}
				}
			}
			for p, v := range want {
				switch c.Act.Op {
				case Relu6:
					v = min(max(v, 0), 6)
				case SiLU:
					v /= 1 + math.Exp(-v)
				}
				got := y.data[p/c.C*c.LDY+p%c.C]
				require.InDelta(t, v, got, 1e-5, "%d: %+v position %d channel %d", i, c.Kernel, p/c.C, p%c.C)
			}
		}
	})
}

// TestConvTranspose_phasesCostTheirTaps: with a stride as large as a large kernel every tap belongs to one phase, and
// is looked at once, not once per phase.
func TestConvTranspose_phasesCostTheirTaps(t *testing.T) {
	const n = 1 << 19
	c := ConvTranspose{C: 1, N: 1, Batch: 1, LDX: 1, In: [3]int{1, 1, 1}, Out: [3]int{1, 1, n},
		Kernel: [3]int{1, 1, n}, Stride: [3]int{1, 1, n}, Dilation: [3]int{1, 1, 1}, Zero: []float32{0}}
	require.NoError(t, c.Phases())
	require.Len(t, c.phases, n)
	for i, p := range c.phases {
		if len(p.taps) != 1 || p.taps[0] != i {
			t.Fatalf("phase %d has taps %v", i, p.taps)
		}
	}
	require.Equal(t, 1.0, c.Waste())
	c.Stride[2] = 1
	require.Equal(t, float64(n), c.Waste())
}

func TestConvTranspose_refusesHugeOffsets(t *testing.T) {
	c := ConvTranspose{C: 1, N: 1, Batch: 1, In: [3]int{1, 1 << 16, 1 << 16}, Out: [3]int{1, 1, 1},
		Kernel: [3]int{1, 1, 1}, Stride: [3]int{1, 1, 1}, Dilation: [3]int{1, 1, 1}, LDX: 1, LDY: 1}
	assert.ErrorContains(t, c.Phases(), "31 bits")
}

func BenchmarkConv(b *testing.B) {
	one := [2]int{1, 1}
	sq := func(n int) [2]int { return [2]int{n, n} }
	benchISA(b, func(b *testing.B) {
		for _, s := range []struct{ h, c, n, k, s int }{{224, 3, 32, 3, 2}, {224, 3, 64, 7, 2}, {640, 3, 32, 6, 2},
			{28, 1, 6, 5, 1}} {
			b.Run(fmt.Sprintf("first_%dx%dx%d_n%d_k%d_s%d", s.h, s.h, s.c, s.n, s.k, s.s), func(b *testing.B) {
				o := (s.h-1)/s.s + 1
				w := window2D(sq(s.h), sq(s.k), sq(s.s), one, sq((s.k-1)/2), sq(o))
				k := s.k * s.k * s.c
				f := SmallConv{C: s.c, N: s.n, Batch: 1, Win: w, X: randSlice(1, s.h*s.h*s.c), Planar: true,
					B: Aligned[float32](PackedLen(k, s.n)), Y: Aligned[float32](o * o * s.n), LDY: s.n, Act: Act{Op: Relu}}
				PackB(f.B, randSlice(2, k*s.n), k, s.n, s.n)
				n := f.Plan(1)
				f.Work = Aligned[float32](f.WorkLen)
				report(b, 2*float64(o*o*k*s.n), func() {
					for i := range n {
						f.Chunk(i, 0)
					}
				})
			})
		}
		for _, s := range []struct{ h, c, n, s int }{{56, 128, 128, 2}, {28, 256, 256, 2}, {14, 512, 512, 2},
			{80, 128, 256, 2}, {14, 256, 256, 1}} {
			b.Run(fmt.Sprintf("3x3_%dx%dx%d_n%d_s%d", s.h, s.h, s.c, s.n, s.s), func(b *testing.B) {
				o := (s.h-1)/s.s + 1
				w := window2D(sq(s.h), sq(3), sq(s.s), one, one, sq(o))
				ind, err := NewIndirection(w, 1, s.c)
				require.NoError(b, err)
				x, y := Aligned[float32](s.h*s.h*s.c), Aligned[float32](o*o*s.n)
				fillRand(rng(1), x)
				g := Gemm{M: o * o, N: s.n, K: s.c, A: x, B: Aligned[float32](PackedLen(9*s.c, s.n)), C: y, LDC: s.n, Ind: ind,
					Zero: make([]float32, s.c), Act: Act{Op: Relu}}
				PackB(g.B, randSlice(2, 9*s.c*s.n), 9*s.c, s.n, s.n)
				report(b, 2*float64(o*o*9*s.c*s.n), g.Run)
			})
		}
	})
}

func TestWindow_ranges(t *testing.T) {
	for _, w := range windows2D() {
		for d := 1; d < 3; d++ {
			lo, hi := w.interior(d)
			for o := range w.Out[d] {
				k0, k1 := w.valid(d, o)
				all := true
				for k := range w.Kernel[d] {
					i := w.at(d, o, k)
					inside := i >= 0 && i < w.In[d]
					all = all && inside
					require.Equal(t, inside, k >= k0 && k < k1, "%+v dimension %d output %d tap %d", w, d, o, k)
				}
				require.Equal(t, all, o >= lo && o < hi, "%+v dimension %d output %d", w, d, o)
			}
		}
	}
}

// window2D is the two-dimensional window; each pair is height, width.
func window2D(in, kernel, stride, dilation, pad, out [2]int) Window {
	p := func(v [2]int, first int) [3]int { return [3]int{first, v[0], v[1]} }
	return Window{In: p(in, 1), Kernel: p(kernel, 1), Stride: p(stride, 1), Dilation: p(dilation, 1), Pad: p(pad, 0),
		Out: p(out, 1)}
}
