package kernel

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever filters are, a list names each word of its run once, and sums that it adds in 16 bits fit.
func TestPackMerged_stepsFit(t *testing.T) {
	steps := [3]int{}
	for i := range 60 {
		r := rng(uint64(i))
		taps, k, n := 1+i%3, 1+r.IntN(300), 1+r.IntN(mergedCols)
		words := ceilDiv(k, IntDepth)
		b := filterSlice(r, n*taps*k, i)
		d := make([]int8, mergedBytes(taps, words))
		packMerged(d, b, taps, k, n, taps*k)
		lists, packed := groupOf(d, taps, words)
		for tap := range taps {
			list := lists[tap*(mergedHead+words):][:mergedHead+words]
			two, one, wide := int(list[0]), int(list[1]), int(list[2])
			require.Equal(t, words, 2*two+one+wide)
			require.Zero(t, list[3])
			names := slices.Sorted(slices.Values(list[mergedHead:]))
			for w, name := range names {
				require.EqualValues(t, w, name)
			}
			for at, w := range list[mergedHead:] {
				p := &packed[tap*words+at]
				for c := range mergedCols {
					for x := range IntDepth {
						want := int8(0)
						if row := int(w)*IntDepth + x; row < k && c < n {
							want = b[(c*taps+tap)*k+row]
						}
						require.Equal(t, want, p[c*IntDepth+x])
					}
				}
			}
			step := packed[tap*words:][:2*two+one]
			for at := 0; at < len(step); {
				width := 1
				if at < 2*two {
					width = 2
				}
				for pair := 0; pair < len(step[0]); pair += 2 {
					least, most := 0, 0
					for _, p := range step[at : at+width] {
						for _, v := range p[pair : pair+2] {
							least, most = least+255*min(int(v), 0), most+255*max(int(v), 0)
						}
					}
					require.True(t, least >= -1<<15 && most < 1<<15, "from %d to %d", least, most)
				}
				at += width
			}
			steps[0], steps[1], steps[2] = steps[0]+two, steps[1]+one, steps[2]+wide
		}
	}
	for _, n := range steps {
		require.Greater(t, n, 50, "%v", steps)
	}
}

// Most words of filters that are distributed as those of networks are merged.
func TestPackMerged_mergesNetworks(t *testing.T) {
	const k, n = 1024, mergedCols
	d := make([]int8, mergedBytes(1, k/IntDepth))
	packMerged(d, bellSlice(rng(1), n*k), 1, k, n, k)
	lists, _ := groupOf(d, 1, k/IntDepth)
	require.Greater(t, int(lists[0]), k/IntDepth/2*8/10)
}
