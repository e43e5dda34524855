package rknn

import (
	"slices"
	"sync/atomic"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// model is what contexts that were duplicated from one another share.
type model struct {
	refs    atomic.Int32
	run     *runnable
	base    *baseGraph
	meta    *metadata.Metadata
	in, out []*port
	dynamic bool
	shapes  []shapeSet    // at least one; the last of a static model is its only one
	largest int           // index into shapes
	rows    []map[int]row // for each set of shapes what the table of times says of operators, nil: it was not asked for
	size    int64         // bytes of the model as it was handed over
	weights int64         // bytes of the constants
	inner   int64         // bytes of all intermediate results at the largest shapes

	told struct{ bytes, order, repeats atomic.Bool } // warnings that were given
}

// shapeSet holds the dimensions of all inputs and outputs, in the model's order, that belong together.
type shapeSet struct{ in, out [][]int64 }

func (m *model) retain() { m.refs.Add(1) }

func (m *model) release() {
	if m.refs.Add(-1) == 0 {
		m.run.program.Release()
		m.base.release()
	}
}

// load makes a model with one reference, from data or the file at path. flags are those of rknn_init. Errors that are
// the model's fault have the code RKNN_ERR_MODEL_INVALID.
func load(data []byte, path string, flags uint32) (*model, error) {
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
	m := &model{meta: im.Meta, size: im.size, weights: constantBytes(im.Graph)}
	if flags&flagCollectPerf != 0 {
		m.rows = []map[int]row{}
	}
	m.refs.Store(1)
	if err := m.build(im, w); err != nil {
		return nil, refuseFor(errModel, err, "model")
	}
	if im.instead != nil {
		m.tellSubstitute(im)
	}
	m.announce(im)
	return m, nil
}

func (m *model) build(im *imported, w *mem.Weights) (err error) {
	g := im.Graph
	for _, v := range g.In {
		p, err := newPort(im.Model, v, m.meta.Inputs[g.Values[v].Name])
		if err != nil {
			return err
		}
		m.in = append(m.in, p)
	}
	for _, v := range g.Out {
		p, err := newPort(im.Model, v, metadata.Input{})
		if err != nil {
			return err
		}
		m.out = append(m.out, p)
	}
	exposeQuantized(g, m.in, m.out)
	for _, p := range slices.Concat(m.in, m.out) {
		if err := p.settle(); err != nil {
			return err
		}
	}
	if err := m.chooseShapes(g, im.Model); err != nil {
		return err
	}
	if m.base, err = newBase(g, im.Nodes, w); err != nil {
		return err
	}
	if m.run, err = newRunnable(g, w, m.shapes); err != nil {
		m.base.release()
		return err
	}
	if left := customs(g); len(left) > 0 {
		boundary.Log(boundary.LevelInfo, "rknn", "operators wait for rknn_register_custom_ops", "types", left)
	}
	return nil
}

// constantBytes adds up the constants, equal ones once.
func constantBytes(g *graph.Graph) (sum int64) {
	seen := map[tensor.Hash]bool{}
	for i := range g.Values {
		if c := g.Values[i].Fact.Const; c != nil && !seen[c.Hash()] {
			seen[c.Hash()] = true
			sum += int64(len(c.Data))
		}
	}
	return sum
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
	own, err := graph.Clone(g, func(_ tensor.Hash, data []byte) ([]byte, error) { return data, nil })
	if err != nil {
		return nil, err
	}
	setDims(own, dims)
	return own, own.Infer()
}

// setDims gives the inputs of g their sizes. What the model declares of the results of operators that the project does
// not know is in terms of these sizes.
func setDims(g *graph.Graph, dims [][]int64) {
	sizes := map[uint32]int64{}
	for i, v := range g.In {
		learnSizes(sizes, g.Values[v].Fact.Shape, dims[i])
		g.Values[v].Fact.Shape = tensor.Of(dims[i]...)
	}
	for i := range g.Nodes {
		if _, ok := g.Nodes[i].Op.(*op.Custom); !ok {
			continue
		}
		for _, v := range g.Nodes[i].Out {
			if v == graph.None {
				continue
			}
			g.Values[v].Fact.Shape = withSizes(g.Values[v].Fact.Shape, sizes)
		}
	}
}

// learnSizes notes the sizes that open dimensions of a shape, which have numbers, take.
func learnSizes(sizes map[uint32]int64, declared tensor.Shape, dims []int64) {
	for k, d := range declared.Dims {
		if d.Sym != 0 && d.Sym != tensor.Unknown && k < len(dims) {
			sizes[d.Sym] = dims[k]
		}
	}
}

// withSizes fills the open dimensions of a shape whose sizes are known.
func withSizes(s tensor.Shape, sizes map[uint32]int64) tensor.Shape {
	s.Dims = slices.Clone(s.Dims)
	for k, d := range s.Dims {
		if n, ok := sizes[d.Sym]; ok && d.Sym != 0 {
			s.Dims[k] = tensor.D(n)
		}
	}
	return s
}

// checkCustoms refuses a model with an operator that a program computes whose results have shapes that the model does
// not declare.
func checkCustoms(g *graph.Graph, im *onnx.Model) error {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		o, ok := n.Op.(*op.Custom)
		if !ok {
			continue
		}
		for _, v := range n.Out {
			if v == graph.None {
				continue
			}
			if f := g.Fact(v); f.DType == tensor.Invalid || !f.Shape.Static() {
				name := g.Values[v].Name
				return fault.New(fault.Shape, "%s: its output %q is declared as %v%s: a custom operator wants type and sizes of "+
					"its outputs in the model's value_info or in anynpu.value.%s.shape of its metadata, which may be \"as input 0\"",
					customLabel(o, n), name, f.DType, im.ShapeText(f.Shape), name)
			}
		}
	}
	return nil
}
