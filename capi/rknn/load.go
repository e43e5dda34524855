package rknn

import (
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// load makes a model with one reference, from data or the file at path. flags come from rknn_init. Errors have the code
// RKNN_ERR_MODEL_INVALID, for want of memory RKNN_ERR_MALLOC_FAIL.
func load(data []byte, path string, flags uint32) (*sharedModel, error) {
	w := mem.NewWeights()
	defer w.Release()
	all, err := devices.List()
	if err != nil {
		return nil, refuseFor(spec.ErrModel, err, "model")
	}
	im, err := model.Load(model.Source{Path: path, Data: data}, model.Options{Weights: w, Nodes: true, Devices: all,
		Map: model.Map(boundary.Getenv("ANYNPU_MODEL_MAP")), Compiled: model.RKNN, Quantize: quantizes(), Fix: true,
		Absent: true,
		Images: model.ImageOptions{Planar: true, ChannelPlanes: true}})
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
		caution("model [rknn-forms-not-used]", "text", why)
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
