// Package devices registers the devices that the library comes with. Façades ask it for the list.
package devices

import (
	"runtime"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/settings"
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
)

// List returns all registered devices, the preferred one first: those that ANYNPU_DEVICE names, then servers that
// manifests name, then vendors', then the built-in CPU. The first call registers them.
func List() ([]device.Device, error) {
	if err := register(); err != nil {
		return nil, err
	}
	return device.Devices.List(), nil
}

// IsProcessor tells the built-in CPU from other devices, of which providers of ONNX Runtime may be CPUs too.
func IsProcessor(d device.Device) bool {
	info := d.Info()
	return info.Kind == device.CPU && info.ID == cpu.ID
}

// Threads is how many threads of the CPU compute, for all programs together.
func Threads() int {
	_ = register() // List tells of an error; the number is known in any case
	return threads
}

// threads is set by register.
var threads int

var register = sync.OnceValue(func() error {
	set := settings.Read(boundary.Getenv, boundary.Caution)
	if most := boundary.ComputeThreads(); most > 0 && set.Threads > most {
		boundary.Log(boundary.LevelWarn, "cpu", "fewer threads compute, as the system grants no more "+
			"[device-fewer-threads-compute]", "threads", most,
			"wanted", set.Threads)
		set.Threads = most
	}
	threads = set.Threads
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), set.Threads+boundary.SpareProcs))
	if err := set.Apply(); err != nil {
		return err
	}
	if folder := boundary.Getenv("ANYNPU_DUMP"); folder != "" {
		compile.Dump = compile.NewDumps(folder, func(text string) { boundary.Log(boundary.LevelError, "boundary", text) })
	}
	dumpTensors()
	c := set.Config()
	if boundary.LogEnabled(boundary.LevelTrace, "cpu") {
		c.Trace = tracePass
	}
	d, err := cpu.New(c)
	if err != nil {
		return err
	}
	all := append(append(remoteDevices(d), driverDevices()...), d)
	for _, d := range settings.Order(all, settings.Wanted(boundary.Getenv), boundary.Caution) {
		if err := device.Devices.Register(d); err != nil {
			return err
		}
	}
	return nil
})

// Ended logs the bytes that an execution of an API's program has copied in all runs, because memory could not be used
// in place.
func Ended(component string, s device.Stats) {
	boundary.Log(boundary.LevelDebug, component, "execution ended", "runs", s.Runs, "copied_in", s.CopiedIn,
		"copied_out", s.CopiedOut)
}

// Strict reports whether ANYNPU_FALLBACK=off: the preferred device computes everything, or a model is refused.
func Strict() bool { return settings.Strict(boundary.Getenv) }

// tracePass writes what a pass has made of a graph, a line per node or step.
func tracePass(pass, text string) {
	for line := range strings.Lines(text) {
		boundary.Log(boundary.LevelTrace, "cpu", pass+": "+strings.TrimSuffix(line, "\n"))
	}
}
