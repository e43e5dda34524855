package kernel

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/mem"
)

// Split takes rows of n groups of k elements apart: the first element of each group goes to a row of dst, those behind
// it to where it is ldd bytes on each. Rows are apart bytes from one another in src, and next in dst.
func Split(dst []byte, ldd, next int, src []byte, apart, size, k, n, rows int) {
	if n <= 0 || rows <= 0 {
		return
	}
	need("Split", "src", len(src), (rows-1)*apart+n*k*size)
	need("Split", "dst", len(dst), (rows-1)*next+(k-1)*ldd+n*size)
	if apart == n*k*size && next == n*size {
		n, rows = n*rows, 1
	}
	if f := splitOf(size, k); f != nil && n*size >= pairStep {
		splitBlocks(f, dst, ldd, next, src, apart, size, k, n, rows)
		return
	}
	for r := range rows {
		x := src[r*apart:][:n*k*size]
		for c := range k {
			y := dst[r*next+c*ldd:][:n*size]
			switch size {
			case 1:
				thinEach(y, x[c:], k, 0)
			case 2:
				thinEach(mem.Elements[uint16](y), mem.Elements[uint16](x[2*c:]), k, 0)
			case 4:
				thinEach(mem.Elements[uint32](y), mem.Elements[uint32](x[4*c:]), k, 0)
			default:
				thinEach(mem.Elements[uint64](y), mem.Elements[uint64](x[8*c:]), k, 0)
			}
		}
	}
}

// CanSplit reports whether there is a kernel for groups of k elements of size bytes.
func CanSplit(size, k int) bool { return splitOf(size, k) != nil }

func splitOf(size, k int) splitFn {
	switch k {
	case 2:
		return fast.split[sizeOf(size)]
	case 3:
		return fast.splitIn3[sizeOf(size)]
	}
	return nil
}

// splitBlocks keeps each assembly call short.
func splitBlocks(f splitFn, dst []byte, ldd, next int, src []byte, apart, size, k, n, rows int) {
	call := func(d, s, n, rows int) {
		f((*byte)(unsafe.Pointer(&dst[d])), ldd, next, (*byte)(unsafe.Pointer(&src[s])), apart, n, rows)
	}
	if n <= pairsBlock {
		for r := 0; r < rows; r += pairsBlock / n {
			call(r*next, r*apart, n, min(pairsBlock/n, rows-r))
		}
		return
	}
	for r := range rows {
		for i := 0; i < n; i += pairsBlock {
			from := min(i, n-pairStep) // the last call has enough for a vector
			call(r*next+from*size, r*apart+from*k*size, min(pairsBlock, n-from), 1)
		}
	}
}
