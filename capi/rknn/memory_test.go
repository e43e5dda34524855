package rknn

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

func memAt(addr uintptr) *spec.TensorMem { return (*spec.TensorMem)(cPointer(addr)) }

func created(t *testing.T, size uint32) *spec.TensorMem {
	t.Helper()
	addr, err := createMem(product(t), size)
	require.NoError(t, err)
	m := memAt(addr)
	t.Cleanup(func() { _ = destroyMem(0, m) })
	return m
}

func bytesAt(m *spec.TensorMem) []byte {
	return unsafe.Slice((*byte)(cPointer(m.Virt+uintptr(m.Offset))), int(m.Size))
}

func TestMemory_copiesOfTheStructServe(t *testing.T) {
	m := created(t, 100)
	require.Equal(t, make([]byte, 100), bytesAt(m))
	copied := *m
	require.NotNil(t, memories.find(&copied))
	require.NoError(t, destroyMem(0, &copied))
	requireCode(t, spec.ErrParam, destroyMem(0, m), "destroyed")
	requireCode(t, spec.ErrParam, destroyMem(0, &copied), "destroyed")
	requireCode(t, spec.ErrParam, destroyMem(0, &spec.TensorMem{Priv: 12345, Virt: copied.Virt}))
}

func TestCreateMem_refuses(t *testing.T) {
	for _, size := range []uint64{0, 1 << 32} {
		_, err := createMem2(0, size, memFlagsAllocNoOwner)
		requireCode(t, spec.ErrParam, err, "size")
	}
	_, err := createMem2(0, 16, 0)
	requireCode(t, spec.ErrContext, err, "ctx: NULL")
	_, err = createMemFromFd(product(t), -1, nil, 16, 0)
	requireCode(t, spec.ErrParam, err, "fd is -1")
	_, err = createMemFromFd(product(t), 9999, nil, 16, 0)
	requireCode(t, spec.ErrParam, err, "fd")
	_, err = createMemFromFd(product(t), 0, cPointer(cMemory(t, make([]byte, 16))), 16, -4)
	requireCode(t, spec.ErrParam, err, "offset is -4")
	_, err = createMemFromFd(product(t), 0, cPointer(cMemory(t, make([]byte, 16))), 0, 0)
	requireCode(t, spec.ErrParam, err, "size is 0")
	requireCode(t, spec.ErrParam, memSync(product(t), nil, 4), "mode is 4")
}

func TestSetIoMem_quantizedNative(t *testing.T) {
	// 3 channels of 2 pixels: 16 lanes, of which 13 are filled with the zero point.
	c := open(t, quantized(0.5, -10, 1, 3, 1, 2), 0)
	in, out := attrOf(t, c, spec.QueryInputAttr), attrOf(t, c, spec.QueryNativeOutputAttr)
	x, y := created(t, in.Size), created(t, out.SizeWithStride)
	require.NoError(t, setIoMem(c, x, &in))
	require.NoError(t, setIoMem(c, y, &out))
	copy(bytesAt(x), []byte{1, 2, 3, 4, 5, 6}) // INT8 into INT8: quantized already
	require.NoError(t, run(c, nil))
	want := make([]byte, 32)
	for i := range want {
		want[i] = 0xf6 // -10
	}
	copy(want, []byte{1, 2, 3})
	copy(want[16:], []byte{4, 5, 6})
	require.Equal(t, want, bytesAt(y))
	require.Equal(t, []int8{1, 4, 2, 5, 3, 6}, fetch[int8](t, c, 0), "outputs_get serves bound outputs too")
}

func TestSetIoMem_nativeGroupsOfABatch(t *testing.T) {
	// 2 images of 20 channels of 1 x 3 pixels: element (n,c,w) lies at ((n*2 + c/16)*3 + w)*16 + c%16.
	const n, ch, w = 2, 20, 3
	c := open(t, quantized(1, -128, n, ch, 1, w), 0)
	in, out := attrOf(t, c, spec.QueryInputAttr), attrOf(t, c, spec.QueryNativeOutputAttr)
	x, y := created(t, in.Size), created(t, out.Size)
	require.NoError(t, setIoMem(c, x, &in))
	require.NoError(t, setIoMem(c, y, &out))
	want := make([]byte, n*2*w*16)
	for i := range want {
		want[i] = 0x80 // -128
	}
	for i := range n {
		for k := range ch {
			for j := range w {
				v := byte(1 + (i*ch+k)*w + j)
				bytesAt(x)[(i*w+j)*ch+k] = v
				want[((i*2+k/16)*w+j)*16+k%16] = v
			}
		}
	}
	require.NoError(t, run(c, nil))
	require.Equal(t, want, bytesAt(y))
}

func TestStructs_haveTheSizesOfTheHeader(t *testing.T) {
	for size, got := range map[uintptr]uintptr{
		376: unsafe.Sizeof(spec.TensorAttr{}), 33040: unsafe.Sizeof(InputRange{}), 64: unsafe.Sizeof(MemSize{}),
		40: unsafe.Sizeof(spec.TensorMem{}),
		32: unsafe.Sizeof(Input{}), 136: unsafe.Sizeof(InitExtend{}), 512: unsafe.Sizeof(SDKVersion{}),
		1024: unsafe.Sizeof(CustomString{}),
	} {
		require.Equal(t, size, got)
	}
	require.Equal(t, [...]uintptr{24, 24, 16, 8}, [...]uintptr{unsafe.Sizeof(Output{}), unsafe.Sizeof(RunExtend{}),
		unsafe.Sizeof(PerfDetail{}), unsafe.Sizeof(OutputExtend{})})
}

func TestSetIoMem_rowsOfABatch(t *testing.T) {
	c := open(t, identity(onnxtest.Float, 2, 1, 1, 2), 0)
	in := attrOf(t, c, spec.QueryInputAttr)
	in.Kind, in.HStride = spec.Uint8, 3 // two more rows behind each image
	requireCode(t, spec.ErrParam, setIoMem(c, created(t, 7), &in), "takes 8")
	x := created(t, 8)
	require.NoError(t, setIoMem(c, x, &in))
	copy(bytesAt(x), []byte{1, 2, 9, 9, 9, 9, 3, 4})
	require.Equal(t, []float32{1, 2, 3, 4}, floats(t, c))
	in.HStride = 0
	require.NoError(t, setIoMem(c, x, &in))
	require.Equal(t, []float32{1, 2, 9, 9}, floats(t, c))
}

func TestSetIoMem_tensorIsFoundByNameThenIndex(t *testing.T) {
	c := open(t, identity(onnxtest.Float, 1, 4), 0)
	in, out := attrOf(t, c, spec.QueryInputAttr), attrOf(t, c, spec.QueryOutputAttr)
	m := created(t, 64)
	find := func(a spec.TensorAttr) bool {
		_, input, err := c.tensorOf(&a)
		require.NoError(t, err)
		return input
	}
	require.True(t, find(in))
	require.False(t, find(out))
	in.Name = [spec.MaxNameLen]byte{}
	require.True(t, find(in))
	in.Elems = 5
	requireCode(t, spec.ErrParam, setIoMem(c, m, &in), "attr->n_elems 5")
	out.Kind = spec.Int8
	requireCode(t, spec.ErrParam, setIoMem(c, m, &out), "attr->type is RKNN_TENSOR_INT8")
}

func TestRun_memoryDestroyedFirst(t *testing.T) {
	c := open(t, identity(onnxtest.Float, 1, 4), 0)
	out := attrOf(t, c, spec.QueryOutputAttr)
	y := created(t, out.Size)
	require.NoError(t, setIoMem(c, y, &out))
	require.NoError(t, inputsSet(c, []Input{inputOf(t, spec.Float32, spec.Undefined, []float32{1, 2, 3, 4})}))
	require.NoError(t, destroyMem(0, y))
	requireCode(t, spec.ErrFail, run(c, nil), `"y"`, "destroyed")
	require.Equal(t, []float32{1, 2, 3, 4}, floats(t, c), "forgotten after that")
}

// A file that a program cuts while it is bound, and a buffer that it has unmapped, make calls fail with a sentence, not
// the process.
func TestRun_memoryThatIsCut(t *testing.T) {
	for _, bound := range []spec.Type{spec.Float32, spec.Uint8} { // used in place, and converted
		c := open(t, identity(1, 1, 4096), 0)
		fd, err := unix.MemfdCreate("cut", 0)
		require.NoError(t, err)
		defer unix.Close(fd)
		require.NoError(t, unix.Ftruncate(fd, 1<<20))
		addr, err := createMemFromFd(product(t), int32(fd), nil, 1<<20, 0)
		require.NoError(t, err)
		defer func() { require.NoError(t, destroyMem(0, memAt(addr))) }()
		in := attrOf(t, c, spec.QueryInputAttr)
		in.Kind = bound
		require.NoError(t, setIoMem(c, memAt(addr), &in))
		require.NoError(t, run(c, nil))
		require.NoError(t, unix.Ftruncate(fd, 0))
		err = run(c, nil)
		require.ErrorContains(t, err, "address")
		require.NotContains(t, err.Error(), "panic")
		requireCode(t, spec.ErrFail, outputsGet(c, make([]Output, 1), nil), "no results")
		require.NoError(t, unix.Ftruncate(fd, 1<<20))
		require.NoError(t, run(c, nil))
		gone, err := unix.Mmap(-1, 0, 1<<16, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
		require.NoError(t, err)
		defer func() { require.NoError(t, unix.Munmap(gone)) }()
		at := uintptr(unsafe.Pointer(unsafe.SliceData(gone)))
		outputs := []Output{{wantFloat: 1, isPrealloc: 1, buf: at, size: 1 << 16}}
		requireCode(t, spec.ErrFail, outputsGet(c, outputs, nil), "outputs: memory of buf, or bound to an output, cannot be "+
			"used at address")
		requireCode(t, spec.ErrFail, inputsSet(c, []Input{{buf: at, size: 1 << 16}}),
			"inputs: memory of buf cannot be used at address")
	}
}

func TestSpareMemory_isCheckedForItsSize(t *testing.T) {
	c := open(t, identity(onnxtest.Float, 1, 4), 0)
	size := c.memSize()
	require.NoError(t, setInternalMem(c, created(t, size.internal)))
	require.NoError(t, setWeightMem(c, created(t, size.weight)))
	requireCode(t, spec.ErrParam, setInternalMem(c, created(t, size.internal-1)), "total_internal_size")
	requireCode(t, spec.ErrParam, setWeightMem(c, &spec.TensorMem{}), "no memory")
}
