package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Conv is cross-correlation in one or more spatial dimensions (the filter is not flipped):
//
//	y[n, o, p] = bias[o] + sum over c, k of x[n, g*I/groups + c, p*stride - pad + k*dilation] * w[o, k, c],  g = o / (O/groups)
//
// Cells outside x contribute nothing. Groups 0 means 1; Groups == channels is depthwise.
//
// Inputs: x [N,C,spatial] or with ChannelsLast [N,spatial,C]; w [O,spatial,C/Groups]; bias? [O]. Types: float16,
// bfloat16, float32, float64; int32, int64 and unsigned (wrapping); int8, uint8, int16 quantized per tensor with
// weights quantized per tensor or per output channel (axis 0), bias int32 (int64 for int16) in units of
// scale(x)*scale(w[o]) or with its own quantization. Output: y [N,O,spatial] in x's layout. Quantized sums are exact
// integers, rounded once to the output, half away from zero. Source: ONNX Conv-22, OH_NN_OPS_CONV2D and
// DEPTHWISE_CONV2D_NATIVE (docs/abi/ohnn.md, operators 3, 4, 6), ANEURALNETWORKS_CONV_2D,
// GROUPED_CONV_2D, DEPTHWISE_CONV_2D.
type Conv struct {
	Strides, Dilations []int64 // per spatial dimension; empty: ones
	Pads               []int64 // beginnings, then ends; empty: zeros; read for PadExplicit only
	AutoPad            AutoPad
	Groups             int64
	ChannelsLast       bool
}

func init() { graph.Register[*Conv]("conv", graph.Traits{}) }

func (o *Conv) sliding() sliding {
	return sliding{strides: o.Strides, dilations: o.Dilations, pads: o.Pads, auto: o.AutoPad}
}

// Windows resolves the geometry for the spatial sizes of x and w.
func (o *Conv) Windows(in, kernel []int64) ([]Window, error) {
	return o.sliding().windows(in, kernel)
}

// Infer returns the output shape; unknown spatial sizes stay symbols where the convolution keeps them.
func (o *Conv) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	s := o.sliding()
	shape, err := convShape(in, o.Groups, o.ChannelsLast, s.check, s.dim)
	if err != nil {
		return nil, err
	}
	out, err := linear(in, declared[0], shape)
	if err != nil {
		return nil, err
	}
	return []tensor.Fact{out}, nil
}

// convShape checks the shapes of x, w and bias of a convolution and returns that of y; check validates the attributes
// for a number of spatial dimensions (-1: unknown), dim gives the output size of spatial dimension i of n.
func convShape(in []tensor.Fact, groups int64, channelsLast bool, check func(n int) error,
	dim func(i, n int, in, kernel tensor.Dim) (tensor.Dim, error)) (tensor.Shape, error) {
	none := tensor.AnyShape()
	if groups < 0 {
		return none, fault.New(fault.Argument, "groups %d: want at least 1", groups)
	}
	groups = max(groups, 1)
	x, w := in[0].Shape, in[1].Shape
	for i := range 2 {
		if err := wantImage(in, i); err != nil {
			return none, err
		}
	}
	r := max(x.Rank(), w.Rank())
	if x.Ranked && w.Ranked && x.Rank() != w.Rank() {
		return none, fault.New(fault.Shape, "input 1: want rank %d like input 0, got %v", x.Rank(), w)
	}
	if err := check(max(r-2, -1)); err != nil {
		return none, err
	}
	if r < 0 {
		return none, nil
	}
	if !x.Ranked {
		x = tensor.AnyOfRank(r)
	}
	if !w.Ranked {
		w = tensor.AnyOfRank(r)
	}
	batch, channels, spatial := image(x, channelsLast)
	outputs, kernel, perGroup := w.Dims[0], w.Dims[1:r-1], w.Dims[r-1]
	if channels.Known() && channels.N%groups != 0 {
		return none, fault.New(fault.Shape, "input 0: %d channels do not divide into %d groups", channels.N, groups)
	}
	if outputs.Known() && outputs.N%groups != 0 {
		return none, fault.New(fault.Shape, "input 1: %d output channels do not divide into %d groups", outputs.N, groups)
	}
	if channels.Known() && perGroup.Known() && channels.N/groups != perGroup.N {
		return none, fault.New(fault.Shape, "input 1: want %d channels per group (%d in %d groups), got %v",
			channels.N/groups, channels.N, groups, w)
	}
	if err := wantSized(in, 2, outputs, "one bias per output channel"); err != nil {
		return none, err
	}
	if outputs.Sym != 0 && present(in, 2) && in[2].Shape.Rank() == 1 {
		outputs = in[2].Shape.Dims[0]
	}
	out := make([]tensor.Dim, len(spatial))
	for i := range out {
		d, err := dim(i, len(out), spatial[i], kernel[i])
		if err != nil {
			return none, err
		}
		out[i] = d
	}
	return imageOf(batch, outputs, out, channelsLast), nil
}
