package rules

import (
	"slices"
	"strings"
)

// The devices that a library has while cases run, given to it through DevicesVariable, where a name is followed by what
// makes the device differ. Device 0 has every feature, the others, known by their names, lack some.
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
	DevicesVariable = "ANYNPU_OHNN_DEVICES"
	RangeVariable   = "ANYNPU_OHNN_DIM_RANGE"
)

var manyDevices = strings.Join([]string{
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
}, ",")

// noDevice is the setting of cases in which the library has no device that can be used.
const noDevice = DevicesVariable + "=" + offlineDevice + ":offline"

// largestDim is the largest size that a dimension of -1 takes.
const largestDim = 1000

// named is the id of a device of this name.
func (t *T) named(name string) uint64 {
	ids := t.deviceIDs()
	i := slices.IndexFunc(ids, func(id uint64) bool { return t.deviceName(id) == name })
	t.Check(i >= 0, "there is no device %s", name)
	return ids[i]
}

// unbuiltOn is a compilation of a model of two floats, or of other dimensions, for a device.
func (t *T) unbuiltOn(device string, dims ...int32) uintptr {
	if len(dims) == 0 {
		dims = []int32{2}
	}
	c := t.compilation(t.model(dims...))
	t.OK("Compilation_SetDevice", c, t.named(device))
	return c
}

// executorOn runs tensor 2 = tensor 0 + tensor 1 on a device.
func (t *T) executorOn(device string, dims ...int32) uintptr {
	c := t.unbuiltOn(device, dims...)
	t.OK("Compilation_Build", c)
	return t.executorOf(c)
}
