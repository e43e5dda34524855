package onnxruntime

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/format/onnx/export"
)

// own is the calling thread's stack for signals.
func own(t *testing.T) signalStack {
	s, ok := swapSignalStack(nil)
	require.True(t, ok)
	return s
}

// TestKeepSignalStack: what a call sets is not the thread's afterwards.
func TestKeepSignalStack(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := own(t)
	area, err := unix.Mmap(-1, 0, 1<<16, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	require.NoError(t, err)
	restore := keepSignalStack()
	_, ok := swapSignalStack(&signalStack{at: uintptr(unsafe.Pointer(&area[0])), size: uintptr(len(area))})
	changed := own(t)
	restore()
	require.True(t, ok)
	assert.Equal(t, uintptr(unsafe.Pointer(&area[0])), changed.at)
	assert.Equal(t, before, own(t))
	require.NoError(t, unix.Munmap(area))
	runtime.GC() // its signals come to the stack that there was
}

// TestDevice_keepsSignalStacks: the thread that makes OpenVINO's first session keeps its stack for signals, also when
// the session ends on another thread.
func TestDevice_keepsSignalStacks(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := own(t)
	d := open(t, openVINO(t), Provider{Name: "OpenVINO", Options: map[string]string{"device_type": "CPU"}})
	m, err := export.Of(products(t, 2, 16), export.Options{})
	require.NoError(t, err)
	data, err := m.Bytes()
	require.NoError(t, err)
	session, err := d.lib.session(data, d.provider, "test", forRuns)
	require.NoError(t, err)
	assert.Equal(t, before, own(t))
	done := make(chan bool)
	go func() {
		d.lib.end(session)
		close(done)
	}()
	<-done
	assert.Equal(t, before, own(t))
}
