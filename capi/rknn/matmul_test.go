package rknn

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/capi/handle"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// product is the handle of a matrix product, a context as memory functions take it.
func product(t *testing.T) uintptr {
	m, _ := multiply(t, spec.MatmulInfo{M: 1, K: 32, N: 32, Kind: 2})
	h, err := handle.Of(m)
	require.NoError(t, err)
	t.Cleanup(func() { handle.Drop(m) })
	return h
}

// multiply creates a product.
func multiply(t *testing.T, info spec.MatmulInfo) (*Matmul, spec.MatmulIOAttr) {
	t.Helper()
	var attr spec.MatmulIOAttr
	m, err := matmulCreate(unsafe.Pointer(&info), &attr)
	require.NoError(t, err)
	t.Cleanup(m.compute.Release)
	return m, attr
}

// bind makes memory of the size of an attribute for each matrix.
func bind(t *testing.T, m *Matmul, attr *spec.MatmulIOAttr) (a, b, c []byte) {
	t.Helper()
	var out [3][]byte
	for i, x := range []*spec.MatmulTensorAttr{&attr.A, &attr.B, &attr.C} {
		memory := created(t, x.Size)
		require.NoError(t, matmulSetIoMem(m, memory, x))
		out[i] = bytesAt(memory)
	}
	return out[0], out[1], out[2]
}

func params(t *testing.T, name string, scale []float32, zero []int32) *QuantParams {
	q := &QuantParams{scales: int32(len(scale)), zps: int32(len(zero))}
	setText(q.name[:], name)
	if len(scale) > 0 {
		q.scale = cMemory(t, scale)
	}
	if len(zero) > 0 {
		q.zp = cMemory(t, zero)
	}
	return q
}

// The vendor's example data: A all 7, B all 10, scales 0.2, 0.1 and 0.8 give 1.75 K.
func TestMatmul_int8OfTheVendorsExample(t *testing.T) {
	m, attr := multiply(t, spec.MatmulInfo{M: 4, K: 64, N: 32, Kind: 3, BLayout: layoutNative, ACLayout: layoutNative})
	a, b, c := bind(t, m, &attr)
	for i := range a {
		a[i] = 7
	}
	for i := range b {
		b[i] = 10
	}
	for name, s := range map[string]float32{"A": 0.2, "B": 0.1, "C": 0.8} {
		require.NoError(t, matmulSetQuantParams(m, params(t, name, []float32{s}, []int32{0})))
	}
	require.NoError(t, matmulRun(m))
	for _, v := range c {
		require.Equal(t, byte(112), v)
	}
}

func TestMatmul_newContentsNeedNoBinding(t *testing.T) {
	m, attr := multiply(t, spec.MatmulInfo{M: 1, K: 32, N: 32, Kind: 2})
	a, b, c := bind(t, m, &attr)
	for i := range b {
		b[i] = 1
	}
	for _, v := range []byte{1, 2, 3} {
		a[5] = v
		require.NoError(t, matmulRun(m))
		require.Equal(t, uint32(v), binary.LittleEndian.Uint32(c[4*31:]))
	}
}

// One memory for all three matrices: A and B are read as they were before the run.
func TestMatmul_overlappingMemory(t *testing.T) {
	m, attr := multiply(t, spec.MatmulInfo{M: 32, K: 32, N: 32, Kind: 2})
	whole := created(t, 4096)
	data := bytesAt(whole)
	for i := range data {
		data[i] = 1
	}
	for _, a := range []*spec.MatmulTensorAttr{&attr.A, &attr.B, &attr.C} {
		require.NoError(t, matmulSetIoMem(m, whole, a))
	}
	require.NoError(t, matmulRun(m))
	for i := 0; i < len(data); i += 4 {
		require.EqualValues(t, 32, binary.LittleEndian.Uint32(data[i:]))
	}
}

// A file that a program cuts while it is bound makes runs fail, not the process.
func TestMatmul_memoryThatIsCut(t *testing.T) {
	for i, name := range []string{"A", "B", "C"} {
		m, attr := multiply(t, spec.MatmulInfo{M: 64, K: 1024, N: 256, Kind: 2})
		bind(t, m, &attr)
		fd, err := unix.MemfdCreate("cut", 0)
		require.NoError(t, err)
		defer unix.Close(fd)
		x := []*spec.MatmulTensorAttr{&attr.A, &attr.B, &attr.C}[i]
		require.NoError(t, unix.Ftruncate(fd, int64(x.Size)))
		addr, err := createMemFromFd(product(t), int32(fd), nil, x.Size, 0)
		require.NoError(t, err)
		require.NoError(t, matmulSetIoMem(m, memAt(addr), x))
		require.NoError(t, matmulRun(m))
		require.NoError(t, unix.Ftruncate(fd, 0))
		requireCode(t, spec.ErrFail, matmulRun(m), "cannot be used at address")
		require.NoError(t, unix.Ftruncate(fd, int64(x.Size)))
		require.NoError(t, matmulRun(m), name)
		require.NoError(t, destroyMem(0, memAt(addr)))
		requireCode(t, spec.ErrFail, matmulRun(m), "matrix "+name+" was destroyed")
		requireCode(t, spec.ErrFail, matmulRun(m), "matrix "+name+" has no memory")
	}
}

func TestMatmulCreate_refusesEveryField(t *testing.T) {
	good := spec.MatmulInfo{M: 1, K: 64, N: 64, Kind: 5}
	for part, change := range map[string]func(*spec.MatmulInfo){
		"info->M is 0: want at least 1":          func(i *spec.MatmulInfo) { i.M = 0 },
		"info->K is 65: want a multiple of 32":   func(i *spec.MatmulInfo) { i.K = 65 },
		"info->K is -32":                         func(i *spec.MatmulInfo) { i.K = -32 },
		"info->N is 16: want a multiple of 32":   func(i *spec.MatmulInfo) { i.N = 16 },
		"info->N is 32: want a multiple of 64":   func(i *spec.MatmulInfo) { i.N, i.Kind = 32, 7 },
		"info->type is 13: want 1 to 12 or 15":   func(i *spec.MatmulInfo) { i.Kind = 13 },
		"info->B_layout is 3":                    func(i *spec.MatmulInfo) { i.BLayout = 3 },
		"info->AC_layout is 2":                   func(i *spec.MatmulInfo) { i.ACLayout = 2 },
		"info->B_quant_type is 6":                func(i *spec.MatmulInfo) { i.BQuant = 6 },
		"info->AC_quant_type is 2":               func(i *spec.MatmulInfo) { i.ACQuant = 2 },
		"info->group_size is 48: want a divisor": func(i *spec.MatmulInfo) { i.BQuant, i.Group = 4, 48 },
		"info->group_size is -1":                 func(i *spec.MatmulInfo) { i.BQuant, i.Group = 5, -1 },
		"matrix A has 8589934592 bytes":          func(i *spec.MatmulInfo) { i.M = 1 << 26 },
		"matrix A has 9223372036854775807 bytes": func(i *spec.MatmulInfo) { i.Kind, i.M, i.K = 1, 1<<30, 1<<30 },
		// 2^64 bits
	} {
		info, attr := good, spec.MatmulIOAttr{A: spec.MatmulTensorAttr{Size: 77}}
		change(&info)
		_, err := matmulCreate(unsafe.Pointer(&info), &attr)
		requireCode(t, spec.ErrParam, err, part)
		require.EqualValues(t, 77, attr.A.Size, "attributes stay as they were")
	}
	_, err := matmulCreate(nil, &spec.MatmulIOAttr{})
	requireCode(t, spec.ErrParam, err, "info is NULL")
}

func TestMatmulSetQuantParams_refuses(t *testing.T) {
	m, _ := multiply(t, spec.MatmulInfo{M: 1, K: 64, N: 32, Kind: 3, BQuant: quantGroupSym, Group: 16})
	for part, q := range map[string]*QuantParams{
		`params->name is "D"`:             params(t, "D", []float32{1}, nil),
		"params->scale_len is 2":          params(t, "A", []float32{1, 1}, nil),
		"takes 1, N = 32, or N*K/group_s": params(t, "B", make([]float32, 64), nil),
		"params->scale_len is 0":          params(t, "B", nil, nil),
		"params->zp_len is 3":             params(t, "B", []float32{1}, make([]int32, 3)),
		"params->scale[0] is NaN":         params(t, "A", []float32{float32(math.NaN())}, nil),
		"params->scale[0] is 0":           params(t, "C", []float32{0}, nil),
		"params->zp[0] is 128":            params(t, "A", []float32{1}, []int32{128}),
		"params->scale is NULL":           {name: [spec.MaxNameLen]byte{'B'}, scales: 1},
		"params->scale_len is -1":         {name: [spec.MaxNameLen]byte{'B'}, scales: -1},
	} {
		requireCode(t, spec.ErrParam, matmulSetQuantParams(m, q), part)
	}
	require.NoError(t, matmulSetQuantParams(m, params(t, "B", make([]float32, 4*32), make([]int32, 4*32))))
	require.NoError(t, matmulSetQuantParams(m, &QuantParams{name: [spec.MaxNameLen]byte{'B'}, scales: 1,
		scale: cMemory(t, []float32{1}), zps: 7}), "zp NULL")
}

func TestMatmul_parametersOfAnotherSize(t *testing.T) {
	info := spec.MatmulInfo{Kind: 9}
	shapes, attrs := []MatmulShape{{1, 32, 32}, {2, 64, 64}}, make([]spec.MatmulIOAttr, 2)
	m, err := matmulCreateDynamicShape(unsafe.Pointer(&info), shapes, attrs)
	require.NoError(t, err)
	defer m.compute.Release()
	bind(t, m, &attrs[1])
	require.NoError(t, matmulSetQuantParams(m, params(t, "B", make([]float32, 64), nil)), "fits the other size")
	requireCode(t, spec.ErrFail, matmulRun(m), "matrix B has 64 scales", "takes 1 or N = 32")
	require.NoError(t, matmulSetDynamicShape(m, &shapes[1]))
	require.NoError(t, matmulRun(m))
	requireCode(t, spec.ErrParam, matmulSetDynamicShape(m, &MatmulShape{1, 32, 64}), "shape has M, K, N = 1, 32, 64")
}

func TestMatmulUnits_coverTargets(t *testing.T) {
	for _, b := range targets {
		u, ok := matmulUnits[b.name]
		small := slices.Contains([]string{"rv1103", "rv1106", "rv1103b", "rv1106b", "rk2118"}, b.name)
		require.Equal(t, !small, ok, b.name)
		for kind, tile := range u.b {
			require.Zero(t, tile.k%u.a[kind], "%s %v", b.name, kind)
			require.Zero(t, u.segment%tile.k)
		}
	}
}
