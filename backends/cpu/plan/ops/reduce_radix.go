package ops

// rankedPair is a key with the index. Of equal keys the first has the larger pair, or the last.
func rankedPair(key int32, index int, last bool) int64 {
	low := uint32(index)
	if !last {
		low = ^low
	}
	return int64(key)<<32 | int64(low)
}

// sortedKeys are the pairs of keys in descending order, for which the keys are sorted byte by byte. a and b have as
// many numbers as there are keys, and the result is one of them.
func sortedKeys(keys []int32, a, b []int64, last bool) []int64 {
	var counts [4][256]int32
	for _, key := range keys {
		d := digits(key)
		counts[0][d&0xff]++
		counts[1][d>>8&0xff]++
		counts[2][d>>16&0xff]++
		counts[3][d>>24]++
	}
	for i, key := range keys {
		at := i
		if last {
			at = len(keys) - 1 - i
		}
		a[at] = rankedPair(key, i, last)
	}
	for k := range counts {
		places := &counts[k]
		if places[digits(keys[0])>>(8*k)&0xff] == int32(len(keys)) {
			continue // all have the same
		}
		sum := int32(0)
		for d, n := range places {
			places[d] = sum
			sum += n
		}
		for _, v := range a {
			d := digits(int32(v>>32)) >> (8 * k) & 0xff
			b[places[d]] = v
			places[d]++
		}
		a, b = b, a
	}
	return a
}

// digits are less for a larger key.
func digits(key int32) uint32 { return ^uint32(key) ^ 1<<31 }
