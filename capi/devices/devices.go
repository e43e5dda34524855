// Package devices registers the devices that the library comes with. Façades ask it for the list.
package devices

import (
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/mem"
)

// List returns all registered devices, the preferred one first: those that ANYNPU_DEVICE names, then vendors', then the
// built-in CPU. The first call registers them.
func List() ([]device.Device, error) {
	if err := register(); err != nil {
		return nil, err
	}
	return device.Devices.List(), nil
}

var register = sync.OnceValue(func() error {
	mem.SetGuard(boundary.Getenv("ANYNPU_MEM") == "guard")
	mem.SetLimit(memoryLimit(boundary.Getenv("ANYNPU_MEMORY_LIMIT")))
	threads := threadCount(boundary.Getenv("ANYNPU_THREADS"))
	if most := boundary.ComputeThreads(); most > 0 && threads > most {
		boundary.Log(boundary.LevelWarn, "cpu", "fewer threads compute, as the system grants no more", "threads", most,
			"wanted", threads)
		threads = most
	}
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), threads+boundary.SpareProcs))
	selectISA(boundary.Getenv("ANYNPU_CPU_ISA"))
	c := cpu.Config{Threads: threads, Reference: byReference(boundary.Getenv("ANYNPU_CPU"))}
	if boundary.LogEnabled(boundary.LevelTrace, "cpu") {
		c.Trace = tracePass
	}
	d, err := cpu.New(c)
	if err != nil {
		return err
	}
	for _, d := range order(append(driverDevices(), d), boundary.Getenv("ANYNPU_DEVICE")) {
		if err := device.Devices.Register(d); err != nil {
			return err
		}
	}
	return nil
})

// Strict reports whether ANYNPU_FALLBACK=off: the preferred device computes everything, or a model is refused.
func Strict() bool { return boundary.Getenv("ANYNPU_FALLBACK") == "off" }

// order moves the devices to the front whose ids value lists, separated by commas.
func order(all []device.Device, value string) []device.Device {
	var first []device.Device
	for id := range strings.SplitSeq(value, ",") {
		if id = strings.TrimSpace(id); id == "" {
			continue
		}
		is := func(d device.Device) bool { return d.Info().ID == id }
		if at := slices.IndexFunc(all, is); at >= 0 {
			first, all = append(first, all[at]), slices.Delete(all, at, at+1)
		} else if !slices.ContainsFunc(first, is) {
			boundary.Log(boundary.LevelWarn, "boundary", "value ignored", "ANYNPU_DEVICE", id, "want", ids(append(first, all...)))
		}
	}
	return append(first, all...)
}

// ids are the names of devices.
func ids(all []device.Device) string {
	var out []string
	for _, d := range all {
		out = append(out, d.Info().ID)
	}
	return strings.Join(out, ", ")
}

// tracePass writes what a pass has made of a graph, a line per node or step.
func tracePass(pass, text string) {
	for line := range strings.Lines(text) {
		boundary.Log(boundary.LevelTrace, "cpu", pass+": "+strings.TrimSuffix(line, "\n"))
	}
}

// byReference reads the value of ANYNPU_CPU; an invalid value means the default.
func byReference(value string) bool {
	if value != "" && value != "auto" && value != "ref" {
		boundary.Log(boundary.LevelWarn, "cpu", "value ignored", "ANYNPU_CPU", value, "want", "auto or ref")
	}
	return value == "ref"
}

// selectISA reads the value of ANYNPU_CPU_ISA; an unknown instruction set, or one that the machine
// lacks, means the default.
func selectISA(value string) {
	if value == "" {
		return
	}
	isa, err := kernel.ParseISA(value)
	if err == nil {
		_, err = kernel.Select(isa)
	}
	if err != nil {
		boundary.Log(boundary.LevelWarn, "cpu", "value ignored", "ANYNPU_CPU_ISA", value, "why", err)
	}
}

// memoryLimit reads the value of ANYNPU_MEMORY_LIMIT: bytes, with K, M or G behind the number units of 1024, 1024² or
// 1024³. An empty or invalid value means that there is no such limit.
func memoryLimit(value string) int64 {
	if value == "" {
		return 0
	}
	number, unit := value, int64(1)
	if at := strings.IndexByte("KMG", value[len(value)-1]); at >= 0 {
		number, unit = value[:len(value)-1], 1<<(10*(at+1))
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/unit {
		boundary.Log(boundary.LevelWarn, "cpu", "value ignored", "ANYNPU_MEMORY_LIMIT", value, "want",
			"bytes, as 500000000, 512M or 4G")
		return 0
	}
	return n * unit
}

// maxThreads bounds ANYNPU_THREADS.
const maxThreads = 1024

// threadCount reads the value of ANYNPU_THREADS; an empty or invalid value means the default.
func threadCount(value string) int {
	if value == "" {
		return pool.DefaultThreads()
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > maxThreads {
		boundary.Log(boundary.LevelWarn, "cpu", "value ignored", "ANYNPU_THREADS", value, "want",
			"1 to "+strconv.Itoa(maxThreads))
		return pool.DefaultThreads()
	}
	return n
}
