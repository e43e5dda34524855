package kernel

// Better puts numbers of x that are better than the best so far into their place, and k into that of their index: the
// largest are the best, or the smallest. NaN is better than all others. Of equal ones the first stays, or with last the
// one that comes later. at and x must be as long as best.
func Better(best []float32, at []int32, x []float32, k int32, smallest, last bool) {
	need("Better", "at", len(at), len(best))
	need("Better", "x", len(x), len(best))
	n := 0
	if f := fast.better[boolean(smallest)][boolean(last)]; f != nil {
		if n = len(best) &^ (linesStep - 1); n > 0 {
			f(&best[0], &at[0], &x[0], n, k)
		}
	}
	betterGeneric(best[n:], at[n:], x[n:], k, smallest, last)
}

// linesStep counts the lines that their kernels take at once.
const linesStep = 8

// boolean is the place of a truth value in a table.
func boolean(b bool) int { return int(bit(b)) }

func betterGeneric(best []float32, at []int32, x []float32, k int32, smallest, last bool) {
	at, x = at[:len(best)], x[:len(best)]
	if smallest {
		for j, v := range x {
			if b := best[j]; !(v > b) && beats(v < b, v, b, last) {
				best[j], at[j] = v, k
			}
		}
		return
	}
	for j, v := range x {
		if b := best[j]; !(v < b) && beats(v > b, v, b, last) {
			best[j], at[j] = v, k
		}
	}
}

// beats decides between v and the best so far, which v is not worse than.
func beats(better bool, v, best float32, last bool) bool {
	switch {
	case better:
		return true
	case v != v && best != best, v == best:
		return last
	}
	return v != v
}

// BestOf is where the best of some numbers is, as [Better] finds it; there must be one.
func BestOf(x []float32, smallest, last bool) int {
	var best float32
	if smallest {
		best = MinOf(x)
	} else {
		best = MaxOf(x)
	}
	if best != best { // a NaN
		at := -1
		for i, v := range x {
			if v != v && (last || at < 0) {
				at = i
			}
		}
		return at
	}
	if last {
		for i := len(x) - 1; i > 0; i-- {
			if x[i] == best {
				return i
			}
		}
		return 0
	}
	for i, v := range x {
		if v == best {
			return i
		}
	}
	return 0
}

// Running adds the numbers of src to sums and rounds these to dst, or with exclusive those before. src and sums must be
// as long as dst, which may be src.
func Running(dst, src []float32, sums []float64, exclusive bool) {
	need("Running", "src", len(src), len(dst))
	need("Running", "sums", len(sums), len(dst))
	n := 0
	if f := fast.running[boolean(exclusive)]; f != nil {
		if n = len(dst) &^ (linesStep - 1); n > 0 {
			f(&dst[0], &src[0], &sums[0], n)
		}
	}
	for i := n; i < len(dst); i++ {
		before := sums[i]
		sums[i] += float64(src[i])
		if dst[i] = float32(sums[i]); exclusive {
			dst[i] = float32(before)
		}
	}
}
