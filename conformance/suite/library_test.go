package suite

import (
	"math"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/conformance/suite/trace"
)

// libc is the C library as an API: its functions are a route to known answers.
var libc = &API{Name: "libc", Prefix: "str", Functions: []string{"strlen", "strncmp", "strnothing"},
	Soname: "libc.so.6", Essential: []string{"strlen"}, Codes: map[int]string{0: "SAME"},
	Headers: &trace.Headers{Files: []string{"string.h"}, Prototypes: []string{"size_t strlen(const char *s)",
		"int strncmp(const char *s1, const char *s2, size_t n)"}}}

func TestLibrary_calls(t *testing.T) {
	l, err := Open(libc, "libc.so.6")
	require.NoError(t, err)
	assert.EqualValues(t, 5, l.Call("len", "seven"[:5]))
	assert.EqualValues(t, 2, l.Call("len", []byte("ab\x00c\x00")))
	assert.Equal(t, 0, l.Code("ncmp", "abc", "abd", 2))
	assert.Negative(t, l.Code("ncmp", "abc", "abd", uint32(3)))
	assert.Equal(t, []string{"strlen", "strncmp"}, l.Called())
	l.reset()
	assert.Empty(t, l.Called())
	assert.True(t, l.Has("strlen"))
	assert.False(t, l.Has("strnothing"))
	assert.True(t, l.Exports("memcpy"))
	assert.False(t, l.Exports("strnothing"))
	assert.False(t, l.Counts() || l.HasMessages() || l.HasLog())
	assert.Equal(t, [2]int{}, l.Live())
	assert.Empty(t, l.LastError())
	g, err := l.greet()
	require.NoError(t, err)
	assert.Equal(t, Greeting{Version: "unknown"}, g, "the file was found by its name alone")
	_, err = Open(&API{Functions: []string{"nothing_"}, Essential: []string{"nothing_"}}, "libc.so.6")
	assert.ErrorContains(t, err, "nothing_ is missing")
	_, err = Open(libc, "no/such/library.so")
	assert.Error(t, err)
}

func TestT_judgesCodesAndPointers(t *testing.T) {
	l, err := Open(libc, "libc.so.6")
	require.NoError(t, err)
	c := &T{Library: l}
	violated := func(f func()) error { return (&T{Library: l}).run(f) }
	assert.NoError(t, violated(func() { c.OK("ncmp", "a", "a", 1) }))
	assert.True(t, c.accepted)
	assert.EqualError(t, violated(func() { c.Is(-3, "ncmp", "a", "a", 1) }), "strncmp(a, a, 1): SAME(0), want -3")
	assert.NoError(t, violated(func() { c.Null("len", "") }))
	assert.Equal(t, 1, c.refusals)
	assert.EqualError(t, violated(func() { c.Ptr("len", "") }), "strlen(): NULL")
	assert.EqualError(t, violated(func() { c.Null("len", "abc") }), "strlen(abc): 0x3, want NULL")
}

func TestArgument_isARegisterValue(t *testing.T) {
	x := []int32{1}
	for _, c := range []struct {
		arg  any
		want uintptr
	}{
		{nil, 0}, {true, 1}, {false, 0}, {-1, math.MaxUint}, {int32(-1), math.MaxUint32}, {uint8(200), 200},
		{uint64(math.MaxUint64), math.MaxUint}, {uintptr(7), 7}, {float32(1), 0x3f800000},
		{x, uintptr(unsafe.Pointer(&x[0]))},
		{&x[0], uintptr(unsafe.Pointer(&x[0]))}, {[]byte(nil), 0}, {(*int32)(nil), 0},
	} {
		got, _ := argument(c.arg)
		assert.Equal(t, c.want, got, "%T %v", c.arg, c.arg)
	}
	runtime.KeepAlive(x)
	assert.Panics(t, func() { argument(1.5) })
}

func TestLibrary_floatArguments(t *testing.T) {
	l, err := Open(&API{Prefix: "str", Functions: []string{"strfromf"}}, "libc.so.6")
	require.NoError(t, err)
	text := make([]byte, 16)
	assert.EqualValues(t, 4, l.Call("fromf", text, len(text), "%g", float32(-2.5)))
	assert.Equal(t, "-2.5", string(text[:4]))
}
