package kernel

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/mem"
)

// TransposeBits is [Transpose] of elements of 1, 2 or 8 bytes.
func TransposeBits[T uint8 | uint16 | uint64](dst []T, ldd int, src []T, lds, rows, cols int) {
	if rows <= 0 || cols <= 0 {
		return
	}
	need("TransposeBits", "dst", len(dst), extent(cols, rows, ldd))
	need("TransposeBits", "src", len(src), extent(rows, cols, lds))
	if transposeThin(dst, ldd, src, lds, rows, cols) {
		return
	}
	var one T
	size := int(unsafe.Sizeof(one))
	r, c := 0, 0 // covered by blocks
	if f, k := fast.transpose[sizeOf(size)], transposeBlocks[sizeOf(size)]; f != nil && rows >= k.rows && cols >= k.cols {
		r, c = rows-rows%k.rows, cols-cols%k.cols
		tile := 64 / size // of it whole lines of both sides are in the first-level cache
		for i := 0; i < r; i += tile {
			f(&mem.Bytes(dst[i:])[0], ldd*size, &mem.Bytes(src[i*lds:])[0], lds*size, min(tile, r-i), c)
		}
	}
	if c < cols {
		transposeTiles(dst[c*ldd:], ldd, src[c:], lds, r, cols-c)
	}
	if r < rows {
		transposeTiles(dst[r:], ldd, src[r*lds:], lds, rows-r, cols)
	}
}

// transposeBlocks are the sizes of blocks of kernels, by sizeOf.
var transposeBlocks = [4]struct{ rows, cols int }{{16, 16}, {8, 16}, {}, {4, 4}}

// transposeThin transposes 2, 3 or 4 rows or columns without gaps, if they are that.
func transposeThin[T any](dst []T, ldd int, src []T, lds, rows, cols int) bool {
	var one T
	size := int(unsafe.Sizeof(one))
	switch {
	case rows == 2 && ldd == 2:
		Merge(mem.Bytes(dst[:2*cols]), mem.Bytes(src[:cols]), mem.Bytes(src[lds:lds+cols]), size)
	case (cols == 2 || cols == 4) && lds == cols:
		for c := range cols {
			Thin(mem.Bytes(dst[c*ldd:c*ldd+rows]), mem.Bytes(src[c:cols*rows]), size, cols, rows)
		}
	case cols == 3 && lds == 3:
		a, b, c := dst[:rows], dst[ldd:][:rows], dst[2*ldd:][:rows]
		for i := range a {
			s := src[3*i : 3*i+3]
			a[i], b[i], c[i] = s[0], s[1], s[2]
		}
	case rows == 3 && ldd == 3:
		a, b, c := src[:cols], src[lds:][:cols], src[2*lds:][:cols]
		for i := range a {
			d := dst[3*i : 3*i+3]
			d[0], d[1], d[2] = a[i], b[i], c[i]
		}
	case rows == 4 && ldd == 4:
		a, b, c, e := src[:cols], src[lds:][:cols], src[2*lds:][:cols], src[3*lds:][:cols]
		for i := range a {
			d := dst[4*i : 4*i+4]
			d[0], d[1], d[2], d[3] = a[i], b[i], c[i], e[i]
		}
	default:
		return false
	}
	return true
}

// transposeTiles moves tiles of which the lines of both sides stay in the first-level cache.
func transposeTiles[T uint8 | uint16 | uint64](dst []T, ldd int, src []T, lds, rows, cols int) {
	if d, bytes := any(dst).([]uint8); bytes {
		transposeBytes(d, ldd, any(src).([]uint8), lds, rows, cols)
		return
	}
	const tile = 32
	for r := 0; r < rows; r += tile {
		for c := 0; c < cols; c += tile {
			transposeTile(dst[c*ldd+r:], ldd, src[r*lds+c:], lds, min(tile, rows-r), min(tile, cols-c))
		}
	}
}

func transposeTile[T uint8 | uint16 | uint64](dst []T, ldd int, src []T, lds, rows, cols int) {
	for c := range cols {
		for r := range dst[c*ldd:][:rows] {
			dst[c*ldd+r] = src[r*lds+c]
		}
	}
}

// transposeBytes moves blocks of 8x8, rows of 64 after one another so that whole lines are written.
func transposeBytes(dst []uint8, ldd int, src []uint8, lds, rows, cols int) {
	const tile = 64
	r8, c8 := rows&^7, cols&^7
	for first := 0; first < r8; first += tile {
		for c := 0; c < c8; c += 8 {
			for r := first; r < min(r8, first+tile); r += 8 {
				transposeBlock(&dst[c*ldd+r], ldd, &src[r*lds+c], lds)
			}
		}
	}
	if c8 < cols {
		transposeTile(dst[c8*ldd:], ldd, src[c8:], lds, r8, cols-c8)
	}
	if r8 < rows {
		transposeTile(dst[r8:], ldd, src[r8*lds:], lds, rows-r8, cols)
	}
}

// transposeBlock transposes 8x8 bytes in registers: halves of blocks of 2, 4 and 8 change places.
func transposeBlock(dst *uint8, ldd int, src *uint8, lds int) {
	s := unsafe.Pointer(src)
	a0, a1 := *(*uint64)(s), *(*uint64)(unsafe.Add(s, lds))
	a2, a3 := *(*uint64)(unsafe.Add(s, 2*lds)), *(*uint64)(unsafe.Add(s, 3*lds))
	a4, a5 := *(*uint64)(unsafe.Add(s, 4*lds)), *(*uint64)(unsafe.Add(s, 5*lds))
	a6, a7 := *(*uint64)(unsafe.Add(s, 6*lds)), *(*uint64)(unsafe.Add(s, 7*lds))
	a0, a1 = swapHalves(a0, a1, 8, 0x00ff00ff00ff00ff)
	a2, a3 = swapHalves(a2, a3, 8, 0x00ff00ff00ff00ff)
	a4, a5 = swapHalves(a4, a5, 8, 0x00ff00ff00ff00ff)
	a6, a7 = swapHalves(a6, a7, 8, 0x00ff00ff00ff00ff)
	a0, a2 = swapHalves(a0, a2, 16, 0x0000ffff0000ffff)
	a1, a3 = swapHalves(a1, a3, 16, 0x0000ffff0000ffff)
	a4, a6 = swapHalves(a4, a6, 16, 0x0000ffff0000ffff)
	a5, a7 = swapHalves(a5, a7, 16, 0x0000ffff0000ffff)
	a0, a4 = swapHalves(a0, a4, 32, 0x00000000ffffffff)
	a1, a5 = swapHalves(a1, a5, 32, 0x00000000ffffffff)
	a2, a6 = swapHalves(a2, a6, 32, 0x00000000ffffffff)
	a3, a7 = swapHalves(a3, a7, 32, 0x00000000ffffffff)
	d := unsafe.Pointer(dst)
	*(*uint64)(d) = a0
	*(*uint64)(unsafe.Add(d, ldd)) = a1
	*(*uint64)(unsafe.Add(d, 2*ldd)) = a2
	*(*uint64)(unsafe.Add(d, 3*ldd)) = a3
	*(*uint64)(unsafe.Add(d, 4*ldd)) = a4
	*(*uint64)(unsafe.Add(d, 5*ldd)) = a5
	*(*uint64)(unsafe.Add(d, 6*ldd)) = a6
	*(*uint64)(unsafe.Add(d, 7*ldd)) = a7
}

// swapHalves exchanges the upper parts of a with the lower ones of b, in each group of bits.
func swapHalves(a, b uint64, shift int, low uint64) (uint64, uint64) {
	t := (a>>shift ^ b) & low
	return a ^ t<<shift, b ^ t
}
