package rules

import (
	"slices"
	"strings"

	"github.com/anynpu/anynpu/conformance/ohnn"
)

// Setup is which devices a library has while a case runs.
type Setup string

// The setups. In the first, device 0 has every feature, and others, known by their names, lack some.
const (
	ManyDevices Setup = ""
	NoDevice    Setup = "none"
)

// The devices of ManyDevices. A library is given them through DevicesVariable, where a name is followed by what makes
// the device differ.
const (
	fullDevice        = "Device-Full_Rules_v2_0"
	plainDevice       = "Device-Plain_Rules_v1_0"       // none of the features, no dynamic shapes, no RELU
	plainCacheDevice  = "Device-PlainCache_Rules_v2_0"  // of the features only the cache
	noPriorityDevice  = "Device-NoPriority_Rules_v2_0"  // all features but one
	noFloat16Device   = "Device-NoFloat16_Rules_v2_0"   // likewise
	noCacheDevice     = "Device-NoCache_Rules_v2_0"     // likewise
	acceleratorDevice = "Device-Accelerator_Rules_v2_0" // of another type
	gpuDevice         = "Device-GPU_Rules_v2_0"
	otherDevice       = "Device-Other_Rules_v2_0"
	offlineDevice     = "Device-Offline_Rules_v2_0" // neither available nor busy
)

// Environment variables that a library under test reads.
const (
	ModeVariable    = "ANYNPU_OHNN_COMPAT"
	DevicesVariable = "ANYNPU_OHNN_DEVICES"
	RangeVariable   = "ANYNPU_OHNN_DIM_RANGE"
)

var setups = map[Setup]string{
	ManyDevices: strings.Join([]string{
		fullDevice,
		plainDevice + ":no-float16:no-performance:no-priority:no-cache:no-ranges:no-dynamic:no-RELU",
		plainCacheDevice + ":no-float16:no-performance:no-priority:no-ranges",
		noPriorityDevice + ":no-priority",
		noFloat16Device + ":no-float16",
		noCacheDevice + ":no-cache",
		acceleratorDevice + ":as-accelerator",
		gpuDevice + ":as-gpu",
		otherDevice + ":as-other",
		fullDevice,
		offlineDevice + ":offline",
	}, ","),
	NoDevice: offlineDevice + ":offline",
}

// largestDim is the largest size that a dimension of -1 takes.
const largestDim = 1000

// Environ returns the environment of a child that holds a library to a mode.
func Environ(mode Mode, setup Setup) []string {
	value := ""
	if mode == Reference {
		value = "reference"
	}
	return append(ohnn.Environ(), ModeVariable+"="+value, DevicesVariable+"="+setups[setup], RangeVariable+"=1:1000")
}

// Report runs the cases of a mode, those of each setup by the runner that newRunner makes for it.
func Report(cases []*Case, mode Mode, newRunner func(Setup) *ohnn.Runner) (*ohnn.Report, error) {
	out := &ohnn.Report{Counts: map[ohnn.Status]int{}}
	for _, setup := range []Setup{ManyDevices, NoDevice} {
		var ids []string
		for _, c := range cases {
			if c.Setup == setup && c.appliesIn(mode) {
				ids = append(ids, c.ID())
			}
		}
		if len(ids) == 0 {
			continue
		}
		rep, err := newRunner(setup).RunIDs(ids)
		if err != nil {
			return nil, err
		}
		for status, n := range out.Counts {
			rep.Counts[status] += n
		}
		rep.Results = append(out.Results, rep.Results...)
		if rep.Device == "" {
			rep.Device = out.Device
		}
		out = rep
	}
	return out, nil
}

// named is the id of a device of this name.
func (t *T) named(name string) uint64 {
	ids := t.deviceIDs()
	i := slices.IndexFunc(ids, func(id uint64) bool { return t.deviceName(id) == name })
	t.check(i >= 0, "there is no device %s", name)
	return ids[i]
}

// unbuiltOn is a compilation of a model of two floats, or of other dimensions, for a device.
func (t *T) unbuiltOn(device string, dims ...int32) uintptr {
	if len(dims) == 0 {
		dims = []int32{2}
	}
	c := t.compilation(t.model(dims...))
	t.ok("Compilation_SetDevice", c, t.named(device))
	return c
}

// executorOn runs tensor 2 = tensor 0 + tensor 1 on a device.
func (t *T) executorOn(device string, dims ...int32) uintptr {
	c := t.unbuiltOn(device, dims...)
	t.ok("Compilation_Build", c)
	return t.executorOf(c)
}
