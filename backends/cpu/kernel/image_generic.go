package kernel

import "unsafe"

// spreadStep is the number of pixels that a table's spread takes at a time, resizeStep that of its resize functions.
const (
	spreadStep = 16
	resizeStep = 8
)

// affine3Generic makes three channels of three components; k are three bases, and for each channel three weights and
// the offset.
func affine3Generic(dst0, dst1, dst2 *float32, a, b, c *uint8, n int, k *float32) {
	f := unsafe.Slice(k, 15)
	x, y, z := unsafe.Slice(a, n), unsafe.Slice(b, n), unsafe.Slice(c, n)
	for ch, dst := range [3]*float32{dst0, dst1, dst2} {
		w0, w1, w2, offset := f[3+4*ch], f[4+4*ch], f[5+4*ch], f[6+4*ch]
		out := unsafe.Slice(dst, n)
		for i := range out {
			rest := float32(float32(w1*(float32(y[i])-f[1]))+float32(w2*(float32(z[i])-f[2]))) + offset
			out[i] = float32(w0*(float32(x[i])-f[0])) + rest
		}
	}
}

// spreadGeneric gives each of n pixels, an even number, the two components of its pair.
func spreadGeneric(u, v, pairs *uint8, n int) {
	a, b, p := unsafe.Slice(u, n), unsafe.Slice(v, n), unsafe.Slice(pairs, n)
	for i := 0; i < n; i += 2 {
		a[i], a[i+1] = p[i], p[i]
		b[i], b[i+1] = p[i+1], p[i+1]
	}
}

// resizeRow mixes n pixels of comps components side by side from those at at[i] and their neighbours, which a weight of
// 0 does not read, of two rows: weights belong to the neighbour and to bottom, in units of 1/65536.
func resizeRow(dst, top, bottom *uint8, at *int32, weight *uint32, n int, wy uint32, comps int) {
	out, from, wx := unsafe.Slice(dst, n*comps), unsafe.Slice(at, n), unsafe.Slice(weight, n)
	y := uint64(wy)
	load := func(p *uint8, i int) uint64 { return uint64(*(*uint8)(unsafe.Add(unsafe.Pointer(p), i))) }
	for i, w := range wx {
		x := uint64(w)
		for c := range comps {
			j := int(from[i]) + c
			a, b := load(top, j), load(bottom, j)
			h, l := a<<16, b<<16
			if w != 0 {
				h, l = (65536-x)*a+x*load(top, j+comps), (65536-x)*b+x*load(bottom, j+comps)
			}
			out[i*comps+c] = uint8(((65536-y)*h + y*l + 1<<31) >> 32)
		}
	}
}

func resize1Generic(dst, top, bottom *uint8, at *int32, weight *uint32, n int, wy uint32) {
	resizeRow(dst, top, bottom, at, weight, n, wy, 1)
}

func resize2Generic(dst, top, bottom *uint8, at *int32, weight *uint32, n int, wy uint32) {
	resizeRow(dst, top, bottom, at, weight, n, wy, 2)
}
