package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Combine says how codes become codes of another meaning. In Go:
//
//	v := float32(a) * A         // rounded
//	v += float32(b) * B         // rounded twice
//	v += Add                    // rounded
//	code = clamp(roundToEven(v) + Zero, Lo, Hi)
//
// Without b its line is left out. |v| must stay below 2^31, as in [Requantize].
type Combine struct {
	A, B, Add float32
	Zero      int // of 16 bits
	Lo, Hi    uint8
}

// CombineU8 combines every code of a, and of b unless it is nil, into dst, which
// may be one of them.
func CombineU8(dst, a, b []uint8, c Combine) {
	need("CombineU8", "a", len(a), len(dst))
	if b != nil {
		need("CombineU8", "b", len(b), len(dst))
	}
	if c.Zero != int(int16(c.Zero)) {
		panic(fmt.Sprintf("kernel: CombineU8: zero point %d does not fit 16 bits", c.Zero))
	}
	n := len(dst) &^ (combineStep - 1)
	if n > 0 {
		var p *uint8
		if b != nil {
			p = &b[0]
		}
		fast.combine(&dst[0], &a[0], p, n, c.A, c.B, c.Add, c.Zero, int(c.Lo), int(c.Hi))
	}
	if rest := len(dst) - n; rest > 0 {
		var p *uint8
		if b != nil {
			p = &b[n]
		}
		combineGeneric(&dst[n], &a[n], p, rest, c.A, c.B, c.Add, c.Zero, int(c.Lo), int(c.Hi))
	}
}

// MaxU8 is dst[i] = max(dst[i], src[i]).
func MaxU8(dst, src []uint8) {
	need("MaxU8", "src", len(src), len(dst))
	n := len(dst) &^ (combineStep - 1)
	if n > 0 {
		fast.maxU8(&dst[0], &src[0], n)
	}
	for i := n; i < len(dst); i++ {
		dst[i] = max(dst[i], src[i])
	}
}

// EncodeU8 computes dst[i] = clamp(round(src[i]/scale) + zero, 0, 255), ties to even, with a true division in float32.
// NaN gives zero, which is in 0..255.
func EncodeU8(dst []uint8, src []float32, scale float32, zero int) {
	need("EncodeU8", "dst", len(dst), len(src))
	lo, hi := float32(-zero), float32(255-zero)
	n := 0
	if size := max(scale, -scale); size > 0x1p-100 && size < 0x1p100 && math.Float32bits(size)&(1<<23-1) != 1<<23-1 {
		n = len(src) &^ (combineStep - 1)
	}
	if n > 0 {
		fast.encode(&dst[0], &src[0], n, scale, lo, hi, zero)
	}
	if n < len(src) {
		encodeGeneric(&dst[n], &src[n], len(src)-n, scale, lo, hi, zero)
	}
}

// FlipSigns is dst[i] = src[i] ^ 128: signed codes as unsigned ones with 128
// added, and back.
func FlipSigns(dst, src []uint8) {
	need("FlipSigns", "dst", len(dst), len(src))
	n := len(src) &^ 7
	for i := 0; i < n; i += 8 {
		binary.NativeEndian.PutUint64(dst[i:], binary.NativeEndian.Uint64(src[i:])^0x8080808080808080)
	}
	for i := n; i < len(src); i++ {
		dst[i] = src[i] ^ 128
	}
}

// NearestStep divides the numbers of elements that [NearestU8] computes.
const NearestStep = combineStep

// NearestU8 computes dst[i] = clamp(round(v) + zero, 0, 255) ^ flip with v = src[i]*scale[i] + shift[i] in float32, two
// roundings, ties to even, and sets near[k] to other than 0 when one of the 64 results from 64*k on has v further than
// far from round(v). The length of dst is a multiple of 64, zero is in 0..255, the products are not NaN.
func NearestU8(dst []uint8, src, scale, shift []float32, zero int, flip uint8, far float32, near []uint8) {
	n := len(dst)
	need("NearestU8", "src", len(src), n)
	need("NearestU8", "scale", len(scale), n)
	need("NearestU8", "shift", len(shift), n)
	need("NearestU8", "near", len(near), n/NearestStep)
	if n%NearestStep != 0 {
		panic(fmt.Sprintf("kernel: NearestU8: %d values are no multiple of %d", n, NearestStep))
	}
	if n > 0 {
		fast.nearest(&dst[0], &src[0], n, &scale[0], &shift[0], zero, int(flip), far, &near[0])
	}
}

// FastRowSums reports whether [AddRowSums] and [AddRowPairs] are fast.
func FastRowSums() bool { return fast.rowSums != nil }

// CodeRows are sequences of rows of codes: row i is Runs times K codes, the first from i*LD on, the others Down codes
// apart.
type CodeRows struct{ K, LD, Runs, Down int }

const rowStep = 64 // codes of one step

// AddRowSums adds to dst[i] the sum of the codes of row i of src. Sums wrap.
func AddRowSums(dst []int32, src []uint8, r CodeRows) { r.add("AddRowSums", dst, src, 0) }

// AddRowPairs is AddRowSums that stores what stands for the sums ([RowPair]).
func AddRowPairs(dst []int32, src []uint8, r CodeRows) { r.add("AddRowPairs", dst, src, 1) }

func (r CodeRows) add(fn string, dst []int32, src []uint8, pairs int) {
	if r.K < 0 || r.LD < 0 || r.Runs < 1 || r.Down < 0 {
		panic(fmt.Sprintf("kernel: %s: rows %+v", fn, r))
	}
	need(fn, "src", len(src), extent(len(dst), (r.Runs-1)*r.Down+r.K, r.LD))
	n := 0
	if fast.rowSums != nil && r.K > 0 && (r.Runs == 1 || r.K <= rowStep) {
		if n = len(dst) &^ 3; n > 0 {
			fast.rowSums(&dst[0], &src[0], n, r.K, r.LD, r.Runs, r.Down, pairs)
		}
	}
	for i := n; i < len(dst); i++ {
		sum := dst[i]
		for run := range r.Runs {
			for _, v := range src[i*r.LD+run*r.Down:][:r.K] {
				sum += int32(v)
			}
		}
		if dst[i] = sum; pairs != 0 {
			dst[i] = RowPair(sum)
		}
	}
}
