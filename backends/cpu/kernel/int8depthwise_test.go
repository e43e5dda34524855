package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDepthwiseInt8_equalsDefinition(t *testing.T) {
	channels := []int{1, 3, 7, 8, 9, 16, 37, 64, 65, 130, 200}
	eachISA(t, func(t *testing.T) {
		for i, w := range windows2D() {
			if i%thinning != 0 {
				continue
			}
			r := rng(uint64(i))
			c := channels[i%len(channels)]
			batch, ldi, ldo, wide := 1+i%2, c+i%3, c+i%5, i/2%2 == 1
			taps := w.Taps()
			q := postOf(r, c, i)
			f := make([]int16, c*taps)
			for k, v := range signedSlice(r, c*taps) {
				f[k] = int16(v)
			}
			if wide {
				for k := range f {
					f[k] = int16(r.IntN(511)) - 256
				}
				f[0], f[len(f)-1] = 254, -256
			}
			d := DepthwiseInt8{C: c, Batch: batch, Win: w, LDI: ldi, LDO: ldo, Post: q, Wide: wide,
				W: make([]int8, PackedDepthwiseInt8Len(taps, c, wide))}
			PackDepthwiseInt8(d.W, f, w.Kernel, c, wide)
			d.Post.Init, d.Post.Scale = InDepthwiseLanes(q.Init, taps, wide), InDepthwiseLanes(q.Scale, taps, wide)
			d.Post.Add, d.Post.Low = InDepthwiseLanes(q.Add, taps, wide), InDepthwiseLanes(q.Low, taps, wide)
			d.In = extreme(r, make([]byte, extent(batch*w.In[1]*w.In[2], c, ldi)))
			d.Border = make([]byte, d.BorderLen())
			for b := range d.Border {
				d.Border[b] = 99
			}
			out := newGuardedBytes(extent(batch*w.Outputs(), c, ldo), i%7)
			d.Out = out.data
			d.Run()
			out.check(t, "Out")
			for p := range out.data {
				pos, ch := p/ldo, p%ldo
				if ch >= c {
					if out.data[p] != guardByte {
						t.Fatal("written between positions")
					}
					continue
				}
				n, oy, ox := pos/w.Outputs(), pos%w.Outputs()/w.Out[2], pos%w.Out[2]
				s := int32(0)
				if q.Init != nil {
					s = q.Init[ch]
				}
				for k := range taps {
					y, x := w.at(1, oy, k/w.Kernel[2]), w.at(2, ox, k%w.Kernel[2])
					v := byte(99)
					if y >= 0 && y < w.In[1] && x >= 0 && x < w.In[2] {
						v = d.In[((n*w.In[1]+y)*w.In[2]+x)*ldi+ch]
					}
					s += int32(v) * int32(f[ch*taps+k])
				}
				if got, want := out.data[p], wantCode(&q, s, ch); got != want {
					t.Fatalf("window %+v C %d position %d,%d channel %d: got %d, want %d", w, c, oy, ox, ch, got, want)
				}
			}
		}
	})
}

func TestCombineU8_equalsDefinition(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for i, n := range lengths() {
			r := rng(uint64(i))
			a, b := extreme(r, make([]byte, n)), extreme(r, make([]byte, n))
			c := Combine{A: 0.4 + r.Float32(), B: r.Float32() - 0.5, Add: r.Float32()*300 - 150,
				Zero: []int{0, 128, -200, 32767}[i%4], Lo: uint8(i % 3 * 9), Hi: 255 - uint8(i%2*40)}
			if i%5 == 0 {
				c.A, c.B, c.Add = 0.5, 0.5, 0 // halves
			}
			for _, two := range []bool{true, false} {
				dst, y := newGuardedBytes(n, i%9), b
				if !two {
					y = nil
				}
				CombineU8(dst.data, a, y, c)
				dst.check(t, "dst")
				for k, got := range dst.data {
					v := float32(a[k]) * c.A
					if two {
						w := float32(b[k]) * c.B
						v = float32(v) + w
					}
					v = float32(v) + c.Add
					want := min(max(math.RoundToEven(float64(v))+float64(c.Zero), float64(c.Lo)), float64(c.Hi))
					require.EqualValues(t, want, got, "%+v: %d, %d", c, a[k], b[k])
				}
			}
			most := append([]byte(nil), a...)
			MaxU8(most, b)
			for k := range most {
				require.Equal(t, max(a[k], b[k]), most[k])
			}
		}
	})
}

func BenchmarkDepthwiseInt8(b *testing.B) {
	benchISA(b, func(b *testing.B) {
		for _, s := range [][4]int{{32, 112, 1, 3}, {144, 56, 1, 3}, {384, 14, 1, 3}, {960, 7, 1, 3}, {96, 112, 2, 3},
			{144, 56, 2, 3}, {120, 28, 1, 5}} {
			c, h, st, k := s[0], s[1], s[2], s[3]
			b.Run(fmt.Sprintf("%dx%dx%d_s%d_k%d", h, h, c, st, k), func(b *testing.B) {
				r := rng(1)
				o := (h-1)/st + 1
				w := window2D([2]int{h, h}, [2]int{k, k}, [2]int{st, st}, [2]int{1, 1}, [2]int{k / 2, k / 2}, [2]int{o, o})
				d := DepthwiseInt8{C: c, Batch: 1, Win: w, LDI: c, LDO: c,
					W: signedSlice(r, PackedDepthwiseInt8Len(k*k, c, false)), Post: postOf(r, c, 1)}
				d.Post.Init, d.Post.Scale = InDepthwiseLanes(d.Post.Init, k*k, false), InDepthwiseLanes(d.Post.Scale, k*k, false)
				d.In, d.Out = extreme(r, make([]byte, c*h*h)), make([]byte, c*o*o)
				d.Border = make([]byte, d.BorderLen())
				report(b, 2*float64(k*k*o*o*c), d.Run)
			})
		}
	})
}

func TestEncodeU8_equalsDefinition(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for i, n := range lengths() {
			r := rng(uint64(i))
			src := randSlice(uint64(i), n)
			for k := range src {
				if src[k] *= 40; k%3 == 0 {
					src[k] = specials[r.IntN(len(specials))]
				}
			}
			for _, zero := range []int{0, 128, 255} {
				dst := newGuardedBytes(n, i%9)
				EncodeU8(dst.data, src, 0.25, zero)
				dst.check(t, "dst")
				for k, got := range dst.data {
					want := math.RoundToEven(float64(src[k]/0.25)) + float64(zero)
					if src[k] != src[k] {
						want = float64(zero)
					}
					require.EqualValues(t, min(max(want, 0), 255), got, "%v, zero %d", src[k], zero)
				}
			}
		}
	})
}

func TestAddRowSums_equalsDefinition(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for _, k := range []int{1, 3, 9, 16, 63, 64, 65, 128, 200, 1280} {
			for _, rows := range []int{0, 1, 3, 4, 7, 12, 50} {
				for i, ld := range []int{k, k + 5, 6} {
					r := rng(uint64(k * rows))
					c := CodeRows{k, ld, 1 + i, 7 * i}
					src := extreme(r, make([]byte, extent(rows, k+(c.Runs-1)*c.Down, ld)))
					got, want := make([]int32, rows), make([]int32, rows)
					for i := range want {
						got[i] = -300 * int32(i)
						want[i] = got[i]
						for run := range c.Runs {
							for _, v := range src[i*ld+run*c.Down:][:k] {
								want[i] += int32(v)
							}
						}
					}
					pairs := append([]int32(nil), got...)
					AddRowPairs(pairs, src, c)
					AddRowSums(got, src, c)
					for i, v := range want {
						require.Equal(t, v, rowOf(pairs[i]), "%d rows of %+v", rows, c)
					}
					require.Equal(t, want, got, "%d rows of %+v", rows, c)
				}
			}
		}
	})
}

func TestNearestU8_equalsDefinition(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for i, n := range []int{0, 64, 128, 192, 640} {
			r := rng(uint64(i))
			src, scale, shift := randSlice(1, n), randSlice(2, n), randSlice(3, n)
			for k := range src {
				src[k] *= []float32{10, 1000, 1e30, 300}[r.IntN(4)]
				shift[k] = float32(r.IntN(400)) / 4
				if k >= 64 && k < 128 { // no result close to a half
					src[k], scale[k], shift[k] = float32(k), 1, 0
				}
			}
			for _, zero := range []int{0, 128, 255} {
				for _, flip := range []uint8{0, 128} {
					dst, near := newGuardedBytes(n, i), newGuardedBytes(n/64, i)
					NearestU8(dst.data, src, scale, shift, zero, flip, 0.49, near.data)
					dst.check(t, "dst")
					near.check(t, "near")
					want := make([]bool, n/64)
					for k, got := range dst.data {
						v := float64(float32(src[k]*scale[k]) + shift[k])
						if v = min(max(v, -2048), 2048); math.Abs(v-math.RoundToEven(v)) > float64(float32(0.49)) {
							want[k/64] = true
						}
						require.EqualValues(t, uint8(min(max(math.RoundToEven(v)+float64(zero), 0), 255))^flip, got, "%v", v)
					}
					for k, w := range want {
						require.Equal(t, w, near.data[k] != 0)
					}
				}
			}
		}
	})
}
