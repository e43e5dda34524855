package onnxruntime

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// leastStack is the stack that a thread of the program has to have for runs on it: far more than the kernels of the
// runtime's CPU provider take.
const leastStack = 2 << 20

// stackFunctions has the functions of libc that tell the size of a thread's stack, 0 where there are none.
var stackFunctions = sync.OnceValue(func() (f struct{ self, attributes, size, destroy uintptr }) {
	for name, at := range map[string]*uintptr{"pthread_self": &f.self, "pthread_getattr_np": &f.attributes,
		"pthread_attr_getstacksize": &f.size, "pthread_attr_destroy": &f.destroy} {
		var err error
		if *at, err = purego.Dlsym(purego.RTLD_DEFAULT, name); err != nil {
			f.self = 0
			return f
		}
	}
	return f
})

// roomyStack reports whether the calling thread, which its goroutine is locked to, has a stack for runs. libc reads a
// file for the size of the main thread's, so that the kernel's limit is asked instead.
func roomyStack() bool {
	if unix.Gettid() == unix.Getpid() {
		var limit unix.Rlimit
		return unix.Getrlimit(unix.RLIMIT_STACK, &limit) == nil && limit.Cur >= leastStack
	}
	f := stackFunctions()
	if f.self == 0 || f.attributes == 0 || f.size == 0 || f.destroy == 0 {
		return false
	}
	room := &struct {
		attributes [128]byte // pthread_attr_t, which is smaller
		size       uintptr
	}{}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(room)
	at := uintptr(unsafe.Pointer(room))
	self, _, _ := purego.SyscallN(f.self)
	if code, _, _ := purego.SyscallN(f.attributes, self, at); code != 0 {
		return false
	}
	code, _, _ := purego.SyscallN(f.size, at, at+unsafe.Offsetof(room.size))
	purego.SyscallN(f.destroy, at)
	return code == 0 && room.size >= leastStack
}
