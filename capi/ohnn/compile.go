package ohnn

import (
	"context"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
)

// preference returns the devices that compute a compilation for d: d itself, then, unless ANYNPU_FALLBACK=off, all
// others for the nodes that d has no kernel for.
func (d *npu) preference() []device.Device {
	if settings().strict {
		return []device.Device{d.Device}
	}
	return d.first()
}

// first returns all devices, d before the others.
func (d *npu) first() []device.Device {
	out := []device.Device{d.Device}
	id := d.Info().ID
	for _, other := range deviceList().list {
		taken := other.Info().ID == id
		for _, have := range out {
			taken = taken || have.Info().ID == other.Info().ID
		}
		if !taken {
			out = append(out, other.Device)
		}
	}
	return out
}

// compileGraph compiles g, of which there may be compiled forms, for device d and tells where each node runs. w holds
// g's constants already and belongs to the program, as does g then, or is nil.
func compileGraph(ctx context.Context, d *npu, g *graph.Graph, w *mem.Weights, forms []compile.Form,
	o device.Options) (device.Program, *device.Placement, error) {
	all := d.preference()
	if len(forms) > 0 { // what adapts the inputs and outputs of a form is not the device's to compute
		all = d.first()
	}
	p, err := compile.Compile(ctx, g, all, compile.Options{Options: o, Strict: settings().strict, Weights: w,
		Consume: w != nil, ByCost: true, Forms: forms, Warn: func(text string) { caution(text) }})
	if err != nil {
		return nil, nil, err
	}
	return p, p.Placement(), nil
}

// loadProgram restores what Program.Save wrote.
func loadProgram(ctx context.Context, d *npu, data []byte) (device.Program, *device.Placement, error) {
	p, err := compile.Load(ctx, data, d.preference())
	if err != nil {
		return nil, nil, err
	}
	return p, p.Placement(), nil
}
