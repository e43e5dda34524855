package kernel

// laneOrder is the order in which depthwise kernels of codes take the channels, and with them their filters.
type laneOrder int

const (
	// inSequence is one channel after the other, each with its taps.
	inSequence laneOrder = iota
	// inBlocks is 64 channels at a time, in the order in which the bytes of four vectors are interleaved: each word of
	// a vector holds one channel. The last block has lanes without a channel. Filters are bytes: [block][taps/4][lane][4].
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

// filterLen is the number of bytes of the filters of c channels.
func (o laneOrder) filterLen(taps, c int) int {
	n := ceilDiv(taps, tapGroup) * tapGroup * o.lanes(c)
	switch o {
	case inBlocks, inQuads:
		return n
	case inUnits, inWords:
		return 2 * n
	}
	return taps * c
}

// pack writes the filter of a lane, taps in the order of the kernel's steps, into zeros.
func (o laneOrder) pack(dst, filter []int8, lane int, kernel *[3]int) {
	groups := ceilDiv(len(filter), tapGroup)
	for t, w := range filter {
		s := depthwiseSlot(kernel, t)
		switch o {
		case inBlocks:
			block := dst[lane/blockLanes*groups*tapGroup*blockLanes:]
			block[(s/tapGroup*blockLanes+lane%blockLanes)*tapGroup+s%tapGroup] = w
		case inUnits:
			unit := dst[lane/unitLanes*groups*2*tapGroup*unitLanes:]
			word := unit[2*((s/2*unitLanes+lane%unitLanes)*2+s%2):][:2]
			word[0], word[1] = w, w>>7 // little endian
		case inQuads:
			unit := dst[lane/unitLanes*groups*tapGroup*unitLanes:]
			unit[(s/tapGroup*unitLanes+lane%unitLanes)*tapGroup+s%tapGroup] = w
		case inWords:
			unit := dst[lane/unitLanes*groups*2*tapGroup*unitLanes:]
			word := unit[2*(s*unitLanes+lane%unitLanes):][:2]
			word[0], word[1] = w, w>>7
		default:
			dst[lane*len(filter)+t] = w
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
