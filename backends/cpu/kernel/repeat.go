package kernel

// RepeatRows writes each of rows of n bytes of src several times to dst, one behind the other. src may be longer, which
// helps: kernels read some bytes more than there are in short rows.
func RepeatRows(dst, src []byte, n, times, rows int) {
	if n <= 0 || times <= 0 || rows <= 0 {
		return
	}
	need("RepeatRows", "dst", len(dst), n*times*rows)
	need("RepeatRows", "src", len(src), n*rows)
	row := n * times
	switch f := fast.repeatRows; {
	case times == 1:
		Copy(dst[:n*rows], src)
		return
	case n <= 32 && row <= 16*32 && f != nil:
		// The next row overwrites the bytes beyond one, so the last rows are left.
		whole := min(rows, (len(src)+n-32)/n, (rows*row+n-32)/row)
		const block = 1 << 12 // keeps one assembly call short
		for r := 0; r < whole; r += block / times {
			f(&dst[r*row], &src[r*n], n, times, min(block/times, whole-r))
		}
		if whole > 0 {
			dst, src, rows = dst[whole*row:], src[whole*n:], rows-whole
		}
	case n > 32 && n < copyLeast && times <= rows && times*n*rows <= 1<<15:
		for t := range times {
			CopyRows(dst[t*n:], row, src, n, rows, n)
		}
		return
	}
	for r := range rows {
		CopyRows(dst[r*row:], n, src[r*n:], 0, times, n)
	}
}
