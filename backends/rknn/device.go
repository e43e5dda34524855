package rknn

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// Container is the name of models compiled for the device.
const Container = "rknn"

// needed are the functions without which the driver is no device.
var needed = []string{"rknn_init", "rknn_destroy", "rknn_query", "rknn_run", "rknn_create_mem", "rknn_destroy_mem",
	"rknn_set_io_mem"}

// Device is an NPU behind a driver of the API rknn. It computes models compiled for it and products of matrices.
type Device struct {
	driver.Device
	driver Driver
}

var _ device.Device = (*Device)(nil)

// New returns the device of a driver. Kind fault.Unsupported when the driver lacks functions that it takes, fault.File
// when the driver's file cannot be read.
func New(d Driver, c driver.Config) (*Device, error) {
	all, err := d.Devices(c, needed)
	if err != nil {
		return nil, err
	}
	return &Device{all.Next(device.Info{Name: c.Name, Vendor: "Rockchip", Kind: device.Accelerator, Major: 2,
		Float16: device.Accepts, Performance: device.Accepts, Cache: true, Containers: []string{Container}}), d}, nil
}

// Support implements device.Device: models compiled for the device, and products of float16 matrices.
func (d *Device) Support(g *graph.Graph, o device.Options) ([]device.NodeSupport, error) {
	if err := d.Alive(); err != nil {
		return nil, err
	}
	out := make([]device.NodeSupport, len(g.Nodes))
	for i := range g.Nodes {
		if op, compiled := g.Nodes[i].Op.(*device.Compiled); compiled {
			if out[i].OK = op.Container == Container; !out[i].OK {
				out[i].Reason = fmt.Sprintf("the driver does not read models of the kind %q", op.Container)
			}
			continue
		}
		s, why := d.productOf(g, &g.Nodes[i], o)
		if out[i].Reason = why; why == "" {
			out[i] = device.NodeSupport{OK: true, Cost: s.cost()}
		}
	}
	return out, nil
}

// Compile implements device.Device.
func (d *Device) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	p, ok, err := driver.CompileModel(ctx, d, u, o, d.load)
	if err != nil || ok {
		return p, err
	}
	return d.products(u, o)
}

// Load implements device.Device: data is a compiled model, which Save gives back.
func (d *Device) Load(ctx context.Context, data []byte) (device.Program, error) {
	p, err := d.load(ctx, data)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (d *Device) load(ctx context.Context, data []byte) (*program, error) {
	if err := d.Alive(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fault.As(fault.Canceled, err, "load a compiled model")
	}
	if !rknn.Recognize(data) || len(data) > math.MaxUint32 {
		return nil, fault.New(fault.File, "%d bytes that are no .rknn file", len(data))
	}
	p := &program{dev: d}
	err := p.Hold(data, p.end)
	if err != nil {
		return nil, err
	}
	if p.context, err = d.open(p.Blob); err == nil {
		err = p.describe()
	}
	if err != nil {
		p.Release()
		return nil, err
	}
	return p, nil
}

// open makes a context of a model.
func (d *Device) open(blob mem.Buffer) (uintptr, error) {
	data, err := blob.Map()
	if err != nil {
		return 0, err
	}
	var context uintptr
	code, err := d.driver.Init(unsafe.Pointer(&context), unsafe.Pointer(&data[0]), uint32(len(data)), 0, nil)
	switch text, model := modelCodes[spec.Code(code)]; {
	case err != nil:
		return 0, err
	case model:
		return 0, fault.New(fault.File, "the driver does not take the model: %s", text)
	case spec.Code(code) == spec.ErrMalloc:
		return 0, fault.As(fault.Memory, mem.ErrExhausted, "the driver has no memory for a model of %d bytes", len(data))
	case code != 0:
		return 0, failed("rknn_init", code)
	case context == 0:
		return 0, fault.New(fault.Device, "rknn_init succeeds without a context")
	}
	return context, nil
}

// failed is the error of a function that has given a code.
func failed(function string, code int32) error {
	return fault.New(fault.Device, "%s: the driver's code is %d", function, code)
}

// call is the error of a driver's function.
func call(function string, code int32, err error) error {
	if err == nil && code != 0 {
		err = failed(function, code)
	}
	return err
}
