package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Softsign is y = x / (1 + |x|). Infinities give NaN, as the formula does.
//
// Input: x of a float or quantized type. Output: y of x's type and shape. Source: ONNX Softsign-1.
type Softsign struct{}

func init() {
	graph.Register[*Softsign]("softsign", graph.Traits{Elementwise: true, InPlace: []int{0}})
}

// Infer returns the input's type and shape.
func (*Softsign) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return unary(in, declared, realWords, isReal)
}
