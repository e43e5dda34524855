package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ConvTranspose is transposed convolution: input cell i with kernel cell k adds x[n, c, i] * w[o, k, c] to output cell
// i*stride + k*dilation - padBefore; then the bias is added. Output cells nothing falls on hold the bias alone.
//
// With span = (kernel-1)*dilation + 1 the output size and the padding before are, per spatial dimension:
//
//	PadExplicit  (in-1)*stride + span + outputPad - before - after;  before from Pads, which may be negative
//	PadValid     (in-1)*stride + span + outputPad;                   before = 0
//	PadSame*     in*stride + outputPad;  total = max(0, (in-1)*stride + span - out), before = total/2, for PadSameLower rounded up.
//	             With OutputPadsInside: in*stride, total = max(0, (in-1)*stride + span + outputPad - out)
//	output_shape the given sizes; total as with OutputPadsInside, before = total/2 for PadSameUpper, rounded up for PadSameLower and
//	             PadExplicit (whose Pads are ignored then), 0 for PadValid
//
// Inputs: x [N,C,spatial] or with ChannelsLast [N,spatial,C]; w [O,spatial,C/Groups]; bias? [O]; output_shape? the
// spatial sizes. Types as Conv. Output: y. Source: ONNX ConvTranspose-22 (OutputPadsInside), OH_NN_OPS_CONV2D_TRANSPOSE
// (docs/abi/ohnn.md, operators 6), ANEURALNETWORKS_TRANSPOSE_CONV_2D.
type ConvTranspose struct {
	Strides, Dilations []int64 // per spatial dimension; empty: ones
	Pads               []int64 // beginnings, then ends; empty: zeros; read for PadExplicit only
	AutoPad            AutoPad
	OutputPads         []int64 // per spatial dimension; empty: zeros
	OutputPadsInside   bool
	Groups             int64
	ChannelsLast       bool
}

func init() { graph.Register[*ConvTranspose]("conv_transpose", graph.Traits{ShapeInputs: []int{3}}) }

func (o *ConvTranspose) check(n int) error {
	s := sliding{strides: o.Strides, dilations: o.Dilations, pads: o.Pads, auto: o.AutoPad, negativePads: true}
	if err := s.check(n); err != nil {
		return err
	}
	if n >= 0 && len(o.OutputPads) != 0 && len(o.OutputPads) != n {
		return fault.New(fault.Argument, "output pads %v: want %d values", o.OutputPads, n)
	}
	for _, v := range o.OutputPads {
		if v < 0 || v > maxWindow {
			return fault.New(fault.Argument, "output pads %v: want values from 0 to %d", o.OutputPads, maxWindow)
		}
	}
	return nil
}

// window resolves dimension i of n; out is the given output size, -1 when none is given.
func (o *ConvTranspose) window(i, n int, in, kernel, out int64) (Window, error) {
	w := Window{In: in, Kernel: kernel, Stride: at(o.Strides, i, 1), Dilation: at(o.Dilations, i, 1)}
	if kernel < 1 || kernel > maxWindow {
		return w, fault.New(fault.Argument, "spatial dimension %d: kernel size %d: want 1 to %d", i, kernel, maxWindow)
	}
	if in < 0 || in > maxSpatial/w.Stride {
		return w, fault.New(fault.Shape, "spatial dimension %d: size %d with stride %d", i, in, w.Stride)
	}
	extra := at(o.OutputPads, i, 0)
	full := (in-1)*w.Stride + w.span()
	same := o.AutoPad == PadSameUpper || o.AutoPad == PadSameLower
	switch {
	case out >= 0:
		w.Out = out
		w.pad(max(0, full+extra-out), o.AutoPad != PadSameUpper)
		if o.AutoPad == PadValid {
			w.Before = 0
		}
	case same && o.OutputPadsInside:
		w.Out = in * w.Stride
		w.pad(max(0, full+extra-w.Out), o.AutoPad == PadSameLower)
	case same:
		w.Out = in*w.Stride + extra
		w.pad(max(0, full-w.Out), o.AutoPad == PadSameLower)
	case o.AutoPad == PadValid:
		w.Out = full + extra
	default:
		w.Before, w.After = at(o.Pads, i, 0), at(o.Pads, n+i, 0)
		w.Out = full + extra - w.Before - w.After
	}
	if w.Out < 0 {
		return w, fault.New(fault.Shape, "spatial dimension %d: input %d gives output size %d", i, in, w.Out)
	}
	return w, nil
}

// pad splits the total padding; an odd cell goes to the beginning if lower.
func (w *Window) pad(total int64, lower bool) {
	w.Before = total / 2
	if lower {
		w.Before = total - total/2
	}
	w.After = total - w.Before
}

// Windows resolves the geometry for the spatial sizes of x, w and, when output_shape is given, y (nil otherwise).
func (o *ConvTranspose) Windows(in, kernel, out []int64) ([]Window, error) {
	if len(in) != len(kernel) {
		return nil, fault.New(fault.Argument, "kernel %v for spatial sizes %v", kernel, in)
	}
	if err := o.check(len(in)); err != nil {
		return nil, err
	}
	ws := make([]Window, len(in))
	for i := range ws {
		w, err := o.window(i, len(in), in[i], kernel[i], at(out, i, -1))
		if err != nil {
			return nil, err
		}
		ws[i] = w
	}
	return ws, nil
}

// Infer returns the output shape.
func (o *ConvTranspose) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 4, declared, 1, 1); err != nil {
		return nil, err
	}
	given, err := sizesInput(in, 3)
	if err != nil {
		return nil, err
	}
	shape, err := convShape(in, o.Groups, o.ChannelsLast, o.check, func(i, n int, in, kernel tensor.Dim) (tensor.Dim,
		error) {
		if given != nil {
			if given.count >= 0 && given.count != n {
				return in, fault.New(fault.Shape, "input 3: want %d spatial sizes, got %d", n, given.count)
			}
			return given.dim(i), nil
		}
		stride := at(o.Strides, i, 1)
		if in.Known() && kernel.Known() {
			w, err := o.window(i, n, in.N, kernel.N, -1)
			return tensor.D(w.Out), err
		}
		same := o.AutoPad == PadSameUpper || o.AutoPad == PadSameLower
		if same && stride == 1 && (at(o.OutputPads, i, 0) == 0 || o.OutputPadsInside) {
			return in, nil
		}
		return tensor.AnyDim(), nil
	})
	if err != nil {
		return nil, err
	}
	out, err := linear(in, declared[0], shape)
	if err != nil {
		return nil, err
	}
	return []tensor.Fact{out}, nil
}

// sizes is an optional input that holds dimensions.
type sizes struct {
	count int // -1: unknown
	dims  []tensor.Dim
}

func (s *sizes) dim(i int) tensor.Dim {
	if i < len(s.dims) {
		return s.dims[i]
	}
	return tensor.AnyDim()
}

// sizesInput reads input i as a list of sizes, nil when it is absent. Known sizes must not be negative.
func sizesInput(in []tensor.Fact, i int) (*sizes, error) {
	if !present(in, i) {
		return nil, nil
	}
	if err := wantType(in, i, "an integer type", tensor.DType.IsInt); err != nil {
		return nil, err
	}
	if err := wantRank(in, i, 1); err != nil {
		return nil, err
	}
	s := &sizes{count: -1, dims: in[i].IntValues()}
	if sh := in[i].Shape; sh.Ranked && sh.Dims[0].Known() {
		s.count = int(sh.Dims[0].N)
	}
	for _, d := range s.dims {
		if d.Known() && (d.N < 0 || d.N > maxSpatial) {
			return nil, fault.New(fault.Argument, "input %d: size %d", i, d.N)
		}
	}
	return s, nil
}
