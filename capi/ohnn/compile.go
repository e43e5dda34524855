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
	out := []device.Device{d.Device}
	id := d.Info().ID
	if settings().strict {
		return out
	}
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

// compileGraph compiles g for device d and tells where each node runs. w holds g's constants already and belongs to the
// program, as does g then, or is nil.
func compileGraph(ctx context.Context, d *npu, g *graph.Graph, w *mem.Weights, o device.Options) (device.Program,
	*device.Placement, error) {
	p, err := compile.Compile(ctx, g, d.preference(), compile.Options{Options: o, Strict: settings().strict, Weights: w,
		Consume: w != nil})
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
