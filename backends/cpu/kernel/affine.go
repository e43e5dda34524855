package kernel

// affineBlock is how many numbers stay in the first-level cache from one pass over them to the next.
const affineBlock = 1 << 11

// Affine computes dst[i] = (src[i]-mean)*factor + shift, in place if dst is src. Assembly fuses the multiply-add.
func Affine(dst, src []float32, mean, factor, shift float32) {
	need("Affine", "dst", len(dst), len(src))
	if fast.affine != nil {
		for i := 0; i < len(src); i += binaryBlock {
			fast.affine(&dst[i], &src[i], min(binaryBlock, len(src)-i), mean, factor, shift)
		}
		return
	}
	for i := 0; i < len(src); i += affineBlock {
		n := min(affineBlock, len(src)-i)
		y := dst[i:][:n]
		BinaryVS(Sub, y, src[i:][:n], mean)
		BinaryVS(Mul, y, y, factor)
		BinaryVS(Add, y, y, shift)
	}
}

// Dot returns the sum of a[i]*b[i].
func Dot(a, b []float32) float32 {
	need("Dot", "b", len(b), len(a))
	if len(a) == 0 {
		return 0
	}
	if fast.dot != nil && len(a) <= binaryBlock {
		return fast.dot(&a[0], &b[0], len(a))
	}
	s := 0.0
	for i := 0; i < len(a); i += binaryBlock {
		n := min(binaryBlock, len(a)-i)
		if fast.dot != nil {
			s += float64(fast.dot(&a[i], &b[i], n))
			continue
		}
		y := b[i:][:n]
		for k, x := range a[i:][:n] {
			s += float64(x) * float64(y[k])
		}
	}
	return float32(s)
}

// Dots makes dst[r] the [Dot] of x and row r of w, whose rows are ldw numbers apart.
func Dots(dst, x, w []float32, ldw int) {
	if len(dst) == 0 {
		return
	}
	need("Dots", "w", len(w), (len(dst)-1)*ldw+len(x))
	rows := 0
	if fast.dots != nil && len(x) > 0 && len(x) <= binaryBlock {
		if rows = len(dst) &^ 3; rows > 0 {
			fast.dots(&dst[0], &x[0], &w[0], 4*ldw, len(x), rows)
		}
	}
	for r := rows; r < len(dst); r++ {
		dst[r] = Dot(x, w[r*ldw:])
	}
}

// MixRows makes dst the sum of the first len(x) rows of w, which are ldw numbers apart, times the numbers of x. x has
// one at least.
func MixRows(dst, x, w []float32, ldw int) {
	if len(dst) == 0 {
		return
	}
	need("MixRows", "x", len(x), 1)
	need("MixRows", "w", len(w), (len(x)-1)*ldw+len(dst))
	at := 0
	for ; fast.mixRows != nil && at+fast.mixCols <= len(dst); at += fast.mixCols {
		fast.mixRows(&dst[at], &x[0], &w[at], 4*ldw, len(x))
	}
	d := dst[at:]
	if len(d) == 0 {
		return
	}
	row := func(k int) []float32 { return w[at+k*ldw:][:len(d)] }
	BinaryVS(Mul, d, row(0), x[0])
	k := 1
	for ; k+3 <= len(x); k += 3 {
		Mix4(d, d, row(k), row(k+1), row(k+2), 1, x[k], x[k+1], x[k+2])
	}
	switch len(x) - k { // a row counts in parts: 0 times an infinity would spoil the sum
	case 1:
		Mix4(d, d, row(k), row(k), row(k), 1, x[k]/2, x[k]/4, x[k]/4)
	case 2:
		Mix4(d, d, row(k), row(k+1), row(k+1), 1, x[k], x[k+1]/2, x[k+1]/2)
	}
}

// AddRows adds rows of n numbers of src, lds numbers apart, to those of dst, ldd numbers apart.
func AddRows(dst []float32, ldd int, src []float32, lds, n, rows int) {
	if n <= 0 || rows <= 0 {
		return
	}
	need("AddRows", "dst", len(dst), (rows-1)*ldd+n)
	need("AddRows", "src", len(src), (rows-1)*lds+n)
	if fast.addRows != nil && n <= binaryBlock {
		const size = 4
		block := max(1, binaryBlock/n)
		for r := 0; r < rows; r += block {
			fast.addRows(&dst[r*ldd], ldd*size, &src[r*lds], lds*size, n, min(block, rows-r))
		}
		return
	}
	for r := range rows {
		y := dst[r*ldd:][:n]
		BinaryVV(Add, y, y, src[r*lds:][:n])
	}
}

// Rotate turns n pairs of each row, the numbers i and n+i, by the angle of cosine cos[i] and sine sin[i]:
//
//	dst[i], dst[n+i] = src[i]*cos[i] - src[n+i]*sin[i], src[i]*sin[i] + src[n+i]*cos[i]
//
// in place if dst is src. Rows are ld numbers apart, and those of the angles n. Assembly fuses one multiply-add.
func Rotate(dst, src []float32, ld int, cos, sin []float32, n, rows int) {
	if n <= 0 || rows <= 0 {
		return
	}
	need("Rotate", "dst", len(dst), (rows-1)*ld+2*n)
	need("Rotate", "src", len(src), (rows-1)*ld+2*n)
	need("Rotate", "cos", len(cos), rows*n)
	need("Rotate", "sin", len(sin), rows*n)
	if fast.rotate != nil && n <= binaryBlock {
		const size = 4
		block := max(1, binaryBlock/n)
		for r := 0; r < rows; r += block {
			fast.rotate(&dst[r*ld], &src[r*ld], ld*size, &cos[r*n], &sin[r*n], n*size, n, min(block, rows-r))
		}
		return
	}
	for r := range rows {
		x, y := src[r*ld:][:2*n], dst[r*ld:][:2*n]
		c, s := cos[r*n:][:n], sin[r*n:][:n]
		a, b, first, second := x[:n], x[n:], y[:n], y[n:]
		for i, u := range a {
			v := b[i]
			first[i], second[i] = c[i]*u-s[i]*v, s[i]*u+c[i]*v
		}
	}
}
