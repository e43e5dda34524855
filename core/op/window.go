package op

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// AutoPad says where the padding of a sliding window comes from.
type AutoPad uint8

// The sources of padding.
const (
	PadExplicit  AutoPad = iota // Pads, zeros when empty
	PadSameUpper                // output size ceil(in/stride), an odd cell goes to the end
	PadSameLower                // output size ceil(in/stride), an odd cell goes to the beginning
	PadValid                    // none
)

// CeilMode says how a pooling output size that does not divide evenly is rounded.
type CeilMode uint8

// The roundings of output sizes.
const (
	RoundFloor CeilMode = iota // windows that do not fit are dropped
	RoundCeil                  // the last window may hang over the end, and may lie wholly outside
	// as RoundCeil, but a last window that starts behind the input and its leading padding is dropped (ONNX)
	RoundCeilInside
)

// Window is a sliding window along one spatial dimension with everything resolved: output cell o reads input cells
// o*Stride - Before + k*Dilation for k in [0, Kernel); cells outside [0, In) are padding.
type Window struct {
	In, Out, Kernel, Stride, Dilation, Before, After int64
}

// span is how many input cells the kernel covers.
func (w Window) span() int64 { return (w.Kernel-1)*w.Dilation + 1 }

// Sizes above these cannot belong to a tensor that exists; the bounds keep window arithmetic inside int64.
const (
	maxWindow  = math.MaxInt32
	maxSpatial = 1 << 48
)

// sliding is the common part of window operators: the attributes Strides, Dilations, Pads, AutoPad and Ceil.
type sliding struct {
	strides, dilations, pads []int64
	auto                     AutoPad
	ceil                     CeilMode
	negativePads             bool // cropping is allowed (transposed convolution)
}

func at(v []int64, i int, otherwise int64) int64 {
	if i < len(v) {
		return v[i]
	}
	return otherwise
}

// check validates the attributes for n spatial dimensions; n < 0: unknown, only values are looked at.
func (s sliding) check(n int) error {
	for _, l := range []struct {
		name     string
		v        []int64
		per      int
		lo       int64
		ignoring bool
	}{{"strides", s.strides, 1, 1, false}, {"dilations", s.dilations, 1, 1, false},
		{"pads", s.pads, 2, 0, s.auto != PadExplicit}} {
		if l.ignoring {
			continue
		}
		if n >= 0 && len(l.v) != 0 && len(l.v) != n*l.per {
			return fault.New(fault.Argument, "%s %v: want %d values for %d spatial dimensions", l.name, l.v, n*l.per, n)
		}
		for _, v := range l.v {
			if v < l.lo && !(l.name == "pads" && s.negativePads) || v > maxWindow || v < -maxWindow {
				return fault.New(fault.Argument, "%s %v: want values from %d to %d", l.name, l.v, l.lo, maxWindow)
			}
		}
	}
	if s.auto > PadValid {
		return fault.New(fault.Argument, "unknown padding mode %d", s.auto)
	}
	if s.ceil > RoundCeilInside {
		return fault.New(fault.Argument, "unknown rounding of sizes %d", s.ceil)
	}
	return nil
}

// window resolves spatial dimension i of n.
func (s sliding) window(i, n int, in, kernel int64) (Window, error) {
	w := Window{In: in, Kernel: kernel, Stride: at(s.strides, i, 1), Dilation: at(s.dilations, i, 1)}
	if kernel < 1 || kernel > maxWindow {
		return w, fault.New(fault.Argument, "spatial dimension %d: kernel size %d: want 1 to %d", i, kernel, maxWindow)
	}
	if in < 0 || in > maxSpatial {
		return w, fault.New(fault.Shape, "spatial dimension %d: size %d", i, in)
	}
	switch s.auto {
	case PadSameUpper, PadSameLower:
		w.Out = ceilDiv(in, w.Stride)
		total := max(0, (w.Out-1)*w.Stride+w.span()-in)
		w.Before = total / 2
		if s.auto == PadSameLower {
			w.Before = total - total/2
		}
		w.After = total - w.Before
		return w, nil
	case PadExplicit:
		w.Before, w.After = at(s.pads, i, 0), at(s.pads, n+i, 0)
	}
	room := in + w.Before + w.After - w.span()
	if room < 0 {
		return w, fault.New(fault.Shape, "input 0: spatial dimension %d: the kernel covers %d cells, the padded input has %d",
			i, w.span(), in+w.Before+w.After)
	}
	w.Out = room/w.Stride + 1
	if s.ceil != RoundFloor {
		w.Out = ceilDiv(room, w.Stride) + 1
	}
	if s.ceil == RoundCeilInside && (w.Out-1)*w.Stride >= in+w.Before {
		w.Out--
	}
	return w, nil
}

// dim is the output size of spatial dimension i of n as far as it is known.
func (s sliding) dim(i, n int, in, kernel tensor.Dim) (tensor.Dim, error) {
	if in.Known() && kernel.Known() {
		w, err := s.window(i, n, in.N, kernel.N)
		return tensor.D(w.Out), err
	}
	stride := at(s.strides, i, 1)
	same := s.auto == PadSameUpper || s.auto == PadSameLower
	switch {
	case same && in.Known():
		return tensor.D(ceilDiv(in.N, stride)), nil
	case same && stride == 1:
		return in, nil
	case kernel.Known():
		span := (kernel.N-1)*at(s.dilations, i, 1) + 1
		var pad int64
		if s.auto == PadExplicit {
			pad = at(s.pads, i, 0) + at(s.pads, n+i, 0)
		}
		if !same && stride == 1 && pad == span-1 {
			return in, nil
		}
	}
	return tensor.AnyDim(), nil
}

// windows resolves all spatial dimensions.
func (s sliding) windows(in, kernel []int64) ([]Window, error) {
	if len(in) != len(kernel) {
		return nil, fault.New(fault.Argument, "kernel %v for spatial sizes %v", kernel, in)
	}
	if err := s.check(len(in)); err != nil {
		return nil, err
	}
	out := make([]Window, len(in))
	for i := range out {
		w, err := s.window(i, len(in), in[i], kernel[i])
		if err != nil {
			return nil, err
		}
		out[i] = w
	}
	return out, nil
}

// ceilDiv returns ceil(a/b) for a >= 0, b > 0.
func ceilDiv(a, b int64) int64 {
	if a == 0 {
		return 0
	}
	return (a-1)/b + 1
}

// image splits a shape of rank >= 3 into batch, channel and spatial dimensions.
func image(s tensor.Shape, channelsLast bool) (batch, channel tensor.Dim, spatial []tensor.Dim) {
	r := len(s.Dims)
	if channelsLast {
		return s.Dims[0], s.Dims[r-1], s.Dims[1 : r-1]
	}
	return s.Dims[0], s.Dims[1], s.Dims[2:]
}

// imageOf is the inverse of image.
func imageOf(batch, channel tensor.Dim, spatial []tensor.Dim, channelsLast bool) tensor.Shape {
	d := []tensor.Dim{batch}
	if !channelsLast {
		d = append(d, channel)
	}
	d = append(d, spatial...)
	if channelsLast {
		d = append(d, channel)
	}
	return tensor.OfDims(d...)
}

// wantImage checks that input i has a batch, a channel and at least one spatial dimension; an unknown rank passes.
func wantImage(in []tensor.Fact, i int) error {
	if r := in[i].Shape.Rank(); r >= 0 && r < 3 {
		return fault.New(fault.Shape, "input %d: want batch, channels and at least one spatial dimension, got %v", i,
			in[i].Shape)
	}
	return nil
}

// agree merges two dimensions that must be equal; the error names what they are.
func agree(a, b tensor.Dim, what string) (tensor.Dim, error) {
	switch {
	case a.Known() && b.Known() && a.N != b.N:
		return a, fault.New(fault.Shape, "%s: %d and %d differ", what, a.N, b.N)
	case a.Known() || b.Sym == tensor.Unknown:
		return a, nil
	}
	return b, nil
}

// wantSized checks that an optional input i, when given, has rank 1 and size d.
func wantSized(in []tensor.Fact, i int, d tensor.Dim, what string) error {
	if !present(in, i) || !in[i].Shape.Ranked {
		return nil
	}
	if err := wantRank(in, i, 1); err != nil {
		return err
	}
	_, err := agree(in[i].Shape.Dims[0], d, what)
	return fault.Wrap(err, "input %d", i)
}
