package ir

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Loaded is a graph with the types, sizes and constants of its values, and the order of its nodes.
type Loaded struct {
	Graph  *graph.Graph
	Values []Value // the graph's, then those that passes add
	Inputs []tensor.Type
	Order  []int // nodes that are left, in an order in which they can be computed
}

// Load reads what inference knows of a graph, and with open, the graph without the sizes of its inputs, what follows
// from these. Kind fault.Unsupported when an input has no size, unless loose, or a value takes more than limit bytes.
func Load(g, open *graph.Graph, limit int64, loose bool) (*Loaded, error) {
	order, err := g.Order()
	if err != nil {
		return nil, err
	}
	x := &Loaded{Graph: g, Order: order, Values: make([]Value, len(g.Values))}
	isInput := make([]bool, len(g.Values))
	for _, v := range g.In {
		isInput[v] = true
	}
	for i := range g.Values {
		f := &g.Values[i].Fact
		v := Value{Type: f.Type}
		if dims, ok := f.Shape.Ints(); ok && f.DType.Valid() {
			size, fits := f.ByteSize()
			if !fits || size > limit {
				return nil, fault.New(fault.Unsupported, "value %d %q: %v is too large for the arena", i, g.Values[i].Name, f.Type)
			}
			v.Dims = dims
		}
		switch {
		case isInput[i]:
		case f.Const != nil:
			v.SetData(f.Const.Data)
		case f.Ints != nil && v.Dims != nil && f.Quant == nil:
			if data := known(*f); data != nil {
				v.SetData(data)
				v.Sized = open != nil && known(open.Values[i].Fact) == nil
			}
		}
		x.Values[i] = v
	}
	for i, v := range g.In {
		in := &x.Values[v]
		if in.Dims == nil && !loose || !in.Type.DType.Valid() {
			return nil, fault.New(fault.Unsupported, "input %d: shape %v", i, in.Type.Shape)
		}
		x.Inputs = append(x.Inputs, in.Type)
	}
	return x, nil
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

// Value holds the facts that are known of a value of the graph.
type Value struct {
	Type tensor.Type
	Dims []int64 // nil: not known before the run
	Data []byte  // of a constant; those of float32 values are at an address that suits them
	// Sized says that the constant follows from the sizes of inputs, and is another one in the graph's other plans.
	Sized bool
}

// SetData makes v a constant.
func (v *Value) SetData(data []byte) {
	if v.Type.DType == tensor.Float32 && uintptr(unsafe.Pointer(unsafe.SliceData(data)))%4 != 0 {
		own := make([]uint64, (len(data)+7)/8)
		aligned := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(own))), len(data))
		copy(aligned, data)
		data = aligned
	}
	if data == nil {
		data = []byte{} // of no elements
	}
	v.Data = data
}

// IsFloat32 reports whether kernels can compute with v: float32 of known, non-empty shape.
func (v *Value) IsFloat32() bool {
	return v.Dims != nil && v.Type.DType == tensor.Float32 && v.Type.Quant == nil && v.Count() > 0
}

// Count is the number of elements of a value of known sizes.
func (v *Value) Count() int {
	n, _ := tensor.Count(v.Dims)
	return int(n)
}

// Convertible reports whether v is of known, non-empty shape and of a type whose elements conversions take.
func (v *Value) Convertible() bool {
	return v.Dims != nil && convert.Plain(v.Type.DType) && v.Count() > 0
}

// IsFloat reports whether v holds values that float32 can stand for.
func (v *Value) IsFloat() bool {
	return v.Convertible() && v.Type.DType.IsFloat() && v.Type.DType != tensor.Float64 && v.Type.Quant == nil
}
