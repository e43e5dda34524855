package hbucp

import (
	"fmt"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/op"
)

// Model is an hbDNNHandle_t: one model of a pack, as long as that lives.
type Model struct {
	hb.Model
	in, out []*port
	feeds   []feed
	scales  bool // it holds the programs that scale
	desc    string
}

// A feed makes one input of the model, or the two of NV12: it has the numbers of the ports whose tensors lie one after
// another in its batch, a list for each plane. regions has the ports of the regions of images to be scaled, nil: none
// are.
type feed struct {
	planes  [][]int
	regions []int
}

// BadHandle gives an error the code for a handle that is no model's.
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
	for i := 0; i < len(in); i++ {
		if in[i].Image == nil {
			p, err := newPort(in[i], i, dims[i])
			if err != nil {
				return err
			}
			p.setNumbers(true)
			m.feeds = append(m.feeds, feed{planes: [][]int{{len(m.in)}}})
			m.in = append(m.in, p)
			continue
		}
		n := 1
		if i+1 < len(in) && in[i+1].Image != nil && in[i+1].Image.Part == model.ImageChroma {
			n = 2
		}
		names := im.Meta.Inputs[in[i].Image.Input].Ports
		if err := m.setImages(in[i:i+n], i, dims[i:i+n], names); err != nil {
			return err
		}
		i += n - 1
	}
	for i, of := range out {
		p, err := newPort(of, i, results[i])
		if err == nil {
			p.setNumbers(false)
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
	if m.scales {
		hb.DropScalers()
	}
	m.Model.Free()
}

// setImages adds the ports of an image (section 5.5): of NV12 luma and chroma, of a resizer the regions too. names come
// from the metadata, as many for each image where each is a tensor of its own.
func (m *Model) setImages(parts []*model.Port, at int, dims [][]int64, names []string) error {
	im := parts[0].Image
	n, h, w := im.Size(dims[0])
	each := len(parts)
	if im.Source == "resizer" {
		if pixel := im.Decode.Pixel; !pixel.Semiplanar() && pixel != op.PixelGray {
			return fault.New(fault.Unsupported, "the source of %q is a resizer: this generation has regions of NV12 and gray "+
				"images alone [hbucp-source-resizer-generation]", im.Input)
		}
		each++
		if !m.scales {
			hb.HoldScalers()
			m.scales = true
		}
	}
	count := int64(1) // of groups of tensors
	switch len(names) {
	case 0, each:
	case each * int(n):
		count = n
	default:
		return fault.New(fault.File, "anynpu.input.%s.ports has %d names: want %d, or %d for each of the %d images "+
			"[hbucp-input-ports-names]", im.Input,
			len(names), each, each, n)
	}
	if im.Decode.Pixel.Semiplanar() && (h|w)&1 != 0 {
		return fault.New(fault.Shape, "the image %q has %d rows and %d columns: want even numbers for NV12 "+
			"[hbucp-image-rows-columns]", im.Input, h, w)
	}
	own := feed{planes: make([][]int, len(parts))}
	for k := range int(count) {
		for i, of := range parts {
			p, err := newPort(of, at+i, dims[i])
			if err != nil {
				return err
			}
			p.setImage(n/count, h, w)
			if names != nil {
				p.name = names[k*each+i]
			}
			own.planes[i] = append(own.planes[i], len(m.in))
			m.in = append(m.in, p)
		}
		if each > len(parts) {
			p := newRegions(im, n/count)
			if names != nil {
				p.name = names[k*each+each-1]
			}
			own.regions = append(own.regions, len(m.in))
			m.in = append(m.in, p)
		}
	}
	m.feeds = append(m.feeds, own)
	return nil
}

// label names input i in errors.
func (m *Model) label(i int) string { return fmt.Sprintf("input %q", m.in[i].name) }

// announce logs the loaded model, as information.
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
