package convert

import "github.com/anynpu/anynpu/core/mem"

// Elements move between the planes of NCHW and other layouts, unchanged.

// gather copies n elements of size bytes, 1, 2, 4, 8 or 16, that lie step elements apart.
func gather(dst, src []byte, step, n, size int) {
	switch size {
	case 1:
		pick(dst, src, step, n)
	case 2:
		pick(mem.Elements[uint16](dst), mem.Elements[uint16](src), step, n)
	case 4:
		pick(mem.Elements[uint32](dst), mem.Elements[uint32](src), step, n)
	case 8:
		pick(mem.Elements[uint64](dst), mem.Elements[uint64](src), step, n)
	default:
		pick(mem.Elements[[2]uint64](dst), mem.Elements[[2]uint64](src), step, n)
	}
}

func pick[T any](dst, src []T, step, n int) {
	for i := range dst[:n] {
		dst[i] = src[i*step]
	}
}

// scatter copies n elements of size bytes, 1, 2, 4, 8 or 16, to places that lie step elements apart.
func scatter(dst, src []byte, step, n, size int) {
	switch size {
	case 1:
		place(dst, src, step, n)
	case 2:
		place(mem.Elements[uint16](dst), mem.Elements[uint16](src), step, n)
	case 4:
		place(mem.Elements[uint32](dst), mem.Elements[uint32](src), step, n)
	case 8:
		place(mem.Elements[uint64](dst), mem.Elements[uint64](src), step, n)
	default:
		place(mem.Elements[[2]uint64](dst), mem.Elements[[2]uint64](src), step, n)
	}
}

func place[T any](dst, src []T, step, n int) {
	for i, v := range src[:n] {
		dst[i*step] = v
	}
}

// lookUp writes n elements of size bytes that lie apart elements apart: what a table has for bytes that lie step apart.
func lookUp(dst []byte, apart, size int, table, src []byte, step, n int) {
	switch size {
	case 1:
		lookUpWords(dst, apart, table, src, step, n)
	case 2:
		lookUpWords(mem.Elements[uint16](dst), apart, mem.Elements[uint16](table), src, step, n)
	case 4:
		lookUpWords(mem.Elements[uint32](dst), apart, mem.Elements[uint32](table), src, step, n)
	default:
		lookUpWords(mem.Elements[uint64](dst), apart, mem.Elements[uint64](table), src, step, n)
	}
}

func lookUpWords[T word](dst []T, apart int, table []T, src []byte, step, n int) {
	t := (*[256]T)(table)
	if apart == 1 && step == 1 {
		src = src[:n]
		for i := range dst[:n] {
			dst[i] = t[src[i]]
		}
		return
	}
	for i := range n {
		dst[i*apart] = t[src[i*step]]
	}
}

// fewLanes is up to how many interleaved channels are moved one by one.
const fewLanes = 4

// ToPlanes moves elements of size bytes from arrangement a to NCHW.
func ToPlanes(dst, src []byte, a *Arrangement, size int) {
	planes(a, func(plane, at, lanes int) {
		d, s := dst[plane*size:], src[at*size:]
		switch {
		case a.step == 1:
			copy(d[:lanes*a.Pixels*size], s)
		case lanes <= fewLanes || size > 8:
			for k := range lanes {
				gather(d[k*a.Pixels*size:], s[k*size:], a.step, a.Pixels, size)
			}
		default:
			kernels.Transpose(d, a.Pixels, s, a.step, a.Pixels, lanes, size)
		}
	})
}

// FromPlanes moves elements of size bytes from NCHW to arrangement a. Lanes of NC1HWC2 without a channel stay as they
// are.
func FromPlanes(dst []byte, a *Arrangement, src []byte, size int) {
	planes(a, func(plane, at, lanes int) {
		d, s := dst[at*size:], src[plane*size:]
		switch {
		case a.step == 1:
			copy(d, s[:lanes*a.Pixels*size])
		case lanes <= fewLanes || size > 8:
			for k := range lanes {
				scatter(d[k*size:], s[k*a.Pixels*size:], a.step, a.Pixels, size)
			}
		default:
			kernels.Transpose(d, a.step, s, a.Pixels, lanes, a.Pixels, size)
		}
	})
}

// planes calls f for every set of channels that lie together in a: the first element of their planes in NCHW, the first
// of them in a, and how many there are.
func planes(a *Arrangement, f func(plane, at, lanes int)) {
	lanes := a.Channels
	if a.group > 0 {
		lanes = a.group
	}
	if a.Pixels == 0 {
		return
	}
	for image := range a.Images {
		for c := 0; c < a.Channels; c += lanes {
			f((image*a.Channels+c)*a.Pixels, a.base(image, c), min(lanes, a.Channels-c))
		}
	}
}
