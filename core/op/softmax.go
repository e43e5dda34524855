package op

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Softmax is y = exp(Beta*x - m) / sum of exp(Beta*x - m) along Axis, m being the largest Beta*x of the line. A line
// whose largest Beta*x is infinite or NaN gives NaN.
//
// Input: x of a float or quantized type, rank >= 1. Output: y of x's type and shape. A Beta that is infinite or NaN is
// an error of kind fault.Argument. Source: ONNX Softmax-13, OH_NN_OPS_SOFTMAX, ANEURALNETWORKS_SOFTMAX.
type Softmax struct {
	Axis int64
	Beta float32 // 0 stands for 1
}

func init() {
	graph.Register[*Softmax]("softmax", graph.Traits{InPlace: []int{0}, Sign: graph.NonNegative})
}

// Infer returns the input's type and shape.
func (o *Softmax) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := checkBeta(o.Beta); err != nil {
		return nil, err
	}
	return alongAxis(in, declared, o.Axis)
}

// Scale returns the factor of x.
func (o *Softmax) Scale() float32 { return orOne(o.Beta) }

// orOne is an attribute that stands for 1 when it is not set.
func orOne(v float32) float32 {
	if v == 0 {
		return 1
	}
	return v
}

func checkBeta(v float32) error {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return fault.New(fault.Argument, "beta: %v is not finite", v)
	}
	return nil
}
