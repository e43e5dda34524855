package rules

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/ebitengine/purego"

	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// Makers of what cases need. Contexts and memory end when the case does, unless the case has ended them.

// open makes a context of a model.
func (t *T) open(m *model, flags uint32) uintptr { return t.openWith(m, flags, nil) }

func (t *T) openWith(m *model, flags uint32, extend *initExtend) uintptr {
	data := m.bytes()
	ctx := new(uintptr)
	if extend == nil {
		t.OK("init", ctx, data, len(data), flags, nil)
	} else {
		t.OK("init", ctx, data, len(data), flags, extend)
	}
	return t.owned(*ctx)
}

// owned has a context destroyed when the case ends.
func (t *T) owned(ctx uintptr) uintptr {
	t.Check(ctx != 0, "the handle of a context is 0")
	t.Later(func() { t.Call("destroy", ctx) })
	return ctx
}

// dup duplicates a context.
func (t *T) dup(ctx uintptr) uintptr {
	from, to := &[]uintptr{ctx}[0], new(uintptr)
	t.OK("dup_context", from, to)
	return t.owned(*to)
}

// file writes a file into the case's directory and returns its path.
func (t *T) file(name string, data []byte) string {
	path := filepath.Join(t.Dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Failf("%v", err)
	}
	return path
}

// attr queries the attributes of a tensor.
func (t *T) attr(ctx uintptr, cmd, index int) *tensorAttr {
	a := &tensorAttr{index: uint32(index)}
	t.OK("query", ctx, cmd, a, structSizeAttr)
	return a
}

// shape is the dimensions of attributes.
func (a *tensorAttr) shape() []uint32 { return a.dims[:a.rank] }

// given describes an input whose elements lie in v; their type follows from it, half-precision and bfloat16 numbers are
// []uint16 and named.
func (t *T) given(index int, kind, format uint32, v any) input {
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
	return input{index: uint32(index), buf: cmem.First(b), size: uint32(len(b)), kind: kind, format: format}
}

// set gives input 0 its elements.
func (t *T) set(ctx uintptr, kind, format uint32, v any) {
	t.OK("inputs_set", ctx, 1, []input{t.given(0, kind, format, v)})
}

func (t *T) run(ctx uintptr) { t.OK("run", ctx, nil) }

// raw fetches an output in the reported type or as float32.
func (t *T) raw(ctx uintptr, index int, wantFloat uint8) []byte {
	o := []output{{wantFloat: wantFloat, index: uint32(index)}}
	t.OK("outputs_get", ctx, 1, o, nil)
	t.Check(o[0].buf != 0, "outputs[0].buf is NULL")
	b := slices.Clone(cmem.Span[byte](o[0].buf, int(o[0].size)))
	t.OK("outputs_release", ctx, 1, o)
	return b
}

// floats fetches output 0 as float32.
func (t *T) floats(ctx uintptr) []float32 { return cmem.As[float32](t.raw(ctx, 0, 1)) }

// computes runs a context and demands output 0.
func (t *T) computes(ctx uintptr, want ...float32) {
	t.run(ctx)
	t.gives(ctx, want...)
}

// gives demands output 0 of the last run.
func (t *T) gives(ctx uintptr, want ...float32) {
	got := t.floats(ctx)
	t.Check(slices.EqualFunc(got, want, func(a, b float32) bool { return a == b || a != a && b != b }), "got %v, want %v",
		got, want)
}

// works demands that a context of relu(1, 4) computes.
func (t *T) works(ctx uintptr) {
	t.set(ctx, float32T, undefined, []float32{-1, 2, -3, 4})
	t.computes(ctx, 0, 2, 0, 4)
}

// mem makes memory.
func (t *T) mem(ctx uintptr, size int) *tensorMem { return t.ownedMem(t.Ptr("create_mem", ctx, size)) }

// ownedMem has memory destroyed when the case ends.
func (t *T) ownedMem(p uintptr) *tensorMem {
	m := cmem.At[tensorMem](p)
	id := m.priv
	t.Later(func() {
		if m.priv == id {
			t.Call("destroy_mem", 0, p)
		}
	})
	return m
}

// bytes is the memory of a rknn_tensor_mem.
func (m *tensorMem) bytes() []byte { return cmem.Span[byte](m.virt+uintptr(m.offset), int(m.size)) }

// fill copies elements to memory.
func fill[E any](m *tensorMem, v ...E) { copy(m.bytes(), cmem.Bytes(v)) }

// bind binds memory to a tensor with attributes of a type and format; both -1 leave them.
func (t *T) bind(ctx uintptr, m *tensorMem, a *tensorAttr, kind, format int) {
	b := *a
	if kind >= 0 {
		b.kind = uint32(kind)
	}
	if format >= 0 {
		b.format = uint32(format)
	}
	t.OK("set_io_mem", ctx, cmem.Address(m), &b)
}

// setenv sets a variable of the process as C code sees it until the case ends.
func (t *T) setenv(name, value string) {
	set := func(v string) {
		symbol, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv")
		t.Check(err == nil, "%v", err)
		n, p := append([]byte(name), 0), append([]byte(v), 0)
		purego.SyscallN(symbol, cmem.First(n), cmem.First(p), 1)
		runtime.KeepAlive([][]byte{n, p})
	}
	set(value)
	t.Later(func() { set("") })
}

// half is a number in half precision: those that have no more than 11 significant bits, infinities and NaN.
func half(v float32) uint16 {
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

func halves(v ...float32) []uint16 {
	out := make([]uint16, len(v))
	for i, x := range v {
		out[i] = half(x)
	}
	return out
}

// count is the number of elements of a shape.
func count(dims []uint32) int {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	return n
}
