package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// halfValue is binary16 read by its definition.
func halfValue(h uint16) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	e, f := int(h>>10&31), float64(h&0x3ff)
	switch e {
	case 0:
		return sign * math.Ldexp(f, -24)
	case 31:
		if f != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1+f/1024, e-15)
}

func TestHalf_everyValueThereAndBack(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		src := make([]uint16, 1<<16)
		for i := range src {
			src[i] = uint16(i)
		}
		wide, back := make([]float32, len(src)), make([]uint16, len(src))
		HalfToFloat(wide, src)
		FloatToHalf(back, wide)
		for i, f := range wide {
			want := halfValue(uint16(i))
			require.True(t, same(float32(want), f, false), "%04x: want %v, got %v", i, want, f)
			if f == f {
				require.Equal(t, uint16(i), back[i])
			} else {
				require.True(t, math.IsNaN(halfValue(back[i])))
			}
		}
	})
}

// nearestHalf searches both neighbours of x among all values.
func nearestHalf(x float64) uint16 {
	lo := uint16(0)
	for s := uint16(1) << 14; s > 0; s >>= 1 {
		if c := lo + s; c <= 0x7c00 && halfValue(c) <= x {
			lo = c
		}
	}
	if lo == 0x7c00 {
		return lo
	}
	next := halfValue(lo + 1)
	if lo+1 == 0x7c00 {
		next = 65536 // where the binade would go on
	}
	down, up := x-halfValue(lo), next-x
	if up < down || up == down && lo&1 == 1 {
		return lo + 1
	}
	return lo
}

func TestFloatToHalf_rounding(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		var src []float32
		for b := uint64(0x32000000); b < 0x48000000; b += 40961 {
			src = append(src, math.Float32frombits(uint32(b)))
		}
		for h := uint16(0); h < 0x7c00; h += 37 { // exact ties
			src = append(src, float32((halfValue(h)+halfValue(h+1))/2))
		}
		src = append(src, 65504, 65519.996, 65520, 65536, inf32, 1e-40, 0)
		dst := make([]uint16, len(src))
		FloatToHalf(dst, src)
		for i, x := range src {
			require.Equal(t, nearestHalf(float64(x)), dst[i], "%v", x)
		}
		for i := range src {
			src[i] = -src[i]
		}
		neg := make([]uint16, len(src))
		FloatToHalf(neg, src)
		for i := range neg {
			require.Equal(t, dst[i]|0x8000, neg[i])
		}
	})
}

func TestHalf_lengths(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range append(lengths(), convertBlock+19) {
			src := randSlice(uint64(n), n)
			half := make([]uint16, n+2)
			half[0], half[n+1] = 0xaaaa, 0xbbbb
			FloatToHalf(half[1:n+1:n+1], src)
			require.Equal(t, []uint16{0xaaaa, 0xbbbb}, []uint16{half[0], half[n+1]}, "guards")
			back := newGuarded(n, n)
			HalfToFloat(back.data, half[1:n+1])
			back.check(t, "HalfToFloat")
			for i := range src {
				require.InDelta(t, src[i], back.data[i], 5e-4)
			}
		}
	})
}

func TestQuantize_againstDefinition(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range append(lengths(), convertBlock+19) {
			if thinning > 1 && n%5 != 0 {
				continue
			}
			src := withSpecials(uint64(n), n)
			for _, q := range []struct {
				scale float32
				zero  int32
			}{{0.05, 128}, {1, 0}, {0.3, 255}, {1e-3, 7}} {
				u, s := make([]uint8, n), make([]int8, n)
				for i, x := range src {
					v := math.RoundToEven(float64(x/q.scale)) + float64(q.zero)
					if math.IsNaN(v) {
						v = 0
					}
					v = min(max(v, 0), 255)
					u[i], s[i] = uint8(v), int8(v-128)
				}
				f := newGuarded(n, n)
				DequantizeU8(f.data, u[:n], q.scale, q.zero)
				f.check(t, "DequantizeU8")
				for i := range n {
					if got, want := f.data[i], float32(int32(u[i])-q.zero)*q.scale; got != want {
						t.Fatalf("DequantizeU8 of %d, scale %v zero %d: got %v, want %v", u[i], q.scale, q.zero, got, want)
					}
				}
				RoundTrip(f.data, src, q.scale, float32(-q.zero), float32(255-q.zero), q.scale/3)
				f.check(t, "RoundTrip")
				for i, x := range src {
					want := float32(int32(u[i])-q.zero) * (q.scale / 3)
					if x != x {
						want = 0
					}
					if got := f.data[i]; math.Float32bits(got) != math.Float32bits(want) {
						t.Fatalf("RoundTrip of %v, scale %v zero %d: got %v, want %v", x, q.scale, q.zero, got, want)
					}
				}
				DequantizeS8(f.data, s[:n], q.scale, q.zero-128)
				f.check(t, "DequantizeS8")
				for i := range n {
					if got, want := f.data[i], float32(int32(s[i])-q.zero+128)*q.scale; got != want {
						t.Fatalf("DequantizeS8 of %d, scale %v zero %d: got %v, want %v", s[i], q.scale, q.zero, got, want)
					}
				}
			}
		}
	})
}

func TestInterleaveThree_everyLength(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range lengths() {
			src, dst := randSlice(1, 3*n), newGuarded(3*n, n)
			Interleave3(dst.data, src[:n:n], src[n:2*n:2*n], src[2*n:])
			dst.check(t, "dst")
			for i, v := range dst.data {
				require.Equal(t, src[i%3*n+i/3], v, "n %d at %d", n, i)
			}
		}
	})
}

func TestTranspose_edgesAndStrides(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, rows := range []int{0, 1, 3, 7, 8, 9, 16, 17, 31} {
			for _, cols := range []int{0, 1, 5, 8, 15, 16, 63, 64, 65, 80, 131} {
				lds, ldd := cols+rows%3, rows+cols%4
				src, dst := newGuarded(extent(rows, cols, lds), rows), newGuarded(extent(cols, rows, ldd), cols)
				for i := range src.data {
					src.data[i] = float32(i)
				}
				Transpose(dst.data, ldd, src.data, lds, rows, cols)
				dst.check(t, "dst")
				for i, v := range dst.data {
					c, r := i/max(1, ldd), i%max(1, ldd)
					if r < rows {
						require.Equal(t, float32(r*lds+c), v, "%dx%d at %d,%d", rows, cols, r, c)
					} else {
						require.Equal(t, uint32(guardBits), math.Float32bits(v), "padding of dst")
					}
				}
			}
		}
	})
}

func TestCopyRows_stridesAndGuards(t *testing.T) {
	for _, d := range [][4]int{{3, 5, 5, 5}, {3, 5, 7, 6}, {1, 9, 9, 12}, {0, 4, 4, 4}, {4, 0, 1, 1}} {
		rows, cols, ldd, lds := d[0], d[1], d[2], d[3]
		src, dst := randSlice(1, extent(rows, cols, lds)), newGuarded(extent(rows, cols, ldd), 1)
		CopyRows(dst.data, ldd, src, lds, rows, cols)
		dst.check(t, "dst")
		for r := range rows {
			if cols > 0 {
				require.Equal(t, src[r*lds:][:cols], dst.data[r*ldd:][:cols])
			}
		}
	}
	assert.Panics(t, func() { CopyRows(make([]int8, 9), 5, make([]int8, 10), 5, 2, 5) })
}

func TestResize_bilinearAndNearest(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, c := range []int{1, 3, 16, 21, 40} {
			h, w, batch := 3, 4, 2
			rows := Axis{First: []int32{0, 0, 1, 2, 2}, Second: []int32{0, 1, 2, 2, 2}, Weight: []float32{0, 0.25, 0.5, 0, 0.75}}
			cols := Axis{First: []int32{0, 1, 3}, Second: []int32{1, 2, 3}, Weight: []float32{0.125, 0.5, 0.3}}
			ldx, ldy := c+1, c+2
			x := randSlice(uint64(c), extent(batch*h*w, c, ldx))
			y := newGuarded(extent(batch*15, c, ldy), c)
			(&Resize{C: c, Batch: batch, In: [2]int{h, w}, Rows: rows, Cols: cols, X: x, LDX: ldx, Y: y.data, LDY: ldy}).Run()
			y.check(t, "Y")
			pick := func(n int, r, q int32, ch int) float64 { return float64(x[((n*h+int(r))*w+int(q))*ldx+ch]) }
			for i := range batch * 15 {
				n, r, q := i/15, i%15/3, i%3
				wy, wx := float64(rows.Weight[r]), float64(cols.Weight[q])
				for ch := range c {
					want := (1-wy)*((1-wx)*pick(n, rows.First[r], cols.First[q], ch)+wx*pick(n, rows.First[r], cols.Second[q], ch)) +
						wy*((1-wx)*pick(n, rows.Second[r], cols.First[q], ch)+wx*pick(n, rows.Second[r], cols.Second[q], ch))
					require.InDelta(t, want, y.data[i*ldy+ch], 1e-6)
				}
			}
			(&Resize{C: c, Batch: batch, In: [2]int{h, w}, Rows: Axis{First: rows.First}, Cols: Axis{First: cols.First}, X: x,
				LDX: ldx, Y: y.data, LDY: ldy}).Run()
			y.check(t, "Y")
			for i := range batch * 15 {
				for ch := range c {
					require.Equal(t, float32(pick(i/15, rows.First[i%15/3], cols.First[i%3], ch)), y.data[i*ldy+ch])
				}
			}
		}
		bad := Resize{C: 1, Batch: 1, In: [2]int{2, 2}, Rows: Axis{First: []int32{2}}, Cols: Axis{First: []int32{0}},
			X: make([]float32, 4), LDX: 1, Y: make([]float32, 1), LDY: 1}
		assert.Panics(t, bad.Run)
	})
}

func TestMix4_lengths(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, n := range append(lengths(), binaryBlock+3) {
			a, b, c, d := randSlice(1, n), randSlice(2, n), randSlice(3, n), randSlice(4, n)
			out := newGuarded(n, n)
			if n > 0 {
				fast.mix4(&out.data[0], &a[0], &b[0], &c[0], &d[0], n, 1, -2, 0.5, 0.25)
			}
			out.check(t, "dst")
			for i := range n {
				require.InDelta(t, float64(a[i])-2*float64(b[i])+float64(c[i])/2+float64(d[i])/4, out.data[i], 1e-6)
			}
		}
	})
}
