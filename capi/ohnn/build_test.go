package ohnn

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"testing"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/toy"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

// plainDevice is a device whose description a test has changed.
type plainDevice struct {
	device.Device
	change func(*device.Info)
}

func (d plainDevice) Info() device.Info {
	info := d.Device.Info()
	d.change(&info)
	return info
}

// useDevices makes the given devices the list for one test.
func useDevices(t *testing.T, list ...device.Device) {
	tableMu.Lock()
	defer tableMu.Unlock()
	old := table
	table = newDeviceTable(list, nil)
	t.Cleanup(func() {
		tableMu.Lock()
		defer tableMu.Unlock()
		table = old
	})
}

// withSettings changes the configuration for one test.
func withSettings(t *testing.T, change func(*config)) {
	old := settings
	c := old()
	change(&c)
	settings = func() config { return c }
	t.Cleanup(func() { settings = old })
}

func addCompilation(t *testing.T) *Compilation {
	m := addModel(t)
	require.NoError(t, modelSpecifyInputsAndOutputs(m.Model, array(0, 1), array(2)))
	require.NoError(t, modelFinish(m.Model))
	c, err := compilationConstruct(m.Model)
	require.NoError(t, err)
	t.Cleanup(func() { _ = compilationDestroy(c) })
	return c
}

// TestBuild_options checks what the device lacks, what is out of range, and which of them comes first (section 7, step
// 5).
func TestBuild_options(t *testing.T) {
	bare := plainDevice{toy.New("bare"), func(i *device.Info) {
		i.Float16, i.Performance, i.Priority, i.Cache, i.DimMax = device.Lacks, device.Lacks, false, false, 0
	}}
	full := plainDevice{toy.New("full"), func(i *device.Info) {
		i.Float16, i.Performance, i.Priority, i.Cache = device.Accepts, device.Honours, true, true
	}}
	for _, tc := range []struct {
		name string
		d    device.Device
		set  func(c *Compilation) error
		code ReturnCode
	}{
		{"nothing set", bare, func(*Compilation) error { return nil }, Success},
		{"no float16", bare, func(c *Compilation) error { return compilationEnableFloat16(c, true) }, OperationForbidden},
		{"float16", full, func(c *Compilation) error { return compilationEnableFloat16(c, true) }, Success},
		{"no performance modes", bare, func(c *Compilation) error { return compilationSetPerformanceMode(c, 3) },
			OperationForbidden},
		{"no performance modes, out of range", bare, func(c *Compilation) error {
			return compilationSetPerformanceMode(c,
				9)
		}, OperationForbidden},
		{"performance out of range", full, func(c *Compilation) error { return compilationSetPerformanceMode(c, 5) },
			InvalidParameter},
		{"performance -1", full, func(c *Compilation) error { return compilationSetPerformanceMode(c, 1<<32-1) },
			InvalidParameter},
		{"performance", full, func(c *Compilation) error { return compilationSetPerformanceMode(c, 4) }, Success},
		{"no priorities", bare, func(c *Compilation) error { return compilationSetPriority(c, 1) }, OperationForbidden},
		{"priority out of range", full, func(c *Compilation) error { return compilationSetPriority(c, 4) }, InvalidParameter},
		{"priority", full, func(c *Compilation) error { return compilationSetPriority(c, 3) }, Success},
		{"no cache", bare, func(c *Compilation) error { return compilationSetCache(c, "/tmp", 1) }, OperationForbidden},
		{"empty cache path", bare, func(c *Compilation) error { return compilationSetCache(c, "", 1) }, Success},
		{"unknown device", full, func(c *Compilation) error { return compilationSetDevice(c, 77) }, Failed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			useDevices(t, tc.d)
			c := addCompilation(t)
			require.NoError(t, tc.set(c), "setters take anything")
			assert.Equal(t, tc.code, status(compilationBuild(c)))
		})
	}
}

// TestIdle_settings: settings that a device accepts differ from those that it honours.
func TestIdle_settings(t *testing.T) {
	c := &Compilation{float16: true, performance: 4}
	assert.Equal(t, []string{"float16", "performance mode"},
		c.idle(device.Info{Float16: device.Accepts, Performance: device.Accepts}))
	assert.Equal(t, []string{"performance mode"}, c.idle(device.Info{Float16: device.Honours,
		Performance: device.Accepts}))
	assert.Empty(t, (&Compilation{}).idle(device.Info{}))
}

func TestBuild_unfinishedModel(t *testing.T) {
	m := addModel(t)
	c, err := compilationConstruct(m.Model)
	require.NoError(t, err)
	assert.Equal(t, InvalidParameter, status(compilationBuild(c)))
	_, err = executorConstruct(c)
	assert.Error(t, err)
	c, err = compilationConstruct(m.Model)
	require.NoError(t, err)
	require.NoError(t, modelSpecifyInputsAndOutputs(m.Model, array(0, 1), array(2)))
	require.NoError(t, modelFinish(m.Model), "after the construction of the compilation")
	require.NoError(t, modelDestroy(m.Model), "before the build")
	assert.NoError(t, compilationBuild(c))
	require.NoError(t, compilationDestroy(c))
}

func TestBuild_unknownDeviceCanBeTriedAgain(t *testing.T) {
	c := addCompilation(t)
	require.NoError(t, compilationSetDevice(c, 77))
	assert.Equal(t, Failed, status(compilationBuild(c)))
	require.NoError(t, compilationSetDevice(c, 0))
	assert.NoError(t, compilationBuild(c), "the build did not get as far as having a device")
	assert.Equal(t, InvalidParameter, status(compilationBuild(c)))
}

func TestSetters_afterBuild(t *testing.T) {
	calls := map[string]func(c *Compilation) error{
		"device":      func(c *Compilation) error { return compilationSetDevice(c, 0) },
		"cache":       func(c *Compilation) error { return compilationSetCache(c, "", 0) },
		"float16":     func(c *Compilation) error { return compilationEnableFloat16(c, true) },
		"performance": func(c *Compilation) error { return compilationSetPerformanceMode(c, 1) },
		"priority":    func(c *Compilation) error { return compilationSetPriority(c, 1) },
	}
	c := addCompilation(t)
	require.NoError(t, compilationBuild(c))
	for name, call := range calls {
		assert.Equal(t, OperationForbidden, status(call(c)), name)
	}
	withSettings(t, func(c *config) { c.reference = true })
	for name, call := range calls {
		assert.NoError(t, call(c), name)
	}
	assert.Equal(t, InvalidParameter, status(compilationSetPriority(c, 9)), "judged at once")
}

// TestReference_refusals: what the reference implementation refuses, code for code.
func TestReference_refusals(t *testing.T) {
	withSettings(t, func(c *config) { c.reference = true })
	c := addCompilation(t)
	require.NoError(t, compilationBuild(c))
	var size uint64
	assert.Equal(t, Unsupported, status(compilationExportCacheToBuffer(c, make([]byte, 9), &size)))
	e := executor(t, c)
	assert.Equal(t, OperationForbidden, status(executorSetOnRunDone(e, 1)))
	assert.Equal(t, OperationForbidden, status(executorSetOnServiceDied(e, 1)))
	assert.Equal(t, OperationForbidden, status(runAsync(e, []uintptr{0}, []uintptr{0}, -5, 1)), "before any other check")
	assert.Equal(t, InvalidParameter, status(runAsync(e, nil, []uintptr{0}, 0, 1)))

	c, _ = compilationConstructForCache()
	require.NoError(t, compilationImportCacheFromBuffer(c, []byte("x")))
	assert.Equal(t, Failed, status(compilationBuild(c)))
	c = addCompilation(t)
	require.NoError(t, compilationImportCacheFromBuffer(c, []byte("x")))
	assert.Equal(t, InvalidParameter, status(compilationBuild(c)))
	c, _ = compilationConstructWithOfflineModelFile("/dev/null")
	assert.Equal(t, Failed, status(compilationBuild(c)))
	d := desc(spec.Float32, -1)
	require.NoError(t, tensorDescGetByteSize(d, &size))
	m := addModel(t)
	m.built([]uint32{0, 1}, []uint32{2})
	assert.NoError(t, modelAddTensorToModel(m.Model, desc(spec.Float32, 1)), "after Finish")
}

func TestDevice_failures(t *testing.T) {
	d := toy.NewHost("toy")
	useDevices(t, d)
	d.Set(toy.FailCompile)
	assert.Equal(t, UnavailableDevice, status(compilationBuild(addCompilation(t))))
	d.Set(toy.Normal)
	c := addCompilation(t)
	require.NoError(t, compilationBuild(c))
	e := executor(t, c)
	x := newTestTensor(t, spec.Float32, f32s(1, 2), 2)
	for _, mode := range []toy.Mode{toy.FailRun, toy.PanicRun, toy.WrongType, toy.WrongSize, toy.UnknownSize} {
		d.Set(mode)
		assert.Equal(t, UnavailableDevice, status(executorRunSync(e, []*Tensor{x, x}, []*Tensor{x})), mode)
	}
	d.Set(toy.Normal)
	assert.NoError(t, executorRunSync(e, []*Tensor{x, x}, []*Tensor{x}))
}

func TestRunAsync_timeout(t *testing.T) {
	d := toy.NewHost("toy")
	useDevices(t, d)
	c := addCompilation(t)
	require.NoError(t, compilationBuild(c))
	e := executor(t, c)
	require.NoError(t, executorSetOnRunDone(e, doneFunction()))
	x := newTestTensor(t, spec.Float32, nil, 2)
	in, out := handles(t, x, x), handles(t, x)
	d.Set(toy.Block)
	require.NoError(t, runAsync(e, in, out, 1, 5))
	got := <-doneCalls
	assert.Equal(t, called{5, Timeout, 0, 0}, got)
	d.Set(toy.Normal)
	require.NoError(t, runAsync(e, in, out, 60000, 6))
	assert.Equal(t, Success, (<-doneCalls).code, "the executor is as good as before")
}

var diedFunction = sync.OnceValue(func() uintptr {
	return purego.NewCallback(func(user uintptr) { doneCalls <- called{user: user, n: -1} })
})

func TestRunAsync_serviceDied(t *testing.T) {
	d := toy.NewHost("toy")
	useDevices(t, d)
	c := addCompilation(t)
	require.NoError(t, compilationBuild(c))
	e := executor(t, c)
	require.NoError(t, executorSetOnRunDone(e, doneFunction()))
	require.NoError(t, executorSetOnServiceDied(e, diedFunction()))
	x := newTestTensor(t, spec.Float32, nil, 2)
	in, out := handles(t, x, x), handles(t, x)
	d.Set(toy.Block)
	require.NoError(t, runAsync(e, in, out, 0, 9))
	<-d.Blocked
	_, err := handle.Close[Tensor](in[0])
	assert.ErrorIs(t, err, handle.ErrBusy, "a running call holds its tensors")
	d.Set(toy.Dead)
	assert.Equal(t, called{user: 9, n: -1}, <-doneCalls)
	assert.Equal(t, called{user: 9, code: UnavailableDevice}, <-doneCalls)
}

func TestRunAsync_destroyWhileRunning(t *testing.T) {
	d := toy.NewHost("toy")
	useDevices(t, d)
	c := addCompilation(t)
	require.NoError(t, compilationBuild(c))
	e, err := executorConstruct(c)
	require.NoError(t, err)
	require.NoError(t, executorSetOnRunDone(e, doneFunction()))
	x := newTestTensor(t, spec.Float32, nil, 2)
	in, out := handles(t, x, x), handles(t, x)
	d.Set(toy.Block)
	require.NoError(t, runAsync(e, in, out, 0, 1))
	require.NoError(t, runAsync(e, in, out, 0, 2))
	<-d.Blocked
	require.NoError(t, executorDestroy(e))
	assert.Equal(t, called{1, Failed, 0, 0}, <-doneCalls)
	assert.Equal(t, called{2, Failed, 0, 0}, <-doneCalls)
}

func TestDeviceTable_names(t *testing.T) {
	a, b := toy.New("a"), toy.New("b")
	table := newDeviceTable([]device.Device{a, b}, nil)
	require.Len(t, table.list, 2)
	assert.NotEqual(t, table.list[0].name, table.list[1].name)
	table = newDeviceTable([]device.Device{a, b}, []devices.Guise{{Name: "x"}, {Name: "y"}, {Name: "x"}})
	require.Len(t, table.list, 3)
	assert.Equal(t, "x", table.list[0].name)
	assert.Equal(t, "y", table.list[1].name)
	assert.NotZero(t, table.list[0].id)

	// A driver's CPU keeps its name, and the guises are the built-in CPU's.
	table = newDeviceTable([]device.Device{toy.NewHost("onnxruntime"), toy.NewHost("cpu")}, []devices.Guise{{Name: "x"}})
	require.Len(t, table.list, 2)
	assert.Equal(t, "onnxruntime", table.list[0].Info().ID)
	assert.Equal(t, "Device-CPU_AnyNPU_v2_0", table.list[0].name)
	assert.Equal(t, "x", table.list[1].name)
}

func TestReadConfig(t *testing.T) {
	read := func(vars map[string]string) config { return readConfig(func(k string) string { return vars[k] }) }
	assert.Equal(t, config{}, read(nil))
	assert.Equal(t, config{reference: true, devices: []devices.Guise{{Name: "a"}, {Name: "b"}}, dims: []span{{1, 10}},
		strict: true}, read(map[string]string{
		"ANYNPU_OHNN_COMPAT": "reference", "ANYNPU_OHNN_DEVICES": "a, b,", "ANYNPU_OHNN_DIM_RANGE": "1:10",
		"ANYNPU_FALLBACK": "off"}))
	for _, bad := range []string{"10", "5:1", "-1:3", "0:0", "a:b", "1:2,3", "1:2,", "1:2,3:0"} {
		assert.Empty(t, read(map[string]string{"ANYNPU_OHNN_DIM_RANGE": bad}).dims, bad)
	}
	c := read(map[string]string{"ANYNPU_OHNN_DIM_RANGE": "1:100, 2:100,3:3"})
	for i, want := range []span{{1, 100}, {2, 100}, {3, 3}, {3, 3}} {
		got, ok := c.span(i)
		assert.True(t, ok)
		assert.Equal(t, want, got, "dimension %d", i)
	}
}

// addCompiled is a compiled model of one ADD.
func addCompiled(t testing.TB) *compiled {
	m := &Model{}
	for range 3 {
		require.NoError(t, modelAddTensorToModel(m, desc(spec.Float32, 2)))
	}
	require.NoError(t, modelAddOperation(m, 1, array(), array(0, 1), array(2)))
	require.NoError(t, modelSpecifyInputsAndOutputs(m, array(0, 1), array(2)))
	require.NoError(t, modelFinish(m))
	c := &Compilation{source: source{model: m}}
	require.NoError(t, compilationBuild(c))
	return c.result
}

// reseal gives a stored form the size and the checksum that fit the rest of it.
func reseal(b []byte) []byte {
	b = bytes.Clone(b)
	if len(b) < storedHead+sha256.Size {
		return b
	}
	body := b[:len(b)-sha256.Size]
	binary.LittleEndian.PutUint64(body[16:], uint64(len(b)))
	sum := sha256.Sum256(body)
	copy(b[len(body):], sum[:])
	return b
}

// TestLoadOffline_damageUnderAGoodChecksum: what a program made by hand cannot crash the loader.
func TestLoadOffline_damageUnderAGoodChecksum(t *testing.T) {
	c := addCompiled(t)
	good, err := c.save()
	require.NoError(t, err)
	c.release()
	for i := storedHead; i < len(good)-sha256.Size; i++ {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			bad := bytes.Clone(good)
			bad[i] ^= flip
			if c, err := loadOffline(deviceByID(0), reseal(bad), device.Options{}); err == nil {
				c.release()
			}
		}
	}
}
