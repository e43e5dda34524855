package kernel

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

const guardByte = 0xa5

// guardedBytes is n bytes with guard bytes on both sides.
type guardedBytes struct {
	all, data []byte
	off       int
}

func newGuardedBytes(n, off int) *guardedBytes {
	all := Aligned[byte](n + 256 + off)
	for i := range all {
		all[i] = guardByte
	}
	return &guardedBytes{all, all[64+off:][:n:n], 64 + off}
}

func (g *guardedBytes) check(t *testing.T, what string) {
	t.Helper()
	for i, v := range g.all {
		if (i < g.off || i >= g.off+len(g.data)) && v != guardByte {
			t.Fatalf("%s: wrote %d at %d, outside [0, %d)", what, v, i-g.off, len(g.data))
		}
	}
}

// extreme are bytes of which half are the largest and smallest.
func extreme(r *rand.Rand, b []byte) []byte {
	ends := []byte{0, 255, 128, 127}
	for i := range b {
		if b[i] = byte(r.Uint32()); r.IntN(2) == 0 {
			b[i] = ends[r.IntN(len(ends))]
		}
	}
	return b
}

func signedSlice(r *rand.Rand, n int) []int8 {
	s := make([]int8, n)
	for i, v := range extreme(r, make([]byte, n)) {
		s[i] = int8(v)
	}
	return s
}

// bellSlice returns filters as networks have them: normally distributed, the largest at four deviations.
func bellSlice(r *rand.Rand, n int) []int8 {
	s := make([]int8, n)
	for i := range s {
		s[i] = int8(max(-127, min(127, math.Round(r.NormFloat64()*127/4))))
	}
	return s
}

// limitSlice returns filters whose sums of two, and of four, often are the largest that 16 bits hold with codes of 255.
func limitSlice(r *rand.Rand, n int) []int8 {
	s := make([]int8, n)
	for i := range s {
		s[i] = []int8{64, 64, 32, 0, -32, -64, -64, -128}[r.IntN(8)]
	}
	return s
}

// filterSlice returns filters of one of three kinds.
func filterSlice(r *rand.Rand, n, kind int) []int8 {
	return []func(*rand.Rand, int) []int8{signedSlice, bellSlice, limitSlice}[kind%3](r, n)
}

// The numbers behind a panel, which kernels of arm64 read, are 128 times the sum of a column, and 1 for a filter of
// -128.
func TestPackInt8_sums(t *testing.T) {
	restore, err := Select(Generic)
	require.NoError(t, err)
	defer restore()
	for i := range 40 {
		r := rng(uint64(i))
		taps, k, n := 1+i%3, 1+r.IntN(1500), 1+r.IntN(100)
		f := filterSlice(r, n*taps*k, i)
		if i == 0 {
			for x := range f {
				f[x] = -128
			}
		}
		d := make([]int8, PackedInt8Len(taps, k, n))
		PackInt8(d, f, taps, k, n, taps*k)
		for j := range n {
			panel := j / IntCols * IntCols
			w := intWidth(n, panel)
			tail := d[panelBytes(taps, k, panel)+(taps*ceilDiv(k, IntDepth)*w+j-panel)*IntDepth:]
			want := int32(0)
			for _, v := range f[j*taps*k:][:taps*k] {
				want += 128 * int32(v)
			}
			if slices.Contains(f[j*taps*k:][:taps*k], -128) {
				want++
			}
			got := int32(uint8(tail[0])) | int32(uint8(tail[1]))<<8 | int32(uint8(tail[2]))<<16 | int32(tail[3])<<24
			require.Equal(t, want, got, "taps %d k %d n %d column %d", taps, k, n, j)
		}
	}
}

// postOf makes a requantization under which many results are in range and some on either side.
func postOf(r *rand.Rand, n int, i int) Requantize {
	q := Requantize{Zero: []int{0, 128, 255, 3}[i%4], Hi: 255}
	for range n {
		q.Scale = append(q.Scale, (0.2+r.Float32())*0.01)
		q.Init = append(q.Init, int32(r.IntN(20001)-10000))
		q.Add = append(q.Add, r.Float32()*20-10)
	}
	if i%4 == 3 { // two parts of a factor, halves up
		for j, v := range q.Scale {
			q.Scale[j] = float32(math.Round(float64(v)*(1<<15)) / (1 << 15))
			q.Low = append(q.Low, (r.Float32()-0.5)/(1<<15))
			q.Add[j] = 0.5
		}
		if i%8 == 3 {
			q.Init = nil
		}
		return q
	}
	switch i % 3 {
	case 1:
		q.Add = nil
		q.Lo, q.Hi = 10, 200
	case 2:
		q.Init = nil
	}
	return q
}

// sumInt8 is a sum by its definition.
func sumInt8(g *GemmInt8, b []int8, i, j int) int32 {
	s := int32(0)
	if g.Post.Init != nil {
		s = g.Post.Init[j]
	}
	if g.Factors != nil {
		s += factorOf(g.Factors[j]) * rowOf(g.Rows[i])
	}
	for t := range g.taps() {
		x := g.Zero
		if g.Ind == nil {
			x = g.A[i*g.LDA:]
		} else if o := g.Ind.tab[t*g.Ind.rows+i]; o >= 0 {
			x = g.A[o:]
		}
		for k := range g.K {
			s += int32(x[k]) * int32(b[(j*g.taps()+t)*g.K+k])
		}
	}
	return s
}

// factorOf and rowOf decode FactorPair and RowPair.
func factorOf(v int32) int32 {
	if !fast.rowPairs {
		return v
	}
	return int32(int16(v))
}

func rowOf(v int32) int32 {
	if !fast.rowPairs {
		return v
	}
	return v>>16*128 + int32(int16(v))
}

// withFactors gives every other product terms of its rows and columns.
func withFactors(r *rand.Rand, g *GemmInt8, i int) {
	if i/2%2 == 0 {
		return
	}
	g.Factors, g.Rows = make([]int32, g.N), make([]int32, g.M)
	for j := range g.Factors {
		g.Factors[j] = FactorPair(r.IntN(511) - 255)
	}
	for j := range g.Rows {
		g.Rows[j] = RowPair(int32(r.IntN(1<<14)) - 1<<13)
	}
}

// wantInt8 is the product by its definition.
func wantInt8(g *GemmInt8, b []int8, i, j int) uint8 {
	return wantCode(&g.Post, sumInt8(g, b, i, j), j)
}

// wantCode is the code of a sum by its definition.
func wantCode(q *Requantize, sum int32, j int) uint8 {
	v := float32(sum) * q.Scale[j]
	if q.Add != nil {
		v += q.Add[j]
	}
	r := math.RoundToEven(float64(v))
	if q.Low != nil {
		exact := func(v float32) *big.Float { return big.NewFloat(float64(v)).SetPrec(200) }
		f := new(big.Float).Add(exact(q.Scale[j]), exact(q.Low[j]))
		f.Add(f.Mul(f, exact(float32(sum))), exact(q.Add[j]))
		whole, _ := f.Int(nil)
		if f.Sign() < 0 && !f.IsInt() {
			whole.Sub(whole, big.NewInt(1))
		}
		r = float64(whole.Int64())
	}
	return uint8(min(max(r+float64(q.Zero), float64(q.Lo)), float64(q.Hi)))
}

func TestGemmInt8_equalsDefinition(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		i := 0
		for _, m := range []int{1, 2, 3, 5, 6, 7, 8, 13, 25} {
			for _, n := range []int{1, 7, 8, 15, 16, 17, 31, 32, 40, 48, 63, 64, 65, 100, 130} {
				for _, k := range []int{1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 64} {
					if i++; i%thinning != 0 {
						continue
					}
					r := rng(uint64(i))
					lda, ldc := k+i%3, n+i%2
					g := GemmInt8{M: m, N: n, K: k, LDA: lda, LDC: ldc, Post: postOf(r, n, i)}
					g.A = extreme(r, make([]byte, extent(m, roundUp(k, IntDepth), lda)))
					withFactors(r, &g, i)
					w := filterSlice(r, n*k, i)
					g.B = make([]int8, PackedInt8Len(1, k, n))
					PackInt8(g.B, w, 1, k, n, k)
					c := newGuardedBytes(extent(m, n, ldc), i%5)
					g.C = c.data
					for range g.Plan(1 + i%3) {
					}
					for ch := range g.Plan(1 + i%3) {
						g.Chunk(ch)
					}
					c.check(t, "C")
					sums := newGuarded(m*n, i)
					g.Sums(sums.data, 0, m/2)
					g.Sums(sums.data[m/2*n:], m/2, m)
					sums.check(t, "sums")
					for p, got := range sums.data {
						if want := float32(sumInt8(&g, w, p/n, p%n)); got != want {
							t.Fatalf("m %d n %d k %d case %d: sum %d,%d is %v, want %v", m, n, k, i, p/n, p%n, got, want)
						}
					}
					for p, got := range c.data {
						want := byte(guardByte)
						if p%ldc < n {
							want = wantInt8(&g, w, p/ldc, p%ldc)
						}
						if got != want {
							t.Fatalf("m %d n %d k %d case %d at %d,%d: got %d, want %d", m, n, k, i, p/ldc, p%ldc, got, want)
						}
					}
				}
			}
		}
	})
}

func TestGemmInt8_gathersWindows(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for i, w := range windows2D() {
			if i%thinning != 0 {
				continue
			}
			r := rng(uint64(i))
			k, n := []int{1, 3, 4, 8, 17, 32}[i%6], []int{5, 16, 24, 64, 70}[i%5]
			batch, ld := 1+i%2, k+i%3
			ind, err := NewIndirection(w, batch, ld)
			require.NoError(t, err)
			g := GemmInt8{M: ind.Rows(), N: n, K: k, LDC: n, Ind: ind, Post: postOf(r, n, i),
				Zero: make([]uint8, roundUp(k, IntDepth))}
			for x := range g.Zero {
				g.Zero[x] = 77
			}
			g.A = extreme(r, make([]byte, batch*w.In[1]*w.In[2]*ld+IntDepth))
			withFactors(r, &g, i)
			f := filterSlice(r, n*w.Taps()*k, i)
			g.B = make([]int8, PackedInt8Len(w.Taps(), k, n))
			PackInt8(g.B, f, w.Taps(), k, n, w.Taps()*k)
			c := newGuardedBytes(g.M*n, i%7)
			g.C = c.data
			g.Run()
			c.check(t, "C")
			for p, got := range c.data {
				if want := wantInt8(&g, f, p/n, p%n); got != want {
					t.Fatalf("window %+v k %d n %d at %d: got %d, want %d", w, k, n, p, got, want)
				}
			}
		}
	})
}

// Codes at half steps, beyond the ends of 16 bits and of the clamp.
func TestRequantize_ends(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		const n = 64
		for _, zero := range []int{-32768, -40, 0, 1, 128, 255, 32767} {
			q := Requantize{Zero: zero, Hi: 255, Init: make([]int32, n), Scale: make([]float32, n)}
			for i, v := range []int32{0, 1, -1, 3, -3, 65535, -65535, 65537, -65537, 1 << 30, -1 << 30, 255, 256, 509, 510, 511,
				513} {
				for j := i; j < n; j += 17 {
					q.Init[j], q.Scale[j] = v, 0.5
				}
			}
			g := GemmInt8{M: 3, N: n, K: 4, LDA: 4, LDC: n, A: make([]uint8, 12), B: make([]int8, PackedInt8Len(1, 4, n)),
				C: make([]uint8, 3*n), Post: q}
			g.Run()
			for p, got := range g.C {
				v := min(max(math.RoundToEven(float64(q.Init[p%n])/2), math.MinInt16), math.MaxInt16)
				require.EqualValues(t, min(max(v+float64(zero), 0), 255), got, "zero %d, sum %d", zero, q.Init[p%n])
			}
		}
	})
}

func TestGemmInt8_panicsOnShortOperands(t *testing.T) {
	whole := func() GemmInt8 {
		return GemmInt8{M: 2, N: 3, K: 5, LDA: 5, LDC: 3, A: make([]uint8, 13), B: make([]int8, PackedInt8Len(1, 5, 3)),
			C:    make([]uint8, 6),
			Post: Requantize{Scale: make([]float32, 3), Hi: 255}}
	}
	g := whole()
	g.Run()
	for i, spoil := range []func(g *GemmInt8){
		func(g *GemmInt8) { g.A = g.A[:12] }, func(g *GemmInt8) { g.B = g.B[1:] }, func(g *GemmInt8) { g.C = g.C[1:] },
		func(g *GemmInt8) { g.Post.Scale = g.Post.Scale[1:] }, func(g *GemmInt8) { g.Post.Init = make([]int32, 2) },
		func(g *GemmInt8) { g.Post.Add = make([]float32, 2) }, func(g *GemmInt8) { g.Post.Zero = 1 << 15 },
		func(g *GemmInt8) { g.LDC = 2 }, func(g *GemmInt8) { g.M = -1 },
	} {
		g := whole()
		spoil(&g)
		require.Panics(t, func() { g.Run() }, "%d", i)
	}
}

func BenchmarkPackInt8(b *testing.B) {
	const k, n = 1024, 1024
	f, dst := bellSlice(rng(1), n*k), []int8(nil)
	for _, isa := range Supported() {
		b.Run(isa.String(), func(b *testing.B) {
			restore, err := Select(isa)
			require.NoError(b, err)
			defer restore()
			dst = make([]int8, PackedInt8Len(1, k, n))
			b.SetBytes(n * k)
			for b.Loop() {
				PackInt8(dst, f, 1, k, n, k)
			}
		})
	}
}

func BenchmarkGemmInt8(b *testing.B) {
	filters := []struct {
		name string
		make func(*rand.Rand, int) []int8
	}{{"bell", bellSlice}, {"even", signedSlice}}
	benchISA(b, func(b *testing.B) {
		for _, f := range filters {
			for _, s := range [][3]int{{1, 1024, 1024}, {64, 1024, 1024}, {1024, 1024, 1024}, {3136, 64, 256}, {784, 512, 128},
				{12544, 16, 96}, {3136, 144, 24}, {49, 960, 160}, {196, 256, 1024}} {
				b.Run(fmt.Sprint(f.name, s), func(b *testing.B) {
					m, k, n := s[0], s[1], s[2]
					r := rng(1)
					g := GemmInt8{M: m, N: n, K: k, LDA: k, LDC: n, A: extreme(r, make([]uint8, m*k)),
						B: make([]int8, PackedInt8Len(1, k, n)), C: make([]uint8, m*n), Post: postOf(r, n, 1)}
					PackInt8(g.B, f.make(r, n*k), 1, k, n, k)
					report(b, 2*float64(m)*float64(n)*float64(k), g.Run)
				})
			}
		}
	})
}
