package nnapicalls

import (
	"encoding/binary"
	"io"

	"github.com/anynpu/anynpu/backends/nnapi"
	"github.com/anynpu/anynpu/core/graph"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
)

// Describe turns a graph into a model of the API's newest feature level. The model reads the graph's constants.
func Describe(g *graph.Graph) (*spec.Model, error) {
	g, err := integers(g)
	if err != nil {
		return nil, err
	}
	return nnapi.Describe(g, spec.Level8)
}

// magic is what the file begins with.
const magic = "ANNCALL1"

// Write writes a model in the processor's byte order.
func Write(w io.Writer, m *spec.Model) (err error) {
	put := func(v any) {
		if err == nil {
			err = binary.Write(w, binary.NativeEndian, v)
		}
	}
	list := func(v []uint32) {
		put(uint32(len(v)))
		put(v)
	}
	put([]byte(magic))
	put(uint32(len(m.Operands)))
	for i := range m.Operands {
		o := &m.Operands[i]
		put(int32(o.Type))
		list(o.Dims)
		put(o.Scale)
		put(o.ZeroPoint)
		if c := o.Channel; c != nil {
			put([]uint32{uint32(len(c.Scales)), c.Dim})
			put(c.Scales)
		} else {
			put(uint32(0))
		}
		put(uint32(o.Lifetime))
		put(uint64(len(o.Data)))
		put(o.Data)
	}
	put(uint32(len(m.Operations)))
	for _, o := range m.Operations {
		put(int32(o.Code))
		list(o.Inputs)
		list(o.Outputs)
	}
	list(m.Inputs)
	list(m.Outputs)
	return err
}
