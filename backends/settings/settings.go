// Package settings reads the environment variables that say how the CPU computes and which device is asked first, for
// the library and the tool alike.
package settings

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/core/cache"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/mem"
)

// MaxThreads bounds the number of threads that compute.
const MaxThreads = 1024

// A Teller writes a line of the log that is shown wherever errors are.
type Teller func(component, message string, pairs ...any)

// CPU is how the CPU computes.
type CPU struct {
	Threads   int           // 1 to MaxThreads
	Reference bool          // everything is computed by reference
	ISA       kernel.ISA    // of the fast kernels
	Memory    int64         // bytes at most; 0: no such limit
	Guard     bool          // host memory ends at a page that cannot be touched
	Anybody   bool          // caches are believed whoever could write them
	Limit     time.Duration // of every run; 0: none
}

// Read reads the variables. A value that means nothing is ignored and reported to tell; "" counts as unset.
func Read(getenv func(name string) string, tell Teller) CPU {
	return CPU{
		Threads:   threads(getenv("ANYNPU_THREADS"), tell),
		Reference: reference(getenv("ANYNPU_CPU"), tell),
		ISA:       instructions(getenv("ANYNPU_CPU_ISA"), tell),
		Memory:    memory(getenv("ANYNPU_MEMORY_LIMIT"), tell),
		Guard:     guard(getenv("ANYNPU_MEM"), tell),
		Anybody:   anybody(getenv("ANYNPU_CACHE_TRUST"), tell),
		Limit:     limit(getenv("ANYNPU_RUN_TIMEOUT"), tell),
	}
}

// Apply puts in force what holds for the whole process: the limit of memory, guard mode, whose caches are believed,
// the limit of runs and the instruction set. No kernel may run meanwhile.
func (c *CPU) Apply() error {
	mem.SetGuard(c.Guard)
	mem.SetLimit(c.Memory)
	cache.TrustAnybody(c.Anybody)
	exec.LimitRuns(c.Limit)
	_, err := kernel.Select(c.ISA)
	return err
}

// Config is the configuration of the device.
func (c *CPU) Config() cpu.Config { return cpu.Config{Threads: c.Threads, Reference: c.Reference} }

// threads reads ANYNPU_THREADS.
func threads(value string, tell Teller) int {
	n, err := strconv.Atoi(value)
	switch {
	case value == "":
		return pool.DefaultThreads()
	case err != nil || n < 1 || n > MaxThreads:
		tell("cpu", "value ignored [device-setting-ignored]", "ANYNPU_THREADS", value, "want",
			"1 to "+strconv.Itoa(MaxThreads))
		return pool.DefaultThreads()
	}
	return n
}

// reference reads ANYNPU_CPU.
func reference(value string, tell Teller) bool {
	if value != "" && value != "auto" && value != "ref" {
		tell("cpu", "value ignored [device-setting-ignored]", "ANYNPU_CPU", value, "want", "auto or ref")
	}
	return value == "ref"
}

// instructions reads ANYNPU_CPU_ISA; the best instruction set of the machine is the default.
func instructions(value string, tell Teller) kernel.ISA {
	best := slices.Max(kernel.Supported())
	if value == "" {
		return best
	}
	isa, err := kernel.Available(value)
	if err != nil {
		tell("cpu", "value ignored [device-setting-ignored]", "ANYNPU_CPU_ISA", value, "why", err)
		return best
	}
	return isa
}

// memory reads ANYNPU_MEMORY_LIMIT: bytes, with K, M or G after the number units of 1024, 1024² or 1024³.
func memory(value string, tell Teller) int64 {
	if value == "" {
		return 0
	}
	number, unit := value, int64(1)
	if at := strings.IndexByte("KMG", value[len(value)-1]); at >= 0 {
		number, unit = value[:len(value)-1], 1<<(10*(at+1))
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/unit {
		tell("cpu", "value ignored [device-setting-ignored]", "ANYNPU_MEMORY_LIMIT", value, "want",
			"bytes, as 500000000, 512M or 4G")
		return 0
	}
	return n * unit
}

// guard reads ANYNPU_MEM.
func guard(value string, tell Teller) bool {
	if value != "" && value != "guard" {
		tell("cpu", "value ignored [device-setting-ignored]", "ANYNPU_MEM", value, "want", "guard")
	}
	return value == "guard"
}

// limit reads ANYNPU_RUN_TIMEOUT: seconds, which may have a fraction.
func limit(value string, tell Teller) time.Duration {
	if value == "" {
		return 0
	}
	s, err := strconv.ParseFloat(value, 64)
	if err != nil || !(s > 0) || s > 1e9 {
		tell("cpu", "value ignored [device-setting-ignored]", "ANYNPU_RUN_TIMEOUT", value, "want", "seconds, as 30 or 0.5")
		return 0
	}
	return max(1, time.Duration(s*float64(time.Second)))
}

// anybody reads ANYNPU_CACHE_TRUST.
func anybody(value string, tell Teller) bool {
	if value != "" && value != "own" && value != "any" {
		tell("cpu", "value ignored [device-setting-ignored]", "ANYNPU_CACHE_TRUST", value, "want", "own or any")
	}
	return value == "any"
}

// Strict reads ANYNPU_FALLBACK: with off the preferred device computes everything, or a model is refused.
func Strict(getenv func(name string) string) bool { return getenv("ANYNPU_FALLBACK") == "off" }

// Wanted reads ANYNPU_DEVICE: ids of devices, the preferred one first.
func Wanted(getenv func(name string) string) (ids []string) {
	for id := range strings.SplitSeq(getenv("ANYNPU_DEVICE"), ",") {
		if id = strings.TrimSpace(id); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// Order moves the devices that are wanted to the front.
func Order(all []device.Device, wanted []string, tell Teller) []device.Device {
	var first []device.Device
	all = slices.Clone(all)
	for _, id := range wanted {
		is := func(d device.Device) bool { return d.Info().ID == id }
		if at := slices.IndexFunc(all, is); at >= 0 {
			first, all = append(first, all[at]), slices.Delete(all, at, at+1)
		} else if !slices.ContainsFunc(first, is) {
			NoDevice(id, ids(append(first, all...)), tell)
		}
	}
	return append(first, all...)
}

// NoDevice tells of an id in ANYNPU_DEVICE that no device has.
func NoDevice(id, want string, tell Teller) {
	tell("boundary", "value ignored [device-setting-ignored]", "ANYNPU_DEVICE", id, "want", want)
}

// ids are the names of devices.
func ids(all []device.Device) string {
	var out []string
	for _, d := range all {
		out = append(out, d.Info().ID)
	}
	return strings.Join(out, ", ")
}
