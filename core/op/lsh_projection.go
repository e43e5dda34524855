package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// LSHForm is the form in which the bits of a locality-sensitive hash are returned.
type LSHForm uint8

// The forms, of B bits per function.
const (
	LSHDense  LSHForm = iota // one value, 0 or 1, per bit
	LSHSparse                // one number per function, the first bit highest, plus 2^B times the function's index
	LSHPlain                 // LSHSparse without the index
)

// LSHProjection maps rows to bits by locality-sensitive hashing. The bit of a seed is 1 where the sum over the rows of
// weight times the signed 64-bit fingerprint of the seed's bytes and the row's is above 0. The bytes are the seed's as
// a float32, then the row's as it lies in memory, whatever a quantization says; the fingerprint is Fingerprint64 of
// farmhash. Sums are float64, in the order of the rows.
//
// Inputs: seeds, float [H,B], B at most 32; x [N,...] of any type of whole bytes; weights?, float [N] (all 1). Output:
// int32 [H*B], or [H] for the other forms, where it wraps. Source: ANEURALNETWORKS_LSH_PROJECTION.
type LSHProjection struct {
	Form LSHForm
}

func init() { graph.Register[*LSHProjection]("lsh_projection", graph.Traits{}) }

// Infer returns one value per bit or per function.
func (o *LSHProjection) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 3, declared, 1, 1); err != nil {
		return nil, err
	}
	if o.Form > LSHPlain {
		return nil, fault.New(fault.Argument, "form: unknown value %d", o.Form)
	}
	float := func(t tensor.Type) bool { return t.DType.IsFloat() && t.Quant == nil }
	if err := wantTensor(in, 0, "a float type", float); err != nil {
		return nil, err
	}
	whole := func(d tensor.DType) bool { return d.Valid() && d.Bits()%8 == 0 }
	if err := wantType(in, 1, "a type of whole bytes", whole); err != nil {
		return nil, err
	}
	functions, bits, rows := anySize(), anySize(), anySize()
	if err := fit(in, 0, functions, bits); err != nil {
		return nil, err
	}
	if bits.Known() && bits.N > 32 {
		return nil, fault.New(fault.Shape, "input 0: want at most 32 bits per function, got %d", bits.N)
	}
	if s := in[1].Shape; s.Ranked {
		if s.Rank() == 0 {
			return nil, fault.New(fault.Shape, "input 1: want rows, got a scalar")
		}
		*rows = s.Dims[0]
	}
	if present(in, 2) {
		if err := wantTensor(in, 2, "a float type", float); err != nil {
			return nil, err
		}
		if err := fit(in, 2, rows); err != nil {
			return nil, err
		}
	}
	count := *functions
	if o.Form == LSHDense {
		var err error
		if count, err = timesDims(*functions, *bits); err != nil {
			return nil, err
		}
	}
	return []tensor.Fact{{Type: tensor.Type{DType: tensor.Int32, Shape: tensor.OfDims(count)}}}, nil
}
