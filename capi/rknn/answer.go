package rknn

import (
	"fmt"
	"unsafe"
)

// The sizes of structs in older headers, which queries accept (section 3).
const (
	attrSize10, attrSize07 = 372, 360
	memSize10              = 8
)

// answer stores v, cut off to the size of the program's struct.
func answer[T any](info []byte, name string, v T, older ...int) error {
	all := unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v))
	n := len(all)
	if len(info) < n {
		n = 0
		for _, size := range older {
			if len(info) == size {
				n = size
			}
		}
		if n == 0 {
			return invalid("size is %d: %s has %d bytes%s "+
				"[rknn-size-bytes]", len(info), name, len(all), olderSizes(older))
		}
	}
	copy(info[:n], all)
	return nil
}

// olderSizes says which sizes of older headers are accepted too.
func olderSizes(sizes []int) string {
	switch len(sizes) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(", in older headers %d", sizes[0])
	}
	return fmt.Sprintf(", in older headers %d or %d", sizes[0], sizes[1])
}
