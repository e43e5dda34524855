package ohnn

import (
	"context"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

// sources counts what the compilation could be made of. Outside reference mode an imported cache stands for the model
// it was made from.
func (c *Compilation) sources() int {
	n := 0
	for _, given := range []bool{c.model != nil, c.hasPath, c.blob != nil} {
		if given {
			n++
		}
	}
	if c.model != nil && c.imported && !settings().reference {
		n--
	}
	return n
}

// compilationBuild follows the steps of section 7 in their order. A failure to save the cache is returned although the
// model is compiled and executors can be made.
func compilationBuild(c *Compilation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sources() > 1 {
		return invalid("compilation: it has several sources: want one of a model, an offline model, an imported " +
			"cache [ohnn-compilation-several-sources]")
	}
	if c.tried {
		return invalid("compilation: OH_NNCompilation_Build was called before: make a new compilation " +
			"[ohnn-compilation-build-called]")
	}
	d := deviceByID(c.deviceID)
	if d == nil {
		return refuse(Failed, "compilation: device %d: %s [ohnn-compilation-device]", c.deviceID, noSuchDevice())
	}
	if settings().reference && (c.hasPath || c.blob != nil) {
		return refuse(Failed, "compilation: the reference implementation compiles no offline models and imported "+
			"caches [ohnn-compilation-reference-implementation]")
	}
	c.tried = true
	// Neither the model nor the program's memory is looked at after the build.
	defer func() { c.model, c.blob = nil, nil }()
	if err := c.checkOptions(d); err != nil {
		return err
	}
	var key modelKey
	if c.model != nil {
		var err error
		if key, err = c.model.key(c.options()); err != nil {
			return err
		}
	}
	result, err := c.restore(d, key)
	if err != nil {
		return err
	}
	if result == nil {
		if c.model == nil {
			return invalid("compilation: it has no model, and there is no cache to restore one from " +
				"[ohnn-compilation-no-model]")
		}
		if result, err = c.compile(d); err != nil {
			return err
		}
		result.key = key
		c.finish(result)
		if c.cacheDir != "" {
			return c.saveCache(result)
		}
		return nil
	}
	c.finish(result)
	return nil
}

// finish makes result what executors are constructed from, and reports where it runs.
func (c *Compilation) finish(result *compiled) {
	result.priority = c.priority
	c.result = result
	if p := result.placement; p != nil && boundary.LogEnabled(boundary.LevelInfo, "ohnn") {
		boundary.Log(boundary.LevelInfo, "ohnn", "compiled", "device", result.npu.name, "placement", p.Summary())
		for i := range p.Nodes {
			boundary.Log(boundary.LevelInfo, "ohnn", "placed", "node", p.Nodes[i].String())
		}
		if idle := c.idle(result.npu.Info()); idle != nil {
			boundary.Log(boundary.LevelInfo, "ohnn", "settings without effect", "device", result.npu.name, "settings",
				strings.Join(idle, ", "))
		}
	}
}

// idle names the settings that the device accepts without honouring them.
func (c *Compilation) idle(info device.Info) (settings []string) {
	if c.float16 && info.Float16 != device.Honours {
		settings = append(settings, "float16")
	}
	if c.performance != 0 && info.Performance != device.Honours {
		settings = append(settings, "performance mode")
	}
	return settings
}

// checkOptions judges cache, float16, performance, priority and the model in this order.
func (c *Compilation) checkOptions(d *npu) error {
	info := d.Info()
	if c.cacheDir != "" && !info.Cache {
		return forbidden("cachePath: %q: device %s does not support caches: set none "+
			"[ohnn-cache-path-device]", c.cacheDir, d.name)
	}
	if c.float16 && info.Float16 == device.Lacks {
		return forbidden("enableFloat16: true: device %s does not compute in float16 "+
			"[ohnn-enable-float16-true]", d.name)
	}
	if err := checkPerformance(d, c.performance); err != nil {
		return err
	}
	if err := checkPriority(d, c.priority); err != nil {
		return err
	}
	if c.model != nil && !c.model.finished() {
		return invalid("compilation: its model is not finished: call OH_NNModel_Finish first " +
			"[ohnn-compilation-model-finished]")
	}
	return nil
}

func (m *Model) finished() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.built
}

// restore returns a compiled model from the imported blob, the offline model or the cache; nil when there is none that
// fits.
func (c *Compilation) restore(d *npu, key modelKey) (*compiled, error) {
	switch {
	case c.blob != nil:
		result, err := loadOffline(d, c.blob, c.options())
		if err == nil && c.model != nil && result.key != key {
			result.release()
			err = fault.New(fault.File, "it was made from another model or with other settings "+
				"[ohnn-made-another-model]")
		}
		if err == nil {
			return result, nil
		}
		if c.model != nil {
			warn("imported cache not used [ohnn-imported-cache-used]", "reason", err)
			return nil, nil
		}
		return nil, refuseFor(Failed, err, "compilation: buffer of %d bytes "+
			"[ohnn-compilation-buffer-bytes]", len(c.blob))
	case c.hasPath:
		result, err := loadOfflineFile(d, c.path, c.options())
		if err != nil {
			return nil, refuseFor(Failed, err, "compilation: modelPath %q [ohnn-compilation-model-path]", c.path)
		}
		return result, nil
	case c.cacheDir != "":
		return c.loadCache(d, key)
	}
	return nil, nil
}

// compile lowers and compiles the model.
func (c *Compilation) compile(d *npu) (*compiled, error) {
	m := c.model
	m.mu.Lock()
	if err := d.takes(m); err != nil {
		m.mu.Unlock()
		return nil, err
	}
	low := *m.graph()
	result := &compiled{npu: d, in: m.ports(m.inputs), out: m.ports(m.outputs)}
	spare := m.brokenProgram()
	m.mu.Unlock()
	if result.defect = low.defect; low.defect != "" {
		warn("the model contradicts itself: runs will be refused [ohnn-model-contradicts-itself]", "what", low.defect)
	}
	if low.err != nil && settings().reference {
		warn("the model cannot be computed: runs will be refused [ohnn-model-computed-runs]", "why", low.err)
		result.program, result.placement, result.defect = spare, &device.Placement{Model: "ohnn"}, low.err.Error()
		return result, nil
	}
	if low.err != nil {
		return nil, refuseFor(Failed, low.err, "compilation: the model")
	}
	var err error
	result.program, result.placement, err = compileGraph(context.Background(), d, low.graph, nil, nil, c.options())
	if err != nil {
		code := Failed
		if fault.KindOf(err) == fault.Device {
			code = UnavailableDevice
		}
		return nil, refuseFor(code, err, "compilation: device %s", d.name)
	}
	_, out := result.program.Ports()
	for i := range result.out {
		if result.out[i].dataType == spec.Unknown {
			result.out[i].dataType = spec.DataTypeOf(out[i].Type.DType)
		}
	}
	return result, nil
}

// ports describes model tensors.
func (m *Model) ports(indices []uint32) []port {
	out := make([]port, len(indices))
	for i, index := range indices {
		t := m.tensors[index]
		out[i] = port{tensorName(index), t.dataType, FormatNHWC, t.tensorType, slices.Clone(t.shape)}
	}
	return out
}

// compilationExportCacheToBuffer writes the compiled model. The size is given even when the buffer is too small. The
// reference refuses it after any build.
func compilationExportCacheToBuffer(c *Compilation, buffer []byte, size *uint64) error {
	if len(buffer) == 0 {
		return invalid("length: 0: want the size of the buffer [ohnn-length-size-buffer]")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.tried {
		return invalid("compilation: it is not built: call OH_NNCompilation_Build first " +
			"[ohnn-compilation-built-compilation]")
	}
	if settings().reference {
		return refuse(Unsupported, "compilation: the reference implementation exports no cache "+
			"[ohnn-compilation-reference-implementation-exports]")
	}
	if c.result == nil {
		return invalid("compilation: its build has failed, so there is nothing to export " +
			"[ohnn-compilation-build-failed]")
	}
	if !c.result.npu.Info().Cache {
		return refuse(Unsupported, "compilation: device %s does not support caches "+
			"[ohnn-compilation-device-support]", c.result.npu.name)
	}
	blob, err := c.result.save()
	if err != nil {
		code := SaveCacheException
		if fault.KindOf(err) == fault.Unsupported {
			code = Unsupported
		}
		return refuseFor(code, err, "compilation: device %s", c.result.npu.name)
	}
	*size = uint64(len(blob))
	if len(blob) > len(buffer) {
		return invalid("length: %d: the compiled model takes %d bytes "+
			"[ohnn-length-compiled-model]", len(buffer), len(blob))
	}
	copy(buffer, blob)
	return nil
}
