package plan

import (
	"unsafe"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// loaded is a graph with the types, sizes and constants of its values, and the order of its nodes.
type loaded struct {
	graph  *graph.Graph
	values []value // the graph's, then those that passes add
	inputs []tensor.Type
	order  []int // nodes that are left, in an order in which they can be computed
}

// load reads what inference knows of a graph, and with open, the graph without the sizes of its inputs, what follows
// from these. Kind fault.Unsupported when an input has no size or a value takes more than limit bytes.
func load(g, open *graph.Graph, limit int64) (*loaded, error) {
	order, err := g.Order()
	if err != nil {
		return nil, err
	}
	x := &loaded{graph: g, order: order, values: make([]value, len(g.Values))}
	isInput := make([]bool, len(g.Values))
	for _, v := range g.In {
		isInput[v] = true
	}
	for i := range g.Values {
		f := &g.Values[i].Fact
		v := value{typ: f.Type}
		if dims, ok := f.Shape.Ints(); ok && f.DType.Valid() {
			size, fits := f.ByteSize()
			if !fits || size > limit {
				return nil, fault.New(fault.Unsupported, "value %d %q: %v is too large for the arena", i, g.Values[i].Name, f.Type)
			}
			v.dims = dims
		}
		switch {
		case isInput[i]:
		case f.Const != nil:
			v.setData(f.Const.Data)
		case f.Ints != nil && v.dims != nil && f.Quant == nil:
			if data := known(*f); data != nil {
				v.setData(data)
				v.sized = open != nil && known(open.Values[i].Fact) == nil
			}
		}
		x.values[i] = v
	}
	for i, v := range g.In {
		in := &x.values[v]
		if in.dims == nil || !in.typ.DType.Valid() {
			return nil, fault.New(fault.Unsupported, "input %d: shape %v", i, in.typ.Shape)
		}
		x.inputs = append(x.inputs, in.typ)
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

// value is what is known of a value.
type value struct {
	typ  tensor.Type
	dims []int64 // nil: not known before the run
	data []byte  // of a constant; those of float32 values are at an address that suits them
	// sized says that the constant follows from the sizes of inputs, and is another one in the graph's other plans.
	sized bool
}

// setData makes v a constant.
func (v *value) setData(data []byte) {
	if v.typ.DType == tensor.Float32 && uintptr(unsafe.Pointer(unsafe.SliceData(data)))%4 != 0 {
		own := make([]uint64, (len(data)+7)/8)
		aligned := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(own))), len(data))
		copy(aligned, data)
		data = aligned
	}
	if data == nil {
		data = []byte{} // of no elements
	}
	v.data = data
}

// isFloat32 reports whether kernels can compute with v: float32 of known, non-empty shape.
func (v *value) isFloat32() bool {
	return v.dims != nil && v.typ.DType == tensor.Float32 && v.typ.Quant == nil && v.count() > 0
}

func (v *value) count() int {
	n, _ := tensor.Count(v.dims)
	return int(n)
}

// convertible reports whether v is of known, non-empty shape and of a type whose elements conversions take.
func (v *value) convertible() bool {
	return v.dims != nil && convert.Plain(v.typ.DType) && v.count() > 0
}

// isFloat reports whether v holds values that float32 can stand for.
func (v *value) isFloat() bool {
	return v.convertible() && v.typ.DType.IsFloat() && v.typ.DType != tensor.Float64 && v.typ.Quant == nil
}
