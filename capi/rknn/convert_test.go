package rknn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/tensor"
)

// elementOf reads one element as the formulas of section 11 do.
func elementOf(d tensor.DType, b []byte, i int) float32 {
	if d.IsFloat() {
		return float32(tensor.FloatAt(d, b, i))
	}
	return float32(tensor.IntAt(d, b, i))
}

// put writes one element: codes rounded to nearest, ties to even, integers cut off, both saturated, NaN as the zero
// point or 0.
func put(d tensor.DType, b []byte, i int, x float32, q *quant) {
	lo, hi := tensor.IntLimits(d)
	limit := func(v float64) int64 { return int64(min(max(v, float64(lo)), float64(hi))) }
	switch {
	case d.IsFloat():
		tensor.PutFloat(d, b, i, float64(x), false)
	case x != x && q != nil:
		tensor.PutInt(d, b, i, int64(q.zero))
	case x != x:
		tensor.PutInt(d, b, i, 0)
	case q != nil:
		tensor.PutInt(d, b, i, limit(math.RoundToEven(float64(x/q.scale))+float64(q.zero)))
	case math.Abs(float64(x)) < 1<<62:
		tensor.PutInt(d, b, i, limit(math.Trunc(float64(x))))
	default:
		tensor.PutInt(d, b, i, map[bool]int64{true: hi, false: lo}[x > 0])
	}
}

// samples are n elements of a type: any bits, and floats about 100.
func samples(d tensor.DType, n int, rnd *rand.Rand) []byte {
	b := make([]byte, n*d.Bits()/8)
	for i := range n {
		switch {
		case d.IsFloat() && i%97 == 5:
			tensor.PutFloat(d, b, i, []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e30}[i/97%4], false)
		case d.IsFloat():
			tensor.PutFloat(d, b, i, 100*rnd.NormFloat64(), false)
		case i%3 == 0: // what narrower types hold
			tensor.PutInt(d, b, i, int64(rnd.IntN(400))-150)
		default:
			tensor.PutInt(d, b, i, int64(rnd.Uint64()))
		}
	}
	return b
}

// testPorts are ports of every kind of element.
func testPorts() []*port {
	return []*port{
		{core: tensor.Float32, kind: Float16}, {core: tensor.Float16, kind: Float16}, {core: tensor.Int64, kind: Int64},
		{core: tensor.Bool, kind: Bool},
		{core: tensor.Uint8, kind: Uint8}, {core: tensor.Int8, kind: Int8, quant: &quant{0.75, -3}},
		{core: tensor.Uint8, kind: Uint8, quant: &quant{1.5, 128}},
		{core: tensor.Int16, kind: Int16, quant: &quant{0.01, 7}},
	}
}

func TestLoad_equalsTheFormulas(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, dims := range [][]int64{{2, 3, 5, 7}, {1, 3, 23, 41}, {1, 21, 20, 30}, {2, 1, 3, 400}, {5, 11}} {
		n, _ := tensor.Count(dims)
		for _, p := range testPorts() {
			for _, info := range []metadata.Input{{}, {Mean: []float32{10, 20, 30}, Std: []float32{2, 4, 8}}} {
				for _, swap := range []bool{false, true} {
					if channels := arrange(dims, NCHW, 0, 0).channels; channels != 3 && (info.Mean != nil || swap) {
						continue
					}
					p.info, p.swap = info, swap
					for from := Float32; from <= BFloat16; from++ {
						d := from.dtype()
						if d == tensor.Invalid {
							continue
						}
						for _, a := range []arrangement{arrange(dims, NCHW, 0, 0), arrange(dims, NHWC, 0, 0),
							arrange(dims, NHWC, 0, 29)} {
							if a.image != 0 && a.interleaved && a.image < a.channels*a.pixels {
								continue // fewer rows than the image has
							}
							t.Run(fmt.Sprint(dims, " ", p.core, " ", from, " ", a.interleaved, a.image, info.Mean != nil, swap),
								func(t *testing.T) {
									src := samples(d, int(a.elements()), rnd)
									got, want := make([]byte, int(n)*p.core.Bits()/8), make([]byte, int(n)*p.core.Bits()/8)
									p.load(got, dims, src, from, a, false)
									p.loadSlowly(want, dims, src, d, a)
									equalElements(t, p.core, want, got)
								})
						}
					}
				}
			}
		}
	}
}

// loadSlowly is load element by element.
func (p *port) loadSlowly(dst []byte, dims []int64, src []byte, d tensor.DType, a arrangement) {
	own := arrange(dims, NCHW, 0, 0)
	for image := range own.images {
		for c := range own.channels {
			given := c
			if p.swap && c < 3 {
				given = 2 - c
			}
			for i := range own.pixels {
				at, to := a.base(image, given)+i*a.step, own.base(image, c)+i
				switch {
				case p.quant != nil && d == tensor.Int8 && p.core == tensor.Int8: // quantized already
					dst[to] = src[at]
				case p.quant == nil && !p.normalized() && !d.IsFloat() && !p.core.IsFloat():
					v := tensor.IntAt(d, src, at)
					if lo, hi := tensor.IntLimits(p.core); p.core != tensor.Bool {
						v = min(max(v, lo), hi)
					}
					tensor.PutInt(p.core, dst, to, v)
				default:
					x := elementOf(d, src, at)
					if p.normalized() {
						x = (x - p.info.Mean[given]) / p.info.Std[given]
					}
					put(p.core, dst, to, x, p.quant)
				}
			}
		}
	}
}

func TestStore_equalsTheFormulas(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, dims := range [][]int64{{2, 3, 5, 7}, {1, 3, 23, 41}, {2, 21, 20, 30}, {2, 1, 3, 400}, {5, 11}} {
		n, _ := tensor.Count(dims)
		for _, p := range testPorts() {
			for _, to := range []Type{p.kind, Float32} {
				d := to.dtype()
				for _, f := range []Format{NCHW, NHWC, NC1HWC2} {
					t.Run(fmt.Sprint(dims, " ", p.core, " ", to, " ", f), func(t *testing.T) {
						a, own := arrange(dims, f, 16, 0), arrange(dims, NCHW, 0, 0)
						src := samples(p.core, int(n), rnd)
						got, want := make([]byte, int(a.elements())*d.Bits()/8), make([]byte, int(a.elements())*d.Bits()/8)
						p.store(got, a, to, src, dims)
						if p.quant != nil && d == p.core && a.group > 0 {
							for i := range want {
								tensor.PutInt(d, want, i*8/d.Bits(), int64(p.quant.zero)) // lanes without a channel
							}
						}
						for image := range own.images {
							for c := range own.channels {
								for i := range own.pixels {
									at, out := own.base(image, c)+i, a.base(image, c)+i*a.step
									x := elementOf(p.core, src, at)
									switch {
									case d == p.core:
										copy(want[out*d.Bits()/8:][:d.Bits()/8], src[at*d.Bits()/8:])
										continue
									case p.quant != nil:
										x = (x - float32(p.quant.zero)) * p.quant.scale
									}
									put(d, want, out, x, nil)
								}
							}
						}
						equalElements(t, d, want, got)
					})
				}
			}
		}
	}
}

// equalElements compares; every NaN is like any other.
func equalElements(t *testing.T, d tensor.DType, want, got []byte) {
	t.Helper()
	size := d.Bits() / 8
	for i := range len(want) / size {
		w, g := want[i*size:][:size], got[i*size:][:size]
		if string(w) == string(g) || d.IsFloat() && math.IsNaN(tensor.FloatAt(d, w, 0)) &&
			math.IsNaN(tensor.FloatAt(d, g, 0)) {
			continue
		}
		require.Failf(t, "differs", "element %d of %v: want %v, got %v", i, d, w, g)
	}
}

func BenchmarkLoad_imageOfBytes(b *testing.B) {
	p := &port{core: tensor.Int8, kind: Int8, quant: &quant{1. / 255, -128}, info: metadata.Input{Std: []float32{255}}}
	dims := []int64{1, 3, 640, 640}
	dst, src := make([]byte, 3*640*640), make([]byte, 3*640*640)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		p.load(dst, dims, src, Uint8, arrange(dims, NHWC, 0, 0), false)
	}
}

func BenchmarkStore_codesAsFloats(b *testing.B) {
	p := &port{core: tensor.Int8, kind: Int8, quant: &quant{1. / 255, -128}}
	dims := []int64{1, 255, 80, 80}
	src, dst := make([]byte, 255*80*80), make([]byte, 4*255*80*80)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		p.store(dst, arrange(dims, NCHW, 0, 0), Float32, src, dims)
	}
}
