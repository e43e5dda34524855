package kernel

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/mem"
)

// The merged form of packed 8-bit filters serves VPMADDUBSW, which adds the products of two neighbouring codes to 16
// bits, and saturates. It cannot where the positive filters of such a pair add up to at most mergedMost, and the
// negative ones alike. The same holds for the sum of two such pairs.
//
// A group is mergedCols columns: first the lists of its taps, padded to a multiple of mergedAlign bytes, then the words
// of its taps, [taps][words][mergedCols][IntDepth], each tap's in the order of its list. A list is numbers of 16 bits:
// how many steps there are of two words that are added, of one word, and of a word that may saturate; 0; and the number
// of each word in its run.
const (
	mergedCols  = 16
	mergedAlign = 64
	mergedHead  = 4
	mergedMost  = 128
	mergedWords = 1<<16 - 1 // most words of a run
	mergedTries = 32        // partners that a word is tried with
)

// merged reports whether packed filters have the merged form.
func merged(k int) bool {
	return fast.int8 != nil && fast.int8.merged && ceilDiv(k, IntDepth) <= mergedWords
}

// mergedLists is the number of bytes of a group's lists.
func mergedLists(taps, words int) int { return roundUp(2*taps*(mergedHead+words), mergedAlign) }

// mergedBytes is the number of bytes of a group.
func mergedBytes(taps, words int) int {
	return mergedLists(taps, words) + taps*words*IntDepth*mergedCols
}

// mergedWord is the filters of a word for each column of a group.
type mergedWord [mergedCols * IntDepth]int8

// groupOf returns the lists and the words of a group.
func groupOf(d []int8, taps, words int) (lists []uint16, packed []mergedWord) {
	p := unsafe.Pointer(unsafe.SliceData(d[:mergedBytes(taps, words)]))
	return unsafe.Slice((*uint16)(p), taps*(mergedHead+words)),
		unsafe.Slice((*mergedWord)(unsafe.Add(p, mergedLists(taps, words))), taps*words)
}

// packMerged packs up to mergedCols columns, given as in [PackInt8], as a group.
func packMerged(d, b []int8, taps, k, n, ldb int) {
	words := ceilDiv(k, IntDepth)
	lists, packed := groupOf(d, taps, words)
	plain, m := make([]mergedWord, words), newMerger(words)
	for t := range taps {
		packWords(mem.Bytes(plain), mem.Bytes(b[t*k:]), k, n, ldb, len(mergedWord{}))
		list := lists[t*(mergedHead+words):][:mergedHead+words]
		m.order(list, plain)
		for i, w := range list[mergedHead:] {
			packed[t*words+i] = plain[w]
		}
	}
}

// pairSums are the sums of the positive filters of each pair of a word, and then those of the negative ones, negated,
// as fields of 16 bits.
type pairSums [mergedCols]uint64

// fields puts a number into each of the four fields of a word.
const fields = 1<<48 | 1<<32 | 1<<16 | 1

// sumsOf returns the sums of w and their total.
func sumsOf(w *mergedWord) (s pairSums, all int) {
	const half, low, ones = mergedCols / 2, 0xff * fields, 0x0101 * fields
	pairs := func(v uint64) uint64 { return v&low + v>>8&low }
	total := uint64(0)
	for i, v := range (*[half]uint64)(unsafe.Pointer(w)) {
		negative := v >> 7 & ones // 1 for each byte that is
		mask := negative * 0xff
		s[i], s[half+i] = pairs(v&^mask), pairs(^v&mask+negative)
		total += s[i] + s[half+i]
	}
	return s, int(total * fields >> 48)
}

// over reports whether sums leave the range when they are added.
func over(a, b *pairSums) bool {
	const offset, top = (1<<15 - 1 - mergedMost) * fields, 1 << 15 * fields
	for i := 0; i < len(a); i += 4 { // most pairs fail early
		if ((a[i]+b[i]+offset)|(a[i+1]+b[i+1]+offset)|(a[i+2]+b[i+2]+offset)|(a[i+3]+b[i+3]+offset))&top != 0 {
			return true
		}
	}
	return false
}

// merger orders the words of runs.
type merger struct {
	sums []pairSums
	all  []int    // the total of a word's sums; less than 0: they are out of range
	by   []uint16 // words that may be merged, from the smallest sums to the largest
	one  []uint16 // words without a partner
	wide []uint16 // words whose sums are out of range
}

func newMerger(words int) *merger {
	return &merger{sums: make([]pairSums, words), all: make([]int, words), by: make([]uint16, words)}
}

// order writes the list of a run. Words with large sums are merged with such that have small ones: a partner is sought
// from the largest sums down, among those that are left with the smallest.
func (m *merger) order(list []uint16, words []mergedWord) {
	m.sort(words)
	two, left := list[mergedHead:mergedHead], m.by
	m.one = m.one[:0]
next:
	for len(left) > 0 {
		last := len(left) - 1
		w := left[last]
		left = left[:last]
		for i, p := range left[:min(last, mergedTries)] {
			if !over(&m.sums[w], &m.sums[p]) {
				two = append(two, w, p)
				copy(left[1:], left[:i])
				left = left[1:]
				continue next
			}
		}
		m.one = append(m.one, w)
	}
	list[0], list[1], list[2], list[3] = uint16(len(two)/2), uint16(len(m.one)), uint16(len(m.wide)), 0
	rest := list[mergedHead+len(two):]
	copy(rest[copy(rest, m.one):], m.wide)
}

// sort finds the sums of words, and the words that may be merged in the order of their sums.
func (m *merger) sort(words []mergedWord) {
	const step = 32 // of sums that count as equal
	var from [mergedCols*IntDepth*mergedMost/step + 2]int
	m.wide = m.wide[:0]
	for i := range words {
		if m.sums[i], m.all[i] = sumsOf(&words[i]); over(&m.sums[i], &pairSums{}) {
			m.wide, m.all[i] = append(m.wide, uint16(i)), -1
			continue
		}
		from[m.all[i]/step+1]++
	}
	for i := range len(from) - 1 {
		from[i+1] += from[i]
	}
	m.by = m.by[:len(words)-len(m.wide)]
	for i, all := range m.all[:len(words)] {
		if all >= 0 {
			at := &from[all/step]
			m.by[*at] = uint16(i)
			*at++
		}
	}
}
