package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// TopKOrder says in which order TopK returns what it found.
type TopKOrder uint8

// The orders.
const (
	TopKSorted  TopKOrder = iota // best first
	TopKByIndex                  // by index, lowest first
)

// TopK finds the k largest (or smallest) elements of every line along Axis and where they are. Of equal elements the
// one with the lower index ranks first, with SelectLast the one with the higher index; NaN is larger than every number.
//
// Inputs: x of a float, quantized or integer type; k, one integer. Outputs: values of x's type; indices, int64 or To;
// both of x's shape with size k on Axis. k outside 0..size of Axis is an error of kind fault.Argument. Source: ONNX
// TopK-11, OH_NN_OPS_TOP_K, ANEURALNETWORKS_TOPK_V2 (with SelectLast).
type TopK struct {
	Axis       int64
	Smallest   bool
	Order      TopKOrder
	SelectLast bool
	To         tensor.DType // int32 or int64; 0 stands for int64
}

func init() { graph.Register[*TopK]("top_k", graph.Traits{ShapeInputs: []int{1}}) }

// Infer returns the shape of x with size k on Axis.
func (o *TopK) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 2, 2, declared, 1, 2); err != nil {
		return nil, err
	}
	if o.Order > TopKByIndex {
		return nil, fault.New(fault.Argument, "order: %d is no order", o.Order)
	}
	if err := wantTensor(in, 0, numberWords, isNumber); err != nil {
		return nil, err
	}
	if err := wantIndex(in, 1); err != nil {
		return nil, err
	}
	if err := wantScalar(in, 1); err != nil {
		return nil, err
	}
	to, err := indexType(o.To)
	if err != nil {
		return nil, err
	}
	s, err := o.shape(in)
	if err != nil {
		return nil, err
	}
	out := []tensor.Fact{outType(declared[0], in[0], s), {Type: tensor.Type{DType: to, Shape: s}}}
	return out[:len(declared)], nil
}

func (o *TopK) shape(in []tensor.Fact) (tensor.Shape, error) {
	k := tensor.AnyDim()
	if v := in[1].IntValues(); len(v) == 1 {
		k = v[0]
	}
	if k.Known() && k.N < 0 {
		return tensor.Shape{}, fault.New(fault.Argument, "input 1: k is %d: want 0 or more", k.N)
	}
	a, known, err := axisOf(in, 0, o.Axis)
	if err != nil || !known {
		return tensor.Shape{}, err
	}
	s := in[0].Shape.Clone()
	if d := s.Dims[a]; k.Known() && d.Known() && k.N > d.N {
		return tensor.Shape{}, fault.New(fault.Argument, "input 1: k is %d: want at most %d, the size of dimension %d of %v",
			k.N, d.N, a, in[0].Shape)
	}
	s.Dims[a] = k
	return s, nil
}
