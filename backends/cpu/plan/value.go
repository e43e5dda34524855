package plan

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// value is what the builder knows of a value of the graph.
type value struct {
	typ         tensor.Type
	dims        []int64 // nil: not known before the run
	plain, last int     // buffers of the forms, none: not made
	data        []byte  // of a constant
}

const none = -1

// place says who provides a buffer's memory.
type place uint8

const (
	inArena  place = iota // the state
	isInput               // the caller, for this run
	isConst               // the graph or the plan
	isResult              // a reference step makes it
	isView                // columns of another buffer
)

// buffer is memory that steps read and write; several values share one when they are views of each other.
type buffer struct {
	place  place
	index  int    // input number
	data   []byte // constant
	size   int64
	output int // graph output that this buffer is memory of, none
	offset int64
	base   int // of a view: the buffer it is part of, never a view
	at, ld int // of a view: its first value, and the distance between rows, 0: it is one run of values
}

// fast reports whether kernels can compute with v: float32 of known, non-empty shape.
func (v *value) fast() bool {
	return v.dims != nil && v.typ.DType == tensor.Float32 && v.typ.Quant == nil && v.count() > 0
}

func (v *value) count() int {
	n, _ := tensor.Count(v.dims)
	return int(n)
}

// lastDims are the sizes in the channels-last form.
func lastDims(dims []int64) []int64 {
	d := append([]int64{dims[0]}, dims[2:]...)
	return append(d, dims[1])
}

// sameForms reports whether both forms of a shape have the same bytes.
func sameForms(dims []int64) bool {
	return len(dims) < 3 || dims[1] == 1 || product(dims[2:]) == 1
}

func product(dims []int64) int {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	return n
}

// floats returns bytes as float32 values.
func floats(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

// bytesOf returns float32 values as bytes.
func bytesOf(v []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

// loadValues fills b.values from the graph, folding what inference knows.
func (b *builder) loadValues() error {
	g := b.graph
	b.values = make([]value, len(g.Values))
	for i := range g.Values {
		f := &g.Values[i].Fact
		v := value{typ: f.Type, plain: none, last: none}
		if dims, ok := f.Shape.Ints(); ok && f.DType.Valid() {
			size, fits := f.ByteSize()
			if !fits || size > b.limit {
				return fault.New(fault.Unsupported, "value %d %q: %v is too large for the arena", i, g.Values[i].Name, f.Type)
			}
			v.dims = dims
		}
		switch {
		case f.Const != nil:
			v.data = f.Const.Data
		case f.Ints != nil && v.dims != nil && f.Quant == nil:
			v.data = known(*f)
		}
		b.values[i] = v
	}
	for i, in := range g.In {
		v := &b.values[in]
		v.data = nil
		v.plain = b.buffer(buffer{place: isInput, index: i})
	}
	for i := range b.values {
		if v := &b.values[i]; v.data != nil {
			v.plain = b.buffer(buffer{place: isConst, data: v.data})
		}
	}
	return nil
}

// known returns the bytes of a value that inference knows completely, else nil.
func known(f tensor.Fact) []byte {
	ints, ok := f.KnownInts()
	n, static := f.Shape.Count()
	if !ok || !static || n != int64(len(ints)) || n == 0 {
		return nil
	}
	t := tensor.New(f.DType, n)
	for i, x := range ints {
		tensor.PutInt(f.DType, t.Data, i, x)
	}
	return t.Data
}

func (b *builder) buffer(x buffer) int {
	x.output = none
	if x.place == isConst {
		x.size = int64(len(x.data))
	}
	b.plan.buffers = append(b.plan.buffers, x)
	return len(b.plan.buffers) - 1
}

// arena makes a buffer of n float32 values.
func (b *builder) arena(n int) int { return b.buffer(buffer{place: inArena, size: int64(4 * n)}) }

// wantPlain returns the buffer of v's plain form, making it when there is only the other.
func (b *builder) wantPlain(v graph.Value) int {
	b.settle(v)
	x := &b.values[v]
	if x.plain == none && x.last != none {
		if sameForms(x.dims) {
			x.plain = x.last
		} else {
			d := lastDims(x.dims)
			rank := len(d)
			perm := append([]int{0, rank - 1}, seq(1, rank-1)...)
			x.plain = b.arena(x.count())
			b.permute(x.plain, x.last, d, perm)
		}
	}
	return x.plain
}

// wantLast returns the buffer of v's channels-last form.
func (b *builder) wantLast(v graph.Value) int {
	b.settle(v)
	x := &b.values[v]
	if x.last == none {
		if sameForms(x.dims) {
			x.last = x.plain
		} else {
			perm := append(append([]int{0}, seq(2, len(x.dims))...), 1)
			x.last = b.arena(x.count())
			b.permute(x.last, x.plain, x.dims, perm)
		}
	}
	return x.last
}

// inLast reports whether v is best read in channels-last form.
func (b *builder) inLast(v graph.Value) bool {
	b.settle(v)
	x := &b.values[v]
	return x.last != none && (x.plain == none || sameForms(x.dims))
}

// make returns a new buffer for v in the given form.
func (b *builder) make(v graph.Value, last bool) int {
	x := &b.values[v]
	n := b.arena(x.count())
	if last {
		x.last = n
	} else {
		x.plain = n
	}
	return n
}

func seq(from, to int) []int {
	var s []int
	for i := from; i < to; i++ {
		s = append(s, i)
	}
	return s
}

// constant returns the values of a float32 constant, nil when v is none.
func (b *builder) constant(v graph.Value) []float32 {
	if v == graph.None || b.values[v].data == nil || b.values[v].typ.DType != tensor.Float32 ||
		b.values[v].typ.Quant != nil {
		return nil
	}
	b.pin(v)
	return floats(b.aligned(v))
}

// aligned returns a constant's bytes at an address that suits float32.
func (b *builder) aligned(v graph.Value) []byte {
	x := &b.values[v]
	if uintptr(unsafe.Pointer(unsafe.SliceData(x.data)))%4 != 0 {
		own := make([]uint64, (len(x.data)+7)/8)
		data := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(own))), len(x.data))
		copy(data, x.data)
		x.data = data
		if x.plain != none {
			b.plan.buffers[x.plain].data = data
		}
	}
	return x.data
}

// ints returns the values of an integer input that is known now; ok is false when it is not. An absent one is nil.
func (b *builder) ints(in []graph.Value, i int) (v []int64, ok bool) {
	if i >= len(in) || in[i] == graph.None {
		return nil, true
	}
	x := &b.values[in[i]]
	if x.data == nil || x.dims == nil {
		return nil, false
	}
	v, err := tensor.ReadInts(x.typ.DType, x.data, x.count())
	return v, err == nil
}

func given(in []graph.Value, i int) bool { return i < len(in) && in[i] != graph.None }
