package devices

import (
	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/backends/onnxruntime"
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/device"
)

// runtimeDevices are the execution providers of ONNX Runtime that manifests name.
func runtimeDevices() (list []device.Device) {
	a, _ := dl.Find(dl.RuntimeAPI)
	if settingOf(&a) == dl.ToCPU {
		return nil
	}
	var usable []*dl.Candidate
	var files []string
	for _, c := range candidates() {
		if c.API != a.Name || c.Status != dl.Usable {
			continue
		}
		if c.Probe(options()); c.Status == dl.Usable {
			usable, files = append(usable, c), append(files, c.File)
		} else {
			tell(c)
		}
	}
	onnxruntime.Claim(files...)
	for _, c := range usable {
		all, err := openRuntime(c)
		if err != nil {
			c.Status, c.Reason = dl.Refused, err.Error()
			tell(c)
			continue
		}
		list = append(list, all...)
	}
	return list
}

// openRuntime opens a library of ONNX Runtime's and makes devices of the providers that its manifest names. Those that
// cannot be used are logged.
func openRuntime(c *dl.Candidate) (list []device.Device, err error) {
	if c.ProbeDevices(options()); c.Status != dl.Usable {
		return nil, &reason{c.Reason}
	}
	opened, err := driver.Opening{Getenv: boundary.Getenv}.Open(c.File)
	if err != nil {
		return nil, err
	}
	config := onnxruntime.Config{Threads: threads, Log: runtimeLine}
	config.ID, config.Name, config.Patience = c.API, c.Name, onnxruntime.Patience
	config.Died = func(why string) {
		boundary.Log(boundary.LevelError, c.API, "the device has died, its library is called no more "+
			"[device-runtime-died]", "file", c.File, "why",
			why)
	}
	l, err := onnxruntime.Bind(c.File, opened.Lookup, config)
	if err != nil {
		return nil, err
	}
	for i := range c.Devices {
		d := &c.Devices[i]
		if d.Reason != "" {
			notUsed(c, d, d.Reason)
			continue
		}
		config.Made = d.Number()
		all, failed, err := onnxruntime.Open(l, config, []onnxruntime.Provider{onnxruntime.Named(*d)})
		if err != nil {
			return nil, err
		}
		for _, f := range failed {
			notUsed(c, d, f.Err.Error())
		}
		for _, one := range all {
			list = append(list, one)
		}
	}
	boundary.Log(boundary.LevelInfo, "boundary", "library of ONNX Runtime opened", "file", c.File, "version", l.Version(),
		"devices", len(list))
	return list, nil
}

// notUsed tells why a provider is no device.
func notUsed(c *dl.Candidate, d *dl.Device, why string) {
	boundary.Log(boundary.LevelError, c.API, "provider not used [device-provider-not-used]", "file", c.Source,
		"device", d.ID, "provider", d.Provider,
		"why", why)
}

// reason is an error that is a sentence of its own.
type reason struct{ text string }

func (r *reason) Error() string { return r.text }

// runtimeLine writes a line of the runtime's log. Its errors are often steps on the way to another answer.
func runtimeLine(s onnxruntime.Severity, id, text string) {
	level := map[onnxruntime.Severity]boundary.Level{onnxruntime.Fatal: boundary.LevelError,
		onnxruntime.Error: boundary.LevelWarn, onnxruntime.Warning: boundary.LevelInfo,
		onnxruntime.Information: boundary.LevelDebug, onnxruntime.Verbose: boundary.LevelTrace}[s]
	boundary.Log(level, "onnxruntime", "the runtime says [device-runtime-says]", "device", id, "text", text)
}
