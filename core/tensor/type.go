package tensor

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
)

// Quant says how integers stand for real values: real = Scale[i] x (q - Zero[i]), where i is chosen by the element's
// position.
//
//	per tensor  len(Scale) == 1
//	per axis    len(Scale) == size of dimension Axis; i is the index on Axis
//	blocked     Block > 0: the scales form a tensor of the shape of the data with dimension Axis divided by Block (rounded up), row-major
//
// Zero has the length of Scale, or is empty, which means all zero. Axis counts from the front and is ignored per
// tensor.
type Quant struct {
	Scale []float32
	Zero  []int32
	Axis  int
	Block int
}

// PerTensor returns the quantization with one scale and one zero point.
func PerTensor(scale float32, zero int32) *Quant {
	return &Quant{Scale: []float32{scale}, Zero: []int32{zero}}
}

// IsPerTensor reports whether one scale serves all elements.
func (q *Quant) IsPerTensor() bool { return q != nil && len(q.Scale) == 1 && q.Block == 0 }

// ZeroAt returns the zero point that belongs to Scale[i].
func (q *Quant) ZeroAt(i int) int32 {
	if i < len(q.Zero) {
		return q.Zero[i]
	}
	return 0
}

// Equal reports whether both describe the same mapping in the same words; two nils are equal.
func (q *Quant) Equal(r *Quant) bool {
	if q == nil || r == nil {
		return q == r
	}
	return slices.Equal(q.Scale, r.Scale) && slices.Equal(q.Zero, r.Zero) && q.Axis == r.Axis && q.Block == r.Block
}

// Type is an element type with a shape and, for quantized tensors, the meaning of the integers.
type Type struct {
	DType DType
	Shape Shape
	Quant *Quant // nil: not quantized
}

// T returns the unquantized type with known sizes.
func T(d DType, dims ...int64) Type { return Type{DType: d, Shape: Of(dims...)} }

// String returns e.g. "float32[1,10]" or "int8[1,10]q".
func (t Type) String() string {
	s := t.DType.String() + t.Shape.String()
	if t.Quant != nil {
		s += "q"
	}
	return s
}

// ByteSize returns the bytes of a contiguous tensor of this type; ok is false unless all sizes are known and the
// product fits.
func (t Type) ByteSize() (n int64, ok bool) {
	c, ok := t.Shape.Count()
	if !ok {
		return 0, false
	}
	return t.DType.ByteSize(c)
}

// Hash identifies the bytes of a constant: SHA-256 of the data alone.
type Hash [sha256.Size]byte

// HashOf returns the hash of data.
func HashOf(data []byte) Hash { return sha256.Sum256(data) }

// String returns the first 8 bytes in hexadecimal.
func (h Hash) String() string { return fmt.Sprintf("%x", h[:8]) }

// Const is the value of a constant tensor. Data is contiguous, of the length that DType and Dims demand, and must never
// be written. It may lie outside the Go heap; whoever made it keeps it alive as long as the graph.
type Const struct {
	Data []byte
	hash Hash
	once sync.Once
}

// NewConst returns a constant over data, which it keeps.
func NewConst(data []byte) *Const { return &Const{Data: data} }

// NewHashedConst returns a constant over data whose hash is already known.
func NewHashedConst(data []byte, h Hash) *Const {
	c := &Const{Data: data, hash: h}
	c.once.Do(func() {})
	return c
}

// Hash returns the hash of the data; the first call computes it. It is safe for concurrent use.
func (c *Const) Hash() Hash {
	c.once.Do(func() { c.hash = HashOf(c.Data) })
	return c.hash
}

// MaxInts is the largest number of elements for which a Fact carries partly known integer values.
const MaxInts = 1024

// Fact holds the knowledge about a value: its type, its constant, and, for small integer tensors (at most MaxInts
// elements of int32, int64 or bool as 0 and 1, in row-major order), their values as far as they are known. Ints nil
// means nothing is known; a constant's values are found by IntValues.
type Fact struct {
	Type
	Const *Const
	Ints  []Dim
}

// IntValues returns the elements of a small integer tensor as far as they are known, from Const or Ints; nil when
// nothing is known. Any integer type and bool is read when the value is constant.
func (f Fact) IntValues() []Dim {
	if f.Const == nil {
		return f.Ints
	}
	n, ok := f.Shape.Count()
	if !ok || n > MaxInts || !(f.DType.IsInt() || f.DType == Bool) {
		return nil
	}
	size, ok := f.DType.ByteSize(n)
	if !ok || int64(len(f.Const.Data)) < size {
		return nil
	}
	v, err := ReadInts(f.DType, f.Const.Data, int(n))
	if err != nil {
		return nil
	}
	out := make([]Dim, n)
	for i, x := range v {
		out[i] = D(x)
	}
	return out
}

// KnownInts returns the elements of a small integer tensor when every one of them is known.
func (f Fact) KnownInts() (v []int64, ok bool) {
	d := f.IntValues()
	if d == nil {
		return nil, false
	}
	v = make([]int64, len(d))
	for i, x := range d {
		if !x.Known() {
			return nil, false
		}
		v[i] = x.N
	}
	return v, true
}

// Tensor is a value at run time: a type whose sizes are all known, and its contiguous bytes. Data nil with DType
// Invalid stands for an absent optional input.
type Tensor struct {
	DType DType
	Dims  []int64
	Quant *Quant
	Data  []byte
}

// Absent reports whether the tensor stands for an optional input that is not given.
func (t Tensor) Absent() bool { return t.DType == Invalid }

// Type returns the tensor's type.
func (t Tensor) Type() Type { return Type{DType: t.DType, Shape: Of(t.Dims...), Quant: t.Quant} }

// Count returns the number of elements.
func (t Tensor) Count() int {
	n, _ := Count(t.Dims)
	return int(n)
}

// New returns a zeroed tensor on the Go heap. It panics when the sizes are negative or too large: callers have
// validated them.
func New(d DType, dims ...int64) Tensor {
	n, ok := T(d, dims...).ByteSize()
	if !ok {
		panic(fmt.Sprintf("tensor: %v%v has no size", d, dims))
	}
	return Tensor{DType: d, Dims: append([]int64(nil), dims...), Data: make([]byte, n)}
}
