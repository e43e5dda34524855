package ohnn

import (
	"sync"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
)

// Compilation is an OH_NNCompilation (section 7). Settings are collected and judged by the build. Safe for concurrent
// use.
type Compilation struct {
	handle.Ref

	mu sync.Mutex
	source
	deviceID    uint64
	cacheDir    string // "": no cache
	version     uint32
	performance PerformanceMode
	priority    Priority
	float16     bool
	extensions  map[string][]byte
	tried       bool      // a build has got as far as choosing the device
	result      *compiled // nil until a build has succeeded
}

// source is the source of a compilation; all empty for one that waits for a cache.
type source struct {
	model    *Model
	path     string // offline model file; opened by the build
	hasPath  bool
	blob     []byte // offline model or imported cache; the program's memory
	imported bool   // blob came from ImportCacheFromBuffer
}

// compilationConstruct keeps the model alive, whatever the program does with its handle; the model may still be open.
func compilationConstruct(m *Model) (*Compilation, error) {
	return &Compilation{source: source{model: m}}, nil
}

// compilationConstructWithOfflineModelFile does not open the file.
func compilationConstructWithOfflineModelFile(path string) (*Compilation, error) {
	return &Compilation{source: source{path: path, hasPath: true}}, nil
}

// compilationConstructWithOfflineModelBuffer keeps the pointer: the memory stays the program's until the build has
// returned.
func compilationConstructWithOfflineModelBuffer(blob []byte) (*Compilation, error) {
	if len(blob) == 0 {
		return nil, invalid("modelSize: 0: want the size of the model [ohnn-model-size-model]")
	}
	return &Compilation{source: source{blob: blob}}, nil
}

func compilationConstructForCache() (*Compilation, error) { return &Compilation{}, nil }

// compilationDestroy leaves executors of the compilation working.
func compilationDestroy(c *Compilation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.result != nil {
		c.result.release()
		c.result = nil
	}
	return nil
}

// open refuses a setting that comes after the build, as the manual has it; the reference takes it without effect.
func (c *Compilation) open() error {
	if c.tried && !settings().reference {
		return forbidden("compilation: it is built already: call this before OH_NNCompilation_Build " +
			"[ohnn-compilation-built-already]")
	}
	return nil
}

// compilationImportCacheFromBuffer keeps the pointer, in the place of an offline model's.
func compilationImportCacheFromBuffer(c *Compilation, blob []byte) error {
	if len(blob) == 0 {
		return invalid("modelSize: 0: want the size that OH_NNCompilation_ExportCacheToBuffer gave " +
			"[ohnn-model-size-compilation]")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open(); err != nil {
		return err
	}
	c.blob, c.imported = blob, true
	return nil
}

// compilationAddExtensionConfig copies the value. A name given again appends "|" and the new value.
func compilationAddExtensionConfig(c *Compilation, name string, value []byte) error {
	if name == "" {
		return invalid("configName: empty [ohnn-config-name-empty]")
	}
	if len(value) == 0 || len(value) > maxBufferSize {
		return invalid("configValueSize: %d: want the size of the value, 1 to %d "+
			"[ohnn-config-value-size]", len(value), maxBufferSize)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open(); err != nil {
		return err
	}
	if c.extensions == nil {
		c.extensions = map[string][]byte{}
	}
	old, again := c.extensions[name]
	all, err := mem.Make[byte](len(old) + 1 + len(value))
	if err != nil {
		return fault.Wrap(err, "configValue")
	}
	all = append(all[:0], old...)
	if again {
		all = append(all, '|')
	}
	c.extensions[name] = append(all, value...)
	return nil
}

// compilationSetDevice takes any id before the build, which judges it.
func compilationSetDevice(c *Compilation, deviceID uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open(); err != nil {
		return err
	}
	c.deviceID = deviceID
	return nil
}

// compilationSetCache takes any path and version before the build; "" turns the cache off.
func compilationSetCache(c *Compilation, path string, version uint32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open(); err != nil {
		return err
	}
	c.cacheDir, c.version = path, version
	return nil
}

// compilationSetPerformanceMode takes any value before the build. After it the reference judges the value at once, the
// manual forbids it.
func compilationSetPerformanceMode(c *Compilation, mode PerformanceMode) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open(); err != nil {
		return err
	}
	if c.tried {
		return checkPerformance(deviceByID(c.deviceID), mode)
	}
	c.performance = mode
	return nil
}

// compilationSetPriority is like compilationSetPerformanceMode.
func compilationSetPriority(c *Compilation, priority Priority) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open(); err != nil {
		return err
	}
	if c.tried {
		return checkPriority(deviceByID(c.deviceID), priority)
	}
	c.priority = priority
	return nil
}

// compilationEnableFloat16 permits float32 models to be computed in float16.
func compilationEnableFloat16(c *Compilation, enable bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open(); err != nil {
		return err
	}
	c.float16 = enable
	return nil
}

// Placement returns where the nodes of the compiled model run, as JSON; nil when there is none. It serves
// anynpu_placement_report.
func (c *Compilation) Placement() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.result == nil {
		return nil
	}
	return c.result.placement.JSON()
}

// Compiled returns the program of the compiled model, nil when there is none. It serves anynpu_export.
func (c *Compilation) Compiled() (program device.Program, release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.result == nil {
		return nil, nil
	}
	p := c.result.program
	p.Retain()
	return p, p.Release
}

// checkPerformance and checkPriority judge a setting for device d. The device's abilities come before the value's
// range.
func checkPerformance(d *npu, mode PerformanceMode) error {
	switch {
	case d == nil:
		return refuse(Failed, "deviceID: %s [ohnn-device-id]", noSuchDevice())
	case mode != 0 && d.Info().Performance == device.Lacks:
		return forbidden("performanceMode: %d: device %s does not support performance modes: leave it at "+
			"OH_NN_PERFORMANCE_NONE [ohnn-performance-mode-device]", int32(mode), d.name)
	case mode >= performanceEnd:
		return invalid("performanceMode: %d: want 0 to %d [ohnn-performance-mode]", int32(mode), performanceEnd-1)
	}
	return nil
}

func checkPriority(d *npu, priority Priority) error {
	switch {
	case d == nil:
		return refuse(Failed, "deviceID: %s [ohnn-device-id]", noSuchDevice())
	case priority != 0 && !d.Info().Priority:
		return forbidden("priority: %d: device %s does not support priorities: leave it at OH_NN_PRIORITY_NONE "+
			"[ohnn-priority-device-support]",
			int32(priority), d.name)
	case priority >= priorityEnd:
		return invalid("priority: %d: want 0 to %d [ohnn-priority]", int32(priority), priorityEnd-1)
	}
	return nil
}

// options are the device's; extension configurations are passed on under their names.
func (c *Compilation) options() device.Options {
	return device.Options{
		Float16:     c.float16,
		Performance: device.Performance(c.performance),
		Priority:    device.Priority(c.priority),
		Extra:       c.extensions,
	}
}
