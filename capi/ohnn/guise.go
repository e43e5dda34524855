package ohnn

import (
	"slices"

	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/core/device"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

// guises reads ANYNPU_OHNN_DEVICES: names under which the first device appears. Operators lack OH_NN_OPS_.
var guises = devices.Guises{Component: "ohnn", Variable: "ANYNPU_OHNN_DEVICES", Operator: func(operator string) bool {
	return spec.Called(operator) != nil
}}

// guised is what device d tells of itself, with the first range of ANYNPU_OHNN_DIM_RANGE, less what the guise hides.
func guised(d device.Device, g *devices.Guise) device.Info {
	info := d.Info()
	c := settings()
	if s, ok := c.span(0); ok {
		info.DimMin, info.DimMax = int64(s.lo), int64(s.hi)
	}
	g.Hide(&info)
	return info
}

// Info hides the core device's.
func (n *npu) Info() device.Info { return n.info }

// lacks reports whether the guise does not compute the operation.
func (n *npu) lacks(o *operation) bool { return n.guise.Lacks(o.Name) }

// takes refuses a model with what the device is without: an operator, or a dimension that is known at run time. No
// other device steps in. The caller holds m.mu.
func (n *npu) takes(m *Model) error {
	for i, o := range m.ops {
		if n.lacks(o) {
			return refuse(Failed, "compilation: operation %d: device %s does not compute OH_NN_OPS_%s", i, n.name, o.Name)
		}
	}
	if n.Info().Dynamic {
		return nil
	}
	for _, index := range m.inputs {
		if t := m.tensors[index]; slices.Contains(t.shape, -1) {
			return refuse(Failed, "compilation: input tensor %d: shape %v: device %s takes no dynamic shapes", index, t.shape,
				n.name)
		}
	}
	return nil
}
