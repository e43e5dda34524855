package model

import (
	"context"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Container is the name that devices have for the file's format (device.Info.Containers), empty if none may. Horizon
// describes the formats of its compilers nowhere: a file that nothing is known of may be one, and its driver says so.
func (f *File) Container() string {
	switch {
	case f.Format == RKNN:
		return "rknn"
	case f.Format == Unknown && f.Size > 0 && len(foreignTo(f.Head).name) == 0:
		return "hbdnn"
	}
	return ""
}

// Reader returns the first of devices that loads compiled models in a container, nil if there is none.
func Reader(devices []device.Device, container string) device.Device {
	for _, d := range devices {
		if container != "" && slices.Contains(d.Info().Containers, container) {
			return d
		}
	}
	return nil
}

// Compiled reports whether the model is one that only the device computes that has loaded it.
func (m *Model) Compiled() bool {
	_, _, ok := device.CompiledModel(m.Graph)
	return ok
}

// loadCompiled makes a model of one node of a device's compiled form; the file beside it may tell more of the inputs.
func loadCompiled(s Source, f *File, d device.Device, o Options) (*Model, error) {
	if f.Size > math.MaxUint32 {
		return nil, fault.New(fault.File, "%sa compiled model of %d bytes, want less than 4 GiB", s.label(), f.Size)
	}
	data, err := mem.Make[byte](int(f.Size))
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, f.Size), data); err != nil {
		return nil, fault.As(fault.File, cause(err), "%s", s.name())
	}
	p, err := d.Load(context.Background(), data)
	if err != nil {
		return nil, fault.Wrap(err, "%sdevice %s", s.label(), d.Info().ID)
	}
	defer p.Release()
	in, out := p.Ports()
	h := tensor.HashOf(data)
	kept, err := o.Weights.Add(h, data)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(filepath.Base(s.Path), filepath.Ext(s.Path))
	g, err := device.CompiledGraph(name, f.Container(), tensor.NewHashedConst(kept, h), in, out)
	if err != nil {
		return nil, fault.As(fault.Device, err, "%swhat device %s says of it", s.label(), d.Info().ID)
	}
	meta, err := metadata.Read(nil, s.Path)
	if err != nil {
		return nil, err
	}
	m := &Model{Model: &onnx.Model{Graph: g, Meta: meta, Producer: d.Info().Name}, Path: s.Path, Size: f.Size}
	return m, nil
}
