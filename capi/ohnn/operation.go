package ohnn

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/tensor"
)

// operation is one operation of a model, with its parameters decoded.
type operation struct {
	*rule
	inputs, outputs []uint32 // tensor indices
	values          map[string]value
}

// value is a decoded parameter. Numbers of every type are in ints or floats.
type value struct {
	ints   []int64
	floats []float32
}

// String returns the C name, or the number when there is none.
func (t TensorType) String() string {
	if n, ok := paramNames[t]; ok {
		return n
	}
	return fmt.Sprintf("tensor type %d", int32(t))
}

// String returns the C name, or the number when there is none.
func (o OperationType) String() string {
	if r := ruleByNumber[o]; r != nil {
		return "OH_NN_OPS_" + r.name
	}
	return fmt.Sprintf("operation %d", int32(o))
}

// takes returns the operator's rule after comparing it with the lengths of the three lists, of which nothing has been
// read then.
func (o OperationType) takes(params, inputs, outputs int) (*rule, error) {
	r := ruleByNumber[o]
	switch {
	case r == nil:
		return nil, invalid("op: %d is no OH_NN_OperationType: 1 to %d", int32(o), len(rules))
	case !r.in.ok(inputs):
		return nil, invalid("inputIndices.size: %d: %v takes %s", inputs, o, r.in.of("input"))
	case !r.out.ok(outputs):
		return nil, invalid("outputIndices.size: %d: %v makes %s", outputs, o, r.out.of("output"))
	case params > len(r.params):
		if len(r.params) == 0 {
			return nil, invalid("paramIndices.size: %d: %v has no parameters", params, o)
		}
		return nil, invalid("paramIndices.size: %d: %v has %s: %s", params, o, exactly(len(r.params)).of("parameter"),
			r.paramList())
	}
	return r, nil
}

// newOperation checks what an operator demands of its tensors and decodes its parameters: operator notes, section 1
// rules 2 to 9. The lists have the operator's lengths and all indices are in range. Every refusal is InvalidParameter.
func (m *Model) newOperation(r *rule, params, inputs, outputs []uint32) (*operation, error) {
	o := &operation{rule: r, inputs: inputs, outputs: outputs, values: map[string]value{}}
	for i, index := range params {
		if err := o.setParam(m.tensors[index]); err != nil {
			return nil, refuseFor(InvalidParameter, err, "%v: paramIndices.data[%d]: tensor %d", r.op, i, index)
		}
	}
	if r.check != nil {
		if err := r.check(o, m); err != nil {
			return nil, refuseFor(InvalidParameter, err, "%v", r.op)
		}
	}
	return o, nil
}

// of returns "1 input", "2 inputs" or "2 or more inputs".
func (c count) of(what string) string {
	switch {
	case c.hi == 1:
		return "1 " + what
	case c.lo == c.hi:
		return fmt.Sprintf("%d %ss", c.lo, what)
	}
	return fmt.Sprintf("%d or more %ss", c.lo, what)
}

func (r *rule) paramList() string {
	var names []string
	for _, p := range r.params {
		names = append(names, p.number.String())
	}
	return strings.Join(names, ", ")
}

// setParam decodes a parameter tensor into values; one given twice replaces the earlier one.
func (o *operation) setParam(t *modelTensor) error {
	i := slices.IndexFunc(o.params, func(p param) bool {
		return p.number == t.tensorType || p.alias != 0 && p.alias == t.tensorType
	})
	if i < 0 {
		return fmt.Errorf("%v is no parameter of this operator: want one of %s", t.tensorType, o.paramList())
	}
	p := o.params[i]
	n := t.paramElements()
	if p.pad {
		switch n {
		case 1:
			p = choice(p.number, "PAD_MODE", Int8, 2)
		case 4:
			p = i64s(p.number, "PAD").of(four)
		default:
			return fmt.Errorf("%v: %d elements: want 1 (a pad mode) or 4 (top, bottom, left, right)", t.tensorType, n)
		}
	}
	if t.dataType != p.dtype && (p.also == Unknown || t.dataType != p.also || settings().reference) {
		return fmt.Errorf("%v: data type %v: want %v", t.tensorType, t.dataType, p.dtype)
	}
	if err := p.elements.check(n, t.shape); err != nil {
		return fmt.Errorf("%v: shape %v: %w", t.tensorType, t.shape, err)
	}
	if t.data == nil {
		return fmt.Errorf("%v has no data: call OH_NNModel_SetTensorData before OH_NNModel_AddOperation", t.tensorType)
	}
	v := decode(t)
	if p.bounded() && (v.ints[0] < p.lo || v.ints[0] > p.hi) {
		return fmt.Errorf("%v: %d: want %d to %d", t.tensorType, v.ints[0], p.lo, p.hi)
	}
	o.values[p.name] = v
	return nil
}

func (e elementRule) check(n int, shape []int32) error {
	ok, want := true, ""
	switch e {
	case one:
		ok, want = n == 1, "exactly 1 element"
	case scalar:
		ok, want = len(shape) == 0, "a scalar without dimensions"
	case rank1of2:
		ok, want = len(shape) == 1 && n == 2, "one dimension of 2"
	case rank2of4:
		ok, want = len(shape) == 2 && n == 4, "two dimensions of 2"
	case four:
		ok, want = n == 4, "4 elements"
	}
	if !ok {
		return fmt.Errorf("want %s", want)
	}
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
	n := len(t.data) / int(t.dataType.size())
	if t.dataType == Float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:]))
		}
		return value{floats: v}
	}
	v, err := tensor.ReadInts(t.dataType.dtype(), t.data, n)
	if err != nil {
		panic(err) // the length was checked when the data was set
	}
	return value{ints: v}
}

// has reports whether the parameter was given.
func (o *operation) has(name string) bool {
	_, ok := o.values[o.known(name)]
	return ok
}

// int returns the parameter's value, or def when it was not given.
func (o *operation) int(name string, def int64) int64 {
	if v, ok := o.values[o.known(name)]; ok {
		return v.ints[0]
	}
	return def
}

// ints returns the list, nil when it was not given.
func (o *operation) ints(name string) []int64 { return o.values[o.known(name)].ints }

// flag returns the boolean, or def when it was not given.
func (o *operation) flag(name string, def bool) bool {
	if v, ok := o.values[o.known(name)]; ok {
		return v.ints[0] != 0
	}
	return def
}

// float returns the parameter's value, or def when it was not given.
func (o *operation) float(name string, def float32) float32 {
	if v, ok := o.values[o.known(name)]; ok {
		return v.floats[0]
	}
	return def
}

// floats returns the list, nil when it was not given.
func (o *operation) floats(name string) []float32 { return o.values[o.known(name)].floats }

// known guards against a misspelt name.
func (o *operation) known(name string) string {
	if !slices.ContainsFunc(o.params, func(p param) bool { return p.name == name }) {
		panic("ohnn: " + o.name + " has no parameter " + name)
	}
	return name
}

// Checks of single operators, from the last column of the operator table.

// checkCast wants the target type as a constant.
func checkCast(o *operation, m *Model) error {
	t := m.tensors[o.inputs[1]]
	if t.data == nil {
		return fmt.Errorf("input 1: tensor %d, the target type, has no data: call OH_NNModel_SetTensorData before "+
			"OH_NNModel_AddOperation", o.inputs[1])
	}
	if v := castTarget(t); v < 0 || v >= int64(dataTypeEnd) {
		return fmt.Errorf("input 1: target type %d is no OH_NN_DataType: 0 to %d", v, dataTypeEnd-1)
	}
	return nil
}

// castTarget reads the first element as a 32-bit number, narrower data as far as it goes.
func castTarget(t *modelTensor) int64 {
	var b [4]byte
	if n := copy(b[:], t.data); n < 4 && t.dataType == Int8 && int8(b[0]) < 0 {
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
