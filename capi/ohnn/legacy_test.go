package ohnn

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

func info9(d DataType, shape ...int32) *TensorInfo9 {
	return &TensorInfo9{dataType: d, dimensionCount: uint32(len(shape)), dimensions: unsafe.SliceData(shape)}
}

// cPointer makes a pointer of an address of C memory.
func cPointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

func memoryAt(addr uintptr) *Memory { return (*Memory)(cPointer(addr)) }

func (m *Memory) bytes() []byte { return unsafe.Slice((*byte)(m.data), m.length) }

func TestLegacyRun(t *testing.T) {
	m := addModel(t)
	e := executor(t, m.built([]uint32{0, 1}, []uint32{2}))
	two := info9(spec.Float32, 2)
	assert.Equal(t, InvalidParameter, status(executorRun(e)), "nothing is set")
	long := append(tensor.Float32s(1, 2), make([]byte, 40)...)
	require.NoError(t, executorSetInput(e, 0, two, long), "more bytes than the tensor has")
	long[0] = 0xff
	require.NoError(t, executorSetInput(e, 1, two, tensor.Float32s(10, 20)))
	assert.Equal(t, InvalidParameter, status(executorRun(e)), "no output is set")
	out := make([]byte, 12)
	out[8] = 0x55
	require.NoError(t, executorSetOutput(e, 0, out))
	for range 2 {
		require.NoError(t, executorRun(e))
		assert.Equal(t, []float32{11, 22}, floats(t, out[:8]))
		assert.Equal(t, byte(0x55), out[8], "nothing behind the data is written")
	}
	require.NoError(t, executorSetInput(e, 1, two, tensor.Float32s(5, 5)))
	require.NoError(t, executorRun(e))
	assert.Equal(t, []float32{6, 7}, floats(t, out[:8]))
}

// A run that fails for want of memory says so, and not that an output is too small.
func TestLegacyRun_memoryThatCannotBeWritten(t *testing.T) {
	m := addModel(t)
	e := executor(t, m.built([]uint32{0, 1}, []uint32{2}))
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(page)) }()
	two := info9(spec.Float32, 2)
	for i := range uint32(2) {
		require.NoError(t, executorSetInput(e, i, two, tensor.Float32s(1, 2)))
	}
	require.NoError(t, executorSetOutput(e, 0, page))
	err = executorRun(e)
	assert.Equal(t, UnavailableDevice, status(err))
	assert.ErrorContains(t, err, "memory cannot be accessed")
	assert.NotContains(t, err.Error(), "too small")
}

func TestLegacyCodes(t *testing.T) {
	m := newTestModel(t)
	a, b, y := m.tensor(spec.Float32, 2, -1), m.tensor(spec.Float32, 2, -1), m.tensor(spec.Float32, 2, -1)
	require.NoError(t, modelAddOperation(m.Model, 1, array(), array(a, b), array(y)))
	e := executor(t, m.built([]uint32{a, b}, []uint32{y}))
	data := make([]byte, 24)
	for name, err := range map[string]error{
		"index":           executorSetInput(e, 2, info9(spec.Float32, 2, 3), data),
		"no length":       executorSetInput(e, 0, info9(spec.Float32, 2, 3), nil),
		"short":           executorSetInput(e, 0, info9(spec.Float32, 2, 3), data[:23]),
		"dynamic":         executorSetInput(e, 0, info9(spec.Float32, 2, -1), data),
		"rank":            executorSetInput(e, 0, info9(spec.Float32, 6), data),
		"fixed dimension": executorSetInput(e, 0, info9(spec.Float32, 3, 2), data),
		"data type":       executorSetInput(e, 0, info9(spec.Int32, 2, 3), data),
		"tensor type": executorSetInput(e, 0, &TensorInfo9{dataType: spec.Float32, dimensionCount: 2,
			dimensions: &[]int32{2, 3}[0], tensorType: 1}, data),
		"output index":     executorSetOutput(e, 1, data),
		"output no length": executorSetOutput(e, 0, nil),
	} {
		assert.Equal(t, InvalidParameter, status(err), name)
	}
	require.NoError(t, executorSetInput(e, 0, info9(spec.Float32, 2, 3), data))
	require.NoError(t, executorSetInput(e, 1, info9(spec.Float32, 2, 3), data))
	require.NoError(t, executorSetOutput(e, 0, data[:20]), "a dynamic output may have any size before the first run")
	assert.Equal(t, InvalidParameter, status(executorRun(e)), "the result does not fit")
	require.NoError(t, executorSetOutput(e, 0, data))
	require.NoError(t, executorRun(e))
	assert.Equal(t, InvalidParameter, status(executorSetOutput(e, 0, data[:20])), "after a run its shape counts")
}

func TestMemory(t *testing.T) {
	m := addModel(t)
	e := executor(t, m.built([]uint32{0, 1}, []uint32{2}))
	for name, get := range map[string]func() (uintptr, error){
		"no length":    func() (uintptr, error) { return executorAllocateInputMemory(e, 0, 0) },
		"input index":  func() (uintptr, error) { return executorAllocateInputMemory(e, 2, 8) },
		"output index": func() (uintptr, error) { return executorAllocateOutputMemory(e, 1, 8) },
		"above 1 GiB":  func() (uintptr, error) { return executorAllocateInputMemory(e, 0, 1<<30+1) },
	} {
		p, err := get()
		assert.Error(t, err, name)
		assert.Zero(t, p, name)
	}
	var in [2]uintptr
	for i := range in {
		p, err := executorAllocateInputMemory(e, uint32(i), 8)
		require.NoError(t, err)
		in[i] = p
		copied := *memoryAt(p)
		require.NoError(t, executorSetInputWithMemory(e, uint32(i), info9(spec.Float32, 2), &copied), "a copy of the struct")
		copy(memoryAt(p).bytes(), tensor.Float32s(float32(i), 10))
	}
	out, err := executorAllocateOutputMemory(e, 0, 100)
	require.NoError(t, err)
	require.NoError(t, executorSetOutputWithMemory(e, 0, memoryAt(out)))
	require.NoError(t, executorRun(e))
	assert.Equal(t, []float32{1, 20}, floats(t, memoryAt(out).bytes()[:8]))

	kept := in[0]
	assert.Error(t, executorDestroyInputMemory(e, 1, unsafe.Pointer(&in[0])), "another index")
	assert.Error(t, executorDestroyOutputMemory(e, 0, unsafe.Pointer(&in[0])), "an input's memory")
	assert.Error(t, executorDestroyInputMemory(nil, 0, unsafe.Pointer(&in[0])))
	assert.Equal(t, kept, in[0])
	require.NoError(t, executorDestroyInputMemory(e, 0, unsafe.Pointer(&in[0])))
	assert.Zero(t, in[0])
	assert.Zero(t, memoryAt(kept).length, "the struct stays readable")
	assert.Equal(t, InvalidParameter, status(executorSetInputWithMemory(e, 0, info9(spec.Float32, 2), memoryAt(kept))))
	assert.Equal(t, InvalidParameter, status(executorRun(e)), "memory that is gone")
	own := make([]byte, 8)
	require.NoError(t, executorSetInputWithMemory(e, 0, info9(spec.Float32, 2), &Memory{unsafe.Pointer(&own[0]), 8}))
	assert.Equal(t, InvalidParameter, status(executorRun(e)), "memory that was never allocated here")
	require.NoError(t, executorDestroyInputMemory(e, 1, unsafe.Pointer(&in[1])))
	require.NoError(t, executorDestroyOutputMemory(e, 0, unsafe.Pointer(&out)))
}
