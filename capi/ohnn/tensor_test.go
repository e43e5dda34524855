package ohnn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

func TestTensorCreate_limits(t *testing.T) {
	for name, tc := range map[string]struct {
		d     *TensorDesc
		sizes []uint64 // for CreateWithSize
		plain bool     // whether Create works
		ok    []bool
	}{
		"complete": {desc(spec.Float32, 2, 3), []uint64{0, 23, 24, 100, 1<<30 + 1}, true, []bool{false, false, true, true,
			false}},
		"dynamic":        {desc(spec.Float32, 2, -1), []uint64{0, 1, 64}, false, []bool{false, true, true}},
		"no shape":       {desc(spec.Float32), []uint64{8}, false, []bool{false}},
		"unknown":        {desc(spec.Unknown, 2), []uint64{8}, false, []bool{false}},
		"unknown, open":  {desc(spec.Unknown, -1), []uint64{8}, false, []bool{false}},
		"more than 1GiB": {desc(spec.Int8, 1<<30, 2), []uint64{1 << 31}, false, []bool{false}},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(x *Tensor, err error, ok bool) {
				t.Helper()
				assert.Equal(t, ok, err == nil, "%v", err)
				if err == nil {
					require.NoError(t, tensorDestroy(x))
				}
			}
			x, err := tensorCreate(0, tc.d)
			check(x, err, tc.plain)
			for i, size := range tc.sizes {
				x, err := tensorCreateWithSize(0, tc.d, size)
				check(x, err, tc.ok[i])
			}
			_, err = tensorCreate(12345, tc.d)
			assert.Error(t, err, "an unknown device")
		})
	}
}

// TestTensorCreateWithFd shares the memory of one tensor with another one, behind an offset, as upstream's tests do.
func TestTensorCreateWithFd(t *testing.T) {
	whole := newTestTensor(t, spec.Float32, nil, 1, 1, 2, 515)
	var fd int32
	require.NoError(t, tensorGetFd(whole, &fd))
	d := desc(spec.Float32, 1, 1, 2, 3)
	part, err := tensorCreateWithFd(0, d, fd, 4120, 4096)
	require.NoError(t, err)
	defer func() { _ = tensorDestroy(part) }()
	var size, offset uint64
	require.NoError(t, tensorGetSize(part, &size))
	require.NoError(t, tensorGetOffset(part, &offset))
	assert.Equal(t, [2]uint64{4120, 4096}, [2]uint64{size, offset})
	memoryOf(part)[0] = 7
	assert.Equal(t, byte(7), memoryOf(whole)[4096])
	for name, a := range map[string][3]uint64{
		"no size":             {uint64(fd), 0, 0},
		"size below offset":   {uint64(fd), 24, 4096},
		"too little":          {uint64(fd), 4119, 4096},
		"beyond the file":     {uint64(fd), 8192 + 24, 8192},
		"not a descriptor":    {1 << 20, 24, 0},
		"a size near the end": {uint64(fd), 1<<63 + 24, 1 << 63},
	} {
		_, err := tensorCreateWithFd(0, d, int32(a[0]), a[1], a[2])
		assert.Error(t, err, name)
	}
	_, err = tensorCreateWithFd(0, d, -1, 24, 0)
	assert.Error(t, err)
	odd, err := tensorCreateWithFd(0, d, fd, 124, 100)
	require.NoError(t, err, "an offset of any kind")
	assert.Len(t, memoryOf(odd), 24)
	require.NoError(t, tensorDestroy(odd))
	withSettings(t, func(c *config) { c.reference = true })
	_, err = tensorCreateWithFd(0, d, fd, 124, 100)
	assert.Error(t, err, "the reference wants page-aligned offsets")
}

// TestRunSync_shrunkMemory: a file that the program has cut off is refused, not touched.
func TestRunSync_shrunkMemory(t *testing.T) {
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Ftruncate(fd, 8192))
	x, err := tensorCreateWithFd(0, desc(spec.Float32, 2), int32(fd), 8192, 0)
	require.NoError(t, err)
	defer func() { _ = tensorDestroy(x) }()
	m := addModel(t)
	e := executor(t, m.built([]uint32{0, 1}, []uint32{2}))
	require.NoError(t, executorRunSync(e, []*Tensor{x, x}, []*Tensor{x}))
	require.NoError(t, unix.Ftruncate(fd, 0))
	assert.Equal(t, Failed, status(executorRunSync(e, []*Tensor{x, x}, []*Tensor{x})))
}
