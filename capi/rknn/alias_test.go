package rknn

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// sharedFile makes a file that the program maps twice, at two addresses.
func sharedFile(t *testing.T, size int) (fd int, maps [2][]byte) {
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC)
	require.NoError(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	require.NoError(t, unix.Ftruncate(fd, int64(size)))
	for i := range maps {
		maps[i], err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, unix.Munmap(maps[i])) })
	}
	return fd, maps
}

// TestRun_oneFileTwice: an input and an output that are parts of one file give the right result, however the program
// brings the file.
func TestRun_oneFileTwice(t *testing.T) {
	const n = 600
	relu := (&onnxtest.Model{}).Node("Relu", "y", "x").Node("Add", "z", "y", "x")
	relu.Input("x", onnxtest.Float, 1, n).Output("z", onnxtest.Float, 1, n)
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i - n/2)
	}
	for name, bring := range map[string]func(c uintptr, fd int, maps [2][]byte, which int, offset int32) (uintptr, error){
		"descriptor": func(c uintptr, fd int, _ [2][]byte, _ int, offset int32) (uintptr, error) {
			return createMemFromFd(c, int32(fd), nil, 4*n, offset)
		},
		"address": func(c uintptr, fd int, maps [2][]byte, which int, offset int32) (uintptr, error) {
			return createMemFromFd(c, int32(fd), unsafe.Pointer(&maps[which][0]), 4*n, offset)
		},
		"address without a descriptor": func(c uintptr, _ int, maps [2][]byte, which int, offset int32) (uintptr, error) {
			return createMemFromFd(c, -1, unsafe.Pointer(&maps[which][offset]), 4*n, 0)
		},
		"both": func(c uintptr, fd int, maps [2][]byte, which int, offset int32) (uintptr, error) {
			if which == 0 {
				return createMemFromFd(c, int32(fd), nil, 4*n, offset)
			}
			return createMemFromFd(c, -1, unsafe.Pointer(&maps[which][offset]), 4*n, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			fd, maps := sharedFile(t, 1<<14)
			for _, shift := range []int32{0, 4, -4, 1000, 8192} {
				c := open(t, relu, 0)
				in, out := attrOf(t, c, spec.QueryInputAttr), attrOf(t, c, spec.QueryOutputAttr)
				in.Kind, out.Kind = spec.Float32, spec.Float32
				const start = 4096
				copy(maps[0][start:], float32Bytes(x...))
				for which, a := range []*spec.TensorAttr{&in, &out} {
					addr, err := bring(product(t), fd, maps, which, start+int32(which)*shift)
					require.NoError(t, err)
					defer func() { require.NoError(t, destroyMem(0, memAt(addr))) }()
					require.NoError(t, setIoMem(c, memAt(addr), a))
				}
				require.NoError(t, run(c, nil))
				got, err := tensor.ReadFloat32s(maps[0][start+shift:], n)
				require.NoError(t, err)
				for i, v := range x {
					require.Equal(t, max(v, 0)+v, got[i], "shift %d, element %d", shift, i)
				}
			}
		})
	}
}

// TestOutputsGet_oneFileTwice: a result in bound memory is fetched into the same file at another address.
func TestOutputsGet_oneFileTwice(t *testing.T) {
	const n = 600
	c := open(t, identity(onnxtest.Float, 1, n), 0)
	fd, maps := sharedFile(t, 1<<14)
	in, out := attrOf(t, c, spec.QueryInputAttr), attrOf(t, c, spec.QueryOutputAttr)
	in.Kind, out.Kind = spec.Float32, spec.Float32
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i)
	}
	source := created(t, 4*n)
	copy(bytesAt(source), float32Bytes(x...))
	addr, err := createMemFromFd(product(t), int32(fd), nil, 4*n, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, destroyMem(0, memAt(addr))) }()
	require.NoError(t, setIoMem(c, source, &in))
	require.NoError(t, setIoMem(c, memAt(addr), &out))
	require.NoError(t, run(c, nil))
	require.NotNil(t, c.out[0].placed)
	require.NoError(t, outputsGet(c, []Output{{wantFloat: 1, isPrealloc: 1, buf: addressOf(maps[1]) + 8, size: 4 * n}},
		nil))
	require.True(t, bytes.Equal(float32Bytes(x...), maps[0][8:8+4*n]))
}

// TestMatmul_oneFileTwice: A and C are one file at two addresses.
func TestMatmul_oneFileTwice(t *testing.T) {
	m, attr := multiply(t, spec.MatmulInfo{M: 32, K: 32, N: 32, Kind: 2})
	fd, maps := sharedFile(t, 1<<14)
	for i := range maps[0] {
		maps[0][i] = 1
	}
	for i, a := range []*spec.MatmulTensorAttr{&attr.A, &attr.B, &attr.C} {
		addr, err := createMemFromFd(product(t), int32(fd), nil, 4096, int32(i)*8)
		require.NoError(t, err)
		defer func() { require.NoError(t, destroyMem(0, memAt(addr))) }()
		require.NoError(t, matmulSetIoMem(m, memAt(addr), a))
	}
	require.NoError(t, matmulRun(m))
	for i := 16; i < 16+4096; i += 4 {
		require.EqualValues(t, 32, binary.LittleEndian.Uint32(maps[0][i:]))
	}
}
