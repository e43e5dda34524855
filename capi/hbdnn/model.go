package hbdnn

import (
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
)

// Model is an hbDNNHandle_t: one model of a pack, as long as that lives.
type Model struct {
	hb.Model
	in, out   []*port
	operators []int32 // that make the outputs
	tag, desc string
	scales    bool     // it holds the scalers
	profile   *profile // nil: not wanted
	dump      *dump    // nil: not wanted
}

// BadHandle gives an error the code for a handle that is no model's.
func (*Model) BadHandle(err error) error { return (*hb.Model)(nil).BadHandle(err) }

// load makes a model from the bytes or the file of a source.
func load(s model.Source) (*Model, error) {
	w := mem.NewWeights()
	defer w.Release()
	im, err := api.Load(s, w, model.Options{Images: api.ImageOptions(), PerAxis: tellsAxis})
	if err != nil {
		return nil, err
	}
	m := &Model{tag: im.Meta.Target, desc: im.Meta.CustomString}
	m.Name = hb.NameOf(im, s)
	m.profile = profiling.of(m.Name)
	m.Execs.Timed = m.profile != nil
	if err := m.build(im, w); err != nil {
		m.Free()
		return nil, err
	}
	hb.HoldScalers()
	m.scales = true
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
	shift := im.Meta.Quantization == "shift"
	for i, of := range in {
		if of.Image != nil && of.Image.Part == model.ImageChroma {
			m.in[len(m.in)-1].chroma = dims[i]
			continue
		}
		p, err := newPort(of, dims[i], true, shift)
		if err != nil {
			return err
		}
		p.at = i
		m.in = append(m.in, p)
		if p.Image != nil {
			p.tellBytes(im.Meta.Inputs[p.Name])
		}
	}
	for i, of := range out {
		p, err := newPort(of, results[i], false, shift)
		if err == nil {
			err = p.setCodes(im)
		}
		if err != nil {
			return err
		}
		p.at = i
		m.out = append(m.out, p)
	}
	m.operators = operatorsOf(im.Graph)
	if m.dump, err = dumping.expose(im.Graph, m.Name); err != nil {
		return err
	}
	return m.Compile(api, im, w, m.dump != nil)
}

// operatorsOf says which kind of operator makes each output, as far as the API has a word for it.
func operatorsOf(g *graph.Graph) []int32 {
	producers := g.Producers()
	out := make([]int32, len(g.Out))
	for i, v := range g.Out {
		if at := producers[v]; at >= 0 {
			out[i] = map[string]int32{"conv": operatorConv, "arg_max": operatorArgMax}[graph.NameOf(g.Nodes[at].Op)]
		}
	}
	return out
}

// Free ends a model that no task uses.
func (m *Model) Free() {
	if m.scales {
		hb.DropScalers()
	}
	for _, p := range append(append([]*port{}, m.in...), m.out...) {
		p.lists.Free()
	}
	m.Model.Free()
}

// announce logs the loaded model, as information.
func (m *Model) announce(im *model.Model) {
	if !boundary.LogEnabled(boundary.LevelInfo, "hbdnn") {
		return
	}
	boundary.Log(boundary.LevelInfo, "hbdnn", "model loaded", "name", m.Name, "file", im.Path, "opset", im.Opset,
		"producer", im.Producer, "inputs", len(m.in), "outputs", len(m.out), "placement",
		m.Execs.Program.Placement().Summary())
	for k, list := range [][]*port{m.in, m.out} {
		for i, p := range list {
			boundary.Log(boundary.LevelInfo, "hbdnn", []string{"input", "output"}[k], "index", i, "name", p.Name, "valid",
				p.valid, "aligned", p.aligned, "layout", layoutName(p.layout), "type", typeName(p.kind), "bytes", p.bytes)
		}
	}
}
