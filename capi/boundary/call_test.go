package boundary

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
)

type thing struct{ handle.Ref }

var testFunc = Func{Component: "test", Name: "test_f", Params: []string{"a", "b"}}

// call runs body as the glue runs a behaviour and returns the call and its result.
func call(body func(c *Call) int32) (c *Call, result int32) {
	c = &Call{Func: &testFunc}
	func() {
		defer End(c, &result, -9)
		result = body(c)
	}()
	return c, result
}

func newThing(t *testing.T) (*thing, uintptr) {
	o := &thing{}
	h, err := handle.Of(o)
	require.NoError(t, err)
	t.Cleanup(func() { handle.Drop(o) })
	return o, h
}

func TestEnd_turnsAPanicIntoTheFailureValue(t *testing.T) {
	o, h := newThing(t)
	c, result := call(func(c *Call) int32 {
		assert.Same(t, o, Handle[thing](c, 0, h))
		panic("broken invariant")
	})
	assert.Equal(t, int32(-9), result)
	assert.Equal(t, fault.Internal, fault.KindOf(c.Err))
	_, err := handle.Close[thing](h)
	assert.NoError(t, err, "the panic left the object held")
	handle.Reopen(h)
}

func TestTake_endsTheHandleOnlyOnSuccess(t *testing.T) {
	_, h := newThing(t)
	variable := h
	p := unsafe.Pointer(&variable)
	c, _ := call(func(c *Call) int32 {
		assert.NotNil(t, Take[thing](c, 0, p, false))
		c.Err = errors.New("refused")
		return 1
	})
	assert.Error(t, c.Err)
	assert.Equal(t, h, variable)
	c, _ = call(func(c *Call) int32 {
		assert.NotNil(t, Take[thing](c, 0, p, false))
		return 0
	})
	assert.NoError(t, c.Err)
	assert.Zero(t, variable)
	_, err := handle.Hold[thing](h)
	assert.ErrorIs(t, err, handle.ErrStale)
}

func TestTake_nullable(t *testing.T) {
	null := uintptr(0)
	for _, p := range []unsafe.Pointer{nil, unsafe.Pointer(&null)} {
		c, _ := call(func(c *Call) int32 { assert.Nil(t, Take[thing](c, 0, p, true)); return 0 })
		assert.NoError(t, c.Err)
		c, _ = call(func(c *Call) int32 { assert.Nil(t, Take[thing](c, 0, p, false)); return 0 })
		assert.Equal(t, fault.Argument, fault.KindOf(c.Err))
	}
}

func TestHandles_holdsEveryElementAndAcceptsRepeats(t *testing.T) {
	_, h := newThing(t)
	values := []uintptr{h, 0, h, h, h, h, h}
	c, _ := call(func(c *Call) int32 {
		all := Handles[thing](c, 1, unsafe.Pointer(&values[0]), uint64(len(values)), 200, nil)
		require.Len(t, all, len(values))
		assert.Nil(t, all[1])
		_, err := handle.Close[thing](h)
		assert.ErrorIs(t, err, handle.ErrBusy)
		return 0
	})
	assert.NoError(t, c.Err)
	_, err := handle.Close[thing](h)
	assert.NoError(t, err, "a hold was left")
	handle.Reopen(h)

	values[3] = 7
	c, _ = call(func(c *Call) int32 {
		assert.Nil(t, Handles[thing](c, 1, unsafe.Pointer(&values[0]), uint64(len(values)), 200, nil))
		return 0
	})
	assert.EqualError(t, c.Err, "b[3]: 0x7: not a handle of this library")
}

// TestHandles_refusedCount: the one element of the array is all that may be read.
func TestHandles_refusedCount(t *testing.T) {
	_, h := newThing(t)
	wrong := errors.New("want 1")
	fits := func(n uint64) error {
		if n != 1 {
			return wrong
		}
		return nil
	}
	p, err := unix.MmapPtr(-1, 0, nil, 2*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	defer func() { _ = unix.MunmapPtr(p, 2*pageSize) }()
	require.NoError(t, unix.Mprotect(unsafe.Slice((*byte)(unsafe.Add(p, pageSize)), pageSize), unix.PROT_NONE))
	last := unsafe.Add(p, pageSize-unsafe.Sizeof(h))
	*(*uintptr)(last) = h
	for _, n := range []uint64{2, 200} {
		c, _ := call(func(c *Call) int32 { assert.Nil(t, Handles[thing](c, 1, last, n, 200, fits)); return 0 })
		assert.Same(t, wrong, c.Err)
	}
	c, _ := call(func(c *Call) int32 { assert.Len(t, Handles[thing](c, 1, last, 1, 200, fits), 1); return 0 })
	assert.NoError(t, c.Err)
}

func TestSlice_takesLengthsAsHostile(t *testing.T) {
	data := []int32{1, 2, 3}
	p := unsafe.Pointer(&data[0])
	for _, x := range []struct {
		p        unsafe.Pointer
		n, limit uint64
		want     string
	}{
		{p, 3, 0, ""},
		{p, 0, 0, ""},
		{p, 3, 3, ""},
		{p, 0, 3, "b: 0: want 1 to 3, the elements of a"},
		{p, 4, 3, "b: 4: want 1 to 3, the elements of a"},
		{nil, 1, 0, "a: NULL"},
		{p, 1 << 62, 0, "a: 4611686018427387904 elements of 4 bytes do not fit into memory"},
		{p, ^uint64(0), 0, "a: 18446744073709551615 elements of 4 bytes do not fit into memory"},
	} {
		c, _ := call(func(c *Call) int32 {
			got := Slice[int32](c, 0, x.p, x.n, x.limit, 1)
			if x.want == "" {
				assert.Len(t, got, int(x.n))
			}
			return 0
		})
		if x.want == "" {
			assert.NoError(t, c.Err)
		} else {
			assert.EqualError(t, c.Err, x.want)
		}
	}
}

func TestCall_keepsTheFirstFault(t *testing.T) {
	c, _ := call(func(c *Call) int32 {
		Ptr[int32](c, 1, nil)
		Handle[thing](c, 0, 7)
		return 0
	})
	assert.EqualError(t, c.Err, "b: NULL")
}

func TestNote_keepsTheKind(t *testing.T) {
	err := Note(fault.New(fault.Shape, "dynamic"))
	assert.Equal(t, fault.Shape, fault.KindOf(err))
}

func TestBlock_isCMemoryThatCanBeReplaced(t *testing.T) {
	var b Block
	assert.Zero(t, b.Addr())
	b.SetString("abc")
	assert.Equal(t, "abc", goString(cPointer(b.Addr())))
	SetSlice(&b, []int32{5, -6})
	assert.Equal(t, []int32{5, -6}, unsafe.Slice((*int32)(cPointer(b.Addr())), 2))
	SetSlice(&b, []int32(nil))
	assert.Zero(t, b.Addr())
	b.Free()
}

func TestPointers_NULLIsToldApart(t *testing.T) {
	for name, f := range map[string]func(c *Call){
		"pointer":  func(c *Call) { Ptr[int32](c, 0, nil) },
		"array":    func(c *Call) { Slice[int32](c, 0, nil, 1, 0) },
		"string":   func(c *Call) { String(c, 0, nil) },
		"callback": func(c *Call) { NotNull(c, 0, 0) },
		"new":      func(c *Call) { New(c, 0, nil) },
		"take":     func(c *Call) { Take[thing](c, 0, nil, false) },
		"handle":   func(c *Call) { Handle[thing](c, 0, 0) },
	} {
		c := &Call{Func: &testFunc}
		f(c)
		assert.ErrorIs(t, c.Err, handle.ErrNull, name)
		assert.Equal(t, fault.Argument, fault.KindOf(c.Err), name)
		assert.Equal(t, "a: NULL", c.Err.Error(), name)
	}
	c := &Call{Func: &testFunc}
	Handle[thing](c, 0, 16)
	assert.NotErrorIs(t, c.Err, handle.ErrNull, "what is no handle")
}
