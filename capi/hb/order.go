package hb

import (
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/tensor"
)

// OrderOf is the order in which programs see the dimensions of a port, as its metadata say, nil for the model's own.
// last says that the channels come last for them.
func (a *API) OrderOf(p *model.Port, dims []int64, input bool) (order []int, last bool) {
	layout := p.Says.Layout
	if input {
		layout = p.Info.Layout
	}
	if len(dims) != 4 {
		if layout != "" && !input {
			a.Caution("layout ignored: the output has other than four dimensions "+
				"[hb-layout-ignored-output]", "output", p.Name, "shape", dims)
		}
		return nil, false
	}
	last = layout == "nhwc" || layout == "" && p.Last
	switch {
	case last && !p.Last:
		order = tensor.ChannelsLast(4)
	case !last && p.Last && !input:
		order = []int{0, 3, 1, 2}
	}
	return order, last
}
