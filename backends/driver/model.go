package driver

import (
	"context"
	"io"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
)

// CompileModel is Compile of a device that reads compiled models, for a unit of which Support says that the device
// computes it: load makes the program, whose ports are named as the graph has them. ok is false, without an error, for
// a unit that is no compiled model.
func CompileModel[P interface {
	device.Program
	Name(g *graph.Graph) error
}](ctx context.Context, d device.Device, u device.Unit, o device.Options,
	load func(ctx context.Context, data []byte) (P, error)) (p device.Program, ok bool, err error) {
	answers, err := d.Support(u.Graph, o)
	if err != nil {
		return nil, false, err
	}
	for i := range answers {
		if !answers[i].OK {
			return nil, false, fault.New(fault.Unsupported, "%s: %s", u.Graph.Nodes[i].Label(), answers[i].Reason)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, false, fault.As(fault.Canceled, err, "compile")
	}
	_, data, ok := device.CompiledModel(u.Graph)
	if !ok {
		return nil, false, nil
	}
	loaded, err := load(ctx, data)
	if err != nil {
		return nil, true, err
	}
	if err := loaded.Name(u.Graph); err != nil {
		loaded.Release()
		return nil, true, err
	}
	return loaded, true, nil
}

// ModelProgram is a program that was made of a compiled model, which it keeps for Save. The driver describes its ports.
type ModelProgram struct {
	Program
	Blob mem.Buffer
}

// Hold is Program.Hold for a copy of the bytes of a model.
func (p *ModelProgram) Hold(data []byte, end func()) error {
	blob, err := mem.Host(int64(len(data)), mem.Options{})
	if err != nil {
		return err
	}
	if err = mem.Write(blob, 0, data); err != nil {
		blob.Release()
		return err
	}
	p.Blob = blob
	p.Program.Hold(func() {
		end()
		blob.Release()
	})
	return nil
}

// Save implements device.Program.
func (p *ModelProgram) Save(w io.Writer) error {
	data, err := p.Blob.Map()
	if err == nil {
		_, err = w.Write(data)
	}
	return fault.As(fault.File, err, "save a compiled model")
}

// Name gives the ports the names of the graph that the model stands for. It returns the error of device.SamePorts if
// they are not its values.
func (p *ModelProgram) Name(g *graph.Graph) error {
	err := device.SamePorts(g, "input", g.In, p.In)
	if err == nil {
		err = device.SamePorts(g, "output", g.Out, p.Out)
	}
	if err != nil {
		return err
	}
	for i, v := range g.In {
		p.In[i].Name = g.Values[v].Name
	}
	for i, v := range g.Out {
		p.Out[i].Name = g.Values[v].Name
	}
	return nil
}
