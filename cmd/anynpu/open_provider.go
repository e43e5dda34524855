//go:build drivers

package main

import (
	"os"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/backends/onnxruntime"
	"github.com/anynpu/anynpu/backends/settings"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/logging"
)

// openProvider is the device with an id that a manifest makes of a provider of ONNX Runtime's.
func openProvider(o driver.Opening, d driverInfo, id string) (device.Device, error) {
	var files []string // a device of another library may be opened later
	for _, other := range listDrivers(o.Getenv, false) {
		if other.API == d.API && other.Used {
			files = append(files, other.File)
		}
	}
	onnxruntime.Claim(files...)
	opened, err := o.Open(d.File)
	if err != nil {
		return nil, err
	}
	log := newEventLog(os.Getenv, os.Stderr)
	set := settings.Read(os.Getenv, func(string, string, ...any) {})
	c := onnxruntime.Config{Threads: set.Threads, Log: func(s onnxruntime.Severity, id, text string) {
		log.write(severities[s], "onnxruntime", "the runtime says", "device", id, "text", text)
	}}
	c.ID, c.Name, c.Patience = d.API, d.Name, onnxruntime.Patience
	l, err := onnxruntime.Bind(d.File, opened.Lookup, c)
	if err != nil {
		return nil, err
	}
	for i := range d.Devices {
		p := &d.Devices[i]
		if p.ID != id {
			continue
		}
		if p.Reason != "" {
			return nil, fault.New(fault.Device, "%s [tool-provider-refused]", p.Reason)
		}
		c.Made = p.Number()
		all, failed, err := onnxruntime.Open(l, c, []onnxruntime.Provider{onnxruntime.Named(*p)})
		switch {
		case err != nil:
			return nil, err
		case len(failed) > 0:
			return nil, failed[0].Err
		}
		return all[0], nil
	}
	return nil, fault.New(fault.Device, "%s does not name it [tool-provider-not-named]", d.Source)
}

// severities are the levels of this program's log at which lines of the runtime's are written.
var severities = map[onnxruntime.Severity]logging.Level{onnxruntime.Fatal: logging.Error,
	onnxruntime.Error:   logging.Warn,
	onnxruntime.Warning: logging.Info, onnxruntime.Information: logging.Debug, onnxruntime.Verbose: logging.Trace}
