package ohnn

import "github.com/anynpu/anynpu/conformance/suite/cmem"

// Array is OH_NN_UInt32Array.
type Array struct {
	Data *uint32
	Size uint32
}

// List returns an array of indices, which refers to the memory of v.
func List(v ...uint32) *Array {
	if len(v) == 0 {
		return &Array{}
	}
	return &Array{cmem.Pointer(v), uint32(len(v))}
}

// Return codes of the API.
const (
	Success            = 0
	Failed             = 1
	InvalidParameter   = 2
	MemoryError        = 3
	Forbidden          = 4
	NullPtr            = 5
	InvalidFile        = 6
	Timeout            = 9
	Unsupported        = 10
	SaveCacheException = 12
	DynamicShape       = 13
	Unavailable        = 14
)
