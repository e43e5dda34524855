package kernel

import "math"

// LogSoftmaxRows computes, row by row of src [rows, cols] and in place if dst is src, with m the largest of scale*x:
//
//	dst = scale*x - m - log(sum(exp(scale*x - m)))
//
// A NaN makes its row NaN, as do +Inf and a row of only -Inf. work holds some numbers, the more the better.
func LogSoftmaxRows(dst, src []float32, rows, cols int, scale float32, work []float32) {
	need("LogSoftmaxRows", "dst", len(dst), rows*cols)
	need("LogSoftmaxRows", "src", len(src), rows*cols)
	if fast.logSoftmax != nil && scale >= 0 && cols > 0 && cols <= expBlock {
		step := expBlock / cols
		for r := 0; r < rows; r += step {
			fast.logSoftmax(&dst[r*cols], &src[r*cols], cols, min(step, rows-r), scale)
		}
		return
	}
	for r := range rows {
		x, d := src[r*cols:][:cols], dst[r*cols:][:cols]
		m := MaxOf(x)
		if scale < 0 {
			m = MinOf(x)
		}
		m *= scale
		sum := expTotal(x, scale, m, work)
		if scale != 1 {
			BinaryVS(Mul, d, x, scale)
			x = d
		}
		Affine(d, x, m, 1, -float32(math.Log(sum)))
	}
}

// expTotal is the sum of exp(x*scale - shift), which is 1 at most each.
func expTotal(x []float32, scale, shift float32, work []float32) (sum float64) {
	for len(x) > 0 {
		n := min(sumBlock, len(x))
		if f := fast.expTotal; f != nil {
			sum += float64(f(&x[0], n, scale, shift))
		} else {
			n = min(n, len(work))
			sum += float64(ExpSum(work[:n], x[:n], scale, shift))
		}
		x = x[n:]
	}
	return sum
}
