package main

import (
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/remote"
	"github.com/anynpu/anynpu/backends/settings"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/logging"
)

// computeFlags say what computes. A flag stands for a variable that the library reads, and wins over it.
type computeFlags struct {
	device  string
	threads int
	isa     string
	ref     bool
	cmd     *cobra.Command
}

func (f *computeFlags) add(cmd *cobra.Command) {
	f.cmd = cmd
	fl := cmd.Flags()
	fl.StringVar(&f.device, "device", "", "the `DEVICE` that computes: cpu, remote:NAME for servers, or with a driver "+
		strings.Join(driverDevices, ", ")+" (default: ANYNPU_DEVICE, else cpu)")
	fl.IntVar(&f.threads, "threads", 0, "compute with `N` threads; 0: the CPUs that the process may use (default: "+
		"ANYNPU_THREADS, else 0)")
	fl.StringVar(&f.isa, "isa", "", "fast kernels of instruction set `NAME`: "+kernel.ISANames()+" (default: "+
		"ANYNPU_CPU_ISA, else the last of these that the machine has)")
	fl.BoolVar(&f.ref, "ref", false, "compute by the plain reference kernels, which are slow, as ANYNPU_CPU=ref does; "+
		"with --ref=false by the fast ones")
	var sets []string
	for _, isa := range kernel.Supported() {
		sets = append(sets, isa.String())
	}
	complete(cmd, "isa", sets...)
}

// computes reports whether a flag says how the CPU computes.
func (f *computeFlags) computes() bool {
	return slices.ContainsFunc([]string{"threads", "isa", "ref"}, f.cmd.Flags().Changed)
}

// check refuses values that no machine has.
func (f *computeFlags) check() error {
	given := f.cmd.Flags().Changed
	if f.threads < 0 || f.threads > settings.MaxThreads {
		return usage("--threads %d: want 0 to %d [tool-threads]", f.threads, settings.MaxThreads)
	}
	if given("device") && len(settings.Wanted(f.getenv)) == 0 {
		return usage("--device: want the name of a device [tool-device-name-device]")
	}
	if !given("isa") {
		return nil
	}
	if _, err := kernel.Available(f.isa); err != nil {
		return usage("--isa %s: %v [tool-isa]", f.isa, err)
	}
	if f.ref {
		return usage("--isa %s --ref: the reference kernels have no instruction sets; want one of the two flags "+
			"[tool-isa-ref-reference]", f.isa)
	}
	return nil
}

// getenv is os.Getenv, in which flags that are given have set the variables that they stand for.
func (f *computeFlags) getenv(name string) string {
	flag := map[string]string{"ANYNPU_DEVICE": "device", "ANYNPU_THREADS": "threads", "ANYNPU_CPU_ISA": "isa",
		"ANYNPU_CPU": "ref"}[name]
	switch {
	case flag == "" || !f.cmd.Flags().Changed(flag):
		return os.Getenv(name)
	case flag == "device":
		return f.device
	case flag == "isa":
		return f.isa
	case flag == "threads" && f.threads > 0:
		return strconv.Itoa(f.threads)
	case flag == "ref" && f.ref:
		return "ref"
	}
	return ""
}

// machine holds the devices and settings of a computation.
type machine struct {
	devices []device.Device
	strict  bool // the first device computes everything, or a model is refused
	threads int
	byRef   bool
	log     *eventLog
}

func (m *machine) close() {
	for _, d := range m.devices {
		if r, is := d.(*remote.Device); is {
			r.Close()
		}
	}
	m.log.close()
}

// kernels names the kernels of the CPU: "reference", or an instruction set.
func (m *machine) kernels() string {
	if m.byRef {
		return "reference"
	}
	return kernel.Active().String()
}

// open puts in force, for the rest of the process, what flags and environment say. trace, unless nil, gets the result
// of each pass. Exit code 4 when there is no such device.
func (f *computeFlags) open(stderr io.Writer, trace func(pass, text string)) (*machine, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	var told []func(l *eventLog)     // afterwards: opening a driver may become another program, which tells it again
	var now atomic.Pointer[eventLog] // there is one: a remote device tells later too
	tell := func(component, message string, pairs ...any) {
		if l := now.Load(); l != nil {
			l.caution(component, message, pairs...)
			return
		}
		told = append(told, func(l *eventLog) { l.caution(component, message, pairs...) })
	}
	list, err := f.drivers(tell)
	if err != nil {
		return nil, err
	}
	set := settings.Read(f.getenv, tell)
	m := &machine{devices: list, strict: settings.Strict(f.getenv), threads: set.Threads, byRef: set.Reference,
		log: newEventLog(os.Getenv, stderr)}
	for _, line := range told {
		line(m.log)
	}
	now.Store(m.log)
	if set.Reference && f.isa != "" {
		warn(stderr, "tool-isa-no-effect", "--isa "+f.isa+" has no effect with ANYNPU_CPU=ref; --ref=false turns that off")
	}
	c := set.Config()
	if c.Trace = trace; trace == nil && m.log.levels.Enabled(logging.Trace, "cpu") {
		c.Trace = m.log.trace
	}
	d, err := cpu.New(c)
	if err == nil {
		err = set.Apply()
	}
	if err != nil {
		m.close()
		return nil, exit(exitDevice, err)
	}
	for i := range list {
		if list[i] == nil {
			list[i] = d
		}
	}
	return m, nil
}

// drivers returns the devices that are wanted, nil for the CPU, which comes last unless it is named. One that --device
// names has to be there; one that ANYNPU_DEVICE names is left out otherwise and reported to tell.
func (f *computeFlags) drivers(tell settings.Teller) (list []device.Device, err error) {
	flag := f.cmd.Flags().Changed("device")
	var seen []string
	wanted := settings.Wanted(f.getenv)
	if slices.ContainsFunc(wanted, func(id string) bool { return id != "cpu" }) {
		tellSettings(tell)
	}
	for _, id := range wanted {
		if slices.Contains(seen, id) {
			continue
		}
		var d device.Device
		switch {
		case id == "cpu":
		case isRemote(id):
			var r *remote.Device
			if r, err = openRemote(id, f.getenv, tell); err == nil {
				d = r
			}
		case slices.Contains(driverDevices, driverAPI(id)):
			d, err = openDevice(id)
		default:
			err = fault.New(fault.Device, "no device %q; there is: cpu, and with a driver or manifest %s "+
				"[tool-no-device-cpu]", id,
				strings.Join(append(slices.Clone(driverDevices), "remote:NAME"), ", "))
		}
		if err != nil && flag {
			return nil, exit(exitDevice, err)
		}
		if err != nil {
			settings.NoDevice(id, strings.Join(usableDevices(), ", "), tell)
			err = nil
			continue
		}
		list, seen = append(list, d), append(seen, id)
	}
	if !slices.Contains(seen, "cpu") {
		list = append(list, nil)
	}
	return list, nil
}

// usableDevices are the ids of the first devices that are here.
func usableDevices() []string {
	ids := []string{}
	all := listDrivers(os.Getenv, false)
	for _, d := range all {
		if d.Used && d.Remote == nil {
			ids = append(ids, d.API)
		}
	}
	return append(append(ids, remoteIDs(all)...), "cpu")
}

// tellSettings tells of settings of drivers that are none, as the library does.
func tellSettings(tell settings.Teller) {
	for i := range dl.APIs {
		a := &dl.APIs[i]
		if _, wrong := a.Set(os.Getenv); wrong != "" {
			tell(a.Name, "value ignored", "ANYNPU_"+strings.ToUpper(a.Name), wrong, "want", a.Settings())
		}
	}
}
