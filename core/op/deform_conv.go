package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// DeformConv is convolution that samples x beside the regular positions: for kernel cell k and output cell p it reads x
// at p*stride - pad + k*dilation + offset[n, g, k, :, p], interpolated linearly in every dimension with 0 outside x,
// and multiplies it by mask[n, g, k, p]. The channels divide into OffsetGroups runs that share offsets and mask.
//
// Inputs, n spatial dimensions, K kernel cells row-major: x [N,C,spatial]; w [O,kernel,C/Groups]; offset [N,
// OffsetGroups*K*n, out spatial] with the n coordinates of one kernel cell side by side; bias? [O]; mask? [N,
// OffsetGroups*K, out spatial] (absent: 1). All float or quantized. Output: y [N,O,out spatial]. With ChannelsLast x,
// offset, mask and y have their channels last. Source: ONNX DeformConv-22.
type DeformConv struct {
	Strides, Dilations []int64 // per spatial dimension; empty: ones
	Pads               []int64 // beginnings, then ends; empty: zeros
	Groups             int64
	OffsetGroups       int64
	ChannelsLast       bool
}

func init() { graph.Register[*DeformConv]("deform_conv", graph.Traits{}) }

// Windows resolves the geometry for the spatial sizes of x and w.
func (o *DeformConv) Windows(in, kernel []int64) ([]Window, error) {
	return sliding{strides: o.Strides, dilations: o.Dilations, pads: o.Pads}.windows(in, kernel)
}

// Infer returns the output shape.
func (o *DeformConv) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 5, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantReals(in); err != nil {
		return nil, err
	}
	if o.OffsetGroups < 0 {
		return nil, fault.New(fault.Argument, "offset groups %d: want at least 1", o.OffsetGroups)
	}
	conv := []tensor.Fact{in[0], in[1]}
	if present(in, 3) {
		conv = append(conv, in[3])
	}
	s := sliding{strides: o.Strides, dilations: o.Dilations, pads: o.Pads}
	shape, err := convShape(conv, o.Groups, o.ChannelsLast, s.check, s.dim)
	if err != nil || !shape.Ranked {
		return []tensor.Fact{outType(declared[0], in[0], shape)}, err
	}
	if err := o.checkOffsets(in, shape); err != nil {
		return nil, err
	}
	return []tensor.Fact{outType(declared[0], in[0], shape)}, nil
}

// checkOffsets checks the shapes of offset and mask against that of y.
func (o *DeformConv) checkOffsets(in []tensor.Fact, y tensor.Shape) error {
	batch, _, spatial := image(y, o.ChannelsLast)
	groups := max(o.OffsetGroups, 1)
	if x := in[0].Shape; x.Ranked {
		if _, c, _ := image(x, o.ChannelsLast); c.Known() && c.N%groups != 0 {
			return fault.New(fault.Shape, "input 0: %d channels do not divide into %d offset groups", c.N, groups)
		}
	}
	cells, known := int64(groups), in[1].Shape.Ranked
	if known {
		k := in[1].Shape.Dims
		for _, d := range k[1 : len(k)-1] {
			known = known && d.Known() && d.N > 0 && cells <= maxSpatial/d.N
			if known {
				cells *= d.N
			}
		}
	}
	for _, c := range []struct {
		i   int
		per int64
	}{{2, int64(len(spatial))}, {4, 1}} {
		if !present(in, c.i) || !in[c.i].Shape.Ranked {
			continue
		}
		if err := wantRank(in, c.i, len(y.Dims)); err != nil {
			return err
		}
		channels := tensor.AnyDim()
		if known {
			channels = tensor.D(cells * c.per)
		}
		want := imageOf(batch, channels, spatial, o.ChannelsLast)
		if _, ok := want.Merge(in[c.i].Shape); !ok {
			return fault.New(fault.Shape, "input %d: want %v, got %v", c.i, want, in[c.i].Shape)
		}
	}
	return nil
}
