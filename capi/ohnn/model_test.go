package ohnn

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

func array(v ...uint32) *UInt32Array {
	if len(v) == 0 {
		return &UInt32Array{}
	}
	return &UInt32Array{data: &v[0], size: uint32(len(v))}
}

func desc(d DataType, shape ...int32) *TensorDesc {
	return newTensorDesc("", d, FormatNone, shape)
}

// testModel adds tensors by number, in a shorter way than the API's.
type testModel struct {
	*testing.T
	*Model
}

func newTestModel(t *testing.T) testModel {
	m, err := modelConstruct()
	require.NoError(t, err)
	t.Cleanup(func() { _ = modelDestroy(m) })
	return testModel{t, m}
}

// tensor adds a tensor and returns its number.
func (m testModel) tensor(d DataType, shape ...int32) uint32 {
	require.NoError(m, modelAddTensorToModel(m.Model, desc(d, shape...)))
	return uint32(len(m.tensors) - 1)
}

// constant adds a tensor with data.
func (m testModel) constant(d DataType, data []byte, shape ...int32) uint32 {
	i := m.tensor(d, shape...)
	require.NoError(m, modelSetTensorData(m.Model, i, data))
	return i
}

// param adds a parameter.
func (m testModel) param(p TensorType, d DataType, data []byte, shape ...int32) uint32 {
	i := m.constant(d, data, shape...)
	require.NoError(m, modelSetTensorType(m.Model, i, p))
	return i
}

// add is a model of one ADD over two float vectors, not finished.
func addModel(t *testing.T) testModel {
	m := newTestModel(t)
	a, b, y := m.tensor(spec.Float32, 2), m.tensor(spec.Float32, 2), m.tensor(spec.Float32, 2)
	act := m.param(1, spec.Int8, []byte{0})
	require.NoError(t, modelAddOperation(m.Model, 1, array(act), array(a, b), array(y)))
	return m
}

func TestModel_lifeCycle(t *testing.T) {
	m := newTestModel(t)
	assert.Equal(t, OperationForbidden, status(modelFinish(m.Model)), "no tensor")
	m.tensor(spec.Float32, 2)
	assert.Equal(t, OperationForbidden, status(modelFinish(m.Model)), "no operation")

	m = addModel(t)
	assert.Equal(t, OperationForbidden, status(modelFinish(m.Model)), "unspecified")
	require.NoError(t, modelSpecifyInputsAndOutputs(m.Model, array(0, 1), array(2)))
	assert.Equal(t, OperationForbidden, status(modelSpecifyInputsAndOutputs(m.Model, array(0, 1), array(2))),
		"specified twice")
	require.NoError(t, modelFinish(m.Model))

	assert.Equal(t, OperationForbidden, status(modelFinish(m.Model)), "finished twice")
	assert.Equal(t, OperationForbidden, status(modelAddTensorToModel(m.Model, desc(spec.Float32, 1))))
	assert.Equal(t, OperationForbidden, status(modelAddTensor(m.Model, &TensorInfo9{dataType: 99})),
		"before the struct is looked at")
	assert.Equal(t, OperationForbidden, status(modelSetTensorData(m.Model, 99, []byte{1})), "before the index")
	assert.Equal(t, InvalidParameter, status(modelSetTensorData(m.Model, 0, nil)), "length 0 comes first")
	assert.Equal(t, InvalidParameter, status(modelSetTensorType(m.Model, 0, 163)), "the type's range comes first")
	assert.Equal(t, OperationForbidden, status(modelSetTensorType(m.Model, 0, 1)))
	assert.Equal(t, OperationForbidden, status(modelSetTensorQuantParams(m.Model, 0, &QuantParam{})))
	assert.Equal(t, OperationForbidden, status(modelAddOperation(m.Model, 999, array(), array(), array())))
	assert.Equal(t, OperationForbidden, status(modelSpecifyInputsAndOutputs(m.Model, array(9), array())))
}

func TestModelFinish_missingParameter(t *testing.T) {
	for _, tc := range []struct {
		op     OperationType
		inputs int
	}{{52, 1}, {26, 3}} {
		m := newTestModel(t)
		var in []uint32
		for range tc.inputs {
			in = append(in, m.tensor(spec.Float32, 2))
		}
		y := m.tensor(spec.Float32, 2)
		require.NoError(t, modelAddOperation(m.Model, tc.op, array(), array(in...), array(y)))
		require.NoError(t, modelSpecifyInputsAndOutputs(m.Model, array(in...), array(y)))
		assert.Equal(t, Failed, status(modelFinish(m.Model)), tc.op)
		assert.Equal(t, OperationForbidden, status(modelFinish(m.Model)), tc.op)
	}
}

func TestModelAddTensor_shapes(t *testing.T) {
	for _, tc := range []struct {
		name  string
		dtype DataType
		shape []int32
		code  ReturnCode
	}{
		{"scalar", spec.Float32, nil, Success},
		{"dynamic", spec.Float32, []int32{-1, 2}, Success},
		{"unknown type", spec.Unknown, []int32{2}, Success},
		{"zero", spec.Float32, []int32{2, 0}, InvalidParameter},
		{"below -1", spec.Float32, []int32{-2}, InvalidParameter},
		{"largest", spec.Int8, []int32{65535, 65537}, Success},
		{"one more", spec.Int8, []int32{65536, 65536}, InvalidParameter},
		{"unknown counts as one", spec.Int8, []int32{-1, 65535, 65537}, Success},
		{"overflow", spec.Float64, []int32{1 << 30, 1 << 30, 1 << 30}, InvalidParameter},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newTestModel(t)
			assert.Equal(t, tc.code, status(modelAddTensorToModel(m.Model, desc(tc.dtype, tc.shape...))))
			info := &TensorInfo9{dataType: tc.dtype, dimensionCount: uint32(len(tc.shape)),
				dimensions: unsafe.SliceData(tc.shape)}
			assert.Equal(t, tc.code, status(modelAddTensor(m.Model, info)))
		})
	}
}

func TestModelAddTensor_struct(t *testing.T) {
	one, scale, zero := uint32(8), 0.5, int32(3)
	four := uint32(4)
	dims := make([]int32, 201)
	for i := range dims {
		dims[i] = 1
	}
	for _, tc := range []struct {
		name string
		info TensorInfo9
		code ReturnCode
	}{
		{"data type", TensorInfo9{dataType: 13}, InvalidParameter},
		{"tensor type", TensorInfo9{dataType: spec.Float32, tensorType: 163}, InvalidParameter},
		{"count without dimensions", TensorInfo9{dataType: spec.Float32, dimensionCount: 1}, InvalidParameter},
		{"dimensions without count", TensorInfo9{dataType: spec.Float32, dimensions: &dims[0]}, InvalidParameter},
		{"rank 200", TensorInfo9{dataType: spec.Float32, dimensions: &dims[0], dimensionCount: 200}, Success},
		{"rank 201", TensorInfo9{dataType: spec.Float32, dimensions: &dims[0], dimensionCount: 201}, InvalidParameter},
		{"quantized", TensorInfo9{dataType: spec.Int8, quantParam: &QuantParam9{1, &one, &scale, &zero}}, Success},
		{"4 bits", TensorInfo9{dataType: spec.Int8, quantParam: &QuantParam9{1, &four, &scale, &zero}}, InvalidParameter},
		{"no scale", TensorInfo9{dataType: spec.Int8, quantParam: &QuantParam9{0, &one, nil, &zero}}, InvalidParameter},
		{"none of each", TensorInfo9{dataType: spec.Int8, quantParam: &QuantParam9{0, &one, &scale, &zero}}, Success},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newTestModel(t)
			assert.Equal(t, tc.code, status(modelAddTensor(m.Model, &tc.info)))
		})
	}
}

func TestModelSetTensorData_codes(t *testing.T) {
	m := newTestModel(t)
	vector, open := m.tensor(spec.Float32, 2), m.tensor(spec.Float32, -1)
	scalar, unknown := m.tensor(spec.Int64), m.tensor(spec.Unknown, 2)
	assert.Equal(t, InvalidParameter, status(modelSetTensorData(m.Model, 4, make([]byte, 8))), "index")
	assert.Equal(t, InvalidParameter, status(modelSetTensorData(m.Model, vector, make([]byte, 7))), "too short")
	assert.Equal(t, InvalidParameter, status(modelSetTensorData(m.Model, vector, make([]byte, 9))), "too long")
	data := make([]byte, 8)
	require.NoError(t, modelSetTensorData(m.Model, vector, data))
	data[0] = 1
	assert.Zero(t, m.tensors[vector].data[0], "copied")
	assert.Equal(t, InvalidParameter, status(modelSetTensorData(m.Model, vector, data)), "twice")
	assert.Equal(t, OperationForbidden, status(modelSetTensorData(m.Model, open, data)), "dynamic")
	assert.NoError(t, modelSetTensorData(m.Model, scalar, data))
	assert.Equal(t, InvalidParameter, status(modelSetTensorData(m.Model, unknown, data)),
		"a tensor of unknown type never gets data")
}

func TestModelSetTensorQuantParams_badParametersLoseTheFormer(t *testing.T) {
	m := newTestModel(t)
	x := m.tensor(spec.Int8, 2)
	q := &QuantParam{}
	require.NoError(t, quantParamSetScales(q, []float64{0.5}))
	require.NoError(t, quantParamSetZeroPoints(q, []int32{1}))
	assert.Equal(t, InvalidParameter, status(modelSetTensorQuantParams(m.Model, x, q)), "no bits")
	require.NoError(t, quantParamSetNumBits(q, []uint32{8}))
	require.NoError(t, modelSetTensorQuantParams(m.Model, x, q))
	assert.Equal(t, []float64{0.5}, m.tensors[x].quant.scales)
	require.NoError(t, quantParamSetNumBits(q, []uint32{16}))
	assert.Equal(t, InvalidParameter, status(modelSetTensorQuantParams(m.Model, x, q)))
	assert.Empty(t, m.tensors[x].quant.scales)
}

func TestModelAddOperation_lists(t *testing.T) {
	many := make([]uint32, 201)
	for _, tc := range []struct {
		name            string
		op              OperationType
		params, in, out *UInt32Array
		code            ReturnCode
	}{
		{"good", 1, array(3), array(0, 1), array(2), Success},
		{"no parameter", 1, array(), array(0, 1), array(2), Success},
		{"no input", 1, array(), array(), array(2), InvalidParameter},
		{"no output", 1, array(), array(0, 1), array(), InvalidParameter},
		{"201 inputs", 7, array(), array(many...), array(2), InvalidParameter},
		{"input out of range", 1, array(), array(0, 5), array(2), InvalidParameter},
		{"output out of range", 1, array(), array(0, 1), array(5), InvalidParameter},
		{"size without data", 1, array(), &UInt32Array{size: 2}, array(2), InvalidParameter},
		{"huge size without data", 1, array(), &UInt32Array{size: 1 << 31}, array(2), InvalidParameter},
		{"data without size", 1, &UInt32Array{data: &many[0]}, array(0, 1), array(2), InvalidParameter},
		{"input is a parameter", 1, array(), array(0, 3), array(2), InvalidParameter},
		{"output is a parameter", 1, array(), array(0, 1), array(3), InvalidParameter},
		{"input is output", 1, array(), array(0, 1), array(1), InvalidParameter},
		{"parameter out of range", 1, array(5), array(0, 1), array(2), InvalidParameter},
		{"unknown operation", 109, array(), array(0, 1), array(2), InvalidParameter},
		{"operation 0", 0, array(), array(0, 1), array(2), InvalidParameter},
		{"one input too few", 1, array(), array(0), array(2), InvalidParameter},
		{"one output too many", 1, array(), array(0, 1), array(2, 4), InvalidParameter},
		{"more parameters than there are", 1, array(3, 3), array(0, 1), array(2), InvalidParameter},
		{"data tensor as parameter", 1, array(4), array(0, 1), array(2), InvalidParameter},
		{"another operator's parameter", 38, array(3), array(0, 1), array(2), InvalidParameter},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newTestModel(t)
			m.tensor(spec.Float32, 2)
			m.tensor(spec.Float32, 2)
			m.tensor(spec.Float32, 2)
			m.param(1, spec.Int8, []byte{0})
			m.tensor(spec.Float32, 2)
			assert.Equal(t, tc.code, status(modelAddOperation(m.Model, tc.op, tc.params, tc.in, tc.out)))
			assert.Equal(t, tc.code == Success, len(m.ops) == 1)
		})
	}
}

// TestModelAddOperation_parameters checks the rules of the operator notes, section 1 rule 5 and the table's last
// column.
func TestModelAddOperation_parameters(t *testing.T) {
	i64 := tensor.Int64s
	for _, tc := range []struct {
		name  string
		op    OperationType
		in    [][]int32
		param TensorType
		dtype DataType
		data  []byte
		shape []int32
		code  ReturnCode
	}{
		{"scalar", 8, conv, 16, spec.Int64, i64(1), nil, Success},
		{"shape {1}", 8, conv, 16, spec.Int64, i64(1), []int32{1}, Success},
		{"two elements", 8, conv, 16, spec.Int64, i64(1, 1), []int32{2}, InvalidParameter},
		{"data type", 8, conv, 16, spec.Int32, tensor.Int32s(1), nil, InvalidParameter},
		{"activation 3", 8, conv, 15, spec.Int8, []byte{3}, nil, InvalidParameter},
		{"activation -1", 8, conv, 15, spec.Int8, []byte{255}, nil, InvalidParameter},
		{"activation 2", 8, conv, 15, spec.Int8, []byte{2}, nil, Success},
		{"pad list", 8, conv, 12, spec.Int64, i64(1, 1, 1, 1), []int32{2, 2}, Success},
		{"pad list of 3", 8, conv, 12, spec.Int64, i64(1, 1, 1), []int32{3}, InvalidParameter},
		{"pad mode by the list's name", 8, conv, 12, spec.Int8, []byte{1}, nil, Success},
		{"pad mode of int64", 8, conv, 14, spec.Int64, i64(1), nil, InvalidParameter},
		{"pad list by the mode's name", 8, conv, 14, spec.Int64, i64(0, 0, 0, 0), []int32{4}, Success},
		{"pad mode 3", 8, conv, 14, spec.Int8, []byte{3}, nil, InvalidParameter},
		{"strides of any count", 8, conv, 11, spec.Int64, i64(1, 1, 1), []int32{3}, Success},
		{"filter of rank 3", 8, [][]int32{{1, 4, 4, 1}, {1, 2, 2}, {1}}, 16, spec.Int64, i64(1), nil, InvalidParameter},
		{"depthwise image of rank 3", 10, [][]int32{{1, 4, 4}, {1, 2, 2, 1}, {1}}, 28, spec.Int8, []byte{0}, nil,
			InvalidParameter},
		{"ADD takes any count", 1, pair, 1, spec.Int8, []byte{0, 9}, []int32{2}, Success},
		{"SUB does not", 38, pair, 59, spec.Int8, []byte{0, 0}, []int32{2}, InvalidParameter},
		{"max pool takes avg pool's", 21, pair[:1], 2, spec.Int64, i64(2, 2), []int32{2}, Success},
		{"avg pool takes max pool's", 2, pair[:1], 115, spec.Bool, []byte{1}, nil, Success},
		{"round mode 2", 2, pair[:1], 109, spec.Int32, tensor.Int32s(2), nil, InvalidParameter},
		{"block shape of rank 2", 31, pair[:1], 47, spec.Int64, i64(2, 2), []int32{1, 2}, InvalidParameter},
		{"block shape", 31, pair[:1], 47, spec.Int64, i64(2, 2), []int32{2}, Success},
		{"paddings of rank 1", 31, pair[:1], 48, spec.Int64, i64(0, 0, 0, 0), []int32{4}, InvalidParameter},
		{"crops of 3", 4, pair[:1], 9, spec.Int64, i64(0, 0, 0), []int32{3}, InvalidParameter},
		{"softmax axis of two", 30, pair[:1], 46, spec.Int64, i64(0, 1), []int32{2}, InvalidParameter},
		{"layer norm scalar", 49, norm, 66, spec.Int64, i64(1), nil, Success},
		{"layer norm shape {1}", 49, norm, 66, spec.Int64, i64(1), []int32{1}, InvalidParameter},
		{"layer norm axis 0", 49, norm, 66, spec.Int64, i64(0), nil, InvalidParameter},
		{"layer norm axis = rank", 49, norm, 66, spec.Int64, i64(2), nil, InvalidParameter},
		{"layer norm gamma", 49, [][]int32{{2, 3}, {2}, {3}}, 66, spec.Int64, i64(1), nil, InvalidParameter},
		{"elementwise affine", 49, norm, 69, spec.Bool, []byte{1}, nil, InvalidParameter},
		{"LRN region", 96, pair[:1], 149, spec.Int32, tensor.Int32s(1), nil, InvalidParameter},
		{"eltwise mode 3", 12, pair, 30, spec.Int8, []byte{3}, nil, Success},
		{"eltwise mode 4", 12, pair, 30, spec.Int8, []byte{4}, nil, InvalidParameter},
		{"padding mode 4", 24, pair, 116, spec.Int32, tensor.Int32s(4), nil, InvalidParameter},
		{"depth to space mode of two", 65, pair[:1], 81, spec.Int32, tensor.Int32s(1, 9), []int32{2}, Success},
		{"resize mode int32", 43, pair[:1], 64, spec.Int32, tensor.Int32s(1), nil, Success},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := newTestModel(t)
			var in []uint32
			for _, s := range tc.in {
				in = append(in, m.tensor(spec.Float32, s...))
			}
			y := m.tensor(spec.Float32, 2)
			p := m.param(tc.param, tc.dtype, tc.data, tc.shape...)
			err := modelAddOperation(m.Model, tc.op, array(p), array(in...), array(y))
			assert.Equal(t, tc.code, status(err), "%v", err)
		})
	}
}

var (
	conv = [][]int32{{1, 4, 4, 1}, {1, 2, 2, 1}, {1}}
	pair = [][]int32{{2}, {2}}
	norm = [][]int32{{2, 3}, {3}, {3}}
)

func TestModelAddOperation_parameterWithoutData(t *testing.T) {
	m := newTestModel(t)
	a, b, y, p := m.tensor(spec.Float32, 2), m.tensor(spec.Float32, 2), m.tensor(spec.Float32, 2), m.tensor(spec.Int8)
	require.NoError(t, modelSetTensorType(m.Model, p, 1))
	assert.Equal(t, InvalidParameter, status(modelAddOperation(m.Model, 1, array(p), array(a, b), array(y))))
	require.NoError(t, modelSetTensorData(m.Model, p, []byte{1}))
	assert.NoError(t, modelAddOperation(m.Model, 1, array(p), array(a, b), array(y)))
}

func TestModelAddOperation_castTarget(t *testing.T) {
	for number, code := range map[int32]ReturnCode{0: Success, 11: Success, 12: Success, 13: InvalidParameter,
		-1: InvalidParameter} {
		m := newTestModel(t)
		x, y := m.tensor(spec.Float32, 2), m.tensor(spec.Int32, 2)
		to := m.constant(spec.Int32, tensor.Int32s(number))
		assert.Equal(t, code, status(modelAddOperation(m.Model, 6, array(), array(x, to), array(y))), number)
	}
	m := newTestModel(t)
	x, to, y := m.tensor(spec.Float32, 2), m.tensor(spec.Int32), m.tensor(spec.Int32, 2)
	assert.Equal(t, InvalidParameter, status(modelAddOperation(m.Model, 6, array(), array(x, to), array(y))), "no data")
}

func TestModelAddOperation_fullConnectionAxis(t *testing.T) {
	for _, tc := range []struct {
		useAxis byte
		code    ReturnCode
	}{{1, Success}, {0, InvalidParameter}} {
		m := newTestModel(t)
		x, w, y := m.tensor(spec.Float32, 1, 2), m.tensor(spec.Float32, 1, 2), m.tensor(spec.Float32, 1, 1)
		axis, use := m.param(31, spec.Int64, tensor.Int64s(1)), m.param(112, spec.Bool, []byte{tc.useAxis})
		assert.Equal(t, tc.code, status(modelAddOperation(m.Model, 15, array(axis, use), array(x, w), array(y))))
		assert.Equal(t, tc.code, status(modelAddOperation(m.Model, 15, array(use, axis), array(x, w), array(y))))
		assert.NoError(t, modelAddOperation(m.Model, 15, array(axis), array(x, w), array(y)), "alone")
	}
}

// claimed is a slice of n elements of which the first exists, as a program's wrong count makes it.
func claimed[T any](first *T, n int) []T {
	s := struct {
		p           *T
		length, cap int
	}{first, n, n}
	return *(*[]T)(unsafe.Pointer(&s))
}

// TestSizes_thatWereNeverSet: counts far above what any program means are refused before anything is copied.
func TestSizes_thatWereNeverSet(t *testing.T) {
	q, err := quantParamCreate()
	require.NoError(t, err)
	some, bits := 1.0, uint32(8)
	zero, octet := int32(0), byte(0)
	assert.Equal(t, InvalidParameter, status(quantParamSetScales(q, claimed(&some, 1<<40))))
	assert.Equal(t, InvalidParameter, status(quantParamSetZeroPoints(q, claimed(&zero, maxChannels+1))))
	assert.Equal(t, InvalidParameter, status(quantParamSetNumBits(q, claimed(&bits, 1<<40))))
	require.NoError(t, quantParamSetScales(q, make([]float64, maxChannels)))
	m := newTestModel(t)
	huge := &TensorInfo9{dataType: spec.Int8, quantParam: &QuantParam9{1<<32 - 1, &bits, &some, &zero}}
	assert.Equal(t, InvalidParameter, status(modelAddTensor(m.Model, huge)))
	c, err := compilationConstruct(m.Model)
	require.NoError(t, err)
	assert.Equal(t, InvalidParameter, status(compilationAddExtensionConfig(c, "x", claimed(&octet, 1<<46))))
}
