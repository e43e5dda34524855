package rknn

import spec "github.com/anynpu/anynpu/core/spec/rknn"

// takes says whether programs may hand over elements of an input of rank 4 in a format: in its own, and in NCHW also
// where that is NHWC, as runtimes since 2.4 take it.
func (p *port) takes(f spec.Format) bool {
	own := p.format(true)
	return f == own || own == spec.NHWC && (f == spec.NCHW || f == spec.Undefined)
}

// takenFormats lists for messages what takes allows.
func (p *port) takenFormats() string {
	if own := p.format(true); own != spec.NHWC {
		return own.String()
	}
	return spec.NHWC.String() + " or " + spec.NCHW.String()
}

// sourceFormat is the order in which elements lie that rknn_inputs_set gets with a format: raw ones always as the input
// is reported.
func (p *port) sourceFormat(f spec.Format, raw bool) spec.Format {
	if own := p.format(true); raw || own != spec.NHWC || f != spec.NCHW {
		return own
	}
	return spec.NCHW
}

// tellPlanes warns, once per model, of bytes of images with 3 or 4 channels that are said to be in NCHW: a program that
// leaves the format unset says so too, and means NHWC as often as not.
func (c *Context) tellPlanes(p *port, kind spec.Type, format spec.Format) {
	if format != spec.NCHW || p.format(true) != spec.NHWC || kind != spec.Uint8 && kind != spec.Int8 {
		return
	}
	if n := p.Shape.Dims[1]; !n.Known() || n.N != 3 && n.N != 4 || c.model.told.planes.Swap(true) {
		return
	}
	caution("bytes of an image are taken as RKNN_TENSOR_NCHW, plane by plane: that is 0, which fmt is too where a "+
		"program "+
		"does not set it "+
		"[rknn-bytes-image-taken]", "input", p.Name, "remedy", "set fmt to RKNN_TENSOR_NHWC if they lie pixel by pixel")
}
