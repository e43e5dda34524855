package kernel

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unpack interleaves the lower or the upper halves of the 16-byte parts of two vectors, elements of some bytes at a
// time, as VPUNPCKL and VPUNPCKH do.
func unpack(a, b []int, size int, upper bool) []int {
	var out []int
	for part := 0; part < len(a); part += 16 {
		from := part
		if upper {
			from += 8
		}
		for e := from; e < from+8; e += size {
			out = append(append(out, a[e:e+size]...), b[e:e+size]...)
		}
	}
	return out
}

// The kernels' instructions decide which channels lie in which lanes.
func TestLaneOrder_isThatOfTheInstructions(t *testing.T) {
	var bytes, words []int
	for c := range blockLanes {
		bytes = append(bytes, c)
	}
	for c := range unitLanes {
		words = append(words, c, c) // both bytes of a word
	}
	var blocks, units []int
	for _, first := range []bool{false, true} {
		pairs := unpack(bytes, bytes, 1, first)
		for _, second := range []bool{false, true} {
			blocks = append(blocks, unpack(pairs, pairs, 2, second)...)
		}
		units = append(units, unpack(words, words, 2, first)...)
	}
	for lane := range blockLanes {
		assert.Equal(t, blocks[4*lane], inBlocks.channel(lane, blockLanes), "lane %d of a block", lane)
		assert.Equal(t, 2*blockLanes+blocks[4*lane], inBlocks.channel(2*blockLanes+lane, 3*blockLanes))
	}
	for lane := range unitLanes {
		assert.Equal(t, units[4*lane], inUnits.channel(lane, unitLanes), "lane %d of a unit", lane)
		assert.Equal(t, 5+units[4*lane], inUnits.channel(unitLanes+lane, unitLanes+5), "lane %d of the last unit", lane)
	}
}

// A packed filter is read back from where the kernels read it: blocks as [taps/4][lane][4] bytes, units as
// [taps/2][lane][2] words of 16 bits, little endian, of taps rounded up to groups of four. A 3x3 kernel has one group
// for each of its columns.
func TestLaneOrder_packsEveryTap(t *testing.T) {
	for _, k := range [][3]int{{1, 1, 1}, {1, 3, 3}, {1, 5, 5}, {1, 1, 7}, {1, 2, 3}} {
		taps := k[1] * k[2]
		groups := (taps + 3) / 4
		slot := func(t int) int { return t }
		if taps == 9 {
			slot = func(t int) int { return 4*(t%3) + t/3 }
		}
		for _, c := range []int{16, 17, 31, 64, 65, 200} {
			weight := func(channel, tap int) int8 { return int8((channel*taps+tap)*37%255 - 127) }
			for _, o := range []laneOrder{inSequence, inBlocks, inUnits} {
				packed := make([]int8, o.filterLen(taps, c, false))
				for lane := range o.lanes(c) {
					channel := o.channel(lane, c)
					if channel < 0 {
						continue
					}
					require.Less(t, channel, c)
					filter := make([]int16, taps)
					for i := range filter {
						filter[i] = int16(weight(channel, i))
					}
					o.pack(packed, filter, lane, &k, false)
				}
				nonzero := 0
				for lane := range o.lanes(c) {
					channel := o.channel(lane, c)
					for i := range taps {
						want, at := int8(0), 0
						if channel >= 0 {
							want = weight(channel, i)
						}
						switch o {
						case inSequence:
							at = lane*taps + i
						case inBlocks:
							at = lane/64*groups*4*64 + (slot(i)/4*64+lane%64)*4 + slot(i)%4
						case inUnits:
							at = 2 * (lane/16*groups*4*16 + (slot(i)/2*16+lane%16)*2 + slot(i)%2)
							require.Equal(t, want>>7, packed[at+1], "upper byte of tap %d", i)
							nonzero += int(-packed[at+1])
						}
						require.Equal(t, want, packed[at], "order %d, %d channels, lane %d, tap %d of %v", o, c, lane, i, k)
						if want != 0 {
							nonzero++
						}
					}
				}
				require.Equal(t, nonzero, count(packed), "order %d, %d channels: padding is zero", o, c)
			}
		}
	}
}

// count is the number of bytes that are not zero.
func count(b []int8) (n int) {
	for _, v := range b {
		if v != 0 {
			n++
		}
	}
	return n
}
