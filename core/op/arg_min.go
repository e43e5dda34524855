package op

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ArgMin is the index of the smallest element along Axis, of equal ones the first, or with SelectLast the last. A NaN
// counts as the smallest.
//
// Input: x of a float, quantized, integer or bool type. Output: int64, or To, without dimension Axis, or with size 1
// there (KeepDims). An axis of size 0 is an error of kind fault.Shape. Source: ONNX ArgMin-13, ANEURALNETWORKS_ARGMIN.
type ArgMin struct {
	Axis       int64
	KeepDims   bool
	SelectLast bool
	To         tensor.DType // int32 or int64; 0 stands for int64
}

func init() { graph.Register[*ArgMin]("arg_min", graph.Traits{}) }

// Infer returns the shape without Axis.
func (o *ArgMin) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	return argExtreme(in, declared, o.Axis, o.KeepDims, o.To)
}
