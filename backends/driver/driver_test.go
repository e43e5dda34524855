package driver

import (
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
)

// TestLibrary_callsWhatIsThere stands in for a driver with the C library.
func TestLibrary_callsWhatIsThere(t *testing.T) {
	c, err := purego.Dlopen("libc.so.6", purego.RTLD_NOW)
	if err != nil {
		t.Skipf("this system's C library has another name: %v", err)
	}
	l := Bind("libc.so.6", []string{"labs", "no_such_function", "strnlen"}, func(symbol string) uintptr {
		address, _ := purego.Dlsym(c, symbol)
		return address
	})
	require.Equal(t, []string{"no_such_function"}, l.Missing())
	require.True(t, l.Has("labs"))
	require.False(t, l.Has("no_such_function"))
	require.Len(t, l.Addresses(), 2)
	r, err := l.Call(0, ^uintptr(4))
	require.NoError(t, err)
	require.EqualValues(t, 5, r)
	text := [...]byte{'a', 'b', 'c', 0}
	r, err = l.Call(2, uintptr(unsafe.Pointer(&text)), 10)
	require.NoError(t, err)
	require.EqualValues(t, 3, r)
	_, err = l.Call(1)
	require.Equal(t, fault.Unsupported, fault.KindOf(err))
	require.ErrorContains(t, err, "libc.so.6 has no function no_such_function")
}
