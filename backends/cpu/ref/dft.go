package ref

import (
	"math"
	"math/cmplx"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() { register(Real, dft) }

func dft(o *op.DFT, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	x := in[0]
	axis := int64(-2)
	if len(in) > 2 {
		var err error
		if axis, err = int0(in[2], -2); err != nil {
			return nil, err
		}
	}
	a, err := op.Axis(axis, len(x.Dims))
	if err != nil {
		return nil, err
	}
	y := like(out[0])
	n, err := transformLength(o, in, x.Dims[a], y.Dims[a])
	if err != nil {
		return nil, err
	}
	parts := int(x.Dims[len(x.Dims)-1])
	partsOut := int(y.Dims[len(y.Dims)-1])
	last := len(x.Dims) - 1
	outer, size, inner := around(x.Dims[:last], a)
	_, sizeOut, _ := around(y.Dims[:last], a)
	for i := range outer {
		for k := range inner {
			tick()
			v := alloc[complex128](n)
			for t := range min(size, n) {
				tick()
				v[t] = complexAt(x, ((i*size+t)*inner+k)*parts, parts)
			}
			if o.Inverse && o.OneSided {
				mirrorSpectrum(v)
			}
			sign := -1.0
			if o.Inverse {
				sign = 1
			}
			v = fourier(v, sign)
			for t := range sizeOut {
				tick()
				z := v[t]
				if o.Inverse {
					z /= complex(float64(n), 0)
				}
				at := ((i*sizeOut+t)*inner + k) * partsOut
				putNumber(y, at, real(z))
				if partsOut == 2 {
					putNumber(y, at+1, imag(z))
				}
			}
		}
	}
	return []tensor.Tensor{y}, nil
}

// transformLength returns n of DFT: the one given, or the one that follows from the size of the axis.
func transformLength(o *op.DFT, in []tensor.Tensor, size, result int64) (int, error) {
	n := result
	if o.OneSided && !o.Inverse {
		n = size
	}
	if len(in) > 1 {
		var err error
		if n, err = int0(in[1], n); err != nil {
			return 0, err
		}
	}
	return int(n), nil
}

// complexAt reads the number at element i, real or in two parts.
func complexAt(t tensor.Tensor, i, parts int) complex128 {
	re, im := scalarAt(t, i).f, 0.0
	if parts == 2 {
		im = scalarAt(t, i+1).f
	}
	return complex(re, im)
}

// mirrorSpectrum completes the first half of the spectrum of a real signal: v[n-k] is the conjugate of v[k].
func mirrorSpectrum(v []complex128) {
	n := len(v)
	v[0] = complex(real(v[0]), 0)
	for k := 1; k <= n/2; k++ {
		tick()
		if 2*k == n {
			v[k] = complex(real(v[k]), 0)
		}
		v[n-k] = cmplx.Conj(v[k])
	}
}

// fourier returns the sums over t of v[t]·exp(sign·2πi·k·t/n). A length with a factor p is split into p transforms of
// the interleaved parts; a small prime length is summed as it stands, a large one becomes a convolution.
func fourier(v []complex128, sign float64) []complex128 {
	n := len(v)
	p := 2
	for p*p <= n && n%p != 0 {
		tick()
		p++
	}
	if p*p > n {
		if p = n; n > 64 {
			return chirp(v, sign)
		}
	}
	turn := func(k, n int) complex128 {
		s, c := math.Sincos(2 * math.Pi * float64(k%n) / float64(n))
		return complex(c, sign*s)
	}
	parts := alloc[[]complex128](p)
	for r := range parts {
		part := alloc[complex128](n / p)[:0]
		for t := r; t < n; t += p {
			tick()
			part = append(part, v[t])
		}
		if p < n {
			part = fourier(part, sign)
		}
		parts[r] = part
	}
	out := alloc[complex128](n)
	for k := range out {
		tick()
		for r, part := range parts {
			out[k] += part[k%len(part)] * turn(k*r, n)
		}
	}
	return out
}

// chirp is fourier for any length by Bluestein's identity k·t = (k² + t² - (k-t)²)/2, which makes the sums a
// convolution with the numbers exp(-sign·πi·t²/n); the convolution is done in a power of two.
func chirp(v []complex128, sign float64) []complex128 {
	n := len(v)
	size := 1
	for size < 2*n {
		size *= 2
	}
	w := alloc[complex128](n) // exp(sign·πi·t²/n)
	for t := range w {
		tick()
		s, c := math.Sincos(math.Pi * float64(t*t%(2*n)) / float64(n))
		w[t] = complex(c, sign*s)
	}
	a, b := alloc[complex128](size), alloc[complex128](size)
	for t, z := range w {
		tick()
		a[t] = v[t] * z
		b[t] = cmplx.Conj(z)
		b[(size-t)%size] = cmplx.Conj(z)
	}
	a, b = fourier(a, -1), fourier(b, -1)
	for i := range a {
		tick()
		a[i] *= b[i]
	}
	a = fourier(a, 1)
	out := alloc[complex128](n)
	for k := range out {
		tick()
		out[k] = w[k] * a[k] / complex(float64(size), 0)
	}
	return out
}
