package hbdnn

import (
	"github.com/anynpu/anynpu/capi/hb"
	"github.com/anynpu/anynpu/core/op"
)

// scaled is the work of hbDNNResize.
type scaled struct {
	from, to *picture
	region   op.Region
}

// run scales the image.
func (s *scaled) run() error {
	g := hb.Geometry{Pixel: s.from.pixel, Interleaved: s.from.interleaved, H: s.from.h, W: s.from.w,
		OH: s.to.h, OW: s.to.w}
	bound{{source: s.from}}.flush(flushInvalidate)
	err := hb.Scale(g, s.from.views(), s.region, s.to.views())
	bound{{source: s.to}}.flush(flushClean)
	return err
}
