package boundary

/*
#include "boundary.h"
*/
import "C"

import "unsafe"

// Getenv reads a variable of the C environment; os.Getenv does not see what a program set after its start. In a set-id
// program, which its caller must not direct, every variable is empty.
func Getenv(name string) string {
	key := append([]byte(name), 0)
	value := C.anynpu_getenv((*C.char)(unsafe.Pointer(&key[0])))
	if value == nil {
		return ""
	}
	return C.GoString(value)
}
