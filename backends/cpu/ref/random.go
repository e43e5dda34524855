package ref

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Real, func(o *op.RandomNormal, _ []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return draw(out[0], normal(source(o.Seed, o.Seeded), o.Mean, o.Scale))
	})
	register(Real, func(o *op.RandomNormalLike, _ []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return draw(out[0], normal(source(o.Seed, o.Seeded), o.Mean, o.Scale))
	})
	register(Real, func(o *op.RandomUniform, _ []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return draw(out[0], uniform(source(o.Seed, o.Seeded), o.Low, o.High))
	})
	register(Real, func(o *op.RandomUniformLike, _ []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		return draw(out[0], uniform(source(o.Seed, o.Seeded), o.Low, o.High))
	})
	register(Real|Judging, func(o *op.Bernoulli, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		r := source(o.Seed, o.Seeded)
		for i := range in[0].Count() {
			tick()
			if p := scalarAt(in[0], i).f; !(p >= 0 && p <= 1) {
				return nil, fault.New(fault.Data, "input 0: element %d is %v, no probability", i, p)
			}
		}
		i := -1
		return draw(out[0], func() float64 {
			i++
			return float64(bit(r.Float64() < scalarAt(in[0], i).f))
		})
	})
	register(Real|Judging, func(o *op.Multinomial, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		r := source(o.Seed, o.Seeded)
		if len(in) > 2 && !in[2].Absent() {
			seeds, err := intsOf(in[2])
			if err != nil {
				return nil, err
			}
			if seeds[0] != 0 || seeds[1] != 0 {
				r = rand.New(rand.NewPCG(uint64(seeds[0]), uint64(seeds[1])))
			}
		}
		y := like(out[0])
		rows, samples := int(y.Dims[0]), int(y.Dims[1])
		for row := range rows {
			ends, err := weightEnds(in[0], row)
			if err != nil {
				return nil, err
			}
			for k := range samples {
				tick()
				at := r.Float64() * ends[len(ends)-1]
				c, _ := slices.BinarySearchFunc(ends, at, func(end, at float64) int {
					if end <= at {
						return -1
					}
					return 1
				})
				storeInt(y, row*samples+k, int64(min(c, len(ends)-1)))
			}
		}
		return []tensor.Tensor{y}, nil
	})
}

// source returns the random numbers of one run.
func source(seed int64, seeded bool) *rand.Rand {
	if seeded {
		return rand.New(rand.NewPCG(uint64(seed), 0x9e3779b97f4a7c15))
	}
	return rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
}

func normal(r *rand.Rand, mean, scale float32) func() float64 {
	return func() float64 { return float64(mean) + float64(scale)*r.NormFloat64() }
}

// uniform draws below high also where rounding to float32 would reach it.
func uniform(r *rand.Rand, low, high float32) func() float64 {
	return func() float64 {
		v := float64(low) + (float64(high)-float64(low))*r.Float64()
		if low < high && float32(v) >= high {
			return float64(math.Nextafter32(high, low))
		}
		return v
	}
}

// draw fills a tensor of any plain type.
func draw(t tensor.Type, next func() float64) ([]tensor.Tensor, error) {
	y := like(t)
	for i := range y.Count() {
		tick()
		putNumber(y, i, next())
	}
	return []tensor.Tensor{y}, nil
}

// putNumber writes element i: rounded once as a float, truncated toward zero and saturated as an integer.
func putNumber(t tensor.Tensor, i int, v float64) {
	if t.DType.IsFloat() {
		tensor.PutFloat(t.DType, t.Data, i, v, true)
		return
	}
	lo, hi := tensor.IntLimits(t.DType)
	storeInt(t, i, saturateInt(v, lo, hi))
}

// weightEnds returns the running sums of exp(x - max) over the classes of a row, up to the last class that has a
// weight.
func weightEnds(x tensor.Tensor, row int) ([]float64, error) {
	n := int(x.Dims[1])
	top := math.Inf(-1)
	for c := range n {
		tick()
		top = max(top, scalarAt(x, row*n+c).f)
	}
	if math.IsNaN(top) || math.IsInf(top, 0) {
		return nil, fault.New(fault.Data, "input 0: row %d has the largest logarithm %v", row, top)
	}
	ends := alloc[float64](n)
	sum, last := 0.0, 0
	for c := range n {
		tick()
		w := math.Exp(scalarAt(x, row*n+c).f - top)
		if w > 0 {
			last = c
		}
		sum += w
		ends[c] = sum
	}
	return ends[:last+1], nil
}
