package rules

import (
	"os"
	"slices"
	"strings"
	"unsafe"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// geometry is what the matmul notes, sections 3 and 4, say of a board: for the types FLOAT16 (1), INT8 (2) and INT4
// (10) of B its tile, which K and N are multiples of, and for those of A the columns that lie together.
type geometry struct {
	tileN, tileK, lanesA map[uint32]uint32
	segment              int
}

const (
	f16  = uint32(1)
	i8   = uint32(2)
	i16  = uint32(4)
	i32  = uint32(6)
	i4   = uint32(10)
	bf16 = uint32(11)
	f32  = uint32(0)
)

func (t *T) geometry() geometry {
	large := geometry{map[uint32]uint32{i8: 32, f16: 16, i4: 64}, map[uint32]uint32{i8: 32, f16: 32, i4: 32},
		map[uint32]uint32{i8: 16, f16: 8, i4: 32}, 8192}
	switch t.board() {
	case "rk3588":
		return large
	case "rk3576":
		large.segment = 4096
		return large
	case "rk3562":
		return geometry{map[uint32]uint32{i8: 16, f16: 8}, map[uint32]uint32{i8: 32, f16: 32},
			map[uint32]uint32{i8: 16, f16: 8}, 0}
	}
	return geometry{map[uint32]uint32{i8: 16, f16: 8}, map[uint32]uint32{i8: 32, f16: 16},
		map[uint32]uint32{i8: 8, f16: 4}, 0}
}

func (t *T) large() bool { return t.board() == "rk3588" || t.board() == "rk3576" }

// kinds are the element types of A, B and C of each product.
var kinds = map[uint32][3]uint32{
	1: {f16, f16, f32}, 2: {i8, i8, i32}, 3: {i8, i8, i8}, 4: {f16, f16, f16}, 5: {f16, i8, f32}, 6: {f16, i8, f16},
	7: {f16, i4, f32},
	8: {f16, i4, f16}, 9: {i8, i8, f32}, 10: {i4, i4, i16}, 11: {i8, i4, i32}, 12: {f16, i4, bf16}, 15: {i8, i4, f16},
}

var bits = map[uint32]uint32{f16: 16, i8: 8, i4: 4, i32: 32, i16: 16, bf16: 16, f32: 32}

// object is a product with its attributes.
type object struct {
	ctx   uintptr
	attrs *ioAttr
}

// create makes a product that ends with the case.
func (t *T) create(i info) object {
	o := object{attrs: &ioAttr{}}
	t.OK("matmul_create", &o.ctx, &i, o.attrs)
	t.Check(o.ctx != 0, "the context is 0")
	t.Later(func() { t.Call("matmul_destroy", o.ctx) })
	return o
}

// refuse demands that a product cannot be made, and that the context stays as it was.
func (t *T) refuse(i info) {
	ctx := uintptr(4711)
	t.Bad("matmul_create", &ctx, &i, &ioAttr{})
	t.Check(ctx == 4711, "the context was changed to %#x", ctx)
}

// small is the smallest product of a type that every board takes.
func small(kind uint32) info { return info{m: 2, k: 32, n: 64, kind: kind} }

// gone is a context that was destroyed.
func (t *T) gone() uintptr {
	o, i := object{attrs: &ioAttr{}}, small(2)
	t.OK("matmul_create", &o.ctx, &i, o.attrs)
	t.OK("matmul_destroy", o.ctx)
	return o.ctx
}

// memory makes memory that ends with the case.
func (t *T) memory(ctx uintptr, size uint32) uintptr {
	m := t.Call("create_mem", ctx, size)
	t.Check(m != 0, "create_mem: NULL")
	t.Later(func() { t.Call("destroy_mem", uintptr(0), m) })
	return m
}

// data are the bytes of memory.
func data[E any](m uintptr) []E {
	s := cmem.At[memoryInfo](m)
	return unsafe.Slice(cmem.At[E](s.virt+uintptr(s.offset)), uintptr(s.size)/unsafe.Sizeof(*new(E)))
}

// bindAll gives every matrix memory of its size.
func (t *T) bindAll(o object) (a, b, c uintptr) {
	var m [3]uintptr
	for i, x := range []*attr{&o.attrs.a, &o.attrs.b, &o.attrs.c} {
		m[i] = t.memory(o.ctx, x.size)
		t.OK("matmul_set_io_mem", o.ctx, m[i], x)
	}
	return m[0], m[1], m[2]
}

// quant are parameters of a matrix.
func quant(name string, scale []float32, zero []int32) *params {
	p := &params{scale: unsafe.SliceData(scale), scales: int32(len(scale)), zp: unsafe.SliceData(zero),
		zps: int32(len(zero))}
	copy(p.name[:], name)
	if len(zero) == 0 {
		p.zp = nil
	}
	return p
}

func setAll[E any](m uintptr, v E) {
	d := data[E](m)
	for i := range d {
		d[i] = v
	}
}

func repeated[T any](v T, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// onBoards makes cases for every board of those that are for none yet.
func onBoards(rules ...*Rule) []*Rule {
	for _, r := range rules {
		var cases []*Case
		for _, c := range r.Cases {
			if slices.ContainsFunc(c.Setting, func(s string) bool { return strings.HasPrefix(s, rknn.On("")) }) {
				cases = append(cases, c)
				continue
			}
			for _, board := range rknn.Boards {
				on := *c
				on.Name, on.Setting = c.Name+"_"+board, append([]string{rknn.On(board)}, c.Setting...)
				cases = append(cases, &on)
			}
		}
		r.Cases = cases
	}
	return rules
}

// board is the one that the process was started for.
func (t *T) board() string { return os.Getenv(rknn.TargetVariable) }

// The structs of the API, as the types notes lay them out.
type (
	info struct {
		m, k, n                            int32
		kind                               uint32
		bLayout, bQuant, acLayout, acQuant int16
		domain                             int32
		group                              int16
		_                                  [34]int8
	}
	shape struct{ m, k, n int32 }
	attr  struct {
		name [256]byte
		rank uint32
		dims [16]uint32
		size uint32
		kind uint32
	}
	ioAttr struct{ a, b, c attr }
	params struct {
		name   [256]byte
		scale  *float32
		scales int32
		zp     *int32
		zps    int32
	}
	memoryInfo struct {
		virt       uintptr
		_          uint64 // phys_addr
		fd, offset int32
		size       uint32
		_          uint32  // flags
		_          uintptr // priv_data
	}
)
