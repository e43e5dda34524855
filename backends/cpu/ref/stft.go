package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() { register(Real, stft) }

func stft(_ *op.STFT, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	x := in[0]
	step, err := int0(in[1], 1)
	if err != nil {
		return nil, err
	}
	n := x.Dims[1]
	window := func(int) float64 { return 1 }
	if len(in) > 2 && !in[2].Absent() {
		n = in[2].Dims[0]
		window = func(t int) float64 { return scalarAt(in[2], t).f }
	}
	if len(in) > 3 {
		if n, err = int0(in[3], n); err != nil {
			return nil, err
		}
	}
	y := like(out[0])
	batches, frames, bins := int(y.Dims[0]), int(y.Dims[1]), int(y.Dims[2])
	length, parts := int(x.Dims[1]), int(x.Dims[2])
	weights := alloc[complex128](n)
	for t := range weights {
		tick()
		weights[t] = complex(window(t), 0)
	}
	transform, v := newFourier(int(n), -1), alloc[complex128](n)
	for b := range batches {
		for f := range frames {
			for t := range v {
				tick()
				v[t] = complexAt(x, (b*length+f*int(step)+t)*parts, parts) * weights[t]
			}
			spectrum := transform.of(v)
			for k := range bins {
				tick()
				at := ((b*frames+f)*bins + k) * 2
				putNumber(y, at, real(spectrum[k]))
				putNumber(y, at+1, imag(spectrum[k]))
			}
		}
	}
	return []tensor.Tensor{y}, nil
}
