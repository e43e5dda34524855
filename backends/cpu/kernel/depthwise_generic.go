package kernel

import "unsafe"

// plus is the slice of n values at a byte offset from p.
func plus(p *float32, bytes, n int) []float32 {
	return unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(p), bytes)), n)
}

func dwWindow1Generic(c, rows, cols int, in *float32, irow, icol, _ int, w *float32, wrow, wcol int, bias, out *float32,
	_ int, lo, hi float32) {
	o := unsafe.Slice(out, c)
	clear(o)
	if bias != nil {
		copy(o, unsafe.Slice(bias, c))
	}
	for r := range rows {
		for k := range cols {
			x, y := plus(in, r*irow+k*icol, c), plus(w, r*wrow+k*wcol, c)
			for i := range o {
				o[i] += x[i] * y[i]
			}
		}
	}
	for i, v := range o {
		o[i] = clamp(v, lo, hi)
	}
}

func dwWindow4Generic(c, rows, cols int, in *float32, irow, icol, ix int, w *float32, wrow, wcol int, bias,
	out *float32, ox int, lo, hi float32) {
	for p := range 4 {
		dwWindow1Generic(c, rows, cols, &plus(in, p*ix, c)[0], irow, icol, ix, w, wrow, wcol, bias, &plus(out, p*ox, c)[0],
			ox, lo, hi)
	}
}

func poolMaxGeneric(c, rows, cols, n int, in *float32, irow, icol, ix int, out *float32, ox int, _ float32) {
	for p := range n {
		o := plus(out, p*ox, c)
		copy(o, plus(in, p*ix, c))
		for r := range rows {
			for k := range cols {
				for i, v := range plus(in, p*ix+r*irow+k*icol, c) {
					o[i] = max(o[i], v)
				}
			}
		}
	}
}

func poolSumGeneric(c, rows, cols, n int, in *float32, irow, icol, ix int, out *float32, ox int, scale float32) {
	for p := range n {
		o := plus(out, p*ox, c)
		clear(o)
		for r := range rows {
			for k := range cols {
				for i, v := range plus(in, p*ix+r*irow+k*icol, c) {
					o[i] += v
				}
			}
		}
		for i := range o {
			o[i] *= scale
		}
	}
}
