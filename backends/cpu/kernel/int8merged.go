package kernel

import (
	"cmp"
	"slices"
	"unsafe"
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
	mergedTries = 64        // partners that a word is tried with
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

// dotMerged adds the products of row i with the group that starts at column j.
func (g *GemmInt8) dotMerged(acc []int32, i, j int) {
	taps, words := g.taps(), ceilDiv(g.K, IntDepth)
	lists, packed := groupOf(g.B[panelBytes(taps, g.K, j):], taps, words)
	for t := range taps {
		x := g.run(i, t)
		for n, w := range lists[t*(mergedHead+words):][mergedHead:][:words] {
			b, from := &packed[t*words+n], IntDepth*int(w)
			for k, v := range x[from:min(from+IntDepth, g.K)] {
				for c := range acc {
					acc[c] += int32(v) * int32(b[c*IntDepth+k])
				}
			}
		}
	}
}

// packMerged packs up to mergedCols columns, given as in [PackInt8], as a group.
func packMerged(d, b []int8, taps, k, n, ldb int) {
	words := ceilDiv(k, IntDepth)
	lists, packed := groupOf(d, taps, words)
	plain, m := make([]mergedWord, words), newMerger(words)
	for t := range taps {
		for c := range n {
			for i, v := range b[c*ldb+t*k:][:k] {
				plain[i/IntDepth][c*IntDepth+i%IntDepth] = v
			}
		}
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

// fields puts v into each of the four fields of a word.
const fields = 1<<48 | 1<<32 | 1<<16 | 1

// sumsOf returns the sums of w and the largest of them.
func sumsOf(w *mergedWord) (s pairSums, most int32) {
	const half = mergedCols / 2
	for i := range half {
		var up, down uint64
		for j := range 4 {
			a, b := int32(w[8*i+2*j]), int32(w[8*i+2*j+1])
			positive := max(a, 0) + max(b, 0)
			negative := positive - a - b
			most = max(most, positive, negative)
			up |= uint64(positive) << (16 * j)
			down |= uint64(negative) << (16 * j)
		}
		s[i], s[half+i] = up, down
	}
	return s, most
}

// fit reports whether the sums of two words are in range when they are added.
func fit(a, b *pairSums) bool {
	const offset, over = (1<<15 - 1 - mergedMost) * fields, 1 << 15 * fields
	for i := range a {
		if (a[i]+b[i]+offset)&over != 0 {
			return false
		}
	}
	return true
}

// merger orders the words of runs.
type merger struct {
	sums []pairSums
	most []int32
	by   []uint16 // words from the smallest sums to the largest
	used []bool
	one  []uint16 // words without a partner
}

func newMerger(words int) *merger {
	return &merger{make([]pairSums, words), make([]int32, words), make([]uint16, words), make([]bool, words), nil}
}

// order writes the list of a run. Words with large sums are merged with such that have small ones: a partner is sought
// from the largest sums down, among those that are left with the smallest.
func (m *merger) order(list []uint16, words []mergedWord) {
	for i := range words {
		m.sums[i], m.most[i] = sumsOf(&words[i])
		m.by[i], m.used[i] = uint16(i), false
	}
	slices.SortFunc(m.by, func(a, b uint16) int { return cmp.Or(cmp.Compare(m.most[a], m.most[b]), cmp.Compare(a, b)) })
	wide := len(m.by)
	for wide > 0 && m.most[m.by[wide-1]] > mergedMost {
		wide--
	}
	two, single, low := list[mergedHead:mergedHead], m.one[:0], 0
	for high := wide - 1; high >= 0; high-- {
		w := m.by[high]
		if m.used[w] {
			continue
		}
		for low < high && m.used[m.by[low]] {
			low++
		}
		tries, found := mergedTries, false
		for i := low; i < high && tries > 0 && !found; i++ {
			p := m.by[i]
			if m.used[p] {
				continue
			}
			tries--
			if found = fit(&m.sums[w], &m.sums[p]); found {
				two = append(two, w, p)
				m.used[p] = true
			}
		}
		if m.used[w] = true; !found {
			single = append(single, w)
		}
	}
	list[0], list[1], list[2], list[3] = uint16(len(two)/2), uint16(len(single)), uint16(len(m.by)-wide), 0
	at := list[mergedHead+len(two):]
	copy(at[copy(at, single):], m.by[wide:])
	m.one = single
}
