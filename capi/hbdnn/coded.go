package hbdnn

import (
	"fmt"

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
