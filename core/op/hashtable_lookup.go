package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// HashtableLookup returns the rows of values whose keys equal the lookups, and which lookups found one. A lookup
// without a key gives a row of zero bits, whatever the zero point of values is. Of equal keys the first counts; keys
// may stand in any order.
//
// Inputs: lookups, integers [K]; keys, integers of the same type [N]; values [N,...] of any type, not quantized per
// row. Outputs: rows [K,...] of values' type, whose quantization is that of values; hits [K], uint8: 1 where there was
// a key, else 0. A declared quantization of hits is taken over, without effect on the codes. Source:
// ANEURALNETWORKS_HASHTABLE_LOOKUP.
type HashtableLookup struct{}

func init() { graph.Register[*HashtableLookup]("hashtable_lookup", graph.Traits{}) }

// Infer returns the rows and hits.
func (o *HashtableLookup) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 3, declared, 2, 2); err != nil {
		return nil, err
	}
	for i := range 2 {
		if err := wantTensor(in, i, plainIntWords, isPlainInt); err != nil {
			return nil, err
		}
		if err := wantRank(in, i, 1); err != nil {
			return nil, err
		}
	}
	if err := sameType(in, 0, 1); err != nil {
		return nil, err
	}
	if err := wantType(in, 2, "a known type", tensor.DType.Valid); err != nil {
		return nil, err
	}
	x, lookups, rows := in[2].Shape, tensor.AnyDim(), tensor.AnyShape()
	if s := in[0].Shape; s.Ranked {
		lookups = s.Dims[0]
	}
	if x.Ranked {
		if x.Rank() == 0 {
			return nil, fault.New(fault.Shape, "input 2: want rows, got a scalar")
		}
		if err := wantSized(in, 1, x.Dims[0], "one key per row"); err != nil {
			return nil, fault.Wrap(err, "input 1")
		}
		rows = x.Clone()
		rows.Dims[0] = lookups
	}
	if q := declared[0].Quant; q != nil && in[2].DType != tensor.Invalid && !q.Equal(in[2].Quant) {
		return nil, fault.New(fault.Type, "output 0: want the quantization of input 2, %v", typeWord(in[2].Type))
	}
	out, err := moved(tensor.Type{}, in[2], rows, sameAxis(0))
	if err != nil {
		return nil, err
	}
	hits := tensor.Fact{Type: tensor.Type{DType: tensor.Uint8, Shape: tensor.OfDims(lookups)}}
	if declared[1].DType == tensor.Uint8 {
		hits.Quant = declared[1].Quant
	}
	return []tensor.Fact{out, hits}, nil
}
