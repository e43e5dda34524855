package hbdnn

import "github.com/anynpu/anynpu/core/op"

// scaled is the work of hbDNNResize.
type scaled struct {
	from, to *picture
	region   op.Region
}

// run scales the image.
func (s *scaled) run() error {
	g := geometry{pixel: s.from.pixel, interleaved: s.from.interleaved, h: s.from.h, w: s.from.w, oh: s.to.h, ow: s.to.w}
	bound{{source: s.from}}.flush(flushInvalidate)
	err := scale(g, s.from.views(), s.region, s.to.views())
	bound{{source: s.to}}.flush(flushClean)
	return err
}
