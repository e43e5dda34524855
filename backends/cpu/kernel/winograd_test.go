package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// packWinograd packs filters [9, c, n] and checks the bounds of the packed form.
func packWinograd(t testing.TB, w []float32, c, n int) []float32 {
	g := newGuarded(PackedWinogradLen(c, n), 0)
	clear(g.data)
	tmp := make([]float32, 18*16)
	for i := range c {
		PackWinograd(g.data, filterChannels(w, c, n, i, i+1), c, n, i, i+1, tmp)
	}
	if t, ok := t.(*testing.T); ok {
		g.check(t, "packed filters")
	}
	return g.data
}

func TestWinograd_againstDirect(t *testing.T) {
	acts := []Act{{}, {Op: Relu}, {Op: SiLU}}
	eachISA(t, func(t *testing.T) {
		for i, s := range []struct{ batch, h, w, c, n, pad int }{
			{1, 7, 7, 5, 9, 1}, {1, 6, 6, 16, 32, 0}, {2, 9, 13, 19, 33, 1}, {1, 4, 4, 1, 1, 1}, {1, 3, 20, 40, 17, 1},
			{1, 1, 1, 3, 3, 1}, {1, 14, 15, 32, 48, 1}, {1, 8, 8, 8, 8, 0}, {1, 30, 30, 33, 40, 1}, {1, 10, 9, 96, 84, 1},
		} {
			for mode := range 3 {
				if thinning > 1 && mode != i%3 {
					continue
				}
				ldx, ldy, ldr := s.c+mode, s.n+2*mode, s.n+mode
				out := [2]int{s.h + 2*s.pad - 2, s.w + 2*s.pad - 2}
				positions := s.batch * out[0] * out[1]
				x := fillRand(rng(uint64(i)), newGuarded(extent(s.batch*s.h*s.w, s.c, ldx), mode).data)
				wt := randSlice(uint64(i+1), 9*s.c*s.n)
				y := newGuarded(extent(positions, s.n, ldy), mode)
				w := Winograd{
					C: s.c, N: s.n, Batch: s.batch, In: [2]int{s.h, s.w}, Out: out, Pad: [2]int{s.pad, s.pad},
					X: x, LDX: ldx, U: packWinograd(t, wt, s.c, s.n), Y: y.data, LDY: ldy, Act: acts[mode],
				}
				if mode > 0 {
					w.Bias = randSlice(7, s.n)
					w.Res, w.LDR = randSlice(8, extent(positions, s.n, ldr)), ldr
					w.ResAfter = i%2 == 0
				}
				threads := 1 + i%4
				phases := w.Plan(threads)
				work := newGuarded(w.WorkLen, 0)
				w.Work = work.data
				for p := range phases {
					for j := w.Chunks(p) - 1; j >= 0; j-- {
						w.Chunk(p, j, j%threads)
					}
				}
				y.check(t, "Y")
				work.check(t, "Work")
				win := window2D(w.In, [2]int{3, 3}, [2]int{1, 1}, [2]int{1, 1}, w.Pad, out)
				for p := 0; p < positions; p += thinning {
					for o := range s.n {
						per := out[0] * out[1]
						v, mag := convOracle(x, s.batch, s.c, ldx, win, func(tap, ci, co int) float32 { return wt[(tap*s.c+ci)*s.n+co] },
							o, p/per, 0, p%per/out[1], p%out[1])
						r := 0.0
						if mode > 0 {
							v += float64(w.Bias[o])
							r = float64(w.Res[p*ldr+o])
						}
						if !w.ResAfter {
							v += r
						}
						switch w.Act.Op {
						case Relu:
							v = max(v, 0)
						case SiLU:
							v /= 1 + math.Exp(-v)
						}
						if w.ResAfter {
							v += r
						}
						if got := float64(y.data[p*ldy+o]); !(math.Abs(got-v) <= 1e-5*(mag+2)) {
							t.Fatalf("case %d mode %d position %d channel %d: got %v, want %v", i, mode, p, o, got, v)
						}
					}
					for o := s.n; o < ldy && p*ldy+o < len(y.data); o++ {
						require.Equal(t, uint32(guardBits), math.Float32bits(y.data[p*ldy+o]), "padding of Y")
					}
				}
			}
		}
	})
}

// Kernels of several planes, at strides, dilations and paddings of the planes.
func TestWinograd_volumes(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for i, d := range []Planes{
			{In: 4, Out: 4, Kernel: 3, Stride: 1, Dilation: 1, Pad: 1}, {In: 7, Out: 3, Kernel: 2, Stride: 2, Dilation: 3},
			{In: 5, Out: 5, Kernel: 1, Stride: 1, Dilation: 1}, {In: 1, Out: 3, Kernel: 3, Stride: 1, Dilation: 1, Pad: 2},
			{In: 6, Out: 2, Kernel: 1, Stride: 3, Dilation: 1},
		} {
			c, n, batch, in := 5+4*i, 19-3*i, 1+i%2, [3]int{d.In, 6 + i, 9}
			out := [3]int{d.Out, in[1], in[2]}
			x, wt := randSlice(uint64(i), batch*volume(in)*c), randSlice(uint64(i+1), d.Kernel*9*c*n)
			y := newGuarded(batch*volume(out)*n, i)
			rows := make([]float32, 0, len(wt)) // [9, planes*c, n]
			for tap := range 9 {
				for plane := range d.Kernel {
					rows = append(rows, wt[(plane*9+tap)*c*n:][:c*n]...)
				}
			}
			w := Winograd{C: c, N: n, Batch: batch, In: [2]int(in[1:]), Out: [2]int(out[1:]), Pad: [2]int{1, 1}, Depth: d,
				X: x, LDX: c, U: packWinograd(t, rows, d.Kernel*c, n), Y: y.data, LDY: n, Bias: randSlice(7, n)}
			threads := 1 + i%4
			phases := w.Plan(threads)
			work := newGuarded(w.WorkLen, 0)
			w.Work = work.data
			for p := range phases {
				for j := w.Chunks(p) - 1; j >= 0; j-- {
					w.Chunk(p, j, j%threads)
				}
			}
			y.check(t, "Y")
			work.check(t, "Work")
			win := Window{In: in, Out: out, Kernel: [3]int{d.Kernel, 3, 3}, Stride: [3]int{d.Stride, 1, 1},
				Dilation: [3]int{d.Dilation, 1, 1}, Pad: [3]int{d.Pad, 1, 1}}
			for p := range batch * volume(out) {
				at := places(p%volume(out), out)
				for o := range n {
					v, mag := convOracle(x, batch, c, c, win, func(tap, ci, co int) float32 { return wt[(tap*c+ci)*n+co] },
						o, p/volume(out), at[0], at[1], at[2])
					v += float64(w.Bias[o])
					require.InDelta(t, v, y.data[p*n+o], 1e-5*(mag+2), "%+v, position %d, channel %d", d, p, o)
				}
			}
		}
	})
}

func TestWinograd_everyThreadCountGivesTheSame(t *testing.T) {
	for _, s := range [][3]int{{33, 64, 64}, {14, 64, 96}, {7, 64, 128}} {
		h, c, n := s[0], s[1], s[2]
		x, wt := randSlice(1, h*h*c), randSlice(2, 9*c*n)
		w := Winograd{C: c, N: n, Batch: 1, In: [2]int{h, h}, Out: [2]int{h, h}, Pad: [2]int{1, 1}, X: x, LDX: c,
			U: packWinograd(t, wt, c, n), LDY: n}
		var want []float32
		for threads := 1; threads <= 8; threads++ {
			w.Y = make([]float32, h*h*n)
			phases := w.Plan(threads)
			w.Work = make([]float32, w.WorkLen)
			for p := range phases {
				for i := range w.Chunks(p) {
					w.Chunk(p, i, i%threads)
				}
			}
			if want == nil {
				want = w.Y
			}
			for i := range want {
				if got := w.Y[i]; !(math.Abs(float64(got-want[i])) <= 1e-3) {
					t.Fatalf("threads %d: got %v, want %v", threads, got, want[i])
				}
			}
		}
	}
}

func TestDrivers_allocateNothing(t *testing.T) {
	c := 16
	w := Winograd{C: c, N: c, Batch: 1, In: [2]int{12, 12}, Out: [2]int{12, 12}, Pad: [2]int{1, 1}, X: randSlice(1, 144*c),
		LDX: c, U: packWinograd(t, randSlice(2, 9*c*c), c, c), Y: make([]float32, 144*c), LDY: c}
	w.Plan(1)
	w.Work = make([]float32, w.WorkLen)
	assert.Zero(t, testing.AllocsPerRun(10, w.Run))
	g := Gemm{M: 9, N: c, K: c, A: w.X, LDA: c, B: w.U, C: w.Y, LDC: c, Act: Act{Op: SiLU}}
	assert.Zero(t, testing.AllocsPerRun(10, g.Run))
	d := Depthwise{C: c, Batch: 1, Win: window2D(w.In, [2]int{3, 3}, [2]int{1, 1}, [2]int{1, 1}, w.Pad, w.Out), In: w.X,
		LDI: c, W: w.U, Out: w.Y, LDO: c}
	assert.Zero(t, testing.AllocsPerRun(10, d.Run))
	p := Pooling{C: c, Batch: 1, Win: d.Win, In: w.X, LDI: c, Out: w.Y, LDO: c}
	assert.Zero(t, testing.AllocsPerRun(10, p.Run))
	s := SmallConv{C: c, N: c, Batch: 1, Win: d.Win, X: w.X, LDX: c, B: w.U, Y: w.Y, LDY: c, Act: Act{Op: SiLU}}
	s.Run()
	assert.Zero(t, testing.AllocsPerRun(10, func() { s.Chunk(0, 0) }))
	ct := ConvTranspose{C: c, N: c, Batch: 1, In: d.Win.In, Out: d.Win.In, Kernel: d.Win.Kernel, Stride: d.Win.Stride,
		Dilation: d.Win.Dilation, Pad: d.Win.Pad, X: w.X, LDX: c, W: w.U, Y: w.Y, LDY: c, Zero: make([]float32, c)}
	require.NoError(t, ct.Phases())
	assert.Zero(t, testing.AllocsPerRun(10, ct.Run))
	r := Resize{C: c, Batch: 1, In: w.In, Rows: Axis{First: []int32{0, 5}}, Cols: Axis{First: []int32{3}}, X: w.X, LDX: c,
		Y: w.Y, LDY: c}
	work := make([]float32, ReduceColsWork(ReduceSum, 4, 16))
	assert.Zero(t, testing.AllocsPerRun(10, r.Run))
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		LayerNormRows(w.Y, w.X, w.X, nil, w.X, w.X, 4, 16, 1e-5)
		SoftmaxRows(w.Y, w.X, 4, 16, 1)
		ReduceCols(ReduceSum, w.Y, w.X, 4, 16, work)
		Transpose(w.Y, 16, w.X, 16, 16, 16)
	}))
}

func BenchmarkWinograd(b *testing.B) {
	benchISA(b, func(b *testing.B) {
		for _, s := range [][2]int{{56, 64}, {28, 128}, {14, 256}, {7, 512}, {80, 64}, {40, 128}} {
			h, c := s[0], s[1]
			b.Run(fmt.Sprintf("%dx%dx%d", h, h, c), func(b *testing.B) {
				x, wt := Aligned[float32](h*h*c), randSlice(2, 9*c*c)
				fillRand(rng(1), x)
				w := Winograd{C: c, N: c, Batch: 1, In: [2]int{h, h}, Out: [2]int{h, h}, Pad: [2]int{1, 1}, X: x, LDX: c,
					U: packWinograd(b, wt, c, c), Y: Aligned[float32](h * h * c), LDY: c, Act: Act{Op: Relu}}
				w.Plan(1)
				w.Work = Aligned[float32](w.WorkLen)
				report(b, 18*float64(h*h*c*c), w.Run)
			})
		}
	})
}

// filterChannels returns the input channels from c0 to c1 of a filter [9, c, n].
func filterChannels(w []float32, c, n, c0, c1 int) []float32 {
	part := make([]float32, 0, 9*(c1-c0)*n)
	for tap := range 9 {
		part = append(part, w[(tap*c+c0)*n:(tap*c+c1)*n]...)
	}
	return part
}
