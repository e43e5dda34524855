package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// BitShift is y = a shifted by b bits with NumPy broadcasting: towards higher bits, or, with Right, towards lower ones,
// where a signed a keeps its sign. A shift by a negative number, by the width of the type or by more leaves nothing
// (right of a negative a: -1).
//
// Inputs: a, b of one integer type. Output: y of that type. Source: ONNX BitShift-28.
type BitShift struct {
	Right bool
}

func init() {
	graph.Register[*BitShift]("bit_shift", graph.Traits{Elementwise: true, InPlace: []int{0, 1}})
}

// Infer returns the broadcast shape.
func (*BitShift) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return binary(in, declared, plainIntWords, isPlainInt)
}
