package hbucp

import (
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
)

// Model is an hbDNNHandle_t: one model of a pack, as long as that lives.
type Model struct {
	hb.Model
	in, out []*port
	desc    string
}

// BadHandle gives an error the code for what is no model's handle.
func (*Model) BadHandle(err error) error { return (*hb.Model)(nil).BadHandle(err) }

// load makes a model from the bytes or the file of a source.
func load(s model.Source) (*Model, error) {
	w := mem.NewWeights()
	defer w.Release()
	im, err := api.Load(s, w, model.Options{Images: api.ImageOptions()})
	if err != nil {
		return nil, err
	}
	m := &Model{desc: im.Meta.CustomString}
	if m.desc == "" {
		m.desc = "{}" // programs read JSON
	}
	m.Name = hb.NameOf(im, s)
	if err := m.build(im, w); err != nil {
		m.Free()
		return nil, err
	}
	m.announce(im)
	return m, nil
}

func (m *Model) build(im *model.Model, w *mem.Weights) error {
	in, out, err := im.Ports()
	if err != nil {
		return err
	}
	dims, results, err := api.Sizes(im, in)
	if err != nil {
		return err
	}
	for i, of := range in {
		if of.Image != nil && of.Image.Source == "resizer" {
			return fault.New(fault.Unsupported, "the source of %q is a resizer: this generation's inputs for "+
				"regions are not served [hbucp-source-resizer-generation]",
				of.Name)
		}
		p, err := newPort(of, i, dims[i], true)
		if err != nil {
			return err
		}
		m.in = append(m.in, p)
	}
	for i, of := range out {
		p, err := newPort(of, i, results[i], false)
		if err == nil {
			err = p.setCodes(im)
		}
		if err != nil {
			return err
		}
		m.out = append(m.out, p)
	}
	return m.Compile(api, im, w, false)
}

// Free ends a model that no task uses.
func (m *Model) Free() {
	for _, p := range append(append([]*port{}, m.in...), m.out...) {
		p.lists.Free()
	}
	m.Model.Free()
}

// announce writes what was loaded, as information.
func (m *Model) announce(im *model.Model) {
	if !boundary.LogEnabled(boundary.LevelInfo, api.Component) {
		return
	}
	boundary.Log(boundary.LevelInfo, api.Component, "model loaded", "name", m.Name, "file", im.Path, "opset", im.Opset,
		"placement", m.Execs.Program.Placement().Summary())
	for k, list := range [][]*port{m.in, m.out} {
		for i, p := range list {
			boundary.Log(boundary.LevelInfo, api.Component, []string{"input", "output"}[k], "index", i, "name", p.name, "valid",
				p.valid, "stride", p.stride, "type", typeName(p.kind), "bytes", p.bytes)
		}
	}
}
