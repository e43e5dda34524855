package lowering

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[nnapi.OperationCode]func(n *node){
		nnapi.ResizeBilinear: func(n *node) {
			o := &op.Resize{Mode: op.ResizeLinear, Coord: op.CoordAsymmetric}
			if align, half := n.corners(); align {
				o.Coord = op.CoordAlignCorners
			} else if half {
				o.Coord = op.CoordHalfPixel
			}
			n.resize(o)
		},
		nnapi.ResizeNearestNeighbor: func(n *node) {
			o := &op.Resize{Mode: op.ResizeNearest, Coord: op.CoordAsymmetric, Nearest: op.NearestFloor}
			if align, half := n.corners(); align {
				o.Coord, o.Nearest = op.CoordAlignCorners, op.NearestRoundPreferCeil
			} else if half {
				o.Coord = op.CoordTFHalfPixel
			}
			n.resize(o)
		},
	})
}

// corners reads the flags for aligned corners and half pixels, of which one at most may be set.
func (n *node) corners() (align, half bool) {
	align, half = n.flag(4), n.flag(5)
	if align && half {
		n.fail(fault.Argument, "%s and %s: want one of them at most [nnapi-inputs-one]", n.term(4), n.term(5))
	}
	return align, half
}

// resize adds the operator with the sizes that inputs 1 and 2 give, width first, or that their factors give. The
// coordinates follow from the sizes in either case.
func (n *node) resize(o *op.Resize) {
	h, w, _ := imageDims(n.channelsLast(3))
	o.Axes = []int64{int64(h), int64(w)}
	var sizes [2]graph.Value
	for k, i := range []int{2, 1} {
		if n.form.Name == "by scale" {
			sizes[k] = n.scaled(i, []int{h, w}[k])
			continue
		}
		if v, ok := n.fact(n.in(i)).KnownInts(); ok && len(v) == 1 {
			n.within(i, v[0], 1, math.MaxInt32)
		}
		sizes[k] = n.reshape(n.in(i), 1)
	}
	n.emit(o, n.in(0), graph.None, graph.None, n.join(sizes[:]...))
}

// scaled returns floor(size of a dimension of input 0 x the factor in input i), in float32.
func (n *node) scaled(i, dim int) graph.Value {
	scale := n.float(i)
	if !(scale > 0) || math.IsInf(float64(scale), 0) {
		n.fail(fault.Argument, "%s: want a finite number above 0, got %v [nnapi-finite-number-above]", n.term(i), scale)
		return graph.None
	}
	if d := n.dim(n.in(0), dim); d.Known() {
		v := math.Floor(float64(float32(d.N) * scale))
		if d.N > 0 && (v < 1 || v > math.MaxInt32) {
			n.fail(fault.Argument, "%s: %v times %d cells leaves a size of %v "+
				"[nnapi-times-cells-leaves]", n.term(i), scale, d.N, v)
			return graph.None
		}
		return n.b.Const("", tensor.T(tensor.Int32, 1), tensor.Int32s(int32(v)))
	}
	cells := n.add(&op.Cast{To: tensor.Float32}, n.size(n.in(0), dim))
	out := n.add(&op.Floor{}, n.add(&op.Mul{}, cells, n.b.Float32(scale)))
	return n.add(&op.Cast{To: tensor.Int32}, out)
}
