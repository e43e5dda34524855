package onnxruntime

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Threads that Go makes have the stack that libc gives by default.
func TestRoomyStack_ofGoThreads(t *testing.T) {
	done := make(chan bool)
	for range 4 {
		go func() {
			runtime.LockOSThread()
			done <- roomyStack()
		}()
	}
	for range 4 {
		assert.True(t, <-done)
	}
}
