package run

import "unsafe"

// None is the index of nothing.
const None = -1

// Order is an order of the dimensions of a value in memory.
type Order uint8

const (
	NCHW Order = iota // as the model has them
	NHWC              // dimension 1, the channels, last
)

func (o Order) String() string { return [...]string{"NCHW", "NHWC"}[o] }

// OrderOf is the order of images whose operator says where the channels are: the model's own, or NHWC.
func OrderOf(channelsLast bool) Order {
	if channelsLast {
		return NCHW
	}
	return NHWC
}

// SizesIn returns sizes, or other numbers per dimension, in an order of the dimensions.
func SizesIn[T any](dims []T, o Order) []T {
	if o == NCHW || len(dims) < 3 {
		return dims
	}
	d := append([]T{dims[0]}, dims[2:]...)
	return append(d, dims[1])
}

// SameOrders reports whether both orders of a shape have the same bytes.
func SameOrders(dims []int64) bool {
	return len(dims) < 3 || dims[1] == 1 || Product(dims[2:]) == 1
}

// Product is the number of elements of known sizes.
func Product(dims []int64) int {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	return n
}

// Floats returns bytes as float32 values.
func Floats(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

// BytesOf returns float32 values as bytes.
func BytesOf(v []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

// Seq lists the numbers from one to before another.
func Seq(from, to int) []int {
	var s []int
	for i := from; i < to; i++ {
		s = append(s, i)
	}
	return s
}
