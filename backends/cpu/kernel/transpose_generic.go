package kernel

import "unsafe"

func transposeGeneric(dst *float32, ldd int, src *float32, lds, rows, cols int) {
	transposeScalar(unsafe.Slice(dst, extent(cols, rows, ldd)), ldd, unsafe.Slice(src, extent(rows, cols, lds)), lds, rows,
		cols)
}
