package hb

import (
	"sync"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
)

// texts are strings that live as long as the process.
var texts = struct {
	mu    sync.Mutex
	known map[string]uintptr
}{known: map[string]uintptr{}}

// Forever returns the address of a C string that is never freed. It is for the few texts that do not depend on a
// program's input.
func Forever(s string) uintptr {
	texts.mu.Lock()
	defer texts.mu.Unlock()
	addr := texts.known[s]
	if addr == 0 {
		var b boundary.Block
		b.SetString(s)
		b.Keep()
		addr = b.Addr()
		texts.known[s] = addr
	}
	return addr
}

// CPointer makes a pointer of an address of C memory.
func CPointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// AddressOf is the address of the first of some bytes.
func AddressOf(data []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(data))) }

// BytesAt are n bytes of C memory.
func BytesAt(addr uintptr, n int64) []byte { return unsafe.Slice((*byte)(CPointer(addr)), int(n)) }
