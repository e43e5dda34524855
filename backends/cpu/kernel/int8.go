package kernel

import (
	"encoding/binary"
	"fmt"

	"github.com/anynpu/anynpu/core/mem"
)

// IntCols is the number of columns of one full panel of packed 8-bit filters.
const IntCols = 64

// intWidth is the stored width of the panel that starts at column j of n.
func intWidth(n, j int) int { return min(IntCols, roundUp(n-j, 16)) }

// PackedInt8Len is the number of bytes of a packed matrix of taps runs of k rows
// and n columns.
func PackedInt8Len(taps, k, n int) int { return panelBytes(taps, k, roundUp(n, 16)) }

// panelBytes is the number of bytes of panels with so many columns in all.
func panelBytes(taps, k, columns int) int {
	if merged(k) {
		return columns / mergedCols * mergedBytes(taps, ceilDiv(k, IntDepth))
	}
	return (taps*ceilDiv(k, IntDepth) + 1) * IntDepth * columns
}

// PackInt8 packs b, given transposed: row-major [n, taps, k] with n rows ldb
// apart, as filters [out, taps, in] are stored. The packed form is panels of 64
// columns, the last one of a multiple of 16: [taps][k/4][columns][4], with zeros
// for missing rows and columns, and then an int32 per column: 128 times its sum,
// plus 1 if it holds -128. AVX2 has the merged form instead (int8merged.go).
func PackInt8(dst []int8, b []int8, taps, k, n, ldb int) {
	need("PackInt8", "dst", len(dst), PackedInt8Len(taps, k, n))
	need("PackInt8", "b", len(b), extent(n, taps*k, ldb))
	words := ceilDiv(k, IntDepth)
	if merged(k) {
		for j := 0; j < n; j += mergedCols {
			packMerged(dst[panelBytes(taps, k, j):][:mergedBytes(taps, words)], b[j*ldb:], taps, k, min(mergedCols, n-j), ldb)
		}
		return
	}
	for j := 0; j < n; j += IntCols {
		w := intWidth(n, j)
		d, b := dst[panelBytes(taps, k, j):][:panelBytes(taps, k, w)], b[j*ldb:]
		clear(d)
		for t := range taps {
			packWords(mem.Bytes(d[t*words*w*IntDepth:]), mem.Bytes(b[t*k:]), k, min(w, n-j), ldb, w*IntDepth)
		}
		for c := range min(w, n-j) {
			sum := packedSum(mem.Bytes(b[c*ldb:][:taps*k]))
			binary.LittleEndian.PutUint32(mem.Bytes(d[(taps*words*w+c)*IntDepth:]), uint32(sum))
		}
	}
}

// packedSum is the number behind a panel for a column.
func packedSum(column []byte) int32 {
	const low, signs = 0x00ff00ff00ff00ff, 0x8080808080808080
	sum, lowest := int32(0), false
	for len(column) >= 8 {
		fields := uint64(0) // of 16 bits: sums of codes plus 128
		n := min(len(column)/8, 128)
		for i := range n {
			v := binary.LittleEndian.Uint64(column[8*i:]) ^ signs
			fields += v&low + v>>8&low
			lowest = lowest || (v-0x0101010101010101)&^v&signs != 0 // a byte is zero
		}
		column = column[8*n:]
		for ; fields != 0; fields >>= 16 {
			sum += int32(fields & 0xffff)
		}
		sum -= int32(8 * n * 128)
	}
	for _, v := range column {
		sum += int32(int8(v))
		lowest = lowest || v == 128
	}
	if sum *= 128; lowest {
		sum++
	}
	return sum
}

// GemmInt8 is a product of codes with packed signed filters, and its
// requantization:
//
//	for i := range M {
//		for j := range N {
//			s := Init[j]
//			for k := range K { s += int32(A[i*LDA+k]) * int32(B[k][j]) }
//			C[i*LDC+j] = requantized s
//		}
//	}
//
// With Ind set the rows of A are gathered as in [Gemm]: each tap is a run of K
// codes, from Zero where there is no input. Sums are int32 and wrap; a caller
// keeps them below 2^31.
//
// Every run, of A and of Zero, must be readable up to a multiple of four codes;
// what is read beyond K does not matter. C must not overlap anything else.
type GemmInt8 struct {
	M, N, K int
	A       []uint8
	LDA     int
	B       []int8 // from PackInt8
	C       []uint8
	LDC     int
	Post    Requantize
	Ind     *Indirection
	Zero    []uint8 // for an Ind with padding
	// With Factors, one per column, a sum starts with the product of the numbers that Factors[j] and Rows[i] stand for
	// more ([FactorPair], [RowPair]). Zero points of B use this, with sums of rows of A as Rows.
	Factors, Rows []int32

	SumsOnly bool // only Sums is called: C and what it needs are not there

	rowStep, panelStep, rowChunks int
}

func (g *GemmInt8) taps() int {
	if g.Ind != nil {
		return g.Ind.taps
	}
	return 1
}

func (g *GemmInt8) check() {
	if g.M < 0 || g.N < 0 || g.K < 0 {
		panic(fmt.Sprintf("kernel: GemmInt8: negative size M=%d N=%d K=%d", g.M, g.N, g.K))
	}
	if g.M == 0 || g.N == 0 {
		return
	}
	if !g.SumsOnly && g.LDC < g.N || g.LDA < 0 {
		panic(fmt.Sprintf("kernel: GemmInt8: stride below row length: M=%d N=%d K=%d LDA=%d LDC=%d", g.M, g.N, g.K, g.LDA,
			g.LDC))
	}
	run := roundUp(g.K, IntDepth)
	switch {
	case g.Ind == nil:
		need("GemmInt8", "A", len(g.A), extent(g.M, run, g.LDA))
	case g.M > g.Ind.rows:
		panic(fmt.Sprintf("kernel: GemmInt8: want at most %d rows of the indirection, got %d", g.Ind.rows, g.M))
	case run > 0:
		need("GemmInt8", "A", len(g.A), g.Ind.last+run)
		if g.Ind.padded {
			need("GemmInt8", "Zero", len(g.Zero), run)
		}
	}
	need("GemmInt8", "B", len(g.B), PackedInt8Len(g.taps(), g.K, g.N))
	if g.Factors != nil {
		need("GemmInt8", "Factors", len(g.Factors), g.N)
		need("GemmInt8", "Rows", len(g.Rows), g.M)
	}
	if g.SumsOnly {
		if g.Post.Init != nil {
			need("GemmInt8", "Init", len(g.Post.Init), g.N)
		}
		return
	}
	need("GemmInt8", "C", len(g.C), extent(g.M, g.N, g.LDC))
	g.Post.check("GemmInt8", g.N)
}

// FactorPair stands for a factor of 9 bits in [GemmInt8.Factors]: itself and 128 times it, as words of 16 bits, where
// kernels take pairs, else itself.
func FactorPair(f int) int32 {
	if !fast.rowPairs {
		return int32(f)
	}
	return int32(uint16(int16(f))) | int32(128*f)<<16
}

// RowPair encodes a sum below 2^22 for [GemmInt8.Rows]. Where kernels take pairs, it holds the number of times 128 and
// the remainder, whose products with a [FactorPair] add up to the product of the two. Elsewhere it is the sum itself.
func RowPair(sum int32) int32 {
	if !fast.rowPairs {
		return sum
	}
	return sum&127 | sum>>7<<16
}

// pairProduct multiplies the numbers that a [FactorPair] and a [RowPair] encode.
func pairProduct(factor, row int32) int32 {
	if !fast.rowPairs {
		return factor * row
	}
	return int32(int16(factor))*int32(int16(row)) + factor>>16*(row>>16)
}
