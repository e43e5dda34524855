package boundary

import (
	"testing"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
)

// TestDriverCaller_passesArgumentsAndResult stands in for a driver with the C library.
func TestDriverCaller_passesArgumentsAndResult(t *testing.T) {
	c, err := purego.Dlopen("libc.so.6", purego.RTLD_NOW)
	if err != nil {
		t.Skipf("this system's C library has another name: %v", err)
	}
	Register([]Func{{Component: "called", Name: "labs", Facade: 9}})
	defer delete(routes.funcs, 9)
	_, _, ok := DriverCaller("nobody")
	require.False(t, ok)
	caller, facade, ok := DriverCaller("called")
	require.True(t, ok)
	require.EqualValues(t, 9, facade)
	l := driver.Bind("libc.so.6", []string{"labs"}, func(symbol string) uintptr {
		address, _ := purego.Dlsym(c, symbol)
		return address
	})
	l.Through(caller, facade)
	r, err := l.Call(0, ^uintptr(4))
	require.NoError(t, err)
	require.EqualValues(t, 5, r)
}
