package op

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Tile repeats x along each axis: y[i] = x[i mod size].
//
// Inputs: x of any type; repeats, integers, not negative. Where repeats and the shape of x differ in length, the
// shorter one is extended by ones in front. Output: y of x's type. Source: ONNX Tile-13, OH_NN_OPS_TILE
// (docs/abi/ohnn.md, operators 6), ANEURALNETWORKS_TILE.
type Tile struct{}

func init() { graph.Register[*Tile]("tile", graph.Traits{ShapeInputs: []int{1}, Moves: true}) }

// Infer multiplies the sizes.
func (*Tile) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 1); err != nil {
		return nil, err
	}
	v, known, err := vector(in, 1)
	if err != nil {
		return nil, err
	}
	x := in[0].Shape
	if !known || !x.Ranked {
		return movedOne(declared, in[0], tensor.AnyShape(), nil)
	}
	if _, err := wantDims(v); err != nil {
		return nil, fault.Wrap(err, "input 1")
	}
	rank := max(x.Rank(), len(v))
	dims := make([]tensor.Dim, rank)
	var changed []int
	for i := range dims {
		size, times := tensor.D(1), tensor.D(1)
		if k := i - rank + x.Rank(); k >= 0 {
			size = x.Dims[k]
		}
		if k := i - rank + len(v); k >= 0 {
			times = v[k]
		}
		if dims[i], err = timesDims(size, times); err != nil {
			return nil, fault.Wrap(err, "input 1")
		}
		if !times.Known() || times.N != 1 {
			changed = append(changed, i)
		}
	}
	keep := sameAxis(changed...)
	shift := rank - x.Rank()
	out, err := movedOne(declared, in[0], tensor.OfDims(dims...), func(a int) int { return keep(a + shift) })
	if err != nil {
		return nil, err
	}
	if n, ok := foldable(out[0]); ok {
		if one := values(in[0]); len(one) > 0 && n%len(one) == 0 && (rank == 1 || len(one) == 1) {
			carry(&out[0], slices.Repeat(one, n/len(one)))
		}
	}
	return out, nil
}
