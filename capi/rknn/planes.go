package rknn

import (
	"unsafe"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
)

// Elements move between the planes of the model's order and the arrangements of programs, unchanged.

type word interface {
	uint8 | uint16 | uint32 | uint64
}

// words returns bytes as elements, which need not be aligned.
func words[T word](b []byte) []T {
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(one)))
}

// gather copies n elements of size bytes that lie step elements apart.
func gather(dst, src []byte, step, n, size int) {
	switch size {
	case 1:
		pick(dst, src, step, n)
	case 2:
		pick(words[uint16](dst), words[uint16](src), step, n)
	case 4:
		pick(words[uint32](dst), words[uint32](src), step, n)
	default:
		pick(words[uint64](dst), words[uint64](src), step, n)
	}
}

func pick[T word](dst, src []T, step, n int) {
	for i := range dst[:n] {
		dst[i] = src[i*step]
	}
}

// scatter copies n elements of size bytes to places that lie step elements apart.
func scatter(dst, src []byte, step, n, size int) {
	switch size {
	case 1:
		place(dst, src, step, n)
	case 2:
		place(words[uint16](dst), words[uint16](src), step, n)
	case 4:
		place(words[uint32](dst), words[uint32](src), step, n)
	default:
		place(words[uint64](dst), words[uint64](src), step, n)
	}
}

func place[T word](dst, src []T, step, n int) {
	for i, v := range src[:n] {
		dst[i*step] = v
	}
}

// lookUp writes n elements of size bytes: what a table has for bytes that lie step apart.
func lookUp(dst []byte, size int, table, src []byte, step, n int) {
	switch size {
	case 1:
		lookUpWords(dst, table, src, step, n)
	case 2:
		lookUpWords(words[uint16](dst), words[uint16](table), src, step, n)
	case 4:
		lookUpWords(words[uint32](dst), words[uint32](table), src, step, n)
	default:
		lookUpWords(words[uint64](dst), words[uint64](table), src, step, n)
	}
}

func lookUpWords[T word](dst, table []T, src []byte, step, n int) {
	t := (*[256]T)(table)
	for i := range dst[:n] {
		dst[i] = t[src[i*step]]
	}
}

// fewLanes is up to how many interleaved channels are moved one by one.
const fewLanes = 4

// toPlanes moves elements of size bytes from an arrangement to the model's order.
func toPlanes(dst []byte, own *arrangement, src []byte, a *arrangement, size int) {
	planes(own, a, func(plane, at, lanes int) {
		d, s := dst[plane*size:], src[at*size:]
		switch {
		case a.step == 1:
			copy(d[:lanes*a.pixels*size], s)
		case lanes <= fewLanes:
			for k := range lanes {
				gather(d[k*a.pixels*size:], s[k*size:], a.step, a.pixels, size)
			}
		default:
			turn(d, a.pixels, s, a.step, a.pixels, lanes, size)
		}
	})
}

// fromPlanes moves elements of size bytes from the model's order to an arrangement.
func fromPlanes(dst []byte, a *arrangement, src []byte, own *arrangement, size int) {
	planes(own, a, func(plane, at, lanes int) {
		d, s := dst[at*size:], src[plane*size:]
		switch {
		case a.step == 1:
			copy(d, s[:lanes*a.pixels*size])
		case lanes <= fewLanes:
			for k := range lanes {
				scatter(d[k*size:], s[k*a.pixels*size:], a.step, a.pixels, size)
			}
		default:
			turn(d, a.step, s, a.pixels, lanes, a.pixels, size)
		}
	})
}

// planes calls f for every set of channels that lie together in a: the first element of their planes in own, the first
// of them in a, and how many there are.
func planes(own, a *arrangement, f func(plane, at, lanes int)) {
	lanes := a.channels
	if a.group > 0 {
		lanes = a.group
	}
	if a.pixels == 0 {
		return
	}
	for image := range a.images {
		for c := 0; c < a.channels; c += lanes {
			f(own.base(image, c), a.base(image, c), min(lanes, a.channels-c))
		}
	}
}

// turn transposes a matrix of elements of size bytes.
func turn(dst []byte, ldd int, src []byte, lds, rows, cols, size int) {
	switch size {
	case 1:
		kernel.TransposeBits(dst, ldd, src, lds, rows, cols)
	case 2:
		kernel.TransposeBits(words[uint16](dst), ldd, words[uint16](src), lds, rows, cols)
	case 4:
		kernel.Transpose(reals(dst), ldd, reals(src), lds, rows, cols)
	default:
		kernel.TransposeBits(words[uint64](dst), ldd, words[uint64](src), lds, rows, cols)
	}
}

func reals(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}
