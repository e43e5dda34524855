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
	sign := -1.0
	if o.Inverse {
		sign = 1
	}
	f, v := newFourier(n, sign), alloc[complex128](n)
	line, into := alloc[float64](n), singles(y)
	for i := range outer {
		for k := range inner {
			tick()
			at := func(t int) int { return ((i*size+t)*inner + k) * parts }
			var spectrum []complex128
			if parts == 1 && !o.Inverse {
				clear(line)
				readLine(line[:min(size, n)], x, at(0), inner)
				spectrum = f.ofReal(line)
			} else {
				clear(v)
				for t := range min(size, n) {
					tick()
					v[t] = complexAt(x, at(t), parts)
				}
				if o.Inverse && o.OneSided {
					mirrorSpectrum(v)
				}
				spectrum = f.of(v)
			}
			for t, z := range spectrum[:sizeOut] {
				if o.Inverse {
					z /= complex(float64(n), 0)
				}
				at := ((i*sizeOut+t)*inner + k) * partsOut
				if into != nil {
					if into[at] = float32(real(z)); partsOut == 2 {
						into[at+1] = float32(imag(z))
					}
					continue
				}
				tick()
				if putNumber(y, at, real(z)); partsOut == 2 {
					putNumber(y, at+1, imag(z))
				}
			}
		}
	}
	return []tensor.Tensor{y}, nil
}

// singles is the numbers of a tensor of float32, nil for other types.
func singles(t tensor.Tensor) []float32 {
	if t.DType != tensor.Float32 {
		return nil
	}
	return view[float32](t)
}

// readLine reads numbers of x that are step elements apart.
func readLine(line []float64, x tensor.Tensor, at, step int) {
	if v := singles(x); v != nil {
		for t := range line {
			line[t] = float64(v[at+t*step])
		}
		return
	}
	for t := range line {
		tick()
		line[t] = scalarAt(x, at+t*step).f
	}
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

// fourier computes sums over t of v[t]·exp(sign·2πi·k·t/n) for one n and sign. A length with a factor p is split into
// p transforms of the interleaved parts; a small prime length is summed as it stands, a large one becomes a
// convolution.
type fourier struct {
	sign  float64
	roots []complex128 // exp(sign·2πi·k/n)
	out   []complex128 // of the last transform
	parts []complex128 // one of each part
	half  *fourier     // for half of an even length
	real  []complex128 // the last transform of real numbers
}

func newFourier(n int, sign float64) *fourier {
	f := &fourier{sign: sign, roots: alloc[complex128](n), out: alloc[complex128](n), parts: alloc[complex128](64)}
	for k := range f.roots {
		tick()
		s, c := math.Sincos(2 * math.Pi * float64(k) / float64(n))
		f.roots[k] = complex(c, sign*s)
	}
	return f
}

// of transforms v, of as many numbers as f is for. The result is valid until the next transform.
func (f *fourier) of(v []complex128) []complex128 {
	f.transform(f.out, v, 1)
	return f.out
}

// ofReal transforms real numbers: those at even and at odd places are the parts of half as many complex ones.
func (f *fourier) ofReal(v []float64) []complex128 {
	n := len(v)
	if f.real == nil {
		f.real = alloc[complex128](n)
		if n%2 == 0 && n > 0 {
			f.half = newFourier(n/2, f.sign)
		}
	}
	if f.half == nil {
		for t, x := range v {
			f.real[t] = complex(x, 0)
		}
		return f.of(f.real)
	}
	m := n / 2
	pairs := f.real[:m]
	for t := range pairs {
		pairs[t] = complex(v[2*t], v[2*t+1])
	}
	z := f.half.of(pairs)
	for k := range m {
		a, b := z[k], cmplx.Conj(z[(m-k)%m])
		even := complex(real(a+b)/2, imag(a+b)/2)
		odd := complex(imag(a-b)/2, -real(a-b)/2) * f.roots[k]
		f.real[k], f.real[m+k] = even+odd, even-odd
	}
	return f.real
}

// transform makes out of the numbers of v that lie step apart.
func (f *fourier) transform(out, v []complex128, step int) {
	tick()
	n := len(out)
	p := 2
	for p*p <= n && n%p != 0 {
		p++
	}
	if p*p > n {
		p = n
	}
	turn := len(f.roots) / max(n, 1) // of the first root of n
	switch {
	case n == 1:
		out[0] = v[0]
		return
	case n == 2:
		out[0], out[1] = v[0]+v[step], v[0]-v[step]
		return
	case n == 4:
		sum, difference := v[0]+v[2*step], v[0]-v[2*step]
		other, turned := v[step]+v[3*step], v[step]-v[3*step]
		turned = complex(-f.sign*imag(turned), f.sign*real(turned)) // by a quarter
		out[0], out[1], out[2], out[3] = sum+other, difference+turned, sum-other, difference-turned
		return
	case p > 64:
		line := alloc[complex128](n)
		for t := range line {
			line[t] = v[t*step]
		}
		copy(out, chirp(line, f.sign))
		return
	}
	m := n / p
	for r := range p {
		f.transform(out[r*m:][:m], v[r*step:], step*p)
	}
	if p == 2 {
		low, high := out[:m], out[m:][:m]
		for k, a := range low {
			b := high[k] * f.roots[k*turn]
			low[k], high[k] = a+b, a-b
		}
		return
	}
	parts := f.parts[:p]
	for k := range m {
		tick()
		for r := range parts {
			parts[r] = out[r*m+k] * f.roots[k*r*turn]
		}
		for q := range p {
			sum := parts[0]
			for r := 1; r < p; r++ {
				sum += parts[r] * f.roots[q*r%p*m*turn]
			}
			out[q*m+k] = sum
		}
	}
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
	forth := newFourier(size, -1)
	copy(a, forth.of(a))
	for i, z := range forth.of(b) {
		tick()
		a[i] *= z
	}
	a = newFourier(size, 1).of(a)
	out := alloc[complex128](n)
	for k := range out {
		tick()
		out[k] = w[k] * a[k] / complex(float64(size), 0)
	}
	return out
}
