package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// keysOf are numbers in the order of the elements of a tensor: equal where those are equal, all NaN the largest.
func keysOf(x tensor.Tensor) []uint64 {
	keys := alloc[uint64](x.Count())
	switch x.DType {
	case tensor.Float32:
		eachKey(keys, mem.Elements[float32](x.Data), func(v float32) uint64 {
			b := math.Float32bits(v + 0) // -0 is 0
			if v != v {
				return math.MaxUint64
			}
			return uint64(b ^ (uint32(int32(b)>>31) | 1<<31))
		})
	case tensor.Float64:
		eachKey(keys, mem.Elements[float64](x.Data), floatKey)
	case tensor.Int64:
		eachKey(keys, mem.Elements[int64](x.Data), intKey)
	case tensor.Int32:
		eachKey(keys, mem.Elements[int32](x.Data), intKey)
	case tensor.Uint8:
		eachKey(keys, x.Data, func(v uint8) uint64 { return uint64(v) })
	default:
		for i := range keys {
			tick()
			switch s := scalarAt(x, i); s.kind {
			case intKind:
				keys[i] = intKey(s.i)
			case uintKind:
				keys[i] = s.u
			default:
				keys[i] = floatKey(s.f)
			}
		}
	}
	return keys
}

func eachKey[T any](keys []uint64, x []T, key func(T) uint64) {
	inStretches(len(keys), func(from, to int) {
		for i, v := range x[from:to] {
			keys[from+i] = key(v)
		}
	})
}

func intKey[T int32 | int64](v T) uint64 { return uint64(v) ^ 1<<63 }

func floatKey(v float64) uint64 {
	if v != v {
		return math.MaxUint64
	}
	b := math.Float64bits(v + 0) // -0 is 0
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

// distinct numbers keys in the order in which they appear first.
type distinct struct {
	keys   []uint64
	first  []int   // where each is for the first time
	counts []int64 // how often
	slots  []slot  // a table of 1<<bits places, of which at most half are taken
	bits   int
}

// slot is a place of the table of keys.
type slot struct {
	key   uint64
	group int // less one, 0: empty
}

// distinctOf fills of with the number of each key.
func distinctOf(keys []uint64, of []int64) *distinct {
	d := &distinct{}
	d.room()
	inStretches(len(keys), func(from, to int) {
		for i, key := range keys[from:to] {
			s := d.find(key)
			if s.group == 0 {
				if 2*len(d.keys) >= len(d.slots) {
					d.room()
					s = d.find(key)
				}
				d.keys = append(grow(d.keys, 1), key)
				d.first = append(grow(d.first, 1), from+i)
				d.counts = append(grow(d.counts, 1), 0)
				s.key, s.group = key, len(d.keys)
			}
			d.counts[s.group-1]++
			of[from+i] = int64(s.group - 1)
		}
	})
	return d
}

// find is the place of a key, or that where it belongs.
func (d *distinct) find(key uint64) *slot {
	slots := d.slots
	for at := int(key * 0x9e3779b97f4a7c15 >> (64 - d.bits)); ; at++ {
		s := &slots[at&(len(slots)-1)]
		if s.group == 0 || s.key == key {
			return s
		}
	}
}

// room makes the table four times as large.
func (d *distinct) room() {
	d.bits = max(8, d.bits+2)
	d.slots = alloc[slot](1 << d.bits)
	for k, key := range d.keys {
		tick()
		*d.find(key) = slot{key, k + 1}
	}
}
