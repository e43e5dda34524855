package boundary

/*
#include <stdlib.h>
*/
import "C"

import "unsafe"

// Getenv reads a variable of the C environment. os.Getenv does not see what a program set after its start.
func Getenv(name string) string {
	key := append([]byte(name), 0)
	value := C.getenv((*C.char)(unsafe.Pointer(&key[0])))
	if value == nil {
		return ""
	}
	return C.GoString(value)
}
