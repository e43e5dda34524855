package rknn

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// T is what the cases of the suites run with: what C programs do with the API. Contexts and memory that its methods
// make end when the case does, unless the case has ended them.
type T struct{ *suite.T }

// Open makes a context of a model.
func (t *T) Open(m *Model, flags uint32) uintptr { return t.OpenWith(m, flags, nil) }

// OpenWith makes a context of a model; extend may be nil.
func (t *T) OpenWith(m *Model, flags uint32, extend *InitExtend) uintptr {
	data := m.Bytes()
	ctx := new(uintptr)
	if extend == nil {
		t.OK("init", ctx, data, len(data), flags, nil)
	} else {
		t.OK("init", ctx, data, len(data), flags, extend)
	}
	return t.Owned(*ctx)
}

// Owned has a context destroyed when the case ends.
func (t *T) Owned(ctx uintptr) uintptr {
	t.Check(ctx != 0, "the handle of a context is 0")
	t.Later(func() { t.Call("destroy", ctx) })
	return ctx
}

// Dup duplicates a context.
func (t *T) Dup(ctx uintptr) uintptr {
	from, to := &[]uintptr{ctx}[0], new(uintptr)
	t.OK("dup_context", from, to)
	return t.Owned(*to)
}

// Attr queries the attributes of a tensor.
func (t *T) Attr(ctx uintptr, cmd, index int) *TensorAttr {
	a := &TensorAttr{Index: uint32(index)}
	t.OK("query", ctx, cmd, a, SizeAttr)
	return a
}

// Shape is the dimensions of attributes.
func (a *TensorAttr) Shape() []uint32 { return a.Dims[:a.Rank] }

// Given describes an input whose elements lie in v; their type follows from it, half-precision and bfloat16 numbers are
// []uint16 and named.
func (t *T) Given(index int, kind, format uint32, v any) Input {
	var b []byte
	switch x := v.(type) {
	case []float32:
		b = cmem.Bytes(x)
	case []uint16:
		b = cmem.Bytes(x)
	case []int16:
		b = cmem.Bytes(x)
	case []int8:
		b = cmem.Bytes(x)
	case []uint8:
		b = x
	case []int32:
		b = cmem.Bytes(x)
	case []uint32:
		b = cmem.Bytes(x)
	case []int64:
		b = cmem.Bytes(x)
	default:
		t.Failf("elements of type %T", v)
	}
	b = slices.Clone(b)
	t.Keep(b)
	return Input{Index: uint32(index), Buf: cmem.First(b), Size: uint32(len(b)), Kind: kind, Format: format}
}

// Set gives input 0 its elements.
func (t *T) Set(ctx uintptr, kind, format uint32, v any) {
	t.OK("inputs_set", ctx, 1, []Input{t.Given(0, kind, format, v)})
}

// Run runs a context.
func (t *T) Run(ctx uintptr) { t.OK("run", ctx, nil) }

// Raw fetches an output in the reported type or as float32.
func (t *T) Raw(ctx uintptr, index int, wantFloat uint8) []byte {
	o := []Output{{WantFloat: wantFloat, Index: uint32(index)}}
	t.OK("outputs_get", ctx, 1, o, nil)
	t.Check(o[0].Buf != 0, "outputs[0].buf is NULL")
	b := slices.Clone(cmem.Span[byte](o[0].Buf, int(o[0].Size)))
	t.OK("outputs_release", ctx, 1, o)
	return b
}

// Floats fetches output 0 as float32.
func (t *T) Floats(ctx uintptr) []float32 { return cmem.As[float32](t.Raw(ctx, 0, 1)) }

// Computes runs a context and demands output 0.
func (t *T) Computes(ctx uintptr, want ...float32) {
	t.Run(ctx)
	t.Gives(ctx, want...)
}

// Gives demands output 0 of the last run.
func (t *T) Gives(ctx uintptr, want ...float32) {
	got := t.Floats(ctx)
	t.Check(suite.Right(t.Library, got, want), "got %v, want %v", got, want)
}

// Mem makes memory.
func (t *T) Mem(ctx uintptr, size int) *TensorMem { return t.OwnedMem(t.Ptr("create_mem", ctx, size)) }

// OwnedMem has memory destroyed when the case ends.
func (t *T) OwnedMem(p uintptr) *TensorMem {
	m := cmem.At[TensorMem](p)
	id := m.Priv
	t.Later(func() {
		if m.Priv == id {
			t.Call("destroy_mem", 0, p)
		}
	})
	return m
}

// Bytes is the memory of a rknn_tensor_mem.
func (m *TensorMem) Bytes() []byte { return cmem.Span[byte](m.Virt+uintptr(m.Offset), int(m.Size)) }

// Fill copies elements to memory.
func Fill[E any](m *TensorMem, v ...E) { copy(m.Bytes(), cmem.Bytes(v)) }

// Bind binds memory to a tensor with attributes of a type and format; both -1 leave them.
func (t *T) Bind(ctx uintptr, m *TensorMem, a *TensorAttr, kind, format int) {
	b := *a
	if kind >= 0 {
		b.Kind = uint32(kind)
	}
	if format >= 0 {
		b.Format = uint32(format)
	}
	t.OK("set_io_mem", ctx, cmem.Address(m), &b)
}

// Half is a number in half precision: those that have no more than 11 significant bits, infinities and NaN.
func Half(v float32) uint16 {
	b := math.Float32bits(v)
	sign := uint16(b >> 16 & 0x8000)
	switch exp := int(b>>23&255) - 112; {
	case v != v:
		return sign | 0x7e00
	case v == 0:
		return sign
	case exp >= 31:
		return sign | 0x7c00
	case exp <= 0:
		return sign | uint16((b&0x7fffff|0x800000)>>(14-exp))
	default:
		return sign | uint16(exp)<<10 | uint16(b>>13&1023)
	}
}

// Halves are numbers in half precision.
func Halves(v ...float32) []uint16 {
	out := make([]uint16, len(v))
	for i, x := range v {
		out[i] = Half(x)
	}
	return out
}

// Count is the number of elements of a shape.
func Count(dims []uint32) int {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	return n
}
