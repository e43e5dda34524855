package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// RotaryEmbedding turns pairs of features by angles that depend on the position: (a, b) becomes (cos*a - sin*b, sin*a +
// cos*b). The first Dim features of a head take part (0: all); pair i is features i and i+Dim/2, or with Interleaved 2i
// and 2i+1.
//
// Inputs: x [B,H,S,D], or [B,S,H*D] with Heads = H; cos, sin [positions, Dim/2] with position_ids [B,S], else
// [B,S,Dim/2]. Float or quantized; a position outside the caches is an error of kind fault.Data. Output: y of x's shape
// and type. Source: ONNX RotaryEmbedding-23.
type RotaryEmbedding struct {
	Interleaved bool
	Dim, Heads  int64
}

func init() { graph.Register[*RotaryEmbedding]("rotary_embedding", graph.Traits{}) }

// Infer returns x's shape.
func (o *RotaryEmbedding) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 4, declared, 1, 1); err != nil {
		return nil, err
	}
	if err := wantReals(in[:3]); err != nil {
		return nil, err
	}
	if o.Dim < 0 || o.Dim%2 != 0 || o.Heads < 0 {
		return nil, fault.New(fault.Argument, "rotating %d features in %d heads: want an even number", o.Dim, o.Heads)
	}
	batch, steps, features := tensor.AnyDim(), tensor.AnyDim(), tensor.AnyDim()
	switch d := in[0].Shape.Dims; in[0].Shape.Rank() {
	case -1:
	case 4:
		batch, steps, features = d[0], d[2], d[3]
	case 3:
		batch, steps = d[0], d[1]
		if o.Heads == 0 {
			return nil, fault.New(fault.Argument, "the number of heads is missing for input 0 of rank 3")
		}
		if d[2].Known() {
			if d[2].N%o.Heads != 0 {
				return nil, fault.New(fault.Shape, "input 0: %v does not divide into %d heads", in[0].Shape, o.Heads)
			}
			features = tensor.D(d[2].N / o.Heads)
		}
	default:
		return nil, fault.New(fault.Shape, "input 0: want rank 3 or 4, got %v", in[0].Shape)
	}
	half := tensor.AnyDim()
	switch {
	case o.Dim > 0:
		half = tensor.D(o.Dim / 2)
	case features.Known() && features.N%2 != 0:
		return nil, fault.New(fault.Shape, "input 0: heads of %d features cannot be paired", features.N)
	case features.Known():
		half = tensor.D(features.N / 2)
	}
	if features.Known() && o.Dim > features.N {
		return nil, fault.New(fault.Argument, "rotating %d of %d features", o.Dim, features.N)
	}
	cache := tensor.OfDims(batch, steps, half)
	if present(in, 3) {
		cache = tensor.OfDims(tensor.AnyDim(), half)
		if err := wantIndex(in, 3); err != nil {
			return nil, err
		}
		if want := tensor.OfDims(batch, steps); !compatible(in[3].Shape, want) {
			return nil, fault.New(fault.Shape, "input 3: want %v, got %v", want, in[3].Shape)
		}
	}
	for i := 1; i < 3; i++ {
		m, ok := cache.Merge(in[i].Shape)
		if !ok {
			return nil, fault.New(fault.Shape, "input %d: want %v, got %v", i, cache, in[i].Shape)
		}
		cache = m
	}
	return []tensor.Fact{outType(declared[0], in[0], in[0].Shape)}, nil
}

// compatible reports whether two descriptions of a shape can both hold.
func compatible(a, b tensor.Shape) bool {
	_, ok := a.Merge(b)
	return ok
}
