package kernel

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unpack interleaves the lower or the upper halves of the 16-byte parts of two vectors, elements of some bytes at a time,
// as VPUNPCKL and VPUNPCKH do.
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

// The channels of lanes are those that the instructions of the kernels bring there.
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

// Each tap of each channel stands once in a block or a sequence, and in a unit for each lane of its channel.
func TestLaneOrder_packsEveryTap(t *testing.T) {
	for _, k := range [][3]int{{1, 1, 1}, {1, 3, 3}, {1, 5, 5}, {1, 1, 7}, {1, 2, 3}} {
		taps := k[1] * k[2]
		for _, c := range []int{16, 17, 31, 64, 65, 200} {
			for _, o := range []laneOrder{inSequence, inBlocks, inUnits} {
				packed := make([]int8, o.filterLen(taps, c))
				for lane := range o.lanes(c) {
					ch := o.channel(lane, c)
					if ch < 0 {
						continue
					}
					require.Less(t, ch, c)
					filter := make([]int8, taps)
					for i := range filter {
						filter[i] = int8(1 + (ch*taps+i)%120 - 2*(i%2)*(1+(ch*taps+i)%120))
					}
					before := count(packed)
					o.pack(packed, filter, lane, &k)
					bytes := taps
					if o == inUnits { // the upper bytes of negative words
						for _, w := range filter {
							if w < 0 {
								bytes++
							}
						}
					}
					require.Equal(t, before+bytes, count(packed), "order %d, %d channels, lane %d", o, c, lane)
				}
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
