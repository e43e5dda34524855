package rknn

import (
	"sync/atomic"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// sharedModel is what contexts that were duplicated from one another share.
type sharedModel struct {
	refs    atomic.Int32
	run     *runnable
	base    *baseGraph
	meta    *metadata.Metadata
	board   target
	in, out []*port
	dynamic bool
	shapes  []model.ShapeSet // at least one; the last of a static model is its only one
	largest int              // index into shapes
	rows    []map[int]row    // for each set of shapes what the table of times says of operators, nil: it was not asked for
	size    int64            // bytes of the model as it was handed over
	weights int64            // bytes of the constants
	inner   int64            // bytes of all intermediate results at the largest shapes

	told struct{ bytes, order, repeats atomic.Bool } // warnings that were given
}

func (m *sharedModel) retain() { m.refs.Add(1) }

func (m *sharedModel) release() {
	if m.refs.Add(-1) == 0 {
		m.run.program.Release()
		m.base.release()
	}
}

// load makes a model with one reference, from data or the file at path. flags are those of rknn_init. Errors have the
// code RKNN_ERR_MODEL_INVALID, for want of memory RKNN_ERR_MALLOC_FAIL.
func load(data []byte, path string, flags uint32) (*sharedModel, error) {
	w := mem.NewWeights()
	defer w.Release()
	all, err := devices.List()
	if err != nil {
		return nil, refuseFor(spec.ErrModel, err, "model")
	}
	im, err := model.Load(model.Source{Path: path, Data: data}, model.Options{Weights: w, Nodes: true, Devices: all,
		Map: model.Map(boundary.Getenv("ANYNPU_MODEL_MAP")), Compiled: model.RKNN, Quantize: quantizes(), Fix: true,
		Images: model.ImageOptions{Planar: true}})
	if err != nil {
		return nil, refuseFor(spec.ErrModel, err, "model")
	}
	im.Warn(warn, caution)
	m := &sharedModel{meta: im.Meta, board: boardOf(im.Meta.Target), size: im.Size, weights: model.ConstantBytes(im.Graph)}
	if flags&flagCollectPerf != 0 {
		m.rows = []map[int]row{}
	}
	m.refs.Store(1)
	if err := m.build(im, w); err != nil {
		return nil, refuseFor(spec.ErrModel, err, "model")
	}
	m.tellInstead(im)
	m.announce(im)
	return m, nil
}

// quantizes reports whether models compute with codes where their metadata, or an .rknn file, say so.
func quantizes() bool {
	switch v := boundary.Getenv("ANYNPU_RKNN_QUANTIZE"); v {
	case "off":
		return false
	case "", "on":
	default:
		caution("value ignored", "ANYNPU_RKNN_QUANTIZE", v, "want", "on or off", "used", "on")
	}
	return true
}

func (m *sharedModel) build(im *model.Model, w *mem.Weights) error {
	g := im.Graph
	in, out, err := im.Ports()
	if err != nil {
		return err
	}
	for _, list := range []struct {
		from []*model.Port
		to   *[]*port
	}{{in, &m.in}, {out, &m.out}} {
		for _, of := range list.from {
			p, err := newPort(of, m.board, im.Meta.Values[of.Name].Stored)
			if err != nil {
				return err
			}
			*list.to = append(*list.to, p)
		}
	}
	if err := m.chooseShapes(im, in); err != nil {
		return err
	}
	if m.base, err = newBase(g, im.Nodes, w); err != nil {
		return err
	}
	forms, why := im.Forms()
	if why != "" {
		caution("model", "text", why)
	}
	if m.run, err = newRunnable(g, m.in, w, m.shapes, forms); err != nil {
		m.base.release()
		return err
	}
	if left := customs(g); len(left) > 0 {
		boundary.Log(boundary.LevelInfo, "rknn", "operators wait for rknn_register_custom_ops", "types", left)
	}
	return nil
}

// checkCustoms refuses a model with an operator that a program computes whose results have shapes that the model does
// not declare.
func checkCustoms(g *graph.Graph, im *model.Model) error {
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
