package plan

import (
	"context"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Options govern Build. The zero Options are ready.
type Options struct {
	ir.Packing
	// NHWC marks the inputs, of types that TakesNHWC accepts, whose elements runs get in NHWC: [N, C, spatial...] as
	// [N, spatial..., C].
	NHWC []bool
	// Open is the graph without the sizes of its inputs, of which there are plans for other sizes over the same store;
	// nil: there are none.
	Open *graph.Graph
	// Trace, when set, gets the result of each pass as text.
	Trace func(pass, text string)

	// Of a plan that folds one node of another: operators on constants are computed by the run, and the other's limit
	// holds.
	unfolded bool
	limit    int64
	body     bool // of a plan that is part of another's step: it may do without fast kernels
}

// builder is the type of Build.
type builder func(ctx context.Context, g *graph.Graph, store *run.Store, o Options) (*run.Plan, error)

// Computes reports whether there are kernels for elements of the type: float32, halves, or codes of 8 bits.
func Computes(t tensor.Type) bool {
	if t.Quant != nil {
		return t.DType.Bits() == 8
	}
	return t.DType == tensor.Float32 || isHalf(t)
}

// TakesNHWC reports whether a plan can begin with an input of the given type in NHWC (Options.NHWC).
func TakesNHWC(t tensor.Type) bool {
	switch t.DType.Bits() {
	case 8, 16, 32, 64:
		return t.Shape.Rank() > 2
	}
	return false
}

// ImageRow returns how many of the last dimensions of an input of a graph are a row, all of whose readers take rows
// that lie apart where the plan computes them with kernels (Plan.ReadsApart); 0 for other inputs.
func ImageRow(g *graph.Graph, v graph.Value) (dims int) {
	if g.Fact(v).DType != tensor.Uint8 || slices.Contains(g.Out, v) {
		return 0
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		at := slices.Index(n.In, v)
		if at < 0 {
			continue
		}
		var pixel op.Pixel
		interleaved := false
		switch o := n.Op.(type) {
		case *op.DecodeImage:
			pixel, interleaved = o.Pixel, o.Interleaved
		case *op.ResizeImage:
			pixel, interleaved = o.Pixel, o.Interleaved
		default:
			return 0
		}
		row := 1
		if at == 1 || !pixel.Semiplanar() && interleaved {
			row = 2
		}
		if at > 1 || dims != 0 && row != dims {
			return 0
		}
		dims = row
	}
	return dims
}
