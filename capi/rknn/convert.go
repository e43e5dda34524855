package rknn

import (
	"encoding/binary"
	"math"

	"github.com/anynpu/anynpu/core/tensor"
)

// lineLen is how many elements are converted at once.
const lineLen = 512

// readFloats decodes elements at, at+step, ... of b.
func readFloats(out []float32, d tensor.DType, b []byte, at, step int) {
	le := binary.LittleEndian
	switch d {
	case tensor.Float32:
		for i := range out {
			out[i] = math.Float32frombits(le.Uint32(b[4*(at+i*step):]))
		}
	case tensor.Float16:
		for i := range out {
			out[i] = tensor.Float16To32(le.Uint16(b[2*(at+i*step):]))
		}
	case tensor.Uint8:
		for i := range out {
			out[i] = float32(b[at+i*step])
		}
	case tensor.Int8:
		for i := range out {
			out[i] = float32(int8(b[at+i*step]))
		}
	case tensor.BFloat16, tensor.Float64:
		for i := range out {
			out[i] = float32(tensor.FloatAt(d, b, at+i*step))
		}
	case tensor.Bool:
		for i := range out {
			out[i] = 0
			if b[at+i*step] != 0 {
				out[i] = 1
			}
		}
	default:
		for i := range out {
			out[i] = float32(tensor.IntAt(d, b, at+i*step))
		}
	}
}

// writeFloats encodes reals, rounding to nearest, ties to even. Integers are cut off towards zero and saturate; NaN becomes 0.
func writeFloats(b []byte, d tensor.DType, at, step int, v []float32) {
	le := binary.LittleEndian
	switch {
	case d == tensor.Float32:
		for i, x := range v {
			le.PutUint32(b[4*(at+i*step):], math.Float32bits(x))
		}
	case d == tensor.Float16:
		for i, x := range v {
			le.PutUint16(b[2*(at+i*step):], tensor.Float32To16(x))
		}
	case d.IsFloat():
		for i, x := range v {
			tensor.PutFloat(d, b, at+i*step, float64(x), false)
		}
	default:
		lo, hi := tensor.IntLimits(d)
		for i, x := range v {
			tensor.PutInt(d, b, at+i*step, saturate(math.Trunc(float64(x)), lo, hi))
		}
	}
}

// saturate makes an integer between lo and hi of a whole number; NaN gives 0.
func saturate(x float64, lo, hi int64) int64 {
	switch {
	case x != x:
		return min(max(0, lo), hi)
	case x <= float64(lo):
		return lo
	case x >= float64(hi):
		return hi
	}
	return int64(x)
}

// writeQuantised encodes reals as x / scale + zero, rounded to nearest, ties to even, and saturated; NaN becomes zero (section 11).
func writeQuantised(b []byte, d tensor.DType, at, step int, v []float32, q *quant) {
	lo, hi := tensor.IntLimits(d)
	for i, x := range v {
		y := int64(q.zero)
		if x == x {
			y = saturate(math.RoundToEven(float64(x/q.scale))+float64(q.zero), lo, hi)
		}
		tensor.PutInt(d, b, at+i*step, y)
	}
}

// moveInts converts integers exactly; what does not fit saturates, and Bool becomes 0 or 1.
func moveInts(dst []byte, to tensor.DType, dstAt, dstStep int, src []byte, from tensor.DType, at, step, n int) {
	lo, hi := tensor.IntLimits(to)
	for i := range n {
		x := tensor.IntAt(from, src, at+i*step)
		if to != tensor.Bool {
			x = min(max(x, lo), hi)
		}
		tensor.PutInt(to, dst, dstAt+i*dstStep, x)
	}
}

// moveBytes copies elements of size bytes unchanged.
func moveBytes(dst []byte, dstAt, dstStep int, src []byte, at, step, n, size int) {
	if dstStep == 1 && step == 1 {
		copy(dst[dstAt*size:(dstAt+n)*size], src[at*size:])
		return
	}
	for i := range n {
		copy(dst[(dstAt+i*dstStep)*size:][:size], src[(at+i*step)*size:])
	}
}

// each calls f for every image, channel and piece of a line: where it begins in both arrangements, and how long it is.
func each(a, b *arrangement, f func(image, channel, first, n int)) {
	for image := range a.images {
		for channel := range a.channels {
			for first := 0; first < a.pixels; first += lineLen {
				f(image, channel, first, min(lineLen, a.pixels-first))
			}
		}
	}
}

// taken says whether elements of a source type are the model's own as they are: no mean, no deviation, no quantisation, no other order of
// channels. raw elements always are, INT8 into a quantised INT8 input is quantised already.
func (p *port) taken(source tensor.DType, raw bool) bool {
	plain := raw || !p.normalised()
	return source == p.core && (raw || p.quant == nil && plain || p.quant != nil && source == tensor.Int8)
}

// load converts what a program handed over, elements of type from in arrangement a, to the model's own input in dst: mean and standard
// deviation, then quantisation or a cast. raw takes the elements as they are, in the type that the port reports.
func (p *port) load(dst []byte, dims []int64, src []byte, from Type, a arrangement, raw bool) {
	own := arrange(dims, NCHW, 0, 0)
	source := from.dtype()
	if raw {
		source = p.kind.dtype()
	}
	ints := !p.core.IsFloat() && !source.IsFloat()
	plain := raw || !p.normalised()
	same := p.taken(source, raw)
	var line [lineLen]float32
	each(&own, &a, func(image, channel, first, n int) {
		to, given := own.base(image, channel)+first, channel
		if p.swap && !raw && own.channels >= 3 && channel < 3 {
			given = 2 - channel
		}
		at := a.base(image, given) + first*a.step
		switch {
		case same:
			moveBytes(dst, to, 1, src, at, a.step, n, p.core.Bits()/8)
			return
		case ints && plain && p.quant == nil:
			moveInts(dst, p.core, to, 1, src, source, at, a.step, n)
			return
		}
		v := line[:n]
		readFloats(v, source, src, at, a.step)
		if !plain {
			mean, std := p.normalisation(given)
			for i := range v {
				v[i] = (v[i] - mean) / std
			}
		}
		if p.quant != nil {
			writeQuantised(dst, p.core, to, 1, v, p.quant)
			return
		}
		writeFloats(dst, p.core, to, 1, v)
	})
}

// store converts a result of the model in src to elements of type to in arrangement a of dst; reals of a quantised result are
// (q - zero) x scale.
func (p *port) store(dst []byte, a arrangement, to Type, src []byte, dims []int64) {
	own := arrange(dims, NCHW, 0, 0)
	target := to.dtype()
	if a.group > 0 && a.channels%a.group != 0 {
		p.pad(dst, &a, target)
	}
	var line [lineLen]float32
	each(&own, &a, func(image, channel, first, n int) {
		at, out := own.base(image, channel)+first, a.base(image, channel)+first*a.step
		switch {
		case target == p.core:
			moveBytes(dst, out, a.step, src, at, 1, n, target.Bits()/8)
			return
		case !p.core.IsFloat() && !target.IsFloat():
			moveInts(dst, target, out, a.step, src, p.core, at, 1, n)
			return
		}
		v := line[:n]
		readFloats(v, p.core, src, at, 1)
		if p.quant != nil {
			for i := range v {
				v[i] = (v[i] - float32(p.quant.zero)) * p.quant.scale
			}
		}
		writeFloats(dst, target, out, a.step, v)
	})
}

// pad writes the lanes of channels that do not exist: the zero point, or 0.
func (p *port) pad(dst []byte, a *arrangement, d tensor.DType) {
	size := d.Bits() / 8
	element := make([]byte, size)
	if p.quant != nil && d == p.core {
		tensor.PutInt(d, element, 0, int64(p.quant.zero))
	}
	groups := (a.channels + a.group - 1) / a.group
	for image := range a.images {
		for c := a.channels; c < groups*a.group; c++ {
			base := a.base(image, c)
			for i := range a.pixels {
				copy(dst[(base+i*a.step)*size:], element)
			}
		}
	}
}
