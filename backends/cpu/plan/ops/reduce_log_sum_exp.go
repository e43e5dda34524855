package ops

import (
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
)

// powersBlock is how many powers are taken side by side.
const powersBlock = 128

// logSumExp makes the results y, at most powersBlock neighbours from first on, of count rows of inner numbers: the
// largest number, which no power is taken of, and the logarithm of the sum of the powers of e beside it.
func logSumExp(y, x []float32, first, count, inner int) {
	scratch := borrowLines()
	defer returnLines(scratch)
	line := scratch.floats()
	if inner == 1 {
		most := kernel.MaxOf(x)
		sum := 0.0
		for len(x) > 0 {
			n := min(len(line), len(x))
			sum += float64(kernel.ExpSum(line[:n], x[:n], 1, most))
			x = x[n:]
		}
		y[0] = logOf(most, sum)
		return
	}
	var sums [powersBlock]float64
	copy(y, x[first:])
	for k := 1; k < count; k++ {
		kernel.BinaryVV(kernel.Max, y, y, x[k*inner+first:][:len(y)])
	}
	for k := range count {
		powers := line[:len(y)]
		kernel.BinaryVV(kernel.Sub, powers, x[k*inner+first:][:len(y)], y)
		kernel.Unary(kernel.Exp, powers, powers, 0, 0)
		for j, p := range powers {
			sums[j] += float64(p)
		}
	}
	for j, most := range y {
		y[j] = logOf(most, sums[j])
	}
}

// logOf is the result for the largest number and the sum of powers of the differences to it.
func logOf(most float32, sum float64) float32 {
	if math.IsInf(float64(most), 0) {
		return most
	}
	return float32(float64(most) + math.Log(sum))
}
