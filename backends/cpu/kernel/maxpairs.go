package kernel

// PairsBehind is how many numbers behind those that make its results [MaxPairs] reads.
const PairsBehind = 32

// FastPairs reports whether [MaxPairs] and [Max3] have kernels.
func FastPairs() bool { return fast.maxPairs[0] != nil }

// MaxPairs finds the largest of neighbours two apart, in rows: dst[r*ldd+i] is the largest of src[r*lds+2*i] and those
// behind it, of taps, 2 or 3, numbers; NaN if one is NaN.
func MaxPairs(dst []float32, ldd int, src []float32, lds, n, rows, taps int) {
	if n <= 0 || rows <= 0 {
		return
	}
	need("MaxPairs", "dst", len(dst), extent(rows, n, ldd))
	need("MaxPairs", "src", len(src), extent(rows, 2*n+PairsBehind, lds))
	f := fast.maxPairs[taps-2]
	if f == nil {
		maxPairsGeneric(dst, ldd, src, lds, n, rows, taps)
		return
	}
	for per := max(1, pairsBlock/n); rows > 0; rows -= per { // keeps one assembly call short
		k := min(per, rows)
		f(&dst[0], 4*ldd, &src[0], 4*lds, n, k)
		if k < rows {
			dst, src = dst[k*ldd:], src[k*lds:]
		}
	}
}

func maxPairsGeneric(dst []float32, ldd int, src []float32, lds, n, rows, taps int) {
	for r := range rows {
		x := src[r*lds:][:2*n+1]
		for i := range n {
			best := max(x[2*i], x[2*i+1])
			if taps == 3 {
				best = max(best, x[2*i+2])
			}
			dst[r*ldd+i] = best
		}
	}
}

// Max3 finds the largest of three numbers, NaN if one is NaN, in place if dst is one of them. The others must be as
// long as dst.
func Max3(dst, a, b, c []float32) {
	need("Max3", "a", len(a), len(dst))
	need("Max3", "b", len(b), len(dst))
	need("Max3", "c", len(c), len(dst))
	for i := 0; i < len(dst); i += binaryBlock {
		n := min(binaryBlock, len(dst)-i)
		if fast.max3 != nil {
			fast.max3(&dst[i], &a[i], &b[i], &c[i], n)
			continue
		}
		for k := i; k < i+n; k++ {
			dst[k] = max(a[k], b[k], c[k])
		}
	}
}
