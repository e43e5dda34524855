package ohnn

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// built compiles a model whose inputs and outputs are given.
func (m testModel) built(in, out []uint32) *Compilation {
	require.NoError(m, modelSpecifyInputsAndOutputs(m.Model, array(in...), array(out...)))
	require.NoError(m, modelFinish(m.Model))
	c, err := compilationConstruct(m.Model)
	require.NoError(m, err)
	require.NoError(m, compilationBuild(c))
	m.Cleanup(func() { _ = compilationDestroy(c) })
	return c
}

func executor(t *testing.T, c *Compilation) *Executor {
	e, err := executorConstruct(c)
	require.NoError(t, err)
	t.Cleanup(func() { _ = executorDestroy(e) })
	return e
}

// memoryOf returns the tensor's bytes.
func memoryOf(t *Tensor) []byte {
	b, err := t.buf.Map()
	if err != nil {
		panic(err)
	}
	return b
}

// newTestTensor makes a tensor with data, or zeros.
func newTestTensor(t *testing.T, d DataType, data []byte, shape ...int32) *Tensor {
	x, err := tensorCreate(0, desc(d, shape...))
	require.NoError(t, err)
	t.Cleanup(func() { _ = tensorDestroy(x) })
	copy(memoryOf(x), data)
	return x
}

func floats(t *testing.T, b []byte) []float32 {
	v, err := tensor.ReadFloat32s(b, len(b)/4)
	require.NoError(t, err)
	return v
}

func TestRunSync_add(t *testing.T) {
	m := addModel(t)
	e := executor(t, m.built([]uint32{0, 1}, []uint32{2}))
	x := newTestTensor(t, spec.Float32, tensor.Float32s(1, 2), 2)
	y := newTestTensor(t, spec.Float32, tensor.Float32s(10, 20), 2)
	z := newTestTensor(t, spec.Float32, nil, 2)
	require.NoError(t, executorRunSync(e, []*Tensor{x, y}, []*Tensor{z}))
	assert.Equal(t, []float32{11, 22}, floats(t, memoryOf(z)))
}

// int8ADD with scales 0.2, 0.2 and 0.4: 4 and 8 give 10, as the upstream system test has it.
func TestRunSync_int8Add(t *testing.T) {
	m := newTestModel(t)
	a, b, y := m.tensor(spec.Int8, 1), m.tensor(spec.Int8, 1), m.tensor(spec.Int8, 1)
	for i, q := range []struct {
		scale float64
		zero  int32
	}{{0.2, 0}, {0.2, 0}, {0.4, 4}} {
		p := &QuantParam{quant: quant{[]float64{q.scale}, []int32{q.zero}, []uint32{8}}}
		require.NoError(t, modelSetTensorQuantParams(m.Model, uint32(i), p))
	}
	require.NoError(t, modelAddOperation(m.Model, 1, array(), array(a, b), array(y)))
	e := executor(t, m.built([]uint32{a, b}, []uint32{y}))
	out := newTestTensor(t, spec.Int8, nil, 1)
	in := []*Tensor{newTestTensor(t, spec.Int8, []byte{4}, 1), newTestTensor(t, spec.Int8, []byte{8}, 1)}
	require.NoError(t, executorRunSync(e, in, []*Tensor{out}))
	assert.Equal(t, byte(10), memoryOf(out)[0])
}

func TestRunSync_dynamicShapes(t *testing.T) {
	m := newTestModel(t)
	a, b, y := m.tensor(spec.Float32, -1), m.tensor(spec.Float32, -1), m.tensor(spec.Float32, -1)
	require.NoError(t, modelAddOperation(m.Model, 1, array(), array(a, b), array(y)))
	e := executor(t, m.built([]uint32{a, b}, []uint32{y}))
	var shape uintptr
	var n uint32
	require.NoError(t, executorGetOutputShape(e, 0, &shape, &n))
	assert.Equal(t, []int32{-1}, unsafe.Slice((*int32)(cPointer(shape)), n))
	out, err := tensorCreateWithSize(0, desc(spec.Float32, -1), 64)
	require.NoError(t, err)
	defer func() { _ = tensorDestroy(out) }()
	for _, size := range []int32{3, 1, 5} {
		x := make([]float32, size)
		for i := range x {
			x[i] = float32(i + 1)
		}
		in := []*Tensor{newTestTensor(t, spec.Float32, tensor.Float32s(x...), size),
			newTestTensor(t, spec.Float32, tensor.Float32s(x...), size)}
		require.NoError(t, executorRunSync(e, in, []*Tensor{out}))
		_, got := out.desc.read()
		assert.Equal(t, []int32{size}, got, "the descriptor of the output tensor")
		assert.Equal(t, float32(2*size), floats(t, memoryOf(out))[size-1])
		shape = 0
		require.NoError(t, executorGetOutputShape(e, 0, &shape, &n))
		assert.Equal(t, []int32{size}, unsafe.Slice((*int32)(cPointer(shape)), n))
	}
	in := newTestTensor(t, spec.Float32, nil, 17)
	assert.Equal(t, UnavailableDevice, status(executorRunSync(e, []*Tensor{in, in}, []*Tensor{out})),
		"an output that is too small")
}

// TestRunSync_order checks the steps of section 8 in their order, and the numbers that the glue asks for before it
// reads the arrays.
func TestRunSync_order(t *testing.T) {
	m := addModel(t)
	e := executor(t, m.built([]uint32{0, 1}, []uint32{2}))
	good := newTestTensor(t, spec.Float32, nil, 2)
	long := newTestTensor(t, spec.Float32, nil, 3)
	flat := newTestTensor(t, spec.Float32, nil, 1, 2)
	small := newTestTensor(t, spec.Float32, nil, 2)
	small.desc.setShape([]int32{1 << 20}, false)
	for _, tc := range []struct {
		name    string
		in, out []*Tensor
		code    ReturnCode
	}{
		{"NULL input", []*Tensor{good, nil}, []*Tensor{nil}, NullPtr},
		{"out of range before NULL", []*Tensor{long, nil}, []*Tensor{good}, InvalidParameter},
		{"rank", []*Tensor{good, flat}, []*Tensor{good}, InvalidParameter},
		{"NULL output", []*Tensor{good, good}, []*Tensor{nil}, InvalidParameter},
		{"NULL output before small memory", []*Tensor{good, good}, []*Tensor{nil}, InvalidParameter},
		{"small memory", []*Tensor{good, good}, []*Tensor{small}, Failed},
		{"good", []*Tensor{good, good}, []*Tensor{good}, Success},
	} {
		assert.Equal(t, tc.code, status(executorRunSync(e, tc.in, tc.out)), tc.name)
	}
	assert.EqualError(t, e.takesInputs(1), "inputCount: 1: the model has 2 inputs")
	assert.EqualError(t, e.takesOutputs(2), "outputCount: 2: the model has 1 output")
	assert.NoError(t, e.takesInputs(2))
}

func TestGetAvailableOperations(t *testing.T) {
	m := addModel(t)
	var p uintptr
	var n uint32
	assert.Equal(t, OperationForbidden, status(modelGetAvailableOperations(m.Model, 0, &p, &n)))
	m.built([]uint32{0, 1}, []uint32{2})
	require.NoError(t, modelGetAvailableOperations(m.Model, 0, &p, &n))
	assert.Equal(t, []bool{true}, unsafe.Slice((*bool)(cPointer(p)), n))
	assert.Equal(t, Failed, status(modelGetAvailableOperations(m.Model, 12345, &p, &n)))
}

func f32s(v ...float32) []byte { return tensor.Float32s(v...) }
