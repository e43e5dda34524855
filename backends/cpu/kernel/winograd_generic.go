package kernel

import "unsafe"

// The transform matrices of F(4,3) at the points 0, 1, -1, 2, -2 and infinity.
var (
	winoBT = [6][6]float32{
		{4, 0, -5, 0, 1, 0},
		{0, -4, -4, 1, 1, 0},
		{0, 4, -4, -1, 1, 0},
		{0, -2, -1, 2, 1, 0},
		{0, 2, -1, -2, 1, 0},
		{0, 4, 0, -5, 0, 1},
	}
	winoG = [6][3]float32{
		{1.0 / 4, 0, 0},
		{-1.0 / 6, -1.0 / 6, -1.0 / 6},
		{-1.0 / 6, 1.0 / 6, -1.0 / 6},
		{1.0 / 24, 1.0 / 12, 1.0 / 6},
		{1.0 / 24, -1.0 / 12, 1.0 / 6},
		{0, 0, 1},
	}
	winoAT = [4][6]float32{
		{1, 1, 1, 1, 1, 0},
		{0, 1, -1, 2, -2, 0},
		{0, 1, 1, 4, 4, 0},
		{0, 1, -1, 8, -8, 1},
	}
)

func winoInputGeneric(c int, in *float32, irow, icol int, out *float32, of int, _ *float32) {
	for ch := range c {
		var t [6][6]float32
		for y := range 6 {
			for x := range 6 {
				for k := range 6 {
					t[y][x] += winoBT[y][k] * plus(in, k*irow+x*icol, c)[ch]
				}
			}
		}
		for y := range 6 {
			for x := range 6 {
				s := float32(0)
				for k := range 6 {
					s += winoBT[x][k] * t[y][k]
				}
				plus(out, (y*6+x)*of, c)[ch] = s
			}
		}
	}
}

func winoFilterGeneric(n int, w *float32, wtap int, u *float32, uf int, _ *float32) {
	for j := range n {
		var t [6][3]float32
		for y := range 6 {
			for x := range 3 {
				for k := range 3 {
					t[y][x] += winoG[y][k] * plus(w, (k*3+x)*wtap, n)[j]
				}
			}
		}
		for y := range 6 {
			for x := range 6 {
				s := float32(0)
				for k := range 3 {
					s += winoG[x][k] * t[y][k]
				}
				plus(u, (y*6+x)*uf, n)[j] = s
			}
		}
	}
}

func winoOutputGeneric(c int, in *float32, inf int, out *float32, orow, ocol int, bias, res *float32, rrow, rcol int,
	lo, hi float32, after, ny, nx int, _ *float32) {
	var b []float32
	if bias != nil {
		b = unsafe.Slice(bias, c)
	}
	for ch := range c {
		var t [4][6]float32
		for y := range 4 {
			for x := range 6 {
				for k := range 6 {
					t[y][x] += winoAT[y][k] * plus(in, (k*6+x)*inf, c)[ch]
				}
			}
		}
		for y := range ny {
			for x := range nx {
				s := float32(0)
				for k := range 6 {
					s += winoAT[x][k] * t[y][k]
				}
				if b != nil {
					s += b[ch]
				}
				r := float32(0)
				if res != nil {
					r = plus(res, y*rrow+x*rcol, c)[ch]
				}
				if after == 0 {
					s += r
				}
				s = clamp(s, lo, hi)
				if after != 0 {
					s += r
				}
				plus(out, y*orow+x*ocol, c)[ch] = s
			}
		}
	}
}
