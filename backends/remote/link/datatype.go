package link

import "github.com/anynpu/anynpu/core/tensor"

var datatypes = map[tensor.DType]string{
	tensor.Bool: "BOOL", tensor.Uint8: "UINT8", tensor.Uint16: "UINT16", tensor.Uint32: "UINT32", tensor.Uint64: "UINT64",
	tensor.Int8: "INT8", tensor.Int16: "INT16", tensor.Int32: "INT32", tensor.Int64: "INT64",
	tensor.Float16: "FP16", tensor.Float32: "FP32", tensor.Float64: "FP64", tensor.BFloat16: "BF16",
}

var dtypes = func() map[string]tensor.DType {
	m := make(map[string]tensor.DType, len(datatypes))
	for d, name := range datatypes {
		m[name] = d
	}
	return m
}()

// Datatype returns the protocol's name of an element type, e.g. "FP32"; ok is false when it has none.
func Datatype(d tensor.DType) (name string, ok bool) {
	name, ok = datatypes[d]
	return name, ok
}

// DType returns the element type of a datatype; ok is false for names that the protocol does not have, and for BYTES.
func DType(datatype string) (d tensor.DType, ok bool) {
	d, ok = dtypes[datatype]
	return d, ok
}

// PortOf is a port of a type, with -1 for sizes that are open; ok is false for types that the protocol has no word for.
func PortOf(name string, t tensor.Type) (p Port, ok bool) {
	p = Port{Name: name, Type: t.DType, Shape: []int64{}}
	if p.Datatype, ok = Datatype(t.DType); !ok || !t.Shape.Ranked {
		return p, false
	}
	for _, d := range t.Shape.Dims {
		n := d.N
		if !d.Known() {
			n = -1
		}
		p.Shape = append(p.Shape, n)
	}
	return p, true
}
