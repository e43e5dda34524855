package kernel

import "math"

// reduceBlock bounds one assembly call.
const reduceBlock = 1 << 15

// sumBlock is how many values are summed up in float32; longer sums add blocks in float64. Of values of one sign the
// sum is within 2^-18 of the exact one, whatever their number.
const sumBlock = 1 << 11

// Sum adds up src; 0 for none. Numeric contract: assembly keeps 32 or 64 float32
// partial sums and adds them pairwise at the end of 2048 values; the portable form adds in float64.
func Sum(src []float32) float32 { return float32(sum64(src)) }

func sum64(src []float32) (s float64) {
	for i := 0; i < len(src); i += sumBlock {
		s += float64(fast.sum(&src[i], min(sumBlock, len(src)-i)))
	}
	return s
}

// MaxOf is the largest of src, NaN if one is NaN, -Inf for none.
func MaxOf(src []float32) float32 {
	m := -inf32
	for i := 0; i < len(src); i += reduceBlock {
		m = max(m, fast.max(&src[i], min(reduceBlock, len(src)-i)))
	}
	return m
}

// MinOf is the smallest of src, NaN if one is NaN, +Inf for none.
func MinOf(src []float32) float32 {
	m := inf32
	for i := 0; i < len(src); i += reduceBlock {
		m = min(m, fast.min(&src[i], min(reduceBlock, len(src)-i)))
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

// Rows of up to shortRow values are transposed, shortRows at once, and folded as columns.
const (
	shortRow  = 24
	shortRows = 256
)

// ReduceRowsWork is how many values of scratch memory ReduceRows needs for so many rows at most.
func ReduceRowsWork(rows, cols int) int {
	if cols > shortRow {
		return 0
	}
	return min(rows, shortRows) * (cols + cols/2 + 1) // transposed, and then folded by halves
}

// ReduceRows reduces each row of src [rows, cols]: dst[r] = op(src[r*cols:][:cols]). work holds [ReduceRowsWork]
// values.
func ReduceRows(op ReduceOp, dst, src []float32, rows, cols int, work []float32) {
	need("ReduceRows", "dst", len(dst), rows)
	need("ReduceRows", "src", len(src), rows*cols)
	need("ReduceRows", "work", len(work), ReduceRowsWork(rows, cols))
	if cols > 0 && cols <= shortRow {
		for r := 0; r < rows; r += shortRows {
			n := min(shortRows, rows-r)
			turned := work[:n*cols]
			Transpose(turned, n, src[r*cols:], cols, n, cols)
			ReduceCols(op, dst[r:r+n], turned, cols, n, work[len(turned):])
		}
		return
	}
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

// colsBlock is how many rows ReduceCols sums up one after another.
const colsBlock = 64

// colsLen is how many results are made at once, which stay in the first-level cache.
const colsLen = 2 << 10

// Rows of less than narrowCols columns are folded by halves, foldLen values of src at a time: few rows of many values
// take fewer calls than many of few.
const (
	narrowCols = 256
	foldLen    = 1 << 14
)

// ReduceColsWork is how many values of scratch memory ReduceCols needs for so many rows.
func ReduceColsWork(op ReduceOp, rows, cols int) (n int) {
	for ; op == ReduceSum && rows > colsBlock && !narrow(op, rows, cols); rows = ceilDiv(rows, colsBlock) {
		n += cols
	}
	if narrow(op, rows, cols) {
		n += min(rows/2, foldLen/2/cols)*cols + cols
	}
	return n
}

// narrow reports whether columns are folded by halves. Sums of many parts would lose too much.
func narrow(op ReduceOp, rows, cols int) bool {
	return cols > 0 && cols < narrowCols && rows > 2 && (op != ReduceSum || rows*cols <= colsBlock*foldLen)
}

// ReduceCols reduces each column of src [rows, cols] into dst [cols]. Sums of more than 64 rows are sums of up to 64
// parts, or of halves, so that a sum of values of one sign is within 2^-17 of the exact one for up to 2^18 rows. No
// rows give 0, -Inf or +Inf. A middle axis is one call for each outer index. work holds [ReduceColsWork] values.
func ReduceCols(op ReduceOp, dst, src []float32, rows, cols int, work []float32) {
	need("ReduceCols", "dst", len(dst), cols)
	need("ReduceCols", "src", len(src), rows*cols)
	need("ReduceCols", "work", len(work), ReduceColsWork(op, rows, cols))
	d := dst[:cols]
	if rows <= 0 {
		for i := range d {
			d[i] = [...]float32{0, -inf32, inf32}[op]
		}
		return
	}
	f := [...]BinaryOp{Add, Max, Min}[op]
	if narrow(op, rows, cols) {
		reduceNarrow(f, d, src[:rows*cols], cols, work)
		return
	}
	if op == ReduceSum && rows > colsBlock {
		sumParts(d, src, rows, cols, work)
		return
	}
	for c := 0; c < cols; c += colsLen {
		d := d[c:min(c+colsLen, cols)]
		copy(d, src[c:])
		for r := 1; r < rows; r++ {
			BinaryVV(f, d, d, src[r*cols+c:][:len(d)])
		}
	}
}

// reduceNarrow folds parts of src, and their results by halves, too: those of sums are added up in pairs.
func reduceNarrow(f BinaryOp, dst, src []float32, cols int, work []float32) {
	per := foldLen / cols * cols
	total := work[:cols]
	for at := 0; at < len(src); at += per {
		part := src[at:min(at+per, len(src))]
		if len(part) == cols {
			BinaryVV(f, total, total, part)
			continue
		}
		foldHalves(f, dst, part, cols, work[cols:])
		if at == 0 {
			copy(total, dst)
		} else {
			BinaryVV(f, total, total, dst)
		}
	}
	copy(dst, total)
}

// foldHalves folds two rows or more; work has room for half of them.
func foldHalves(f BinaryOp, dst, src []float32, cols int, work []float32) {
	for rows := len(src) / cols; ; {
		half := rows / 2 * cols
		BinaryVV(f, work[:half], src[:half], src[half:2*half])
		if rows%2 == 1 {
			BinaryVV(f, work[:cols], work[:cols], src[2*half:][:cols])
		}
		if rows /= 2; rows == 1 {
			copy(dst, work[:cols])
			return
		}
		src = work[:half]
	}
}

// sumParts adds up the columns of up to 64 parts of src.
func sumParts(dst, src []float32, rows, cols int, work []float32) {
	per := max(colsBlock, ceilDiv(rows, colsBlock))
	part := work[:cols]
	for r := 0; r < rows; r += per {
		x := src[r*cols:]
		if r == 0 {
			ReduceCols(ReduceSum, dst, x, min(per, rows), cols, work[cols:])
			continue
		}
		ReduceCols(ReduceSum, part, x, min(per, rows-r), cols, work[cols:])
		BinaryVV(Add, dst, dst, part)
	}
}

const expBlock = 1 << 13 // exponentials of one assembly call

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
	if fast.softmax != nil && scale >= 0 && cols > 0 && cols <= expBlock {
		step := expBlock / cols
		for r := 0; r < rows; r += step {
			fast.softmax(&dst[r*cols], &src[r*cols], cols, min(step, rows-r), scale)
		}
		return
	}
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
	s := float32(0)
	for i := 0; i < len(src); i += expBlock {
		s += fast.expSum(&dst[i], &src[i], min(expBlock, len(src)-i), scale, shift)
	}
	return s
}

// LayerNormRows normalizes each row of src [rows, cols], in place if dst is src:
//
//	x    = src + res                 (res may be nil)
//	mean = sum(x)/cols
//	rstd = 1/sqrt(sum((x-mean)^2)/cols + eps)
//	dst  = (x-mean)*rstd*gamma + beta
//
// gamma and beta have cols values. sum, which may be nil, dst or res, receives x;
// with res set and sum nil, dst holds x between the passes. Two passes over the
// row, sums as [Sum] forms them. Where the mean is large beside the deviation, x is
// first moved by about the mean (see [Centre]), so that the result is as
// accurate as for a mean of 0.
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
		var total float64
		if res != nil {
			y := d
			if sum != nil {
				y = sum[o:][:cols]
			}
			for i := 0; i < cols; i += sumBlock {
				total += float64(fast.addSum(&y[i], &x[i], &res[o+i], min(sumBlock, cols-i)))
			}
			x = y
		} else {
			total = sum64(x)
			if sum != nil {
				copy(sum[o:][:cols], x)
			}
		}
		mean := float32(total / float64(cols))
		v := sumSquares64(x, mean) / float64(cols)
		if FarFromZero(mean, v) {
			BinaryVS(Sub, d, x, mean)
			x = d
			mean, v = moments(d)
		}
		rstd := float32(1 / math.Sqrt(v+float64(eps)))
		fast.normalize(&d[0], &x[0], &gamma[0], &beta[0], cols, mean, rstd)
	}
}

// Normalize computes dst = (src-mean)*rstd*gamma + beta, in place if dst is src. All are as long as dst; a beta of -0
// changes nothing.
func Normalize(dst, src, gamma, beta []float32, mean, rstd float32) {
	n := len(dst)
	need("Normalize", "src", len(src), n)
	need("Normalize", "gamma", len(gamma), n)
	need("Normalize", "beta", len(beta), n)
	for i := 0; i < n; i += reduceBlock {
		fast.normalize(&dst[i], &src[i], &gamma[i], &beta[i], min(reduceBlock, n-i), mean, rstd)
	}
}

// SumSquares is sum((x-mean)^2) over src, summed up as [Sum] does.
func SumSquares(src []float32, mean float32) float32 { return float32(sumSquares64(src, mean)) }

func sumSquares64(src []float32, mean float32) (s float64) {
	for i := 0; i < len(src); i += sumBlock {
		s += float64(fast.sumSquares(&src[i], min(sumBlock, len(src)-i), mean))
	}
	return s
}

// FarFromZero reports whether a mean is so large beside the deviation that its own rounding and that of the sum would
// show in the result.
func FarFromZero(mean float32, variance float64) bool {
	const ratio = 8
	m := float64(mean)
	return m*m > ratio*ratio*variance
}

// moments returns the mean and the biased variance of values.
func moments(x []float32) (mean float32, variance float64) {
	n := float64(len(x))
	mean = float32(sum64(x) / n)
	return mean, sumSquares64(x, mean) / n
}

// Centre computes dst = src - m, in place if dst is src, with m close to the mean of src, and returns the mean of dst
// and its biased variance. m is a float32 and its error that of a sum in float32: for a mean of 10^6 and a deviation of
// 1 it is off by up to 0.1. But the differences are exact then, so that what is left of the mean, and the variance, are
// as accurate as for a mean of 0.
func Centre(dst, src []float32) (rest float32, variance float64) {
	need("Centre", "dst", len(dst), len(src))
	d := dst[:len(src)]
	m, variance := moments(src)
	BinaryVS(Sub, d, src, m)
	if FarFromZero(m, variance) {
		return moments(d)
	}
	return 0, variance
}

// ScaleShiftRows computes, row by row of src [rows, cols] and in place if dst is
// src, dst = src*scale + shift with one value of each per column: a batch
// normalization that could not be folded away. Assembly fuses the multiply-add.
func ScaleShiftRows(dst, src, scale, shift []float32, rows, cols int) {
	need("ScaleShiftRows", "dst", len(dst), rows*cols)
	need("ScaleShiftRows", "src", len(src), rows*cols)
	need("ScaleShiftRows", "scale", len(scale), cols)
	need("ScaleShiftRows", "shift", len(shift), cols)
	if cols == 0 {
		return
	}
	for r := range rows {
		fast.normalize(&dst[r*cols], &src[r*cols], &scale[0], &shift[0], cols, 0, 1)
	}
}
