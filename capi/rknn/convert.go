package rknn

import (
	"github.com/anynpu/anynpu/backends/cpu/elements"
	"github.com/anynpu/anynpu/core/tensor"
)

// conversion turns lines of elements of one type into another.
type conversion struct {
	from, to   tensor.DType
	codesFrom  *elements.Codes // what the integers mean, nil: numbers are not taken from codes
	codesTo    *elements.Codes
	normalize  bool
	mean, std  float32
	work       []float32
	table      []byte // what each of 256 bytes becomes, nil: not looked up
	everything [256]byte
}

func newConversion(from, to tensor.DType) *conversion {
	return &conversion{from: from, to: to, work: make([]float32, elements.Work)}
}

// exact says whether integers are converted exactly, without a meaning.
func (c *conversion) exact() bool {
	return !c.from.IsFloat() && !c.to.IsFloat() && c.codesFrom == nil && c.codesTo == nil && !c.normalize
}

// line converts n elements, at most elements.Line. Integers are cut off towards zero, codes rounded to nearest, ties to
// even; both saturate. NaN becomes 0 or the zero point (section 11).
func (c *conversion) line(dst, src []byte, n int) {
	if c.exact() {
		elements.Cast(dst, c.to, src, c.from, n, true, c.work)
		return
	}
	v := c.work[:n]
	if c.codesFrom != nil {
		elements.Dequantize(v, c.from, src, c.codesFrom, 0)
	} else {
		elements.Floats(v, c.from, src)
	}
	if c.normalize {
		for i := range v {
			v[i] = (v[i] - c.mean) / c.std
		}
	}
	switch {
	case c.codesTo != nil:
		elements.Quantize(dst, c.to, v, c.codesTo, 0)
	case c.to == tensor.Bool:
		for i, x := range v {
			dst[i] = 0
			if x >= 1 { // 1 after cutting off and saturating
				dst[i] = 1
			}
		}
	default:
		elements.Put(dst, c.to, v, true)
	}
}

// tabulate looks bytes up from now on.
func (c *conversion) tabulate() {
	for i := range c.everything {
		c.everything[i] = byte(i)
	}
	if size := 256 * c.to.Bits() / 8; len(c.table) < size {
		c.table = make([]byte, size)
	}
	c.line(c.table, c.everything[:], 256)
}

// run converts n elements of src, step elements apart, to neighbours in dst. line holds a line of the source.
func (c *conversion) run(dst, src []byte, step, n int, line []byte) {
	if c.table != nil {
		lookUp(dst, c.to.Bits()/8, c.table, src, step, n)
		return
	}
	if step > 1 {
		gather(line, src, step, n, c.from.Bits()/8)
		src = line
	}
	c.line(dst, src, n)
}

// each calls f for every image, channel and piece of a line: where it begins in both arrangements, and how long it is.
func each(a, b *arrangement, f func(image, channel, first, n int)) {
	for image := range a.images {
		for channel := range a.channels {
			for first := 0; first < a.pixels; first += elements.Line {
				f(image, channel, first, min(elements.Line, a.pixels-first))
			}
		}
	}
}

// taken says whether elements of a source type are the model's own as they are: no mean, no deviation, no quantization,
// no other order of channels. raw elements always are, INT8 into a quantized INT8 input is quantized already.
func (p *port) taken(source tensor.DType, raw bool) bool {
	plain := raw || !p.normalized()
	return source == p.core && (raw || p.quant == nil && plain || p.quant != nil && source == tensor.Int8)
}

// load converts what a program handed over, elements of type from in arrangement a, to the model's own input in dst:
// mean and standard deviation, then quantization or a cast. raw takes the elements as they are, in the type that the
// port reports.
func (p *port) load(dst []byte, dims []int64, src []byte, from Type, a arrangement, raw bool) {
	own := arrange(dims, NCHW, 0, 0)
	source := from.dtype()
	if raw {
		source = p.kind.dtype()
	}
	swap := p.swap && !raw && own.channels >= 3
	same := p.taken(source, raw)
	if same && !swap {
		toPlanes(dst, &own, src, &a, p.core.Bits()/8)
		return
	}
	c := newConversion(source, p.core)
	if p.quant != nil && !same {
		c.codesTo = p.quant.codes()
	}
	line := make([]byte, elements.Line*8)
	sizeTo, sizeFrom := p.core.Bits()/8, source.Bits()/8
	each(&own, &a, func(image, channel, first, n int) {
		to, given := own.base(image, channel)+first, channel
		if swap && channel < 3 {
			given = 2 - channel
		}
		if first == 0 && !raw && !same && p.normalized() {
			c.normalize = true
			c.mean, c.std = p.normalization(given)
		}
		if first == 0 && sizeFrom == 1 && a.pixels >= 256 && (image == 0 && channel == 0 || c.normalize) {
			c.tabulate()
		}
		c.run(dst[to*sizeTo:], src[(a.base(image, given)+first*a.step)*sizeFrom:], a.step, n, line)
	})
}

// store converts a result of the model in src to elements of type to in arrangement a of dst; reals of a quantized
// result are (q - zero) x scale.
func (p *port) store(dst []byte, a arrangement, to Type, src []byte, dims []int64) {
	own := arrange(dims, NCHW, 0, 0)
	target := to.dtype()
	if a.group > 0 && a.channels%a.group != 0 {
		p.pad(dst, &a, target)
	}
	if target == p.core {
		fromPlanes(dst, &a, src, &own, target.Bits()/8)
		return
	}
	c := newConversion(p.core, target)
	if p.quant != nil && target.IsFloat() {
		c.codesFrom = p.quant.codes()
	}
	line := make([]byte, elements.Line*8)
	sizeTo, sizeFrom := target.Bits()/8, p.core.Bits()/8
	each(&own, &a, func(image, channel, first, n int) {
		in, out := src[(own.base(image, channel)+first)*sizeFrom:], dst[(a.base(image, channel)+first*a.step)*sizeTo:]
		if a.step == 1 {
			c.line(out, in, n)
			return
		}
		c.line(line, in, n)
		scatter(out, line, a.step, n, sizeTo)
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
