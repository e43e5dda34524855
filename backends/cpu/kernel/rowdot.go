package kernel

// GemmNT multiplies by a right-hand side that is stored transposed and not
// packed, as filters [out, in] are:
//
//	C[i*ldc+j] = Act(sum over k of A[i*lda+k] * W[j*ldw+k] + bias[j])
//
// for i < m, j < n. It reads W once for every four rows of A, so it suits a few
// rows, where reading W is what costs; pack W for [Gemm] otherwise. bias may be
// nil. Threads share the work by splitting n: pass W[j0*ldw:], C[j0:], bias[j0:].
//
// Numeric contract: float32, fused multiply-add over 8 to 32 partial sums added
// pairwise at the end; the portable form adds in order.
func GemmNT(c []float32, ldc int, a []float32, lda int, w []float32, ldw int, m, n, k int, bias []float32, act Act) {
	if m <= 0 || n <= 0 {
		return
	}
	need("GemmNT", "C", len(c), extent(m, n, ldc))
	need("GemmNT", "A", len(a), extent(m, k, lda))
	need("GemmNT", "W", len(w), extent(n, k, ldw))
	if bias != nil {
		need("GemmNT", "bias", len(bias), n)
	}
	if k <= 0 {
		for i := range m {
			clear(c[i*ldc:][:n])
		}
	}
	// Blocks of W stay in the second-level cache for all rows and bound a call.
	step := max(4, min(n, 1<<18/max(1, k))&^3)
	for j := 0; j < n && k > 0; j += step {
		cols := min(step, n-j)
		for i := 0; i < m; {
			rows := 4
			for rows > m-i {
				rows /= 2
			}
			rowDotBlock(c[i*ldc+j:], ldc, a[i*lda:], lda, w[j*ldw:], ldw, rows, cols, k)
			i += rows
		}
	}
	lo, hi, pass := act.clamp()
	for i := range m {
		row := c[i*ldc:][:n]
		if bias != nil {
			BinaryVV(Add, row, row, bias)
		}
		switch {
		case pass:
			Unary(act.Op, row, row, act.Alpha, act.Beta)
		case act.Op != Identity:
			Unary(Clamp, row, row, lo, hi)
		}
	}
}

type rowDotFn func(groups, k int, a *float32, lda int, w *float32, ldw int, c *float32, ldc int)

// rowDots are the kernels for 1, 2 and 4 rows of A; nil means the portable form.
var rowDots [3]struct {
	rows   int // of W that many takes at a time
	many   rowDotFn
	single rowDotFn
}

func rowDotBlock(c []float32, ldc int, a []float32, lda int, w []float32, ldw, m, n, k int) {
	f := &rowDots[m/2]
	if f.many == nil {
		rowDotGeneric(c, ldc, a, lda, w, ldw, m, n, k)
		return
	}
	groups := n / f.rows
	if groups > 0 {
		f.many(groups, k, &a[0], 4*lda, &w[0], 4*ldw, &c[0], 4*ldc)
	}
	if j := groups * f.rows; j < n {
		f.single(n-j, k, &a[0], 4*lda, &w[j*ldw], 4*ldw, &c[j], 4*ldc)
	}
}

func rowDotGeneric(c []float32, ldc int, a []float32, lda int, w []float32, ldw, m, n, k int) {
	for i := range m {
		x := a[i*lda:][:k]
		for j := range n {
			s := float32(0)
			for p, v := range w[j*ldw:][:k] {
				s += x[p] * v
			}
			c[i*ldc+j] = s
		}
	}
}
