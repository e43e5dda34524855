package hbdnn

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
)

// Container is the name of models compiled for the device. Their format is described nowhere: the driver says what is
// one.
const Container = "hbdnn"

// maxRuns bounds the runs that the driver has at once, of the 32 tasks that hbDNN lets a process have.
const maxRuns = 16

// needed are the functions without which a driver of the older generation is no device.
var needed = []string{"hbDNNGetVersion", "hbDNNInitializeFromDDR", "hbDNNRelease", "hbDNNGetModelNameList",
	"hbDNNGetModelHandle", "hbDNNGetInputCount", "hbDNNGetInputName", "hbDNNGetInputTensorProperties",
	"hbDNNGetOutputCount",
	"hbDNNGetOutputName", "hbDNNGetOutputTensorProperties", "hbDNNInfer", "hbDNNWaitTaskDone", "hbDNNReleaseTask",
	"hbSysAllocCachedMem", "hbSysFlushMem", "hbSysFreeMem"}

// Device is an NPU behind a driver of hbDNN, of either generation. It computes models compiled for it.
type Device struct {
	driver.Device
	driver     vendor
	generation generation
	runs       chan struct{} // one for each run that the driver has
	blocks     blocks
}

var _ device.Device = (*Device)(nil)

// New returns the device of a driver. Kind fault.Unsupported when the driver lacks functions that it takes or has a
// version that is not known, fault.File when the driver's file cannot be read.
func New(d Driver, c driver.Config) (*Device, error) {
	return newDevice(d.Library, older{d}, needed, generationOf, c)
}

func newDevice(l *driver.Library, v vendor, needed []string, generationOf func(string) (generation, error),
	c driver.Config) (*Device, error) {
	all, err := l.Devices(c, needed)
	if err != nil {
		return nil, err
	}
	at, err := v.DnnGetVersion()
	if err != nil {
		return nil, err
	}
	version, err := driver.Text(at)
	if err != nil {
		return nil, fault.Wrap(err, "hbDNNGetVersion")
	}
	g, err := generationOf(version)
	if err != nil {
		return nil, err
	}
	info := device.Info{Name: c.Name, Vendor: "Horizon Robotics", Kind: device.Accelerator, Major: 1,
		Float16: device.Accepts, Performance: device.Accepts, Priority: true, Cache: true, Containers: []string{Container}}
	return &Device{Device: all.Next(info), driver: v, generation: g, runs: make(chan struct{}, maxRuns)}, nil
}

// Support implements device.Device: models compiled for the device.
func (d *Device) Support(g *graph.Graph, _ device.Options) ([]device.NodeSupport, error) {
	if err := d.Alive(); err != nil {
		return nil, err
	}
	out := make([]device.NodeSupport, len(g.Nodes))
	for i := range g.Nodes {
		op, compiled := g.Nodes[i].Op.(*device.Compiled)
		switch {
		case !compiled:
			out[i].Reason = "the driver computes compiled models alone"
		case op.Container != Container:
			out[i].Reason = fmt.Sprintf("the driver does not read models of the kind %q", op.Container)
		default:
			out[i].OK = true
		}
	}
	return out, nil
}

// Compile implements device.Device.
func (d *Device) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	p, ok, err := driver.CompileModel(ctx, d, u, o, d.load)
	if err == nil && !ok {
		err = fault.New(fault.Unsupported, "a graph of %d nodes: the driver computes one compiled model", len(u.Graph.Nodes))
	}
	return p, err
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
	if len(data) == 0 || len(data) > math.MaxInt32 {
		return nil, fault.New(fault.File, "%d bytes are no compiled model", len(data))
	}
	p := &program{dev: d}
	err := p.Hold(data, p.end)
	if err != nil {
		return nil, err
	}
	if err = p.open(); err == nil {
		err = p.describe()
	}
	if err != nil {
		p.Release()
		return nil, err
	}
	return p, nil
}

// open gives the driver the model.
func (p *program) open() error {
	d := p.dev
	data, err := p.Blob.Map()
	if err != nil {
		return err
	}
	a, err := newArguments(24)
	if err != nil {
		return err
	}
	defer a.release()
	a.setAddress(8, uintptr(unsafe.Pointer(&data[0])))
	a.setWord(16, int32(len(data)))
	code, err := d.driver.DnnInitializeFromDDR(a.at(0), a.at(8), a.at(16), 1)
	words := d.driver.words()
	switch text, model := words.models[code]; {
	case err != nil:
		return err
	case model:
		return fault.New(fault.File, "the driver does not take the model: %s", text)
	case code == words.noMemory:
		return fault.As(fault.Memory, mem.ErrExhausted, "the driver has no memory for a model of %d bytes", len(data))
	case code != 0:
		return refused("hbDNNInitializeFromDDR", code, nil)
	}
	if p.pack = a.address(0); p.pack == 0 {
		return fault.New(fault.Device, "hbDNNInitializeFromDDR succeeds without a pack of models")
	}
	code, err = d.driver.DnnGetModelNameList(a.at(0), a.at(8), p.pack)
	if err = refused("hbDNNGetModelNameList", code, err); err != nil {
		return err
	}
	list, n := a.address(0), a.word(8)
	if n < 1 || n > maxPorts {
		return fault.New(fault.Device, "the driver says that the file has %d models", n)
	}
	names, first, err := namesAt(list, int(n))
	if err != nil {
		return fault.Wrap(err, "the names of the models")
	}
	if n > 1 {
		return fault.New(fault.Unsupported, "the file has %d models, %s: a device takes files with one", n,
			strings.Join(names, ", "))
	}
	code, err = d.driver.DnnGetModelHandle(a.at(0), p.pack, driver.Pointer(first))
	if err = refused("hbDNNGetModelHandle", code, err); err != nil {
		return err
	}
	if p.model = a.address(0); p.model == 0 {
		return fault.New(fault.Device, "hbDNNGetModelHandle succeeds without a model")
	}
	return nil
}

// refused is the error of a function that has given a code, nil for 0; err is the error of the call itself.
func refused(function string, code int32, err error) error {
	if err == nil && code != 0 {
		err = fault.New(fault.Device, "%s: the driver's code is %d", function, code)
	}
	return err
}
