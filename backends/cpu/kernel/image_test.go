package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func randBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// plane is dense images of random bytes, components side by side or in planes.
func plane(r *rand.Rand, batch, h, w, comps int, planar bool) Bytes {
	b := Bytes{Data: randBytes(r, batch*h*w*comps), H: h, W: w, Comps: comps, Image: h * w * comps, Row: w * comps,
		Col: comps, Comp: 1}
	if planar {
		b.Row, b.Col, b.Comp = w, 1, h*w
	}
	return b
}

func (b *Bytes) at(n, y, x, c int) int { return n*b.Image + y*b.Row + x*b.Col + c*b.Comp }

// TestDecode_formula compares every pixel with the formula in float64; all instruction sets give the same bits.
func TestDecode_formula(t *testing.T) {
	weight := [3][3]float32{{1.164, 0.3, 1.596}, {1.164, -0.391, -0.813}, {1.164, 2.018, 0.25}}
	diagonal := [3][3]float32{{0, 0, 2}, {0, 0.5, 0}, {3, 0, 0}}
	for _, w := range []int{2, 3, 7, 8, 16, 17, 31, 33, 64, 511, 512, 513, 1030} {
		for kind := range 8 {
			r := rng(uint64(8*w + kind))
			h := 2 + w%4
			d := Decode{Batch: 2, Components: 3, Channels: 3, Weight: weight, Base: [3]int32{16, 128, 128},
				Offset: [3]float32{-1, 0.5, 7}, Last: kind%2 == 1}
			switch kind / 2 {
			case 0:
				d.Planes = []Bytes{plane(r, 2, h, w, 1, false), plane(r, 2, h/2, w/2, 2, false)}
			case 1:
				d.Planes = []Bytes{plane(r, 2, h, w, 3, kind%2 == 0)}
			case 2:
				d.Planes, d.Weight = []Bytes{plane(r, 2, h, w, 3, kind%2 == 0)}, diagonal
			case 3:
				d.Planes, d.Components, d.Channels = []Bytes{plane(r, 2, h, w, 1, false)}, 1, 1
			}
			var first []float32
			eachISA(t, func(t *testing.T) {
				d.Y = make([]float32, 2*h*w*d.Channels)
				d.Run()
				if first == nil {
					first = slices.Clone(d.Y)
				}
				require.Equal(t, first, d.Y, "kind %d, %d x %d", kind, h, w)
			})
			checkDecode(t, &d, fmt.Sprintf("kind %d, %d x %d", kind, h, w))
		}
	}
}

func checkDecode(t *testing.T, d *Decode, what string) {
	p := &d.Planes[0]
	for i, got := range d.Y {
		c, x, y, n := i/(p.H*p.W)%d.Channels, i%p.W, i/p.W%p.H, i/(p.H*p.W*d.Channels)
		if d.Last {
			c, x, y = i%d.Channels, i/d.Channels%p.W, i/d.Channels/p.W%p.H
		}
		want := float64(d.Offset[c])
		for k := range d.Components {
			var v byte
			if q := d.Planes[len(d.Planes)-1]; len(d.Planes) == 2 && k > 0 {
				v = q.Data[q.at(n, min(y/2, q.H-1), min(x/2, q.W-1), k-1)]
			} else {
				v = p.Data[p.at(n, y, x, k)]
			}
			want += float64(d.Weight[c][k]) * (float64(v) - float64(d.Base[k]))
		}
		if math.Abs(want-float64(got)) > 2e-4 {
			require.InDelta(t, want, got, 2e-4, "%s: channel %d of pixel %d of row %d of image %d", what, c, x, y, n)
		}
	}
}

// TestResizeBytes_formula compares every byte with the formula, computed in float64 with an exact sum: products of two
// weights of at most 2^16 with a byte are below 2^40.
func TestResizeBytes_formula(t *testing.T) {
	for i, c := range []struct{ h, w, oh, ow int }{
		{1, 1, 3, 4}, {2, 2, 1, 1}, {9, 7, 4, 33}, {16, 40, 16, 40}, {23, 300, 5, 97}, {30, 64, 61, 130}, {5, 1000, 2, 8},
		{8, 9, 8, 16}, {40, 33, 3, 24},
	} {
		for comps := 1; comps <= 3; comps++ {
			for _, planar := range []bool{false, true} {
				r := rng(uint64(10*i + comps))
				from := plane(r, 2, c.h, c.w, comps, planar)
				regions := []ByteRegion{{0, 0, c.w - 1, c.h - 1}, {c.w / 3, c.h / 2, c.w - 1, c.h - 1}}
				eachISA(t, func(t *testing.T) {
					to := plane(r, 2, c.oh, c.ow, comps, planar)
					(&ResizeBytes{Batch: 2, From: from, To: to, Regions: regions}).Run()
					for n, b := range regions {
						checkResize(t, &from, &to, n, b)
					}
				})
			}
		}
	}
}

func checkResize(t *testing.T, from, to *Bytes, n int, b ByteRegion) {
	place := func(i, first, last, dst int) (int, int, float64) {
		step := 0
		if dst > 1 {
			step = ((last-first)*65536 + (dst-1)/2) / (dst - 1)
		}
		cell := i * step / 65536
		return first + min(cell, last-first), first + min(cell+1, last-first), float64(i * step % 65536)
	}
	for y := range to.H {
		top, bottom, fy := place(y, b.Top, b.Bottom, to.H)
		for x := range to.W {
			left, right, fx := place(x, b.Left, b.Right, to.W)
			for c := range to.Comps {
				v := func(y, x int) float64 { return float64(from.Data[from.at(n, y, x, c)]) }
				sum := (65536-fy)*((65536-fx)*v(top, left)+fx*v(top, right)) +
					fy*((65536-fx)*v(bottom, left)+fx*v(bottom, right))
				want := byte(math.Floor(sum/(1<<32) + 0.5))
				if got := to.Data[to.at(n, y, x, c)]; got != want {
					require.Equal(t, want, got, "component %d of column %d of row %d of image %d, %d x %d to %d x %d", c, x, y, n,
						from.H, from.W, to.H, to.W)
				}
			}
		}
	}
}

func TestImageKernels_refuseWrongOperands(t *testing.T) {
	r := rng(1)
	one := plane(r, 1, 4, 4, 1, false)
	assert.Panics(t, func() { (&Decode{Batch: 1, Planes: []Bytes{one}, Components: 3, Channels: 3}).Run() })
	assert.Panics(t, func() {
		(&Decode{Batch: 1, Planes: []Bytes{one}, Components: 1, Channels: 1, Y: make([]float32, 15)}).Run()
	})
	assert.Panics(t, func() {
		(&Decode{Batch: 1, Planes: []Bytes{one, plane(r, 1, 2, 1, 2, false)}, Components: 3, Channels: 3,
			Y: make([]float32, 48)}).Run()
	})
	for _, b := range []ByteRegion{{-1, 0, 3, 3}, {0, 0, 4, 3}, {0, 3, 3, 2}} {
		assert.Panics(t, func() {
			(&ResizeBytes{Batch: 1, From: one, To: plane(r, 1, 2, 2, 1, false), Regions: []ByteRegion{b}}).Run()
		})
	}
}

// A second run of the same operands allocates nothing.
func TestImageKernels_allocateOnce(t *testing.T) {
	r := rng(2)
	d := Decode{Batch: 1, Planes: []Bytes{plane(r, 1, 8, 40, 1, false), plane(r, 1, 4, 20, 2, false)}, Components: 3,
		Channels: 3, Weight: [3][3]float32{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, Last: true, Y: make([]float32, 960)}
	assert.Zero(t, testing.AllocsPerRun(10, d.Run))
	b := ResizeBytes{Batch: 1, From: plane(r, 1, 8, 40, 1, false), To: plane(r, 1, 4, 20, 1, false),
		Regions: []ByteRegion{{0, 0, 30, 7}}}
	assert.Zero(t, testing.AllocsPerRun(10, b.Run))
}

// BenchmarkImage is NV12 of 640 x 640 decoded, and a part of 1920 x 1080 made 224 x 224 and decoded.
func BenchmarkImage(b *testing.B) {
	r := rng(3)
	weight := [3][3]float32{{1, 0, 1.402}, {1, -0.344136, -0.714136}, {1, 1.772, 0}}
	decode := func(h, w int) *Decode {
		return &Decode{Batch: 1, Planes: []Bytes{plane(r, 1, h, w, 1, false), plane(r, 1, h/2, w/2, 2, false)}, Components: 3,
			Channels: 3, Weight: weight, Base: [3]int32{0, 128, 128}, Y: make([]float32, 3*h*w)}
	}
	for _, isa := range Supported() {
		restore, _ := Select(isa)
		whole, small := decode(640, 640), decode(224, 224)
		b.Run("decode 640 x 640/"+isa.String(), func(b *testing.B) {
			for b.Loop() {
				whole.Run()
			}
		})
		luma := ResizeBytes{Batch: 1, From: plane(r, 1, 1080, 1920, 1, false), To: small.Planes[0],
			Regions: []ByteRegion{{100, 100, 1059, 1059}}}
		chroma := ResizeBytes{Batch: 1, From: plane(r, 1, 540, 960, 2, false), To: small.Planes[1],
			Regions: []ByteRegion{{50, 50, 529, 529}}}
		b.Run("region of 960 x 960 to 224 x 224/"+isa.String(), func(b *testing.B) {
			for b.Loop() {
				luma.Run()
				chroma.Run()
				small.Run()
			}
		})
		restore()
	}
}
