package kernel

import "math"

var (
	sumK        = sumGeneric
	sumSquaresK = sumSquaresGeneric
	addSumK     = addSumGeneric
	expSumK     = expSumGeneric
	normalizeK  = normalizeGeneric
	maxK        = maxGeneric
	minK        = minGeneric
)

// reduceBlock bounds one assembly call; longer sums add blocks one after another.
const reduceBlock = 1 << 15

// Sum adds up src; 0 for none. Numeric contract: assembly keeps 32 or 64 float32
// partial sums and adds them pairwise at the end; the portable form adds in float64.
func Sum(src []float32) float32 {
	s := float32(0)
	for i := 0; i < len(src); i += reduceBlock {
		s += sumK(&src[i], min(reduceBlock, len(src)-i))
	}
	return s
}

// MaxOf is the largest of src, NaN if one is NaN, -Inf for none.
func MaxOf(src []float32) float32 {
	m := -inf32
	for i := 0; i < len(src); i += reduceBlock {
		m = max(m, maxK(&src[i], min(reduceBlock, len(src)-i)))
	}
	return m
}

// MinOf is the smallest of src, NaN if one is NaN, +Inf for none.
func MinOf(src []float32) float32 {
	m := inf32
	for i := 0; i < len(src); i += reduceBlock {
		m = min(m, minK(&src[i], min(reduceBlock, len(src)-i)))
	}
	return m
}

// ReduceOp names a reduction.
type ReduceOp uint8

// Reductions: see [Sum], [MaxOf], [MinOf].
const (
	ReduceSum ReduceOp = iota
	ReduceMax
	ReduceMin
)

// ReduceRows reduces each row of src [rows, cols]: dst[r] = op(src[r*cols:][:cols]).
func ReduceRows(op ReduceOp, dst, src []float32, rows, cols int) {
	need("ReduceRows", "dst", len(dst), rows)
	need("ReduceRows", "src", len(src), rows*cols)
	for r := range rows {
		x := src[r*cols:][:cols]
		switch op {
		case ReduceMax:
			dst[r] = MaxOf(x)
		case ReduceMin:
			dst[r] = MinOf(x)
		default:
			dst[r] = Sum(x)
		}
	}
}

// ReduceCols reduces each column of src [rows, cols] into dst [cols]: for sums
// dst[c] = src[c] + src[cols+c] + ..., in this order. No rows give 0, -Inf or
// +Inf. A middle axis is one call for each outer index.
func ReduceCols(op ReduceOp, dst, src []float32, rows, cols int) {
	need("ReduceCols", "dst", len(dst), cols)
	need("ReduceCols", "src", len(src), rows*cols)
	d := dst[:cols]
	if rows <= 0 {
		for i := range d {
			d[i] = [...]float32{0, -inf32, inf32}[op]
		}
		return
	}
	copy(d, src[:cols])
	f := [...]BinaryOp{Add, Max, Min}[op]
	for r := 1; r < rows; r++ {
		BinaryVV(f, d, d, src[r*cols:][:cols])
	}
}

// SoftmaxRows computes, row by row of src [rows, cols] and in place if dst is
// src, with m the largest of scale*x:
//
//	dst = exp(scale*x - m) / sum(exp(scale*x - m))
//
// Sums are float32 in vector order; for rows up to 4096 within 10+|scale*x-m| ulp
// of the exact value. A NaN makes its row NaN, as do +Inf and a row of only -Inf.
func SoftmaxRows(dst, src []float32, rows, cols int, scale float32) {
	need("SoftmaxRows", "dst", len(dst), rows*cols)
	need("SoftmaxRows", "src", len(src), rows*cols)
	for r := range rows {
		x, d := src[r*cols:][:cols], dst[r*cols:][:cols]
		m := MaxOf(x)
		if scale < 0 {
			m = MinOf(x)
		}
		s := ExpSum(d, x, scale, m*scale)
		BinaryVS(Mul, d, d, 1/s)
	}
}

// ExpSum computes dst = exp(src*scale - shift), in place if dst is src, and
// returns the sum. The argument is one fused multiply-subtract in assembly.
func ExpSum(dst, src []float32, scale, shift float32) float32 {
	need("ExpSum", "dst", len(dst), len(src))
	const block = 1 << 13
	s := float32(0)
	for i := 0; i < len(src); i += block {
		s += expSumK(&dst[i], &src[i], min(block, len(src)-i), scale, shift)
	}
	return s
}

// LayerNormRows normalises each row of src [rows, cols], in place if dst is src:
//
//	x    = src + res                 (res may be nil)
//	mean = sum(x)/cols
//	rstd = 1/sqrt(sum((x-mean)^2)/cols + eps)
//	dst  = (x-mean)*rstd*gamma + beta
//
// gamma and beta have cols values. sum, which may be nil, dst or res, receives x;
// with res set and sum nil, dst holds x between the passes. Two passes over the
// row; sums in float32 vector order.
func LayerNormRows(dst, src, res, sum, gamma, beta []float32, rows, cols int, eps float32) {
	need("LayerNormRows", "dst", len(dst), rows*cols)
	need("LayerNormRows", "src", len(src), rows*cols)
	need("LayerNormRows", "gamma", len(gamma), cols)
	need("LayerNormRows", "beta", len(beta), cols)
	if res != nil {
		need("LayerNormRows", "res", len(res), rows*cols)
	}
	if sum != nil {
		need("LayerNormRows", "sum", len(sum), rows*cols)
	}
	if cols == 0 {
		return
	}
	for r := range rows {
		o := r * cols
		d, x := dst[o:][:cols], src[o:][:cols]
		var total float32
		if res != nil {
			y := d
			if sum != nil {
				y = sum[o:][:cols]
			}
			total = addSumK(&y[0], &x[0], &res[o], cols)
			x = y
		} else {
			total = Sum(x)
			if sum != nil {
				copy(sum[o:][:cols], x)
			}
		}
		mean := total / float32(cols)
		v := sumSquaresK(&x[0], cols, mean) / float32(cols)
		rstd := float32(1 / math.Sqrt(float64(v)+float64(eps)))
		normalizeK(&d[0], &x[0], &gamma[0], &beta[0], cols, mean, rstd)
	}
}

// SumSquares is sum((x-mean)^2) over src, in float32 vector order.
func SumSquares(src []float32, mean float32) float32 {
	s := float32(0)
	for i := 0; i < len(src); i += reduceBlock {
		s += sumSquaresK(&src[i], min(reduceBlock, len(src)-i), mean)
	}
	return s
}

// ScaleShiftRows computes, row by row of src [rows, cols] and in place if dst is
// src, dst = src*scale + shift with one value of each per column: a batch
// normalisation that could not be folded away. Assembly fuses the multiply-add.
func ScaleShiftRows(dst, src, scale, shift []float32, rows, cols int) {
	need("ScaleShiftRows", "dst", len(dst), rows*cols)
	need("ScaleShiftRows", "src", len(src), rows*cols)
	need("ScaleShiftRows", "scale", len(scale), cols)
	need("ScaleShiftRows", "shift", len(shift), cols)
	if cols == 0 {
		return
	}
	for r := range rows {
		normalizeK(&dst[r*cols], &src[r*cols], &scale[0], &shift[0], cols, 0, 1)
	}
}
