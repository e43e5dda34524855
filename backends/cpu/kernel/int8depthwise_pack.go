package kernel

// depthwiseOrder is the order of the kernel that computes windows of that many taps and channels.
func depthwiseOrder(taps, c int) laneOrder {
	if !FastDepthwiseInt8(taps, c) {
		return inSequence
	}
	return fast.dotOrder
}

// InDepthwiseLanes brings values per channel into the order in which [DepthwiseInt8] takes them for windows of that
// many taps. nil stays nil.
func InDepthwiseLanes[T any](v []T, taps int) []T {
	if v == nil {
		return nil
	}
	o := depthwiseOrder(taps, len(v))
	out := make([]T, o.lanes(len(v)))
	for lane := range out {
		if c := o.channel(lane, len(v)); c >= 0 {
			out[lane] = v[c]
		}
	}
	return out
}

// DepthwiseLanes is how many values [InDepthwiseLanes] makes of c.
func DepthwiseLanes(taps, c int) int { return depthwiseOrder(taps, c).lanes(c) }

// PackedDepthwiseInt8Len is the number of bytes of packed depthwise filters.
func PackedDepthwiseInt8Len(taps, c int) int { return depthwiseOrder(taps, c).filterLen(taps, c) }

// PackDepthwiseInt8 packs filters [c][rows][cols] of the given kernel, its last two sizes, in the order of the kernel
// that computes them.
func PackDepthwiseInt8(dst, w []int8, kernel [3]int, c int) {
	taps := kernel[1] * kernel[2]
	need("PackDepthwiseInt8", "dst", len(dst), PackedDepthwiseInt8Len(taps, c))
	need("PackDepthwiseInt8", "w", len(w), taps*c)
	clear(dst)
	o := depthwiseOrder(taps, c)
	for lane := range o.lanes(c) {
		if ch := o.channel(lane, c); ch >= 0 {
			o.pack(dst, w[ch*taps:][:taps], lane, &kernel)
		}
	}
}

// depthwiseTaps is the number of taps that assembly takes.
const depthwiseTaps = 64

// FastDepthwiseInt8 reports whether windows of that many taps and channels are computed by assembly.
func FastDepthwiseInt8(taps, c int) bool {
	return fast.dotWindow != nil && taps <= depthwiseTaps && (!fast.dotOrder.overlaps() || c >= unitLanes)
}
