package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// LogSoftmax is y = Beta*x - m - ln(sum of exp(Beta*x - m)) along Axis, m being the largest Beta*x of the line. A line
// whose largest Beta*x is infinite or NaN gives NaN.
//
// Input: x of a float or quantized type, rank >= 1. Output: y of x's type and shape. A Beta that is infinite or NaN is
// an error of kind fault.Argument. Source: ONNX LogSoftmax-13, OH_NN_OPS_LOG_SOFTMAX, ANEURALNETWORKS_LOG_SOFTMAX.
type LogSoftmax struct {
	Axis int64
	Beta float32 // 0 stands for 1
}

func init() { graph.Register[*LogSoftmax]("log_softmax", graph.Traits{InPlace: []int{0}}) }

// Infer returns the input's type and shape.
func (o *LogSoftmax) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := checkBeta(o.Beta); err != nil {
		return nil, err
	}
	return alongAxis(in, declared, o.Axis)
}

// Scale returns the factor of x.
func (o *LogSoftmax) Scale() float32 { return orOne(o.Beta) }
