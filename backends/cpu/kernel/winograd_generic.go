package kernel

import "unsafe"

// The points of F(4,3) are 0, winoP, -winoP, winoQ, -winoQ and infinity, as kernel/gen/formula has them.
const (
	winoP, winoQ   = 0.625, 1.5
	winoPP, winoQQ = winoP * winoP, winoQ * winoQ
	winoNP         = 2 * winoPP * (winoPP - winoQQ)
	winoNQ         = 2 * winoQQ * (winoQQ - winoPP)
)

// The transform matrices.
var (
	winoBT = [6][6]float32{
		{winoPP * winoQQ, 0, -winoPP - winoQQ, 0, 1, 0},
		{0, -winoP * winoQQ, -winoQQ, winoP, 1, 0},
		{0, winoP * winoQQ, -winoQQ, -winoP, 1, 0},
		{0, -winoQ * winoPP, -winoPP, winoQ, 1, 0},
		{0, winoQ * winoPP, -winoPP, -winoQ, 1, 0},
		{0, winoPP * winoQQ, 0, -winoPP - winoQQ, 0, 1},
	}
	winoG = [6][3]float32{
		{1 / (winoPP * winoQQ), 0, 0},
		{1 / winoNP, winoP / winoNP, winoPP / winoNP},
		{1 / winoNP, -winoP / winoNP, winoPP / winoNP},
		{1 / winoNQ, winoQ / winoNQ, winoQQ / winoNQ},
		{1 / winoNQ, -winoQ / winoNQ, winoQQ / winoNQ},
		{0, 0, 1},
	}
	winoAT = [4][6]float32{
		{1, 1, 1, 1, 1, 0},
		{0, winoP, -winoP, winoQ, -winoQ, 0},
		{0, winoPP, winoPP, winoQQ, winoQQ, 0},
		{0, winoP * winoPP, -winoP * winoPP, winoQ * winoQQ, -winoQ * winoQQ, 1},
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
