package hbdnn

import (
	"fmt"
	"sync"

	"github.com/anynpu/anynpu/core/model"
)

// setCodes describes an output of real numbers as the codes that the metadata name, if they do.
func (p *port) setCodes(im *model.Model) error {
	kind, q, err := im.ShownCodes(p.Port, p.valid)
	if err != nil || q == nil {
		return err
	}
	p.kind = kinds[kind]
	own := q.Axis // among the model's dimensions
	if p.order != nil {
		own = p.order[q.Axis]
	}
	p.codes = model.CodesOf(q.Scale, p.dims, own)
	p.length, p.axis = int32(len(q.Scale)), int32(q.Axis)
	p.describeScales(q)
	p.align(false)
	p.source = fmt.Sprintf("%s: %s %v", p.Name, typeName(p.kind), p.valid)
	return nil
}

// headed are the channels of boxes in the heads of detectors that boards give as codes.
var headed = map[int64]bool{32: true, 64: true}

// wantsCodes says once that a program which asks for an output of real numbers may be one that boards give codes of 32
// bits: the vendor's own detectors stop at others.
func (p *port) wantsCodes() {
	if p.kind == typeF32 && p.quant == quantNone && p.Says.Layout+p.Says.Native == "" && len(p.valid) == 4 &&
		headed[p.channels()] {
		toldCodes.Do(func() {
			caution("the output has real numbers; a program that looks for codes of 32 bits with scales (S32, SCALE), as "+
				"boards have them of such heads, gets them with anynpu.output.NAME.codes or anynpu.outputs.codes = int32 in the "+
				"model's metadata, and channels last with anynpu.output.NAME.layout = nhwc; a layout ends this "+
				"line [hbdnn-output-real-numbers]", "output",
				p.Name,
				"shape", p.valid)
		})
	}
}

var toldCodes sync.Once

// channels is how many an output of four dimensions has.
func (p *port) channels() int64 {
	if p.layout == layoutNHWC {
		return p.valid[3]
	}
	return p.valid[1]
}
