package ops

import "github.com/anynpu/anynpu/backends/cpu/kernel"

// groups are rows of n groups of k elements that are taken apart, as [kernel.Split] does; distances are in bytes.
type groups struct {
	y, x             []byte
	ldd, next, apart int
	size, k, n, rows int
}

// splits reports whether kernels take groups of k elements of size bytes apart.
func splits(size, k int) bool {
	switch k {
	case 4, 8:
		return size*k <= 16 && kernel.CanSplit(size*k/2, 2) && splits(size, k/2)
	}
	return kernel.CanSplit(size, k)
}

// splitRoom is how many float32 values of scratch memory split needs.
const splitRoom = 1 << 10

// split takes groups apart that [splits] is true of: their halves, which stay in scratch memory, and then those.
func (g groups) split(scratch []byte) {
	if g.k < 4 {
		kernel.Split(g.y, g.ldd, g.next, g.x, g.apart, g.size, g.k, g.n, g.rows)
		return
	}
	group := g.k * g.size
	piece, rest := scratch[:len(scratch)/2], scratch[len(scratch)/2:]
	if g.k == 4 {
		piece, rest = scratch, nil
	}
	n := min(g.n, len(piece)/group) // side by side
	for first := 0; first < g.n; first += n {
		n := min(n, g.n-first)
		rows := min(g.rows, len(piece)/group/n)
		for r := 0; r < g.rows; r += rows {
			rows := min(rows, g.rows-r)
			half := rows * n * group / 2
			kernel.Split(piece, half, n*group/2, g.x[r*g.apart+first*group:], g.apart, group/2, 2, n, rows)
			for i := range 2 {
				part := groups{g.y[r*g.next+first*g.size+i*g.k/2*g.ldd:], piece[i*half:][:half], g.ldd, g.next,
					n * group / 2, g.size, g.k / 2, n, rows}
				part.split(rest)
			}
		}
	}
}
