package plan

import "unsafe"

const none = -1

// order is an order of the dimensions of a value in memory.
type order uint8

const (
	nchw order = iota // as the model has them
	nhwc              // dimension 1, the channels, last
)

func (o order) String() string { return [...]string{"NCHW", "NHWC"}[o] }

// orderOf is the order of images whose operator says where the channels are: the model's own, or NHWC.
func orderOf(channelsLast bool) order {
	if channelsLast {
		return nchw
	}
	return nhwc
}

// sizesIn returns sizes, or other numbers per dimension, in an order of the dimensions.
func sizesIn[T any](dims []T, o order) []T {
	if o == nchw || len(dims) < 3 {
		return dims
	}
	d := append([]T{dims[0]}, dims[2:]...)
	return append(d, dims[1])
}

// sameOrders reports whether both orders of a shape have the same bytes.
func sameOrders(dims []int64) bool {
	return len(dims) < 3 || dims[1] == 1 || product(dims[2:]) == 1
}

func product(dims []int64) int {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	return n
}

// floats returns bytes as float32 values.
func floats(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

// bytesOf returns float32 values as bytes.
func bytesOf(v []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

func seq(from, to int) []int {
	var s []int
	for i := from; i < to; i++ {
		s = append(s, i)
	}
	return s
}
