package kernel

// depthwiseOrder is the order of the kernel that computes windows of that many taps and channels; wide says that the
// filter's numbers have 9 bits.
func depthwiseOrder(taps, c int, wide bool) laneOrder {
	switch {
	case !FastDepthwiseInt8(taps, c):
		return inSequence
	case wide:
		return fast.wideOrder
	}
	return fast.dotOrder
}

// InDepthwiseLanes brings values per channel into the order in which [DepthwiseInt8] takes them for windows of that
// many taps, Wide or not. nil stays nil.
func InDepthwiseLanes[T any](v []T, taps int, wide bool) []T {
	if v == nil {
		return nil
	}
	o := depthwiseOrder(taps, len(v), wide)
	out := make([]T, o.lanes(len(v)))
	for lane := range out {
		if c := o.channel(lane, len(v)); c >= 0 {
			out[lane] = v[c]
		}
	}
	return out
}

// DepthwiseLanes is how many values [InDepthwiseLanes] makes of c.
func DepthwiseLanes(taps, c int, wide bool) int { return depthwiseOrder(taps, c, wide).lanes(c) }

// PackedDepthwiseInt8Len is the number of bytes of packed depthwise filters.
func PackedDepthwiseInt8Len(taps, c int, wide bool) int {
	return depthwiseOrder(taps, c, wide).filterLen(taps, c, wide)
}

// PackDepthwiseInt8 packs filters [c][rows][cols] of the given kernel, its last two sizes, in the order of the kernel
// that computes them. Numbers lie in the range of int8, wide ones from -256 to 254.
func PackDepthwiseInt8(dst []int8, w []int16, kernel [3]int, c int, wide bool) {
	taps := kernel[1] * kernel[2]
	o := depthwiseOrder(taps, c, wide)
	need("PackDepthwiseInt8", "dst", len(dst), o.filterLen(taps, c, wide))
	need("PackDepthwiseInt8", "w", len(w), taps*c)
	clear(dst)
	for lane := range o.lanes(c) {
		if ch := o.channel(lane, c); ch >= 0 {
			o.pack(dst, w[ch*taps:][:taps], lane, &kernel, wide)
		}
	}
}

// depthwiseTaps is the number of taps that assembly takes.
const depthwiseTaps = 64

// FastDepthwiseInt8 reports whether windows of that many taps and channels are computed by assembly.
func FastDepthwiseInt8(taps, c int) bool {
	return fast.dotWindow != nil && taps <= depthwiseTaps && (!fast.dotOrder.overlaps() || c >= unitLanes)
}
