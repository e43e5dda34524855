package convert_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/tensor"
)

// elementOf reads one element.
func elementOf(d tensor.DType, b []byte, i int) float32 {
	if d.IsFloat() {
		return float32(tensor.FloatAt(d, b, i))
	}
	return float32(tensor.IntAt(d, b, i))
}

// put writes one element: codes rounded to nearest, ties to even, integers cut off, both saturated, NaN as the zero
// point or 0.
func put(d tensor.DType, b []byte, i int, x float32, q *convert.Code) {
	lo, hi := tensor.IntLimits(d)
	limit := func(v float64) int64 { return int64(min(max(v, float64(lo)), float64(hi))) }
	switch {
	case d.IsFloat():
		tensor.PutFloat(d, b, i, float64(x), false)
	case d == tensor.Bool:
		tensor.PutInt(d, b, i, map[bool]int64{true: 1}[x != 0])
	case x != x && q != nil:
		tensor.PutInt(d, b, i, q.Zero)
	case x != x:
		tensor.PutInt(d, b, i, 0)
	case q != nil:
		tensor.PutInt(d, b, i, limit(math.RoundToEven(float64(x/q.Scale))+float64(q.Zero)))
	case math.Abs(float64(x)) < 1<<63:
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

// testTensors are tensors of every kind of element.
func testTensors() []convert.Tensor {
	return []convert.Tensor{
		{Type: tensor.Float32}, {Type: tensor.Float16}, {Type: tensor.Int64}, {Type: tensor.Bool}, {Type: tensor.Uint8},
		{Type: tensor.Int8, Quant: &convert.Code{Scale: 0.75, Zero: -3}},
		{Type: tensor.Uint8, Quant: &convert.Code{Scale: 1.5, Zero: 128}},
		{Type: tensor.Int16, Quant: &convert.Code{Scale: 0.01, Zero: 7}},
	}
}

// at is where element i of channel c of an image lies.
func at(l convert.Layout, dims []int64, image, c, i int) int {
	if len(dims) != 4 {
		return i
	}
	channels, pixels := int(dims[1]), int(dims[2]*dims[3])
	switch l.Order {
	case convert.NHWC:
		height := int(dims[2])
		if l.Rows != 0 {
			height = l.Rows
		}
		return (image*height*int(dims[3])+i)*channels + c
	case convert.NC1HWC2:
		groups := (channels + l.C2 - 1) / l.C2
		return ((image*groups+c/l.C2)*pixels+i)*l.C2 + c%l.C2
	}
	return (image*channels+c)*pixels + i
}

// eachElement calls f for the place of each element in a layout and in NCHW.
func eachElement(l convert.Layout, dims []int64, f func(channel, there, own int)) {
	a := convert.Arrange(dims, l)
	for image := range a.Images {
		for c := range a.Channels {
			for i := range a.Pixels {
				f(c, at(l, dims, image, c, i), at(convert.Layout{}, dims, image, c, i))
			}
		}
	}
}

func TestLoad_equalsTheFormulas(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, dims := range [][]int64{{2, 3, 5, 7}, {1, 3, 23, 41}, {1, 21, 9, 31}, {2, 1, 3, 400}, {5, 11}} {
		n, _ := tensor.Count(dims)
		for _, x := range testTensors() {
			for _, norm := range []convert.Normalization{{}, {Swap: true},
				{Mean: []float32{10, 20, 30}, Std: []float32{2, 4, 8}},
				{Mean: []float32{10, 20, 30}, Std: []float32{3}, Swap: true}} {
				if channels := convert.Arrange(dims, convert.Layout{}).Channels; channels != 3 && (norm.Mean != nil || norm.Swap) {
					continue
				}
				x.Normalization = norm
				for _, from := range plain {
					for _, l := range []convert.Layout{{}, {Order: convert.NHWC}, {Order: convert.NHWC, Rows: 29}} {
						a := convert.Arrange(dims, l)
						sources := []convert.Source{{Type: from, Arrangement: a}}
						if from == x.Type || from == tensor.Float16 || from == tensor.Uint8 {
							sources = append(sources, convert.Source{Type: from, Arrangement: a, Own: true},
								convert.Source{Type: from, Arrangement: a, Own: true, Ordered: true})
						}
						for _, s := range sources {
							src := samples(from, int(a.Elements()), rnd)
							size := x.Type.Bits() / 8
							want := make([]byte, int(n)*size)
							loadSlowly(&x, want, dims, src, &s, l)
							for _, to := range []convert.Layout{{}, {Order: convert.NHWC}} {
								got, rows := make([]byte, int(n)*size), make([]byte, int(n)*size)
								x.Load(got, convert.Arrange(dims, to), src, &s)
								eachElement(to, dims, func(_, there, own int) { copy(rows[own*size:][:size], got[there*size:]) })
								equalElements(t, x.Type, want, rows, dims, x.Quant != nil, norm, from, l, to, s.Own, s.Ordered)
							}
						}
					}
				}
			}
		}
	}
}

// loadSlowly is Load element by element.
func loadSlowly(x *convert.Tensor, dst []byte, dims []int64, src []byte, s *convert.Source, l convert.Layout) {
	eachElement(l, dims, func(c, there, own int) {
		given := c
		if x.Swap && !s.Ordered && c < 3 {
			given = 2 - c
			there += at(l, dims, 0, given, 0) - at(l, dims, 0, c, 0)
		}
		size := x.Type.Bits() / 8
		switch {
		case s.Type == x.Type && (s.Own || x.Quant == nil && !x.Normalized()):
			copy(dst[own*size:][:size], src[there*size:])
		case x.Quant == nil && (s.Own || !x.Normalized()) && !s.Type.IsFloat() && !x.Type.IsFloat():
			v := tensor.IntAt(s.Type, src, there)
			lo, hi := tensor.IntLimits(x.Type)
			switch {
			case s.Type == tensor.Uint64 && v < 0: // 2^63 and more
				v = hi
			case x.Type != tensor.Bool:
				v = min(max(v, lo), hi)
			}
			if s.Type == tensor.Bool || x.Type == tensor.Bool {
				v = map[bool]int64{true: 1}[v != 0]
			}
			tensor.PutInt(x.Type, dst, own, v)
		default:
			v := elementOf(s.Type, src, there)
			if s.Type == tensor.Bool && v != 0 {
				v = 1
			}
			if s.Type == tensor.Uint64 && v < 0 {
				v = float32(uint64(tensor.IntAt(s.Type, src, there)))
			}
			if !s.Own && x.Normalized() {
				v = (v - x.Mean[given]) / x.Std[given%len(x.Std)]
			}
			put(x.Type, dst, own, v, x.Quant)
		}
	})
}

func TestStore_equalsTheFormulas(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, dims := range [][]int64{{2, 3, 5, 7}, {1, 3, 23, 41}, {2, 21, 20, 30}, {2, 1, 3, 400}, {5, 11}} {
		n, _ := tensor.Count(dims)
		for _, x := range testTensors() {
			for _, to := range []tensor.DType{x.Type, tensor.Float32, tensor.Float16} {
				for _, l := range []convert.Layout{{}, {Order: convert.NHWC}, {Order: convert.NC1HWC2, C2: 16}} {
					a := convert.Arrange(dims, l)
					src, size := samples(x.Type, int(n), rnd), to.Bits()/8
					got, want := make([]byte, int(a.Elements())*size), make([]byte, int(a.Elements())*size)
					x.Store(got, a, to, src, dims)
					if x.Quant != nil && to == x.Type && len(dims) == 4 && l.C2 > 0 {
						for i := range len(want) / size {
							tensor.PutInt(to, want, i, x.Quant.Zero) // lanes without a channel
						}
					}
					eachElement(l, dims, func(_, there, own int) {
						v := elementOf(x.Type, src, own)
						switch {
						case to == x.Type:
							copy(want[there*size:][:size], src[own*size:])
							return
						case x.Quant != nil:
							v = (v - float32(x.Quant.Zero)) * x.Quant.Scale
						case x.Type == tensor.Bool && v != 0:
							v = 1
						}
						put(to, want, there, v, nil)
					})
					equalElements(t, to, want, got, dims, x.Type, x.Quant != nil, l)
				}
			}
		}
	}
}

// Elements of every size go to planes and back.
func TestToPlanes_everySize(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, dims := range [][]int64{{2, 3, 5, 7}, {1, 21, 9, 70}} {
		for _, l := range []convert.Layout{{Order: convert.NHWC}, {Order: convert.NC1HWC2, C2: 8}} {
			a := convert.Arrange(dims, l)
			n, _ := tensor.Count(dims)
			for _, size := range []int{1, 2, 4, 8, 16} {
				src := samples(tensor.Uint8, int(a.Elements())*size, rnd)
				want, planes := make([]byte, int(n)*size), make([]byte, int(n)*size)
				eachElement(l, dims, func(_, there, own int) { copy(want[own*size:][:size], src[there*size:]) })
				convert.ToPlanes(planes, src, &a, size)
				require.Equal(t, want, planes, "%v %v %d", dims, l, size)
				back := slices.Clone(src)
				eachElement(l, dims, func(_, there, _ int) { clear(back[there*size:][:size]) })
				convert.FromPlanes(back, &a, planes, size)
				require.Equal(t, src, back, "%v %v %d", dims, l, size)
			}
		}
	}
}

// Memory serves as the tensor's own when nothing has to be changed.
func TestPlace(t *testing.T) {
	dims := []int64{1, 3, 2, 2}
	planes, pixels := convert.Arrange(dims, convert.Layout{}), convert.Arrange(dims, convert.Layout{Order: convert.NHWC})
	one := convert.Arrange([]int64{1, 3, 1, 1}, convert.Layout{Order: convert.NHWC})
	floats := convert.Tensor{Type: tensor.Float32}
	quantized := convert.Tensor{Type: tensor.Int8, Quant: &convert.Code{Scale: 1}}
	normalized := convert.Tensor{Type: tensor.Float32, Normalization: convert.Normalization{Mean: []float32{1}}}
	swapped := convert.Tensor{Type: tensor.Float32, Normalization: convert.Normalization{Swap: true}}
	for name, c := range map[string]struct {
		x    convert.Tensor
		s    convert.Source
		want bool // for a tensor in planes
	}{
		"the same":         {floats, convert.Source{Type: tensor.Float32, Arrangement: planes}, true},
		"another type":     {floats, convert.Source{Type: tensor.Int8, Arrangement: planes}, false},
		"another layout":   {floats, convert.Source{Type: tensor.Float32, Arrangement: pixels}, false},
		"one pixel":        {floats, convert.Source{Type: tensor.Float32, Arrangement: one}, true},
		"numbers as codes": {quantized, convert.Source{Type: tensor.Int8, Arrangement: planes}, false},
		"codes":            {quantized, convert.Source{Type: tensor.Int8, Arrangement: planes, Own: true}, true},
		"a mean":           {normalized, convert.Source{Type: tensor.Float32, Arrangement: planes}, false},
		"other channels":   {swapped, convert.Source{Type: tensor.Float32, Arrangement: planes, Own: true}, false},
		"other channels, ordered": {swapped,
			convert.Source{Type: tensor.Float32, Arrangement: planes, Own: true, Ordered: true}, true},
	} {
		require.Equal(t, c.want, c.x.Place(planes, &c.s), name)
	}
	two := []int64{2, 3, 2, 2}
	for name, c := range map[string]struct {
		dims []int64
		l    convert.Layout
		want bool
	}{
		"pixels":             {dims, convert.Layout{Order: convert.NHWC}, true},
		"planes":             {dims, convert.Layout{}, false},
		"rows behind one":    {dims, convert.Layout{Order: convert.NHWC, Rows: 5}, true},
		"two images":         {two, convert.Layout{Order: convert.NHWC}, true},
		"rows between two":   {two, convert.Layout{Order: convert.NHWC, Rows: 5}, false},
		"groups of channels": {dims, convert.Layout{Order: convert.NC1HWC2, C2: 4}, false},
	} {
		s := convert.Source{Type: tensor.Float32, Arrangement: convert.Arrange(c.dims, c.l)}
		require.Equal(t, c.want, floats.Place(convert.Arrange(c.dims, convert.Layout{Order: convert.NHWC}), &s), name)
	}
}

// equalElements compares; every NaN is like any other.
func equalElements(t *testing.T, d tensor.DType, want, got []byte, what ...any) {
	t.Helper()
	size := d.Bits() / 8
	for i := range len(want) / size {
		w, g := want[i*size:][:size], got[i*size:][:size]
		if string(w) == string(g) || d.IsFloat() && math.IsNaN(tensor.FloatAt(d, w, 0)) &&
			math.IsNaN(tensor.FloatAt(d, g, 0)) {
			continue
		}
		require.Failf(t, "differs", "%v: element %d of %v: want %v, got %v", what, i, d, w, g)
	}
}

// withEachKernels runs a benchmark with the kernels of the processor and with the portable ones.
func withEachKernels(b *testing.B, f func(b *testing.B)) {
	b.Run("fast", f)
	b.Run("portable", func(b *testing.B) {
		defer convert.UsePortable()()
		f(b)
	})
}

func BenchmarkLoad(b *testing.B) {
	codes := convert.Tensor{Type: tensor.Int8, Quant: &convert.Code{Scale: 1. / 255, Zero: -128},
		Normalization: convert.Normalization{Std: []float32{255}}}
	for _, c := range []struct {
		name string
		x    convert.Tensor
		from tensor.DType
		dims []int64
	}{
		{"bytes_to_codes", codes, tensor.Uint8, []int64{1, 3, 640, 640}},
		{"bytes_to_floats", convert.Tensor{Type: tensor.Float32}, tensor.Uint8, []int64{1, 3, 640, 640}},
		{"floats_to_codes", codes, tensor.Float32, []int64{1, 3, 640, 640}},
		{"halves_to_floats", convert.Tensor{Type: tensor.Float32}, tensor.Float16, []int64{1, 3, 640, 640}},
		{"floats_of_32_channels", convert.Tensor{Type: tensor.Float32}, tensor.Float32, []int64{1, 32, 80, 80}},
	} {
		for what, to := range map[string]convert.Order{"": convert.NCHW, "_as_they_lie": convert.NHWC} {
			b.Run(c.name+what, func(b *testing.B) {
				withEachKernels(b, func(b *testing.B) {
					n, _ := tensor.Count(c.dims)
					s := convert.Source{Type: c.from, Arrangement: convert.Arrange(c.dims, convert.Layout{Order: convert.NHWC})}
					dst, src := make([]byte, int(n)*c.x.Type.Bits()/8), make([]byte, int(n)*c.from.Bits()/8)
					b.SetBytes(n)
					for b.Loop() {
						c.x.Load(dst, convert.Arrange(c.dims, convert.Layout{Order: to}), src, &s)
					}
				})
			})
		}
	}
}

func BenchmarkStore(b *testing.B) {
	for _, c := range []struct {
		name string
		x    convert.Tensor
		to   tensor.DType
		l    convert.Layout
	}{
		{"codes_to_floats", convert.Tensor{Type: tensor.Int8, Quant: &convert.Code{Scale: 1. / 255, Zero: -128}},
			tensor.Float32, convert.Layout{}},
		{"floats_to_halves", convert.Tensor{Type: tensor.Float32}, tensor.Float16, convert.Layout{}},
		{"floats_to_nhwc", convert.Tensor{Type: tensor.Float32}, tensor.Float32, convert.Layout{Order: convert.NHWC}},
		{"codes_to_nc1hwc2", convert.Tensor{Type: tensor.Int8}, tensor.Int8, convert.Layout{Order: convert.NC1HWC2, C2: 16}},
	} {
		b.Run(c.name, func(b *testing.B) {
			withEachKernels(b, func(b *testing.B) {
				dims := []int64{1, 255, 80, 80}
				a := convert.Arrange(dims, c.l)
				src, dst := make([]byte, 255*80*80*c.x.Type.Bits()/8), make([]byte, int(a.Elements())*c.to.Bits()/8)
				b.SetBytes(255 * 80 * 80)
				for b.Loop() {
					c.x.Store(dst, a, c.to, src, dims)
				}
			})
		})
	}
}
