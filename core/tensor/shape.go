package tensor

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Dim is one dimension: a known size N (Sym == 0), or an unknown one. Equal non-zero Sym within one graph means equal
// size. An unknown dimension about which nothing is known has Sym Unknown, which is equal to nothing, not even to
// itself.
type Dim struct {
	N   int64
	Sym uint32
}

// Unknown is the Sym of a dimension about which nothing is known.
const Unknown uint32 = math.MaxUint32

// D returns a known dimension of size n.
func D(n int64) Dim { return Dim{N: n} }

// AnyDim returns a dimension about which nothing is known.
func AnyDim() Dim { return Dim{Sym: Unknown} }

// Known reports whether the size is known.
func (d Dim) Known() bool { return d.Sym == 0 }

// Same reports whether the two dimensions are certainly equal.
func (d Dim) Same(e Dim) bool {
	return d.Sym == e.Sym && d.Sym != Unknown && (d.Sym != 0 || d.N == e.N)
}

// String returns the size, "?" or "?k" for symbol k.
func (d Dim) String() string {
	switch {
	case d.Sym == 0:
		return strconv.FormatInt(d.N, 10)
	case d.Sym == Unknown:
		return "?"
	}
	return "?" + strconv.FormatUint(uint64(d.Sym), 10)
}

// Shape is a tensor's shape. Ranked false: not even the rank is known. A scalar is ranked with no dimensions. A size
// may be zero.
type Shape struct {
	Ranked bool
	Dims   []Dim
}

// Of returns the shape with the known sizes n.
func Of(n ...int64) Shape {
	d := make([]Dim, len(n))
	for i, v := range n {
		d[i] = D(v)
	}
	return Shape{Ranked: true, Dims: d}
}

// OfDims returns the ranked shape with dimensions d, which it keeps.
func OfDims(d ...Dim) Shape { return Shape{Ranked: true, Dims: d} }

// AnyShape returns the shape about which nothing is known.
func AnyShape() Shape { return Shape{} }

// AnyOfRank returns the shape of rank r with unknown sizes.
func AnyOfRank(r int) Shape {
	d := make([]Dim, r)
	for i := range d {
		d[i] = AnyDim()
	}
	return Shape{Ranked: true, Dims: d}
}

// Rank returns the number of dimensions, -1 when it is unknown.
func (s Shape) Rank() int {
	if !s.Ranked {
		return -1
	}
	return len(s.Dims)
}

// Static reports whether rank and all sizes are known.
func (s Shape) Static() bool {
	if !s.Ranked {
		return false
	}
	for _, d := range s.Dims {
		if !d.Known() {
			return false
		}
	}
	return true
}

// Ints returns the sizes; ok is false unless all are known.
func (s Shape) Ints() (n []int64, ok bool) {
	if !s.Static() {
		return nil, false
	}
	n = make([]int64, len(s.Dims))
	for i, d := range s.Dims {
		n[i] = d.N
	}
	return n, true
}

// Count returns the number of elements; ok is false when a size is unknown or negative or the product does not fit into
// int64.
func (s Shape) Count() (n int64, ok bool) {
	if !s.Static() {
		return 0, false
	}
	var few [8]int64
	dims := few[:0]
	for _, d := range s.Dims {
		dims = append(dims, d.N)
	}
	return Count(dims)
}

// Equal reports whether both shapes are known to be the same.
func (s Shape) Equal(t Shape) bool {
	if !s.Ranked || !t.Ranked || len(s.Dims) != len(t.Dims) {
		return false
	}
	for i := range s.Dims {
		if !s.Dims[i].Same(t.Dims[i]) {
			return false
		}
	}
	return true
}

// Clone returns a copy that shares nothing with s.
func (s Shape) Clone() Shape {
	return Shape{Ranked: s.Ranked, Dims: append([]Dim(nil), s.Dims...)}
}

// Merge returns what is known when both descriptions hold; ok is false when they contradict each other.
func (s Shape) Merge(t Shape) (m Shape, ok bool) {
	if !s.Ranked {
		return t.Clone(), true
	}
	if !t.Ranked {
		return s.Clone(), true
	}
	if len(s.Dims) != len(t.Dims) {
		return Shape{}, false
	}
	m = s.Clone()
	for i, d := range t.Dims {
		switch {
		case m.Dims[i].Known() && d.Known():
			if m.Dims[i].N != d.N {
				return Shape{}, false
			}
		case d.Known() || m.Dims[i].Sym == Unknown:
			m.Dims[i] = d
		}
	}
	return m, true
}

// String returns e.g. "[1,28,28,?]", "[]" for a scalar, "[...]" for an unknown rank.
func (s Shape) String() string {
	if !s.Ranked {
		return "[...]"
	}
	var b strings.Builder
	b.WriteByte('[')
	for i, d := range s.Dims {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(d.String())
	}
	b.WriteByte(']')
	return b.String()
}

// Count returns the product of the sizes, 1 for none and 0 when one of them is 0; ok is false when a size is negative
// or the product does not fit into int64.
func Count(dims []int64) (n int64, ok bool) {
	for _, d := range dims {
		if d < 0 {
			return 0, false
		}
	}
	if slices.Contains(dims, 0) {
		return 0, true
	}
	n = 1
	for _, d := range dims {
		if n > math.MaxInt64/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// RowMajor returns the strides, in elements, of a contiguous tensor of these sizes.
func RowMajor(dims []int64) []int64 {
	s := make([]int64, len(dims))
	n := int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		s[i] = n
		n *= dims[i]
	}
	return s
}

// ChannelsLast returns the order of dimensions that images [N, C, spatial...] have in memory when the channels come
// last: [0, 2, ..., 1].
func ChannelsLast(rank int) []int {
	order := []int{0}
	for i := 2; i < rank; i++ {
		order = append(order, i)
	}
	return append(order, 1)
}

// Broadcast returns the NumPy broadcast of two shapes: aligned at the last dimension, sizes equal or one of them 1.
// An unknown size against a known one other than 1 gives the known one; the run will see whether it holds.
func Broadcast(a, b Shape) (Shape, error) {
	if !a.Ranked || !b.Ranked {
		return Shape{}, nil
	}
	r := max(len(a.Dims), len(b.Dims))
	out := make([]Dim, r)
	for i := range out {
		x, y := D(1), D(1)
		if k := i - (r - len(a.Dims)); k >= 0 {
			x = a.Dims[k]
		}
		if k := i - (r - len(b.Dims)); k >= 0 {
			y = b.Dims[k]
		}
		switch {
		case x.Same(y), y.Known() && y.N == 1:
			out[i] = x
		case x.Known() && x.N == 1:
			out[i] = y
		case x.Known() && y.Known():
			return Shape{}, fmt.Errorf("cannot broadcast %v with %v at dimension %d", a, b, i)
		case x.Known():
			out[i] = x
		case y.Known():
			out[i] = y
		default:
			out[i] = AnyDim()
		}
	}
	return OfDims(out...), nil
}
