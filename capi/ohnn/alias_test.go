package ohnn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestRunSync_oneFileTwice: inputs and outputs that are parts of one file at several addresses, shifted against each
// other, give the same sums as memory of their own. Each tensor maps the file for itself; the output of the last case
// covers another output.
func TestRunSync_oneFileTwice(t *testing.T) {
	const n = 1000
	m := newTestModel(t)
	f := func() uint32 { return m.tensor(spec.Float32, n) }
	a, b, y, z := f(), f(), f(), f()
	require.NoError(t, modelAddOperation(m.Model, 1, array(), array(a, b), array(y)))
	require.NoError(t, modelAddOperation(m.Model, 1, array(), array(y, b), array(z)))
	e := executor(t, m.built([]uint32{a, b}, []uint32{y, z}))
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Ftruncate(fd, 1<<16))
	whole, err := unix.Mmap(fd, 0, 1<<16, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(whole)) }()
	at := func(offset uint64) *Tensor {
		x, err := tensorCreateWithFd(0, desc(spec.Float32, n), int32(fd), offset+4*n, offset)
		require.NoError(t, err)
		t.Cleanup(func() { _ = tensorDestroy(x) })
		return x
	}
	x, w := make([]float32, n), make([]float32, n)
	for i := range n {
		x[i], w[i] = float32(i), float32(3*i+1)
	}
	const in2, out1, out2 = 8192, 16384, 32768
	for name, c := range map[string]struct{ y, z uint64 }{
		"apart":                         {out1, out2},
		"4 bytes behind the first":      {4, out2},
		"the first itself":              {0, out2},
		"4 bytes before the second":     {in2 - 4, out2},
		"the second output on an input": {out1, 64},
		"on both inputs":                {68, in2 + 4},
		"outputs on each other":         {out1, out1 + 400},
	} {
		copy(whole, tensor.Float32s(x...))
		copy(whole[in2:], tensor.Float32s(w...))
		require.NoError(t, executorRunSync(e, []*Tensor{at(0), at(in2)}, []*Tensor{at(c.y), at(c.z)}), name)
		gotY, gotZ := floats(t, whole[c.y:c.y+4*n]), floats(t, whole[c.z:c.z+4*n])
		for i := range n {
			if c.y+4*uint64(i) < c.z || c.y >= c.z { // the last output wins
				require.Equal(t, x[i]+w[i], gotY[i], "%s: element %d of the first output", name, i)
			}
			require.Equal(t, x[i]+w[i]+w[i], gotZ[i], "%s: element %d of the second output", name, i)
		}
	}
}

// TestRunSync_descriptorOfATensor: the memory of a tensor that the library made, mapped again by its descriptor, is the
// same memory.
func TestRunSync_descriptorOfATensor(t *testing.T) {
	m := addModel(t)
	e := executor(t, m.built([]uint32{0, 1}, []uint32{2}))
	x, err := tensorCreateWithSize(0, desc(spec.Float32, 2), 64)
	require.NoError(t, err)
	defer func() { _ = tensorDestroy(x) }()
	copy(memoryOf(x), f32s(1, 10, 100))
	var fd int32
	require.NoError(t, tensorGetFd(x, &fd))
	y, err := tensorCreateWithFd(0, desc(spec.Float32, 2), fd, 12, 4)
	require.NoError(t, err)
	defer func() { _ = tensorDestroy(y) }()
	require.NoError(t, executorRunSync(e, []*Tensor{x, x}, []*Tensor{y}))
	assert.Equal(t, []float32{1, 2, 20}, floats(t, memoryOf(x)[:12]))
}

// TestRunSync_resultThatIsAnInput: an output that is an input in another shape keeps the values from before the run,
// although another output is stored where the input lies.
func TestRunSync_resultThatIsAnInput(t *testing.T) {
	m := newTestModel(t)
	a, y, z := m.tensor(spec.Float32, 2), m.tensor(spec.Float32, 2), m.tensor(spec.Float32, 1, 2)
	require.NoError(t, modelAddOperation(m.Model, 1, array(), array(a, a), array(y)))
	// RESHAPE
	require.NoError(t, modelAddOperation(m.Model, 45, array(), array(a, m.constant(spec.Int64, tensor.Int64s(1, 2), 2)),
		array(z)))
	e := executor(t, m.built([]uint32{a}, []uint32{y, z}))
	x, w := newTestTensor(t, spec.Float32, f32s(3, 5), 2), newTestTensor(t, spec.Float32, nil, 1, 2)
	require.NoError(t, executorRunSync(e, []*Tensor{x}, []*Tensor{x, w}))
	assert.Equal(t, []float32{6, 10}, floats(t, memoryOf(x)))
	assert.Equal(t, []float32{3, 5}, floats(t, memoryOf(w)))
}
