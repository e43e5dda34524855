package model

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// useBatch makes a model that is declared for one image take as many as the shapes of its metadata have. A model that
// cannot keeps taking one, and its metadata then say so; Unbatched tells why.
func (m *Model) useBatch() error {
	batch := int64(0)
	g := m.Graph
	single := func(v graph.Value) bool {
		s := g.Fact(v).Shape
		return len(s.Dims) > 0 && s.Dims[0].Known() && s.Dims[0].N == 1
	}
	wanted := map[graph.Value]bool{}
	for _, v := range g.In {
		info := m.Meta.Inputs[g.Values[v].Name]
		for _, s := range append(slices.Clone(info.Shapes), info.Shape) {
			if len(s) == 0 || s[0] <= 1 || !single(v) {
				continue
			}
			if wanted[v] = true; batch != 0 && s[0] != batch {
				return fault.New(fault.File, "the shapes of the metadata have the batches %d and %d for a model of one", batch,
					s[0])
			}
			batch = s[0]
		}
	}
	if batch == 0 {
		return nil
	}
	own, err := batched(g, wanted, batch)
	if err == nil {
		m.Graph = own
		return nil
	}
	m.Unbatched = fmt.Sprintf("the model is made for one image and stays so, the batch of %d has no effect: %v", batch,
		err)
	for v := range wanted {
		info := m.Meta.Inputs[g.Values[v].Name]
		for _, s := range append(slices.Clone(info.Shapes), info.Shape) {
			if len(s) > 0 {
				s[0] = 1
			}
		}
	}
	return nil
}

// batched returns a copy of g whose given inputs have another first size than 1.
func batched(g *graph.Graph, inputs map[graph.Value]bool, batch int64) (*graph.Graph, error) {
	own, err := graph.Clone(g, func(_ tensor.Hash, data []byte) ([]byte, error) { return data, nil })
	if err != nil {
		return nil, err
	}
	for v := range inputs {
		f := &own.Values[v].Fact
		f.Shape.Dims = slices.Clone(f.Shape.Dims)
		f.Shape.Dims[0] = tensor.D(batch)
	}
	for i := range own.Nodes {
		n := &own.Nodes[i]
		if _, is := n.Op.(*op.Reshape); is {
			keepBatch(own, g, n, batch)
		}
		_, custom := n.Op.(*op.Custom)
		for _, v := range n.Out {
			if v == graph.None {
				continue
			}
			f := &own.Values[v].Fact
			f.Ints = nil
			if !custom {
				f.Shape = tensor.AnyShape()
			} else if d := f.Shape.Dims; len(d) > 0 && d[0].Known() && d[0].N == 1 {
				f.Shape.Dims = append([]tensor.Dim{tensor.D(batch)}, d[1:]...)
			}
		}
	}
	if err := own.Infer(); err != nil {
		return nil, err
	}
	for i, v := range own.Out {
		was, is := g.Fact(g.Out[i]).Shape, own.Fact(v).Shape
		if len(was.Dims) == 0 || len(was.Dims) != len(is.Dims) || !was.Dims[0].Known() ||
			is.Dims[0] != tensor.D(was.Dims[0].N*batch) || !slices.Equal(was.Dims[1:], is.Dims[1:]) {
			return nil, fault.New(fault.Shape, "output %q would have the shape %v, not %v for each image", own.Values[v].Name,
				is, was)
		}
	}
	return own, nil
}

// keepBatch changes a reshape of own, n, to a constant shape for one image to one for all. was is the graph for one.
func keepBatch(own, was *graph.Graph, n *graph.Node, batch int64) {
	shape, x := own.Fact(n.In[1]), was.Fact(n.In[0]).Shape
	count, ok := shape.Shape.Count()
	if shape.Const == nil || !ok || count < 1 || len(x.Dims) == 0 || x.Dims[0] != tensor.D(1) {
		return
	}
	sizes, err := tensor.ReadInts(shape.DType, shape.Const.Data, int(count))
	if err != nil || sizes[0] != 1 {
		return
	}
	sizes[0] = batch
	var data []byte
	for _, d := range sizes {
		data = binary.LittleEndian.AppendUint64(data, uint64(d))
	}
	own.Values = append(own.Values, graph.ValueInfo{Fact: tensor.Fact{Type: tensor.T(tensor.Int64, count),
		Const: tensor.NewConst(data)}})
	n.In[1] = graph.Value(len(own.Values) - 1)
}
