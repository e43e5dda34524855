package kernel

// IntDepth is the number of neighbouring rows that one word of packed 8-bit filters holds.
const IntDepth = 4

// packWords packs runs of k rows of n columns, ldb apart: each word of a run stride bytes after the one before, the
// columns side by side. What is missing in the last word is left alone.
func packWords(d, b []byte, k, n, ldb, stride int) {
	const line = 64 // bytes that are read of a column before the next one
	for from := 0; from < k; from += line {
		for c := range n {
			src, to := b[c*ldb+from:c*ldb+min(k, from+line)], d[from/IntDepth*stride+c*IntDepth:]
			for ; len(src) > IntDepth; src, to = src[IntDepth:], to[stride:] {
				*(*[IntDepth]byte)(to) = [IntDepth]byte(src)
			}
			copy(to, src)
		}
	}
}
