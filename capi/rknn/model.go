package rknn

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"

	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// model is what contexts that were duplicated from one another share.
type model struct {
	refs    atomic.Int32
	program *compile.Program
	meta    *metadata.Metadata
	in, out []*port
	dynamic bool
	shapes  []shapeSet // at least one; the last of a static model is its only one
	largest int        // index into shapes
	nodes   map[int]nodeText
	size    int64 // bytes of the model as it was handed over
	weights int64 // bytes of the constants
	inner   int64 // bytes of all intermediate results at the largest shapes
}

// shapeSet holds the dimensions of all inputs and outputs, in the model's order, that belong together.
type shapeSet struct{ in, out [][]int64 }

func (m *model) retain() { m.refs.Add(1) }

func (m *model) release() {
	if m.refs.Add(-1) == 0 {
		m.program.Release()
	}
}

// load makes a model with one reference. Errors that are the model's fault have the code RKNN_ERR_MODEL_INVALID.
func load(data []byte, path string) (*model, error) {
	w := mem.NewWeights()
	defer w.Release()
	var im *imported
	var err error
	if path != "" {
		im, err = importFile(path, w)
	} else {
		im, err = importBytes(data, w)
	}
	if err != nil {
		return nil, err
	}
	m := &model{meta: im.meta, size: im.size, weights: w.Bytes()}
	m.refs.Store(1)
	if err := m.build(im.Graph); err != nil {
		return nil, refuseFor(errModel, err, "model")
	}
	return m, nil
}

func (m *model) build(g *graph.Graph) error {
	for _, v := range g.In {
		p, err := newPort(g, v, m.meta.Inputs[g.Values[v].Name])
		if err != nil {
			return err
		}
		m.in = append(m.in, p)
	}
	for _, v := range g.Out {
		p, err := newPort(g, v, metadata.Input{})
		if err != nil {
			return err
		}
		m.out = append(m.out, p)
	}
	exposeQuantised(g, m.in, m.out)
	for _, p := range slices.Concat(m.in, m.out) {
		if err := p.settle(); err != nil {
			return err
		}
	}
	if err := m.chooseShapes(g); err != nil {
		return err
	}
	m.nodes = describeNodes(g)
	all, err := devices.List()
	if err != nil {
		return err
	}
	m.program, err = compile.Compile(context.Background(), g, all, compile.Options{})
	return err
}

// valueBytes adds up the results of all nodes.
func valueBytes(g *graph.Graph) (sum int64) {
	for i := range g.Nodes {
		for _, v := range g.Nodes[i].Out {
			if n, ok := g.Fact(v).ByteSize(); v != graph.None && ok {
				sum += n
			}
		}
	}
	return sum
}

// infer returns a copy of g, its constants shared, with these sizes of its inputs.
func infer(g *graph.Graph, dims [][]int64) (*graph.Graph, error) {
	constants := map[tensor.Hash][]byte{}
	var form bytes.Buffer
	err := graph.Encode(&form, g, graph.EncodeOptions{External: func(h tensor.Hash, data []byte) bool {
		constants[h] = data
		return true
	}})
	if err != nil {
		return nil, err
	}
	own, err := graph.Decode(form.Bytes(), graph.DecodeOptions{Const: func(h tensor.Hash, _ []byte, _ int64) ([]byte, error) {
		return constants[h], nil
	}})
	if err != nil {
		return nil, err
	}
	for i, v := range own.In {
		own.Values[v].Fact.Shape = tensor.Of(dims[i]...)
	}
	return own, own.Infer()
}
