package io

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

// mapped maps the first bytes of a new file of that size, and returns a function that cuts the file to nothing.
func mapped(t *testing.T, size int) (data []byte, cut func()) {
	f, err := os.Create(filepath.Join(t.TempDir(), "mapped"))
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	require.NoError(t, f.Truncate(int64(size)))
	data, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Munmap(data)) })
	return data, func() { require.NoError(t, f.Truncate(0)) }
}

// lost is an error with the address that was not there.
func lost(addr uintptr) error { return fmt.Errorf("lost %#x", addr) }

func TestGuarded_vanishedPage(t *testing.T) {
	data, cut := mapped(t, 8192)
	for _, touch := range []func(){
		func() { data[4100] = 1 },
		func() { _ = append([]byte{}, data[4100:4101]...) },
		func() { copy(make([]byte, 3), data[4100:]) },
	} {
		require.NoError(t, Guarded(func() error { touch(); return nil }, lost))
	}
	cut()
	for i, touch := range []func(){
		func() { data[4100] = 1 },
		func() { _ = append([]byte{}, data[4100:4101]...) },
	} {
		err := Guarded(func() error { touch(); return nil }, lost)
		assert.EqualError(t, err, fmt.Sprintf("lost %#x", uintptr(unsafe.Pointer(&data[4100]))), "access %d", i)
	}
}

func TestGuarded_leavesTheRest(t *testing.T) {
	own := errors.New("own")
	assert.Equal(t, own, Guarded(func() error { return own }, lost))
	assert.PanicsWithValue(t, "own", func() { _ = Guarded(func() error { panic("own") }, lost) })
	var none []int
	assert.Panics(t, func() { _ = Guarded(func() error { none[0] = 1; return nil }, lost) }, "no fault of memory")
}

// TestGuarded_restores: what a goroutine does with faults is the same after the call as before.
func TestGuarded_restores(t *testing.T) {
	data, cut := mapped(t, 4096)
	cut()
	inner := func() error { return Guarded(func() error { data[0] = 1; return nil }, lost) }
	err := Guarded(func() error {
		assert.Error(t, inner())
		data[1] = 1 // the outer call still sees to it
		return nil
	}, lost)
	assert.EqualError(t, err, fmt.Sprintf("lost %#x", uintptr(unsafe.Pointer(&data[1]))))
	for _, before := range []bool{true, false} {
		debug.SetPanicOnFault(before)
		require.NoError(t, Guarded(func() error { return nil }, lost))
		assert.Equal(t, before, debug.SetPanicOnFault(false))
	}
}

func TestGuarded_allocatesNothing(t *testing.T) {
	data := make([]byte, 8)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if err := Guarded(func() error { data[0]++; return nil }, lost); err != nil {
			t.Error(err)
		}
	}))
}
