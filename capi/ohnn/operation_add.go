package ohnn

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// modelAddOperation adds nothing when it fails.
func modelAddOperation(m *Model, op OperationType, params, inputs, outputs *UInt32Array) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.open(); err != nil {
		return err
	}
	r, err := ruleFor(op, int(params.size), int(inputs.size), int(outputs.size))
	if err != nil {
		return err
	}
	in, out, err := m.dataIndices(inputs, outputs)
	if err != nil {
		return refuseFor(InvalidParameter, err, "%v", op)
	}
	p, err := m.indices("paramIndices", params, false)
	if err != nil {
		return refuseFor(InvalidParameter, err, "%v", op)
	}
	o, err := m.newOperation(r, p, in, out)
	if err != nil {
		return err
	}
	m.ops = append(m.ops, o)
	return nil
}

// newOperation checks what an operator demands of its tensors and decodes its parameters: operator notes, section 1
// rules 2 to 9. The lists have the operator's lengths and all indices are in range. Every refusal is InvalidParameter.
func (m *Model) newOperation(r *spec.Rule, params, inputs, outputs []uint32) (*operation, error) {
	o := &operation{Rule: r, inputs: inputs, outputs: outputs, values: map[string]value{}}
	for i, index := range params {
		if err := o.setParam(m.tensors[index]); err != nil {
			return nil, refuseFor(InvalidParameter, err, "%v: paramIndices.data[%d]: tensor %d "+
				"[ohnn-param-indices-data]", r.Op, i, index)
		}
	}
	if check := operationChecks[r.Name]; check != nil {
		if err := check(o, m); err != nil {
			return nil, refuseFor(InvalidParameter, err, "%v", r.Op)
		}
	}
	return o, nil
}

// setParam decodes a parameter tensor into values; one given twice replaces the earlier one.
func (o *operation) setParam(t *modelTensor) error {
	i := slices.IndexFunc(o.Params, func(p spec.Param) bool {
		return p.Number == t.tensorType || p.Alias != 0 && p.Alias == t.tensorType
	})
	if i < 0 {
		return fmt.Errorf("%v is no parameter of this operator: want one of %s", t.tensorType, o.ParamList())
	}
	p := o.Params[i]
	n := t.paramElements()
	if p.Pad {
		switch n {
		case 1:
			p = p.Mode()
		case 4:
			p = p.List()
		default:
			return fmt.Errorf("%v: %d elements: want 1 (a pad mode) or 4 (top, bottom, left, right)", t.tensorType, n)
		}
	}
	if t.dataType != p.DataType && (p.Also == spec.Unknown || t.dataType != p.Also || settings().reference) {
		return fmt.Errorf("%v: data type %v: want %v", t.tensorType, t.dataType, p.DataType)
	}
	if err := p.Elements.Check(n, len(t.shape)); err != nil {
		return fmt.Errorf("%v: shape %v: %w", t.tensorType, t.shape, err)
	}
	if t.data == nil {
		return fmt.Errorf("%v has no data: call OH_NNModel_SetTensorData before OH_NNModel_AddOperation", t.tensorType)
	}
	v := decode(t)
	if p.Hi > 0 && (v.ints[0] < 0 || v.ints[0] > p.Hi) {
		return fmt.Errorf("%v: %d: want 0 to %d", t.tensorType, v.ints[0], p.Hi)
	}
	o.values[p.Name] = v
	return nil
}

// paramElements counts the elements of a parameter tensor; a dynamic shape counts as none.
func (t *modelTensor) paramElements() int {
	n, dynamic, err := elements(t.shape)
	if dynamic || err != nil || n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

// decode reads all elements of a constant of one of the parameter types.
func decode(t *modelTensor) value {
	n := len(t.data) / int(t.dataType.Size())
	if t.dataType == spec.Float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:]))
		}
		return value{floats: v}
	}
	v, err := tensor.ReadInts(t.dataType.DType(), t.data, n)
	if err != nil {
		panic(err) // the length was checked when the data was set
	}
	return value{ints: v}
}

// operationChecks are checks of single operators, from the last column of the operator table, by name.
var operationChecks = map[string]func(o *operation, m *Model) error{
	"CAST": checkCast, "CONV2D": checkConv, "CONV2D_TRANSPOSE": checkConv, "DEPTHWISE_CONV2D_NATIVE": checkDepthwise,
	"FULL_CONNECTION": checkFullConnection, "LAYER_NORM": checkLayerNorm, "LRN": checkLRN,
}

// checkCast wants the target type as a constant.
func checkCast(o *operation, m *Model) error {
	t := m.tensors[o.inputs[1]]
	if t.data == nil {
		return fmt.Errorf("input 1: tensor %d, the target type, has no data: call OH_NNModel_SetTensorData before "+
			"OH_NNModel_AddOperation", o.inputs[1])
	}
	if v := castTarget(t); v < 0 || v >= int64(spec.DataTypeEnd) {
		return fmt.Errorf("input 1: target type %d is no OH_NN_DataType: 0 to %d", v, spec.DataTypeEnd-1)
	}
	return nil
}

// castTarget reads the first element as a 32-bit number, narrower data as far as it goes.
func castTarget(t *modelTensor) int64 {
	var b [4]byte
	if n := copy(b[:], t.data); n < 4 && t.dataType == spec.Int8 && int8(b[0]) < 0 {
		return int64(int8(b[0]))
	}
	return int64(int32(binary.LittleEndian.Uint32(b[:])))
}

func wantRank(o *operation, m *Model, input, rank int, what string) error {
	if t := m.tensors[o.inputs[input]]; len(t.shape) != rank {
		return fmt.Errorf("input %d: tensor %d, the %s, has shape %v: want rank %d", input, o.inputs[input], what, t.shape,
			rank)
	}
	return nil
}

func checkConv(o *operation, m *Model) error { return wantRank(o, m, 1, 4, "filter") }

func checkDepthwise(o *operation, m *Model) error {
	if err := wantRank(o, m, 0, 4, "image"); err != nil {
		return err
	}
	return wantRank(o, m, 1, 4, "filter")
}

// checkFullConnection refuses an axis that USE_AXIS=false contradicts.
func checkFullConnection(o *operation, _ *Model) error {
	if o.has("AXIS") && !o.flag("USE_AXIS", true) {
		return fmt.Errorf("AXIS is given while USE_AXIS is false: leave one of them out")
	}
	return nil
}

func checkLRN(o *operation, _ *Model) error {
	if v := o.int("NORM_REGION", 0); v != 0 {
		return fmt.Errorf("NORM_REGION: %d: only 0 (across channels) exists", v)
	}
	return nil
}

// checkLayerNorm wants gamma and beta of exactly the shape that is normalized.
func checkLayerNorm(o *operation, m *Model) error {
	x := m.tensors[o.inputs[0]].shape
	begin := o.int("BEGIN_NORM_AXIS", 1)
	if begin < 1 || begin >= int64(len(x)) {
		return fmt.Errorf("BEGIN_NORM_AXIS: %d: want 1 to %d for shape %v", begin, len(x)-1, x)
	}
	for i := 1; i <= 2; i++ {
		if s := m.tensors[o.inputs[i]].shape; !slices.Equal(s, x[begin:]) {
			return fmt.Errorf("input %d: shape %v: want %v, the normalized dimensions of %v", i, s, x[begin:], x)
		}
	}
	return nil
}
