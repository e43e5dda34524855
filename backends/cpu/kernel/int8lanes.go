package kernel

import "math"

// laneOrder is the order in which depthwise kernels of codes take the channels, and with them their filters.
type laneOrder int

const (
	// inSequence is one channel after the other, each with its taps.
	inSequence laneOrder = iota
	// inBlocks is 64 channels at a time, in the order in which the bytes of four vectors are interleaved: each word of
	// a vector holds one channel. The last block has lanes without a channel. Filters are bytes: [block][taps/4][lane][4];
	// wide ones have two of [lane][4] for each four taps, whose sums are the numbers.
	inBlocks
	// inUnits is 16 channels at a time, as the words of two vectors are interleaved: 0 to 3, 8 to 11, 4 to 7, 12 to 15.
	// The last unit is the last 16 channels, so that it may overlap the one before. Filters are words of 16 bits in
	// pairs: [unit][taps/2][lane][2].
	inUnits
	// inQuads is 16 channels at a time, in sequence. The last unit is the last 16 channels, so that it may overlap the one
	// before. Filters are bytes: [unit][taps/4][lane][4].
	inQuads
	// inWords is the channels of inQuads. Filters are words of 16 bits: [unit][taps, a multiple of 4][lane].
	inWords
)

// overlaps reports whether the last unit is the last 16 channels.
func (o laneOrder) overlaps() bool { return o >= inUnits }

const (
	blockLanes = 64
	unitLanes  = 16
	tapGroup   = 4 // taps of one step of a kernel
)

// lanes is the number of lanes that c channels take.
func (o laneOrder) lanes(c int) int {
	switch o {
	case inBlocks:
		return roundUp(c, blockLanes)
	case inUnits, inQuads, inWords:
		return roundUp(c, unitLanes)
	}
	return c
}

// channel is the channel of a lane, -1 where it has none.
func (o laneOrder) channel(lane, c int) int {
	switch o {
	case inBlocks:
		r := lane % blockLanes
		if at := lane - r + r%16/4*16 + r/16*4 + r%4; at < c {
			return at
		}
		return -1
	case inUnits:
		r := lane % unitLanes
		return min(lane-r, c-unitLanes) + r%8/4*8 + r/8*4 + r%4
	case inQuads, inWords:
		r := lane % unitLanes
		return min(lane-r, c-unitLanes) + r
	}
	return lane
}

// words reports whether filters are words of 16 bits whatever their numbers are.
func (o laneOrder) words() bool { return o == inUnits || o == inWords }

// filterLen is the number of bytes of the filters of c channels; those of wide ones have 9 bits. inQuads has no wide
// ones.
func (o laneOrder) filterLen(taps, c int, wide bool) int {
	n := taps * c
	if o != inSequence {
		n = ceilDiv(taps, tapGroup) * tapGroup * o.lanes(c)
	}
	if wide || o.words() {
		return 2 * n
	}
	return n
}

// pack writes the filter of a lane, taps in the order of the kernel's steps, into zeros.
func (o laneOrder) pack(dst []int8, filter []int16, lane int, kernel *[3]int, wide bool) {
	bytes := tapGroup // of a lane and four taps
	if wide || o.words() {
		bytes *= 2
	}
	groups := ceilDiv(len(filter), tapGroup)
	for t, w := range filter {
		s := depthwiseSlot(kernel, t)
		unit := dst
		if o.overlaps() {
			unit = dst[lane/unitLanes*groups*bytes*unitLanes:]
		}
		word := func(at int) { unit[2*at], unit[2*at+1] = int8(w), int8(w>>8) } // little endian
		switch o {
		case inBlocks:
			group := dst[(lane/blockLanes*groups+s/tapGroup)*bytes*blockLanes:]
			first := max(math.MinInt8, min(math.MaxInt8, w))
			at := lane%blockLanes*tapGroup + s%tapGroup
			if group[at] = int8(first); wide {
				group[tapGroup*blockLanes+at] = int8(w - first)
			}
		case inUnits:
			word((s/2*unitLanes+lane%unitLanes)*2 + s%2)
		case inQuads:
			unit[(s/tapGroup*unitLanes+lane%unitLanes)*tapGroup+s%tapGroup] = int8(w)
		case inWords:
			word(s*unitLanes + lane%unitLanes)
		default:
			if at := lane*len(filter) + t; wide {
				word(at)
			} else {
				dst[at] = int8(w)
			}
		}
	}
}

// depthwiseSlot is where a tap is among the groups of four.
func depthwiseSlot(kernel *[3]int, t int) int {
	if kernel[1] == 3 && kernel[2] == 3 {
		return t%3*tapGroup + t/3
	}
	return t
}
