package onnxruntime

import (
	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
)

// Device is an execution provider.
type Device struct {
	driver.Device
	lib      *Library
	provider *provider
}

var _ device.Device = (*Device)(nil)

// Failure is a provider that is no device, and why.
type Failure struct {
	Provider Provider
	Err      error
}

// Open returns the devices that providers of a library make, in their order, and those that make none, whose ids stay
// unused. Kinds: fault.File when the library's file cannot be read.
func Open(l *Library, c Config, providers []Provider) (out []*Device, failed []Failure, err error) {
	all, err := l.Devices(c.Config, symbols)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range providers {
		found, err := l.findAndTry(p)
		if err != nil {
			all.Skip()
			failed = append(failed, Failure{p, err})
			continue
		}
		d := &Device{lib: l, provider: found}
		info := device.Info{Name: p.Name + " of ONNX Runtime " + l.version, Vendor: found.Vendor, Kind: p.Kind,
			BuildHash: "-" + p.identity(), Float16: device.Accepts, Performance: device.Accepts, Cache: true}
		if info.Vendor == "" {
			info.Vendor = c.Name
		}
		info.Major, _ = minor(l.version)
		d.Device = all.Next(info)
		out = append(out, d)
	}
	if len(out) == 0 && len(failed) == 0 {
		err = fault.New(fault.Unsupported, "no provider is named")
	}
	return out, failed, err
}

// findAndTry finds a provider, which loads its files.
func (l *Library) findAndTry(p Provider) (*provider, error) {
	bridging.Lock()
	defer bridging.Unlock()
	found, err := l.find(p)
	if err == nil {
		err = l.try(found)
	}
	if err == nil && found.plugin != nil {
		found.plugin.uses++
	}
	return found, err
}

// try makes the options of a session with a provider: unknown names and options of providers are refused there.
func (l *Library) try(p *provider) error {
	defer keepSignalStack()()
	options, err := l.options(p, p.Name, forNames, efforts[0], true)
	if err == nil {
		l.raw(fnReleaseSessionOptions, options)
	}
	return err
}
