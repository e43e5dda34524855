package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/dl/loader"
	"github.com/anynpu/anynpu/backends/settings"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/logging"
	"github.com/anynpu/anynpu/core/spec"
	"github.com/anynpu/anynpu/internal/environ"
)

// info is the JSON form of info; docs/info.schema.json describes it.
type info struct {
	Schema    string            `json:"schema"` // "anynpu.info/1"
	Version   string            `json:"version"`
	Processor processorInfo     `json:"processor"`
	Devices   []deviceInfo      `json:"devices"`
	APIs      []apiInfo         `json:"apis"`
	Drivers   []driverInfo      `json:"drivers"`
	Set       []environ.Setting `json:"environment"`
	Unknown   []environ.Unknown `json:"unknown"`
	Ignored   []string          `json:"ignored"` // what the library's log says of values that mean nothing
}

// processorInfo describes the processor and its settings.
type processorInfo struct {
	Name         string   `json:"name"`
	Architecture string   `json:"architecture"`
	Levels       []string `json:"levels"` // instruction sets with kernels that this processor has, lowest first
	Level        string   `json:"level"`  // the one in use
	Threads      int      `json:"threads"`
}

// deviceInfo is a device with its features.
type deviceInfo struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Vendor      string `json:"vendor"`
	Kind        string `json:"kind"`
	Float16     string `json:"float16"` // "lacks", "accepts" or "honours", as performance
	Performance string `json:"performance"`
	Priority    bool   `json:"priority"`
	Cache       bool   `json:"cache"`
	Dynamic     bool   `json:"dynamic"`
	DimMin      int64  `json:"dim_min"`
	DimMax      int64  `json:"dim_max"`
	Cores       int    `json:"cores"`
}

// apiInfo is an API with its file names.
type apiInfo struct {
	Name      string        `json:"name"`
	Version   string        `json:"version"`
	Functions int           `json:"functions"`
	Libraries []libraryInfo `json:"libraries"`
}

// libraryInfo is the file that a program gets for a SONAME.
type libraryInfo struct {
	Soname string `json:"soname"`
	File   string `json:"file"` // "": a program would not start
	Ours   bool   `json:"ours"`
	Stub   string `json:"stub"` // what exec gives programs, "" if it is not installed
}

// gather collects what info prints, for programs with the given environment.
func gather(environment []string) (*info, error) {
	env := lookup(environment)
	ignored := []string{}
	set := settings.Read(env, func(component, message string, pairs ...any) {
		ignored = append(ignored, component+": "+logging.Text(message, pairs))
	})
	d, err := cpu.New(set.Config())
	if err != nil {
		return nil, exit(exitDevice, err)
	}
	i := &info{Schema: "anynpu.info/1", Version: version, Devices: []deviceInfo{newDeviceInfo(d.Info())}, APIs: apis(env),
		Drivers: listDrivers(env, false), Ignored: ignored}
	i.Processor = processorInfo{Name: processorName(), Architecture: runtime.GOARCH, Level: set.ISA.String(),
		Threads: d.Threads()}
	if set.Reference {
		i.Processor.Level = "reference"
	}
	for _, isa := range kernel.Supported() {
		i.Processor.Levels = append(i.Processor.Levels, isa.String())
	}
	i.Set, i.Unknown = environ.Of(environment)
	return i, nil
}

func newDeviceInfo(d device.Info) deviceInfo {
	kind := map[device.Kind]string{device.CPU: "cpu", device.GPU: "gpu", device.Accelerator: "accelerator"}[d.Kind]
	if kind == "" {
		kind = "other"
	}
	return deviceInfo{ID: d.ID, Name: d.Name, Vendor: d.Vendor, Kind: kind, Float16: d.Float16.String(),
		Performance: d.Performance.String(), Priority: d.Priority, Cache: d.Cache, Dynamic: d.Dynamic, DimMin: d.DimMin,
		DimMax: d.DimMax, Cores: d.Cores}
}

// apis lists the APIs with the files that a program in this environment gets for their names.
func apis(env func(string) string) []apiInfo {
	stubs := stubFolder()
	var out []apiInfo
	for _, f := range spec.APIs {
		a := apiInfo{Name: f.Name, Version: f.Version, Functions: len(f.Functions)}
		if a.Version == "" {
			a.Version = version
		}
		sonames := f.Sonames
		if len(sonames) == 0 {
			sonames = []string{loader.Core}
		}
		for _, soname := range sonames {
			l := libraryInfo{Soname: soname, File: loader.Find(soname, env, loader.CacheFile)}
			if file, err := loader.Read(l.File); err == nil {
				l.Ours = file.Ours
			}
			if stubs != "" && len(f.Sonames) > 0 {
				l.Stub = loader.In(stubs, soname)
			}
			a.Libraries = append(a.Libraries, l)
		}
		out = append(out, a)
	}
	return out
}

// processorName is the system's name of the processor, "" if it does not say.
func processorName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		key, value, _ := strings.Cut(s.Text(), ":")
		if strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func (i *info) print(w io.Writer) {
	p := i.Processor
	printf(w, "version     %s\nprocessor   %s, %s\nkernels     %s of %s\nthreads     %d\n", i.Version,
		orDash(p.Name), p.Architecture, p.Level, strings.Join(p.Levels, ", "), p.Threads)
	for _, d := range i.Devices {
		printf(w, "\ndevice      %s: %s, %s\n", d.ID, d.Name, d.Vendor)
		printf(w, "  float16 %s, performance %s, priority %s, cache %s, cores %d\n", d.Float16, d.Performance,
			yes(d.Priority), yes(d.Cache), d.Cores)
		printf(w, "  open dimensions %s, of %d to %d\n", yes(d.Dynamic), d.DimMin, d.DimMax)
	}
	for _, a := range i.APIs {
		printf(w, "\nAPI         %s %s, %d functions\n", a.Name, a.Version, a.Functions)
		for _, l := range a.Libraries {
			printf(w, "  %-30s %s\n", l.Soname, l.text())
		}
	}
	printf(w, "\n")
	printDrivers(w, i.Drivers)
	for _, s := range i.Set {
		printf(w, "environment %s=%s\n", s.Name, s.Value)
	}
	for _, u := range i.Unknown {
		printf(w, "environment %s=%s: nothing reads this; did you mean %s?\n", u.Name, u.Value, u.Nearest)
	}
	for _, text := range i.Ignored {
		printf(w, "environment %s\n", text)
	}
	if len(i.Set)+len(i.Unknown) == 0 {
		printf(w, "environment no variable is set\n")
	}
}

// text says what becomes of the SONAME.
func (l *libraryInfo) text() string {
	switch {
	case l.File == "" && l.Stub != "":
		return "no file; by anynpu exec " + l.Stub
	case l.File == "":
		return "no file"
	case l.Ours:
		return l.File + " (AnyNPU)"
	case l.Stub != "":
		return fmt.Sprintf("%s (not AnyNPU's); by anynpu exec %s", l.File, l.Stub)
	default:
		return l.File + " (not AnyNPU's)"
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
