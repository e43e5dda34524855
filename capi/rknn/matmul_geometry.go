package rknn

import (
	"math"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/matrix"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// A tile is how many columns N and rows K of B lie together in the native layout; N and K are multiples of it in every
// layout.
type tile struct{ n, k int }

// matmulUnit describes the matrix unit of a board (matmul notes, sections 3 and 4). Boards without one have no products
// by rknn_matmul_api.h.
type matmulUnit struct {
	a       map[spec.Type]int  // columns of A that lie together in the native layout
	b       map[spec.Type]tile // by the type of B; the board does not have the types that are missing
	segment int                // rows of B that are stored as a matrix of their own in the native layout, 0: all
}

var (
	largeUnit = matmulUnit{
		a: map[spec.Type]int{spec.Int8: 16, spec.Float16: 8, spec.Int4: 32},
		b: map[spec.Type]tile{spec.Int8: {32, 32}, spec.Float16: {16, 32}, spec.Int4: {64, 32}},
	}
	matmulUnits = map[string]matmulUnit{
		"rk3588": {largeUnit.a, largeUnit.b, 8192},
		"rk3576": {largeUnit.a, largeUnit.b, 4096},
		"rk3562": {map[spec.Type]int{spec.Int8: 16, spec.Float16: 8},
			map[spec.Type]tile{spec.Int8: {16, 32}, spec.Float16: {8, 32}}, 0},
		"rk3566": {map[spec.Type]int{spec.Int8: 8, spec.Float16: 4},
			map[spec.Type]tile{spec.Int8: {16, 32}, spec.Float16: {8, 16}}, 0},
		"rk3568": {map[spec.Type]int{spec.Int8: 8, spec.Float16: 4},
			map[spec.Type]tile{spec.Int8: {16, 32}, spec.Float16: {8, 16}}, 0},
		// Its tensors have the lanes of rk3562.
		"rv1126b": {map[spec.Type]int{spec.Int8: 16, spec.Float16: 8},
			map[spec.Type]tile{spec.Int8: {16, 32}, spec.Float16: {8, 32}}, 0},
	}
)

// lanesC is how many columns of C lie together in the native layout: 16 bytes of them.
func lanesC(t spec.Type) int { return int(16 / t.Size()) }

// matmulSpec is a product whatever its size: types, layouts, quantization.
type matmulSpec struct {
	kind     spec.MatmulType
	name     string
	types    [3]spec.Type // of A, B, C
	bLayout  int16
	native   bool // A and C
	group    int  // rows of B that share parameters, 0: not per group
	tile     tile
	lanesA   int
	segments int
}

// infoAt reads an rknn_matmul_info of any version.
func infoAt(at unsafe.Pointer) (*spec.MatmulInfo, error) {
	if at == nil {
		return nil, invalid("info is NULL: want a filled rknn_matmul_info [rknn-info-null-filled]")
	}
	info := (*spec.MatmulInfo)(at)
	err := boundary.CheckRange(at, uint64(unsafe.Offsetof(info.ACQuant)+unsafe.Sizeof(info.ACQuant)))
	if err == nil && (info.BQuant == quantGroupSym || info.BQuant == quantGroupAsym) {
		err = boundary.CheckRange(at, uint64(unsafe.Offsetof(info.Group)+unsafe.Sizeof(info.Group)))
	}
	if err != nil {
		return nil, refuseFor(spec.ErrParam, err, "info")
	}
	return info, nil
}

// specOf checks the fields of info but its sizes.
func specOf(info *spec.MatmulInfo) (matmulSpec, error) {
	s, err := specOfType("info->type", info.Kind)
	if err != nil {
		return s, err
	}
	switch {
	case info.BLayout < layoutNormal || info.BLayout > layoutTransposed:
		return s, invalid("info->B_layout is %d: want 0 (RKNN_MM_LAYOUT_NORM), 1 (NATIVE) or 2 (TP_NORM) "+
			"[rknn-info-b-layout]", info.BLayout)
	case info.ACLayout != layoutNormal && info.ACLayout != layoutNative:
		return s, invalid("info->AC_layout is %d: want 0 (RKNN_MM_LAYOUT_NORM) or 1 (NATIVE) "+
			"[rknn-info-ac-layout]", info.ACLayout)
	case info.BQuant < 0 || info.BQuant > quantGroupAsym:
		return s, invalid("info->B_quant_type is %d: want 0 to %d of rknn_matmul_quant_type "+
			"[rknn-info-b-quant]", info.BQuant, quantGroupAsym)
	case info.ACQuant != 0 && info.ACQuant != 1:
		return s, invalid("info->AC_quant_type is %d: want 0 or 1, quantization per layer "+
			"[rknn-info-ac-quant]", info.ACQuant)
	}
	s.bLayout, s.native = info.BLayout, info.ACLayout == layoutNative
	if info.BQuant == quantGroupSym || info.BQuant == quantGroupAsym {
		if info.Group < 0 {
			return s, invalid("info->group_size is %d: want a divisor of K, or 0 for %d "+
				"[rknn-info-group-size]", info.Group, defaultGroup)
		}
		if s.group = int(info.Group); s.group == 0 {
			s.group = defaultGroup
		}
	}
	return s, nil
}

// specOfType checks a type of product against the board; field names it in messages.
func specOfType(field string, kind spec.MatmulType) (matmulSpec, error) {
	t, ok := spec.Matmuls[kind]
	if !ok {
		return matmulSpec{}, invalid("%s is %d: want 1 to 12 or 15 of rknn_matmul_type "+
			"[rknn-matmul-type]", field, uint32(kind))
	}
	unit, multiplies := matmulUnits[board().name]
	if !multiplies {
		return matmulSpec{}, failed("%s is %d (%s): %s multiplies no matrices; want a board that does, e.g. "+
			"ANYNPU_RKNN_TARGET=rk3588 [rknn-multiplies-no-matrices]", field, uint32(kind), t.Name, board().name)
	}
	b, ok := unit.b[t.B]
	if !ok {
		return matmulSpec{}, invalid("%s is %d (%s): %s has no matrices of %v; want one of FLOAT16 and INT8, or "+
			"ANYNPU_RKNN_TARGET=rk3588 [rknn-no-matrices-float16]", field, uint32(kind), t.Name, board().name, t.B)
	}
	return matmulSpec{kind: kind, name: t.Name, types: [3]spec.Type{t.A, t.B, t.C}, tile: b, lanesA: unit.a[t.A],
		segments: unit.segment}, nil
}

// checkShape refuses sizes that the board has no layout for. where comes before the name of a size in messages.
func (s *matmulSpec) checkShape(where string, shape MatmulShape) error {
	switch {
	case shape.m < 1:
		return invalid("%sM is %d: want at least 1 [rknn-matmul-m]", where, shape.m)
	case shape.k < 1 || int(shape.k)%s.tile.k != 0:
		return invalid("%sK is %d: want a multiple of %d, as %s takes for B of %v "+
			"[rknn-k-multiple-takes]", where, shape.k, s.tile.k, board().name,
			s.types[1])
	case shape.n < 1 || int(shape.n)%s.tile.n != 0:
		return invalid("%sN is %d: want a multiple of %d, as %s takes for B of %v "+
			"[rknn-n-multiple-takes]", where, shape.n, s.tile.n, board().name,
			s.types[1])
	case s.group != 0 && int(shape.k)%s.group != 0:
		return invalid("info->group_size is %d: want a divisor of K, which is %d "+
			"[rknn-info-group-size-divisor]", s.group, shape.k)
	}
	for i := range s.types {
		if n := s.bytes(shape, i); n > math.MaxUint32 {
			return invalid("%sM, K, N: %d, %d, %d: matrix %s has %d bytes, want at most %d "+
				"[rknn-m-k-n]", where, shape.m, shape.k, shape.n,
				matrixNames[i], n, uint32(math.MaxUint32))
		}
	}
	return nil
}

// matrixNames are the names of the matrices in attributes and parameters.
var matrixNames = [3]string{"A", "B", "C"}

// bytes is the size of matrix i, at most math.MaxInt64.
func (s *matmulSpec) bytes(shape MatmulShape, i int) int64 {
	m, k, n := int64(shape.m), int64(shape.k), int64(shape.n)
	elements, bits := [3]int64{m * k, k * n, m * n}[i], int64(s.types[i].MatrixType().Bits())
	if elements > math.MaxInt64/bits {
		return math.MaxInt64
	}
	return elements * bits / 8
}

// operand describes matrix i without its bytes; B as its transpose.
func (s *matmulSpec) operand(shape MatmulShape, i int) matrix.Operand {
	m, k, n := int(shape.m), int(shape.k), int(shape.n)
	o := matrix.Operand{Type: s.types[i].MatrixType()}
	switch i {
	case 0:
		o.Rows, o.Columns, o.Tiling = m, k, matrix.Tiling{Outer: m, Inner: k}
		if s.native {
			o.Inner = s.lanesA
		}
	case 1:
		o.Rows, o.Columns = n, k
		switch s.bLayout {
		case layoutNormal:
			o.Tiling = matrix.Tiling{Outer: n, Inner: 1}
		case layoutTransposed:
			o.Tiling = matrix.Tiling{Outer: n, Inner: k}
		default:
			o.Tiling = s.nativeB()
		}
	case 2:
		o.Rows, o.Columns, o.Tiling = m, n, matrix.Tiling{Outer: m, Inner: n}
		if s.native {
			o.Inner = lanesC(s.types[2])
		}
	}
	return o
}

// nativeB is the native layout of B.
func (s *matmulSpec) nativeB() matrix.Tiling {
	return matrix.Tiling{Outer: s.tile.n, Inner: s.tile.k, Segment: s.segments}
}

// attr fills the attributes of matrix i.
func (s *matmulSpec) attr(shape MatmulShape, i int) spec.MatmulTensorAttr {
	a := spec.MatmulTensorAttr{Size: uint32(s.bytes(shape, i)), Kind: s.types[i]}
	setText(a.Name[:], matrixNames[i])
	m, k, n := uint32(shape.m), uint32(shape.k), uint32(shape.n)
	var dims []uint32
	switch {
	case i == 0 && s.native:
		dims = []uint32{k / uint32(s.lanesA), m, uint32(s.lanesA)}
	case i == 0:
		dims = []uint32{m, k}
	case i == 2 && s.native:
		lanes := uint32(lanesC(s.types[2]))
		dims = []uint32{n / lanes, m, lanes}
	case i == 2:
		dims = []uint32{m, n}
	case s.bLayout == layoutNormal:
		dims = []uint32{k, n}
	case s.bLayout == layoutTransposed:
		dims = []uint32{n, k}
	default:
		dims = []uint32{n / uint32(s.tile.n), k / uint32(s.tile.k), uint32(s.tile.n), uint32(s.tile.k)}
	}
	a.Rank = uint32(copy(a.Dims[:], dims))
	return a
}

// ioAttr fills the attributes of all three.
func (s *matmulSpec) ioAttr(shape MatmulShape) spec.MatmulIOAttr {
	return spec.MatmulIOAttr{A: s.attr(shape, 0), B: s.attr(shape, 1), C: s.attr(shape, 2)}
}
