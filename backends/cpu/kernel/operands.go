package kernel

import (
	"fmt"
	"math"
)

// extent is the number of values spanned by a strided [rows, cols] matrix.
func extent(rows, cols, stride int) int {
	if rows <= 0 || cols <= 0 {
		return 0
	}
	return (rows-1)*stride + cols
}

func need(fn, arg string, got, want int) {
	if got < want {
		tooFew(fn, arg, got, want)
	}
}

// tooFew is apart so that need is short wherever it is inlined.
//
//go:noinline
func tooFew(fn, arg string, got, want int) {
	panic(fmt.Sprintf("kernel: %s: %s: want at least %d values, got %d", fn, arg, want, got))
}

func roundUp(n, m int) int { return (n + m - 1) / m * m }

func ceilDiv(n, m int) int { return (n + m - 1) / m }

var inf32 = float32(math.Inf(1))

// clamp lets NaN and a zero of either sign inside the bounds through unchanged.
func clamp(v, lo, hi float32) float32 {
	if v < lo {
		v = lo
	}
	if v > hi {
		v = hi
	}
	return v
}
