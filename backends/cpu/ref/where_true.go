package ref

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// whereTrue lists the elements that are not 0.
func whereTrue(x tensor.Tensor) []int {
	size := x.DType.Bits()
	switch {
	case size == 8 && !x.DType.IsFloat():
		return whereBits[uint8](x, math.MaxUint8)
	case x.DType == tensor.Float16 || x.DType == tensor.BFloat16:
		return whereBits[uint16](x, math.MaxInt16) // the sign says nothing
	case x.DType == tensor.Float32:
		return whereBits[uint32](x, math.MaxInt32)
	case x.DType == tensor.Float64:
		return whereBits[uint64](x, math.MaxInt64)
	case size == 16:
		return whereBits[uint16](x, math.MaxUint16)
	case size == 32:
		return whereBits[uint32](x, math.MaxUint32)
	case size == 64:
		return whereBits[uint64](x, math.MaxUint64)
	}
	count := 0
	for i := range x.Count() {
		tick()
		if scalarAt(x, i).isTrue() {
			count++
		}
	}
	found := alloc[int](count)[:0]
	for i := range x.Count() {
		tick()
		if scalarAt(x, i).isTrue() {
			found = append(found, i)
		}
	}
	return found
}

// placesOf writes the indices of elements, which ascend, of a tensor: those of each dimension side by side.
func placesOf(places []int64, found []int, dims []int64) {
	n, rank := len(found), len(dims)
	if rank == 0 {
		return
	}
	last := int(dims[rank-1])
	first, end := 0, 0 // of the row of an element
	outer := make([]int64, rank-1)
	inStretches(n, func(from, to int) {
		for i, f := range found[from:to] {
			if f >= end {
				row := f / last
				first, end = row*last, (row+1)*last
				for d := rank - 2; d >= 0; d-- {
					outer[d] = int64(row % int(dims[d]))
					row /= int(dims[d])
				}
			}
			for d, at := range outer {
				places[d*n+from+i] = at
			}
			places[(rank-1)*n+from+i] = int64(f - first)
		}
	})
}

// whereBits lists the elements some of whose bits are 1. Blocks of 64 bytes that have none are passed over.
func whereBits[T uint8 | uint16 | uint32 | uint64](x tensor.Tensor, mask T) (found []int) {
	const part = 8 << 10 // elements whose blocks are listed at once
	size := int(unsafe.Sizeof(mask))
	per := 64 / size
	wide := uint64(mask)
	for k := size; k < 8; k *= 2 {
		wide |= wide << (8 * k)
	}
	v := mem.Elements[T](x.Data)[:x.Count()]
	words := mem.Elements[uint64](mem.Bytes(v))
	var (
		at  [part / 8]uint16 // blocks that have some
		set [part / 8]uint64 // and which elements
	)
	for from := 0; from < len(v); from += part {
		tick()
		n := min(part, len(v)-from)
		blocks := listBlocks(at[:], words[from/per*8:][:n/per*8], wide)
		count := 0
		for k, b := range at[:blocks] {
			set[k] = whichOf(words[from/per*8+int(b)*8:][:8], v[from+int(b)*per:][:per], mask)
			count += bits.OnesCount64(set[k])
		}
		rest := v[from+n/per*per : from+n]
		found = grow(found, count+len(rest))
		for k, b := range at[:blocks] {
			first := from + int(b)*per
			for w := set[k]; w != 0; w &= w - 1 {
				found = append(found, first+bits.TrailingZeros64(w))
			}
		}
		for i, b := range rest {
			if b&mask != 0 {
				found = append(found, from+n-len(rest)+i)
			}
		}
	}
	return found
}

// listBlocks lists the blocks of eight words in which bits of mask are 1.
func listBlocks(list []uint16, words []uint64, mask uint64) (n int) {
	for b := 0; len(words) >= 8; b++ {
		w := words[:8]
		all := (w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7]) & mask
		list[n] = uint16(b)
		n += int((all | -all) >> 63)
		words = words[8:]
	}
	return n
}

// whichOf has a bit for each element of a block, which eight words are.
func whichOf[T uint8 | uint16 | uint32 | uint64](words []uint64, block []T, mask T) (set uint64) {
	if len(block) == 64 && mask == ^T(0) { // eight bytes at once
		const low = 0x7f7f7f7f7f7f7f7f
		for k, w := range words {
			w = ((w&low + low | w) &^ low) >> 7
			set |= w * 0x0102040810204080 >> 56 << (8 * k)
		}
		return set
	}
	for i, b := range block {
		w := uint64(b & mask)
		set |= (w | -w) >> 63 << i
	}
	return set
}
