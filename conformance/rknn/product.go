package rknn

import (
	"os"
	"unsafe"

	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// Geometry is what the matmul notes, sections 3 and 4, say of a board: for the types FLOAT16 (1), INT8 (2) and INT4
// (10) of B its tile, which K and N are multiples of, and for those of A the columns that lie together.
type Geometry struct {
	TileN, TileK, LanesA map[uint32]uint32
	Segment              int
}

// Geometry is that of the board.
func (t *T) Geometry() Geometry {
	large := Geometry{map[uint32]uint32{Int8: 32, Float16: 16, Int4: 64},
		map[uint32]uint32{Int8: 32, Float16: 32, Int4: 32}, map[uint32]uint32{Int8: 16, Float16: 8, Int4: 32}, 8192}
	switch t.Board() {
	case "rk3588":
		return large
	case "rk3576":
		large.Segment = 4096
		return large
	case "rk3562":
		return Geometry{map[uint32]uint32{Int8: 16, Float16: 8}, map[uint32]uint32{Int8: 32, Float16: 32},
			map[uint32]uint32{Int8: 16, Float16: 8}, 0}
	}
	return Geometry{map[uint32]uint32{Int8: 16, Float16: 8}, map[uint32]uint32{Int8: 32, Float16: 16},
		map[uint32]uint32{Int8: 8, Float16: 4}, 0}
}

// Large tells whether the board has INT4 matrices and several cores.
func (t *T) Large() bool { return t.Board() == "rk3588" || t.Board() == "rk3576" }

// ProductKinds are the element types of A, B and C of each product.
var ProductKinds = map[uint32][3]uint32{
	1: {Float16, Float16, Float32}, 2: {Int8, Int8, Int32}, 3: {Int8, Int8, Int8}, 4: {Float16, Float16, Float16},
	5: {Float16, Int8, Float32}, 6: {Float16, Int8, Float16}, 7: {Float16, Int4, Float32}, 8: {Float16, Int4, Float16},
	9: {Int8, Int8, Float32}, 10: {Int4, Int4, Int16}, 11: {Int8, Int4, Int32}, 12: {Float16, Int4, BFloat16},
	15: {Int8, Int4, Float16},
}

// Bits are the sizes of the elements of matrices.
var Bits = map[uint32]uint32{Float16: 16, Int8: 8, Int4: 4, Int32: 32, Int16: 16, BFloat16: 16, Float32: 32}

// object is a product with its attributes.
type Product struct {
	Ctx   uintptr
	Attrs *MatmulIOAttr
}

// Create makes a product that ends with the case.
func (t *T) Create(i MatmulInfo) Product {
	o := Product{Attrs: &MatmulIOAttr{}}
	t.OK("matmul_create", &o.Ctx, &i, o.Attrs)
	t.Check(o.Ctx != 0, "the context is 0")
	t.Later(func() { t.Call("matmul_destroy", o.Ctx) })
	return o
}

// Memory makes memory that ends with the case.
func (t *T) Memory(ctx uintptr, size uint32) uintptr {
	m := t.Call("create_mem", ctx, size)
	t.Check(m != 0, "create_mem: NULL")
	t.Later(func() { t.Call("destroy_mem", uintptr(0), m) })
	return m
}

// Data are the bytes of memory.
func Data[E any](m uintptr) []E {
	s := cmem.At[TensorMem](m)
	return cmem.Span[E](s.Virt+uintptr(s.Offset), int(uintptr(s.Size)/unsafe.Sizeof(*new(E))))
}

// BindAll gives every matrix memory of its size.
func (t *T) BindAll(o Product) (a, b, c uintptr) {
	var m [3]uintptr
	for i, x := range []*MatmulAttr{&o.Attrs.A, &o.Attrs.B, &o.Attrs.C} {
		m[i] = t.Memory(o.Ctx, x.Size)
		t.OK("matmul_set_io_mem", o.Ctx, m[i], x)
	}
	return m[0], m[1], m[2]
}

// Quant are parameters of a matrix.
func Quant(name string, scale []float32, zero []int32) *QuantParams {
	p := &QuantParams{Scale: cmem.Pointer(scale), Scales: int32(len(scale)), Zp: cmem.Pointer(zero),
		Zps: int32(len(zero))}
	copy(p.Name[:], name)
	if len(zero) == 0 {
		p.Zp = nil
	}
	return p
}

// Board is the one that the process was started for.
func (t *T) Board() string { return os.Getenv(TargetVariable) }

// The structs of the API, as the types notes lay them out.
type (
	MatmulInfo struct {
		M, K, N                            int32
		Kind                               uint32
		BLayout, BQuant, AcLayout, AcQuant int16
		Domain                             int32
		Group                              int16
		_                                  [34]int8
	}
	MatmulShape struct{ M, K, N int32 }
	MatmulAttr  struct {
		Name [256]byte
		Rank uint32
		Dims [16]uint32
		Size uint32
		Kind uint32
	}
	MatmulIOAttr struct{ A, B, C MatmulAttr }
	QuantParams  struct {
		Name   [256]byte
		Scale  *float32
		Scales int32
		Zp     *int32
		Zps    int32
	}
)
