package onnxruntime

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// signalStack is stack_t: where the kernel lets a thread handle signals.
type signalStack struct {
	at    uintptr
	flags int32
	size  uintptr
}

// onStack is SS_ONSTACK, which the kernel reports and refuses.
const onStack = 1

// keepSignalStack has the calling thread keep its stack for signals over calls of a provider; restore ends that.
// OpenVINO's CPU plug-in gives the thread that makes its first session a stack of the plug-in's own, and frees that
// stack on the thread that ends the last session: the next signal of the first thread then writes to memory that is
// gone, or is another's by now.
func keepSignalStack() (restore func()) {
	runtime.LockOSThread()
	before, known := swapSignalStack(nil)
	return func() {
		defer runtime.UnlockOSThread()
		if now, _ := swapSignalStack(nil); known && now != before {
			swapSignalStack(&before)
		}
	}
}

// swapSignalStack gives the calling thread a stack for signals, unless that is nil, and returns the one before.
func swapSignalStack(s *signalStack) (before signalStack, ok bool) {
	if s != nil {
		s.flags &^= onStack
	}
	_, _, code := unix.RawSyscall(unix.SYS_SIGALTSTACK, uintptr(unsafe.Pointer(s)), uintptr(unsafe.Pointer(&before)), 0)
	return before, code == 0
}
