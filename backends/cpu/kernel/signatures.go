package kernel

// The functions of a [table]: what an architecture's assembly and the portable twins look like.

// Products of float32: a tile of whole rows of A, and one whose rows of A a table finds.
type (
	tileFn func(blocks, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, bias, res *float32, ldr int,
		lo, hi float32, cols, after int, next *float32, step int)
	itileFn func(blocks, taps, k int, tab *int32, ldt int, base, zero *float32, b *float32, ldb int, c *float32, ldc int,
		bias, res *float32, ldr int, lo, hi float32, cols, after int, next *float32, step int)
)

// gemmTiles are the microkernels of one instruction set, by vectors per row (one, two, two panels' worth, or
// [panelTile]) and by rows less one.
type gemmTiles struct {
	lanes    int
	mr       [3]int // most rows; 0: there are no such tiles
	direct   [4][8]tileFn
	indirect [3][8]itileFn
}

// Products of 8-bit values, alike.
type (
	dotFn func(blocks, k int, a *uint8, lda int, b *int8, ldb int, c *uint8, ldc int, init, factors, rows *int32, scale,
		add, low *float32, zero, lo, hi, cols int)
	idotFn func(blocks, taps, k int, tab *int32, ldt int, base, zeros *uint8, b *int8, ldb int, c *uint8, ldc int,
		init, factors, rows *int32, scale, add, low *float32, zero, lo, hi, cols int)
)

// intTiles are the microkernels of one instruction set, by vectors per row and by rows, both less one.
type intTiles struct {
	cols     int    // of one vector
	merged   bool   // B has the merged form: b is a group's lists, and ldb the distance from there to its words
	mr       [4]int // most rows; 0: there are no such tiles
	direct   [4][8]dotFn
	indirect [4][8]idotFn
}

// Windows of any taps, and of 3 or 5 taps a row.
type (
	dwFn func(c, rows, cols int, in *float32, irow, icol, ix int, w *float32, wrow, wcol int, bias, out *float32,
		ox int, lo, hi float32)
	dwFastFn func(c, rows int, in *float32, irow, icol int, w *float32, wrow, wcol int, bias, out *float32, ox int, lo,
		hi float32)
)

type poolFn func(c, rows, cols, n int, in *float32, irow, icol, ix int, out *float32, ox int, scale float32)

type unaryFn func(dst, src *float32, n int, alpha, beta float32)

// The same of binary16 numbers.
type (
	unaryHalfFn func(dst, src *uint16, n int, alpha, beta float32)
	vvHalfFn    func(dst, a, b *uint16, n int)
	vsHalfFn    func(dst, a *uint16, b float32, n int)
)

// Two vectors; a vector and a scalar.
type (
	vvFn func(dst, a, b *float32, n int)
	vsFn func(dst, a *float32, b float32, n int)
)

// pairFn compares or combines elements of a with those of b, or with one, in multiples of pairStep.
type pairFn func(dst, a, b *byte, n int)

// castFn makes each element of dst from that of src, in multiples of pairStep; boundedFn says by its result whether
// numbers are too large for it.
type (
	castFn    func(dst, src *byte, n int)
	boundedFn func(dst, src *byte, n int) uint64
)

// quotientFn divides elements of a by those of b, or by one, in multiples of quotientStep, and says whether results are
// wrong.
type quotientFn func(dst, a, b *byte, n int) (far uint64)

// blockDotsFn computes up to 16 results of one row, or of four.
type blockDotsFn func(dst *float32, ldd int, a *byte, lda int, w *byte, blocks, steps, cols int)

// halfRowsFn computes four vectors of each of one or two rows.
type halfRowsFn func(dst *float32, ldd int, x *float32, ldx int, w *uint16, n int)

type foldFn func(sums *float64, src *float32, ld, n, rows int)

type splitFn func(dst *byte, ldd, next int, src *byte, apart, n, rows int)
