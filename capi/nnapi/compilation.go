package nnapi

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// Compilation is an ANeuralNetworksCompilation (section 4). Safe for concurrent use.
type Compilation struct {
	handle.Ref

	mu         sync.Mutex
	model      *Model
	devices    []*Device // in order of preference
	explicit   bool      // the program has chosen the devices
	preference int32
	priority   int32
	timeout    uint64 // nanoseconds, 0: none
	cacheDir   string // "": no cache
	token      [tokenSize]byte
	finished   bool      // compilationFinish was called
	result     *compiled // nil until it has succeeded
}

// tokenSize is ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN.
const tokenSize = 32

const (
	referenceAlign   = 64 // where buffers of this library begin
	referencePadding = 1  // no kernel touches what is behind a tensor
)

// compilationCreate takes all devices. The model lives on with the compilation, whatever the program does with its
// handle.
func compilationCreate(m *Model) (*Compilation, error) {
	if err := m.valid("model"); err != nil {
		return nil, err
	}
	return newCompilation(m, everyDevice(), false), nil
}

func newCompilation(m *Model, devices []*Device, explicit bool) *Compilation {
	return &Compilation{model: m, devices: devices, explicit: explicit, preference: nnapi.PreferFast,
		priority: nnapi.PriorityMedium}
}

// compilationCreateForDevices judges the devices before the state of the model, as the reference implementation does.
func compilationCreateForDevices(m *Model, p unsafe.Pointer, n uint32) (*Compilation, error) {
	devices, err := devicesAt(p, n)
	if err != nil {
		return nil, err
	}
	if err := m.valid("model"); err != nil {
		return nil, err
	}
	return newCompilation(m, devices, true), nil
}

// compilationFree leaves executions and bursts of the compilation working.
func compilationFree(c *Compilation) error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.result != nil {
		c.result.release()
		c.result = nil
	}
	return nil
}

// open refuses a setting that comes after the finish.
func (c *Compilation) open() error {
	if c.finished {
		return badState("compilation: it is finished: call this before ANeuralNetworksCompilation_finish " +
			"[nnapi-compilation-finished-compilation]")
	}
	return nil
}

// single refuses what is only for compilations for exactly one device.
func (c *Compilation) single(what string) error {
	if c.explicit && len(c.devices) == 1 {
		return nil
	}
	return notSingle(what)
}

func compilationSetPreference(c *Compilation, preference int32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open(); err != nil {
		return err
	}
	if preference < nnapi.PreferLowPower || preference > nnapi.PreferSustained {
		return badData("preference: %d: want 0 (low power), 1 (fast single answer) or 2 (sustained speed) "+
			"[nnapi-preference-low-power]", preference)
	}
	c.preference = preference
	return nil
}

// compilationSetCaching copies the directory's name and the token, and looks at nothing else.
func compilationSetCaching(c *Compilation, dir string, token *uint8) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open(); err != nil {
		return err
	}
	bytes, err := elements(token, tokenSize, "token")
	if err != nil {
		return err
	}
	c.cacheDir = dir
	copy(c.token[:], bytes)
	return nil
}

func compilationSetPriority(c *Compilation, priority int32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open(); err != nil {
		return err
	}
	if !slices.Contains([]int32{nnapi.PriorityLow, nnapi.PriorityMedium, nnapi.PriorityHigh}, priority) {
		return badData("priority: %d: want 90 (low), 100 (medium) or 110 (high) [nnapi-priority-low-medium]", priority)
	}
	c.priority = priority
	return nil
}

func compilationSetTimeout(c *Compilation, duration uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open(); err != nil {
		return err
	}
	if err := c.single("a time limit"); err != nil {
		return err
	}
	c.timeout = duration
	return nil
}

func names(devices []*Device) (out []string) {
	for _, d := range devices {
		out = append(out, d.name)
	}
	return out
}

// finishedResult returns what executions share, nil while the compilation is not finished and after it has failed.
func (c *Compilation) finishedResult() *compiled {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.result
}

// use returns what executions share, with a reference for the caller.
func (c *Compilation) use() (*compiled, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.finished:
		return nil, badState("compilation: it is not finished: call ANeuralNetworksCompilation_finish first " +
			"[nnapi-compilation-finished-compilation-finish]")
	case c.result == nil:
		return nil, badState("compilation: ANeuralNetworksCompilation_finish has failed " +
			"[nnapi-compilation-finish-failed]")
	}
	c.result.retain()
	return c.result, nil
}

// preferred answers for input or output index of a finished compilation.
func (c *Compilation) preferred(output bool, index, value uint32, p *uint32) error {
	result, err := c.use()
	if err != nil {
		return err
	}
	defer result.release()
	ports, what := result.in, "inputs"
	if output {
		ports, what = result.out, "outputs"
	}
	if uint64(index) >= uint64(len(ports)) {
		return badData("index: %d: the model has %d %s [nnapi-index-model]", index, len(ports), what)
	}
	*p = value
	return nil
}

func compilationGetPreferredMemoryAlignmentForInput(c *Compilation, index uint32, alignment *uint32) error {
	return c.preferred(false, index, referenceAlign, alignment)
}

func compilationGetPreferredMemoryAlignmentForOutput(c *Compilation, index uint32, alignment *uint32) error {
	return c.preferred(true, index, referenceAlign, alignment)
}

func compilationGetPreferredMemoryPaddingForInput(c *Compilation, index uint32, padding *uint32) error {
	return c.preferred(false, index, referencePadding, padding)
}

func compilationGetPreferredMemoryPaddingForOutput(c *Compilation, index uint32, padding *uint32) error {
	return c.preferred(true, index, referencePadding, padding)
}

// Placement returns where the nodes of the compiled model run, as JSON; nil when there is none. Where executions decide
// on the plan, the last one counts. It serves anynpu_placement_report.
func (c *Compilation) Placement() []byte {
	result := c.finishedResult()
	switch {
	case result == nil:
	case result.whole != nil:
		return result.whole.placement.JSON()
	default:
		if p := result.others.last(); p != nil {
			return p.JSON()
		}
	}
	return nil
}

// Compiled returns the program of the compiled model, nil when there is none, or when executions decide on the plan. It
// serves anynpu_export.
func (c *Compilation) Compiled() (program device.Program, release func()) {
	result := c.finishedResult()
	if result == nil || result.whole == nil {
		return nil, nil
	}
	p := result.whole.program
	p.Retain()
	return p, p.Release
}

// options returns the options of the compilation on a device.
func (c *Compilation) options() device.Options {
	return device.Options{Float16: c.model.spec.Relaxed, Performance: performances[c.preference],
		Priority: priorities[c.priority]}
}

var performances = map[int32]device.Performance{nnapi.PreferLowPower: device.PerformanceLow,
	nnapi.PreferFast: device.PerformanceHigh, nnapi.PreferSustained: device.PerformanceMedium}

var priorities = map[int32]device.Priority{nnapi.PriorityLow: device.PriorityLow,
	nnapi.PriorityMedium: device.PriorityMedium, nnapi.PriorityHigh: device.PriorityHigh}
