package nnapi

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// Info hides the core device's.
func (d *Device) Info() device.Info { return d.info }

// onModel is a device as core knows it while it works on one model: a guise does not compute some of its operations.
type onModel struct {
	*Device
	model *nnapi.Model
}

// core returns the devices as core knows them, for a model.
func core(list []*Device, m *nnapi.Model) (out []device.Device) {
	for _, d := range list {
		if len(d.guise.Operators) > 0 {
			out = append(out, onModel{d, m})
		} else {
			out = append(out, d)
		}
	}
	return out
}

// Support says no to nodes of operations that the guise lacks.
func (d onModel) Support(g *graph.Graph, o device.Options) ([]device.NodeSupport, error) {
	answers, err := d.Device.Support(g, o)
	if err != nil {
		return nil, err
	}
	answers = slices.Clone(answers)
	for i := range answers {
		at := g.Nodes[i].Origin
		if at < 0 || at >= len(d.model.Operations) {
			continue
		}
		if name := d.lacked(d.model, d.model.Operations[at], map[*nnapi.Model]bool{}); name != "" {
			answers[i] = device.NodeSupport{Reason: fmt.Sprintf("%s does not compute %s", d.name, name)}
		}
	}
	return answers, nil
}

// lacked names what the guise does not compute of an operation, also in the models that IF and WHILE compute. Each of
// those is looked through once, however often it is used.
func (d *Device) lacked(m *nnapi.Model, op nnapi.Operation, seen map[*nnapi.Model]bool) string {
	if name := op.Code.String(); d.guise.Lacks(name) {
		return name
	}
	for _, v := range op.Inputs {
		sub := m.Operands[v].Sub
		if sub == nil || seen[sub] {
			continue
		}
		seen[sub] = true
		for _, inner := range sub.Operations {
			if name := d.lacked(sub, inner, seen); name != "" {
				return name
			}
		}
	}
	return ""
}
