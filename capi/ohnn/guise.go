package ohnn

import (
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/device"
)

// guise is how the first device appears under one name of ANYNPU_OHNN_DEVICES: a program can be tried against a lesser
// device than the machine has. Whatever a guise lacks is not reported, and refused as a device without it refuses it.
type guise struct {
	name      string
	hide      []func(*device.Info) // what the device is reported without, or as
	operators []string             // operators that it does not compute, without OH_NN_OPS_
	offline   bool                 // it is not listed
}

// attributes are what may follow a name, beside no-OPERATOR.
var attributes = map[string]func(*guise){
	"no-float16":     hiding(func(i *device.Info) { i.Float16 = device.Lacks }),
	"no-performance": hiding(func(i *device.Info) { i.Performance = device.Lacks }),
	"no-priority":    hiding(func(i *device.Info) { i.Priority = false }),
	"no-cache":       hiding(func(i *device.Info) { i.Cache = false }),
	"no-dynamic":     hiding(func(i *device.Info) { i.Dynamic = false }),
	"no-ranges":      hiding(func(i *device.Info) { i.DimMin, i.DimMax = 0, 0 }),
	"as-gpu":         hiding(func(i *device.Info) { i.Kind = device.GPU }),
	"as-accelerator": hiding(func(i *device.Info) { i.Kind = device.Accelerator }),
	"as-other":       hiding(func(i *device.Info) { i.Kind = device.Other }),
	"offline":        func(g *guise) { g.offline = true },
}

func hiding(f func(*device.Info)) func(*guise) {
	return func(g *guise) { g.hide = append(g.hide, f) }
}

// readGuise reads NAME[:ATTRIBUTE...]. bad lists the unknown attributes.
func readGuise(text string) (g guise, bad []string) {
	parts := strings.Split(text, ":")
	g.name = strings.TrimSpace(parts[0])
	for _, a := range parts[1:] {
		a = strings.TrimSpace(a)
		operator, _ := strings.CutPrefix(a, "no-")
		switch apply := attributes[a]; {
		case apply != nil:
			apply(&g)
		case operator != a && slices.ContainsFunc(rules, func(r rule) bool { return r.name == operator }):
			g.operators = append(g.operators, operator)
		default:
			bad = append(bad, a)
		}
	}
	return g, bad
}

// readGuises reads the value of ANYNPU_OHNN_DEVICES.
func readGuises(value string) (out []guise) {
	for entry := range strings.SplitSeq(value, ",") {
		g, bad := readGuise(entry)
		for _, a := range bad {
			caution("attribute ignored", "ANYNPU_OHNN_DEVICES", a, "of", g.name, "want", "no-OPERATOR, "+
				strings.Join(attributeNames(), ", "))
		}
		if g.name != "" {
			out = append(out, g)
		}
	}
	return out
}

func attributeNames() (names []string) {
	for a := range attributes {
		names = append(names, a)
	}
	slices.Sort(names)
	return names
}

// info is what device d tells of itself, with the first range of ANYNPU_OHNN_DIM_RANGE, less what the guise hides.
func (g *guise) info(d device.Device) device.Info {
	info := d.Info()
	c := settings()
	if s, ok := c.span(0); ok {
		info.DimMin, info.DimMax = int64(s.lo), int64(s.hi)
	}
	for _, f := range g.hide {
		f(&info)
	}
	return info
}

// Info hides the core device's.
func (n *npu) Info() device.Info { return n.info }

// lacks reports whether the guise does not compute the operation.
func (n *npu) lacks(o *operation) bool { return slices.Contains(n.guise.operators, o.name) }

// takes refuses a model with what the device is without: an operator, or a dimension that is known at run time. No
// other device steps in. The caller holds m.mu.
func (n *npu) takes(m *Model) error {
	for i, o := range m.ops {
		if n.lacks(o) {
			return refuse(Failed, "compilation: operation %d: device %s does not compute OH_NN_OPS_%s", i, n.name, o.name)
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
