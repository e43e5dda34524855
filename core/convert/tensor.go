package convert

import "github.com/anynpu/anynpu/core/tensor"

// Tensor is an input or output of a model as conversions see it. The own elements of a result lie in NCHW, or, for
// other ranks than 4, in the model's order.
type Tensor struct {
	Type          tensor.DType
	Quant         *Code // what the elements stand for, nil: for themselves
	Normalization       // of an input
}

// Normalization changes the numbers of an image before they are quantized or cast: channels 0 and 2 change places, then
// v = (x - Mean) / Std by channel of the program's data.
type Normalization struct {
	Mean, Std []float32 // none, one for all channels, or one per channel
	Swap      bool      // has no effect on images of one or two channels
}

// Normalized reports whether numbers change.
func (n *Normalization) Normalized() bool { return len(n.Mean) > 0 || len(n.Std) > 0 }

// Of returns mean and standard deviation of a channel.
func (n *Normalization) Of(channel int) (mean, std float32) {
	pick := func(v []float32, none float32) float32 {
		switch len(v) {
		case 0:
			return none
		case 1:
			return v[0]
		}
		return v[channel%len(v)]
	}
	return pick(n.Mean, 0), pick(n.Std, 1)
}

// uniform reports whether all channels have one mean and one deviation.
func (n *Normalization) uniform() bool { return len(n.Mean) <= 1 && len(n.Std) <= 1 }

// swaps reports whether channels of such an image change places.
func (n *Normalization) swaps(channels int) bool { return n.Swap && channels >= 3 }

// Source describes a program's data: elements of a type in an arrangement.
type Source struct {
	Type tensor.DType
	Arrangement
	// The elements are the tensor's own: no mean, no deviation, no quantization. Their channels may still change places.
	Own bool
	// The channels keep their places whatever the tensor says.
	Ordered bool
}

// Place reports whether the source holds the tensor's elements as the tensor has them and where arrangement own has
// them, so that its memory can serve as the tensor's.
func (t *Tensor) Place(own Arrangement, s *Source) bool {
	return t.own(s) && own.same(&s.Arrangement) && (s.Ordered || !t.swaps(s.Channels))
}

// own reports whether the elements need no conversion.
func (t *Tensor) own(s *Source) bool {
	return s.Type == t.Type && (s.Own || t.Quant == nil && !t.Normalized())
}

// Load converts what a program handed over to the tensor's own elements in arrangement own, NCHW or NHWC, of dst:
// normalization, then quantization or a cast. Codes are rounded to nearest, ties to even, other integers cut off
// towards zero; both saturate. NaN becomes the zero point, or 0.
func (t *Tensor) Load(dst []byte, own Arrangement, src []byte, s *Source) {
	from := s.Arrangement
	same, swap := t.own(s), !s.Ordered && t.swaps(own.Channels)
	if own.interleaved && from.interleaved && !swap && (same || s.Own || !t.Normalized() || t.uniform()) {
		own, from = own.flat(), from.flat()
	}
	if same && !swap && own.step == 1 {
		ToPlanes(dst, src, &from, t.Type.Bits()/8)
		return
	}
	c := newConversion(s.Type, t.Type)
	if t.Quant != nil && !same {
		c.codesTo = PerTensor(*t.Quant)
	}
	normalize := !s.Own && t.Normalized()
	line := make([]byte, 2*Line*8)
	sizeTo, sizeFrom := t.Type.Bits()/8, s.Type.Bits()/8
	each(&own, func(image, channel, first, n int) {
		to, given := own.base(image, channel)+first*own.step, channel
		if swap && channel < 3 {
			given = 2 - channel
		}
		if first == 0 && normalize {
			c.normalize = true
			c.mean, c.std = t.Of(given)
		}
		if first == 0 && sizeFrom == 1 && own.Pixels >= 256 && (image == 0 && channel == 0 || c.normalize) &&
			!c.straight(own.step, from.step) {
			c.tabulate()
		}
		c.run(dst[to*sizeTo:], own.step, src[(from.base(image, given)+first*from.step)*sizeFrom:], from.step, n, line)
	})
}

// Store converts the tensor's own elements in src to elements of type to in arrangement a of dst. Codes become numbers,
// (q - zero) x scale, where to is a float type. Lanes of NC1HWC2 without a channel get the zero point, or 0.
func (t *Tensor) Store(dst []byte, a Arrangement, to tensor.DType, src []byte, dims []int64) {
	if a.group > 0 && a.Channels != a.groups()*a.group {
		t.pad(dst, &a, to)
	}
	if to == t.Type {
		FromPlanes(dst, &a, src, to.Bits()/8)
		return
	}
	c := newConversion(t.Type, to)
	if t.Quant != nil && to.IsFloat() {
		c.codesFrom = PerTensor(*t.Quant)
	}
	own := Arrange(dims, Layout{})
	line := make([]byte, Line*8)
	sizeTo, sizeFrom := to.Bits()/8, t.Type.Bits()/8
	each(&own, func(image, channel, first, n int) {
		in, out := src[(own.base(image, channel)+first)*sizeFrom:], dst[(a.base(image, channel)+first*a.step)*sizeTo:]
		if a.step == 1 {
			c.line(out, in, n)
			return
		}
		c.line(line, in, n)
		scatter(out, line, a.step, n, sizeTo)
	})
}

// pad writes the lanes of channels that do not exist.
func (t *Tensor) pad(dst []byte, a *Arrangement, d tensor.DType) {
	size := d.Bits() / 8
	element := make([]byte, size)
	if t.Quant != nil && d == t.Type {
		tensor.PutInt(d, element, 0, t.Quant.Zero)
	}
	for image := range a.Images {
		for c := a.Channels; c < a.groups()*a.group; c++ {
			base := a.base(image, c)
			for i := range a.Pixels {
				copy(dst[(base+i*a.step)*size:], element)
			}
		}
	}
}

// each calls f for every image, channel and piece of a line.
func each(a *Arrangement, f func(image, channel, first, n int)) {
	for image := range a.Images {
		for channel := range a.Channels {
			for first := 0; first < a.Pixels; first += Line {
				f(image, channel, first, min(Line, a.Pixels-first))
			}
		}
	}
}
