package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// GridPadding says what GridSample reads outside of the image.
type GridPadding uint8

// The paddings.
const (
	GridZeros      GridPadding = iota
	GridBorder                 // the nearest cell of the border
	GridReflection             // mirrored: at the centres of the border cells with AlignCorners, else at their outer edges
)

// GridSample reads x at the normalized coordinates of grid: -1 and 1 are the centres of the border cells with
// AlignCorners, else their outer edges. The last dimension of grid lists the coordinates from the last spatial
// dimension to the first (x, y or x, y, z). ResizeNearest rounds half to even, ResizeLinear interpolates between
// neighbours, ResizeCubic uses Keys' kernel with -0.75. A coordinate that is not a number counts as -1.
//
// Inputs: x [N,C,spatial] or with ChannelsLast [N,spatial,C], n spatial dimensions; grid [N, out spatial, n]. Output: y
// [N,C,out spatial] in x's layout. Source: ONNX GridSample-22.
type GridSample struct {
	Mode         ResizeMode
	Padding      GridPadding
	AlignCorners bool
	ChannelsLast bool
}

func init() { graph.Register[*GridSample]("grid_sample", graph.Traits{}) }

// Infer returns the channels of x at the cells of grid.
func (o *GridSample) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	if o.Mode > ResizeCubic || o.Padding > GridReflection {
		return nil, fault.New(fault.Argument, "unknown mode %d or padding %d", o.Mode, o.Padding)
	}
	if err := wantReals(in); err != nil {
		return nil, err
	}
	for i := range in {
		if err := wantImage(in, i); err != nil {
			return nil, err
		}
	}
	x, g := in[0].Shape, in[1].Shape
	r := max(x.Rank(), g.Rank())
	if r < 0 {
		return []tensor.Fact{outType(declared[0], in[0], tensor.AnyShape())}, nil
	}
	if r > 10 {
		return nil, fault.New(fault.Shape, "input 0: %d spatial dimensions, want at most 8", r-2)
	}
	if !x.Ranked {
		x = tensor.AnyOfRank(r)
	}
	if !g.Ranked {
		g = tensor.AnyOfRank(r)
	}
	if len(x.Dims) != len(g.Dims) {
		return nil, fault.New(fault.Shape, "input 1: want rank %d like input 0, got %v", len(x.Dims), g)
	}
	batch, channels, spatial := image(x, o.ChannelsLast)
	batch, err := agree(batch, g.Dims[0], "batch sizes")
	if err != nil {
		return nil, err
	}
	if _, err := agree(g.Dims[r-1], tensor.D(int64(r-2)), "coordinates of input 1"); err != nil {
		return nil, err
	}
	cells, known := tensor.OfDims(g.Dims[1 : r-1]...).Count()
	for i, d := range spatial {
		if d.Known() && d.N == 0 && (!known || cells != 0) {
			return nil, fault.New(fault.Shape, "input 0: spatial dimension %d has no cells to sample", i)
		}
	}
	return []tensor.Fact{outType(declared[0], in[0], imageOf(batch, channels, g.Dims[1:r-1], o.ChannelsLast))}, nil
}
