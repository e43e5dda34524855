package kernel

// lookupStep is how many bytes a kernel looks up at a time.
const lookupStep = 64

// LookupU8 is dst[i] = table[src[i]], in place if dst is src.
func LookupU8(dst, src []uint8, table *[256]uint8) {
	need("LookupU8", "src", len(src), len(dst))
	n := 0
	if fast.lookup != nil {
		n = len(dst) &^ (lookupStep - 1)
		for i := 0; i < n; i += convertBlock {
			fast.lookup(&dst[i], &src[i], &table[0], min(convertBlock, n-i))
		}
	}
	src = src[:len(dst)]
	for i := n; i < len(dst); i++ {
		dst[i] = table[src[i]]
	}
}
