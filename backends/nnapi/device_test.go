package nnapi

import (
	"context"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/drivertest"
)

// fake is the first device of the fake driver.
type fake struct {
	*Device
	*drivertest.Driver
}

func newFake(t testing.TB) *fake {
	t.Helper()
	fakeDriver.Need(t)
	all, err := openFake()
	require.NoError(t, err)
	require.Len(t, all, 2)
	return &fake{all[0], fakeDriver}
}

func openFake() ([]*Device, error) {
	return Open(Bind(fakeDriver.File, fakeDriver.Lookup), driver.Config{ID: "npu", Name: "Fake", Patience: time.Minute})
}

func (f *fake) subject() drivertest.Subject {
	return drivertest.Subject{Device: f.Device, Life: f.Life, Driver: f.Driver}
}

func TestDevice_contract(t *testing.T) {
	f := newFake(t)
	all, err := openFake()
	require.NoError(t, err)
	for _, d := range append(all[1:], f.Device) {
		t.Run(d.Info().Name, (&fake{d, f.Driver}).subject().Contract)
	}
}

// TestDevice_blockedRun gives up a run, and all devices of the driver with it.
func TestDevice_blockedRun(t *testing.T) {
	f := newFake(t)
	f.subject().BlockedRun(t, "ANeuralNetworksExecution_compute", func(e device.Execution) func() {
		at := e.(*execution).Slots[2].Set.At // of a file here
		return func() {
			require.NoError(t, Bind(fakeDriver.File, fakeDriver.Lookup).MemoryFree(at))
		}
	})
}

func TestDevice_slowRun(t *testing.T)  { newFake(t).subject().SlowRun(t) }
func TestDevice_zeroCopy(t *testing.T) { newFake(t).subject().ZeroCopy(t) }

// once opens the driver, asks it for a sum, compiles and runs that.
func once() error {
	all, err := openFake()
	if err != nil {
		return err
	}
	return drivertest.OnceSum(all[0])
}

// TestDevice_lies has the driver answer what cannot be: an error of kind fault.Device, and nothing stays behind.
func TestDevice_lies(t *testing.T) {
	at, word, long, nowhere := drivertest.At, drivertest.Word, drivertest.Long, drivertest.Nowhere
	f := newFake(t)
	before := f.Live()
	address := func(data []byte) []byte { return long(uint64(uintptr(unsafe.Pointer(&data[0])))) }
	settled := func(l drivertest.Lie) {
		if strings.Contains(l.What, "_create") { // who answers with an error gives nothing: the object is the driver's
			before = f.Live()
		}
		require.Equal(t, before, f.Live(), l.Want)
	}
	f.Lies(t, fault.Device, once, settled,
		at("device count", 0, word(0xffffffff), "4294967295 devices"),
		at("device count", 0, word(65), "65 devices"),
		at("device", 0, long(0), "the driver gives none"),
		at("device", 0, long(uint64(f.at)), "device 1 of the driver is there twice"),
		at("device name", 0, long(0), "points to nothing"),
		at("device name", 0, nowhere, "cannot be read"),
		at("device name", 0, address(drivertest.Endless), "no end within"),
		at("device name", 0, address(drivertest.Latin), "no UTF-8"),
		at("device type", 0, word(5), "its type is 5"),
		at("device type", 0, word(0xffffffff), "its type is -1"),
		at("feature level", 0, long(0), "its feature level is 0"),
		at("feature level", 0, long(26), "its feature level is 26"),
		at("feature level", 0, long(1<<63), "its feature level is -9223372036854775808"),
		at("feature level", 0, long(1<<62), "its feature level is 4611686018427387904"),
		at("rank", 0, word(0), "getOutputOperandRank says 0, the model has 1"),
		at("rank", 0, word(0xffffffff), "getOutputOperandRank says 4294967295, the model has 1"),
		at("dimensions", 0, word(5), "says [5], the model has [4]"),
		at("dimensions", 0, word(0), "says [0], the model has [4]"),
		at("code _getDeviceCount", 0, word(4), "ANeuralNetworks_getDeviceCount: the driver's code is 4"),
		at("code _getDevice", 0, word(0x80000000), "ANeuralNetworks_getDevice: the driver's code is -2147483648"),
		at("code Model_create", 0, word(3), "ANeuralNetworksModel_create: the driver's code is 3"),
		at("code Model_addOperand", 0, word(6), "ANeuralNetworksModel_addOperand: the driver's code is 6"),
		at("code Compilation_createForDevices", 0, word(7), "createForDevices: the driver's code is 7"),
		at("code Compilation_finish", 0, word(15), "ANeuralNetworksCompilation_finish: the driver's code is 15"),
		at("code Execution_setInput", 0, word(4), "ANeuralNetworksExecution_setInput: the driver's code is 4"),
		at("code Execution_compute", 0, word(99), "ANeuralNetworksExecution_compute: the driver's code is 99"),
		at("code Execution_compute", 0, word(5), "ANeuralNetworksExecution_compute: the driver's code is 5"),
		at("code Execution_compute", 0, word(8), "ANeuralNetworksExecution_compute: the driver's code is 8"),
	)
	// A refusal is none: the node is another device's.
	for _, what := range []string{"code Model_addOperand", "code Model_addOperation", "code Model_finish",
		"code Model_getSupportedOperationsForDevices", "code Compilation_finish"} {
		f.Lies(t, fault.Unsupported, once, settled, drivertest.Lie{What: what, Data: word(4),
			Want: "the driver refuses it with code 4"})
	}
	for code, kind := range map[uint32]fault.Kind{1: fault.Memory, 10: fault.Timeout, 11: fault.Timeout,
		12: fault.Memory, 13: fault.Memory, 14: fault.Device} {
		f.Lies(t, kind, once, nil, drivertest.Lie{What: "code Execution_compute", Data: word(code)})
	}
	// A level of a later version of the API, and a driver without a device of its own.
	f.Lie("feature level", 0, long(1_000_020))
	require.NoError(t, once())
	f.Honest()
	for what, data := range map[string][]byte{"device count": word(0), "device type": word(2)} {
		f.Lie(what, 0, data)
		_, err := openFake()
		f.Honest()
		require.Equal(t, fault.Unsupported, fault.KindOf(err), what)
	}
	require.NoError(t, once())
	require.Equal(t, before, f.Live())
}

// TestDevice_deadObject: a device whose service has died is dead, and the driver's other devices are not.
func TestDevice_deadObject(t *testing.T) {
	f := newFake(t)
	before := f.Live()
	var reasons []string
	told := func(reason string) { reasons = append(reasons, reason) }
	all, err := Open(Bind(fakeDriver.File, fakeDriver.Lookup), driver.Config{ID: "npu", Died: told})
	require.NoError(t, err)
	one, two := (&fake{all[0], f.Driver}).subject(), (&fake{all[1], f.Driver}).subject()
	p := one.Program(t)
	e := drivertest.Execution(t, p)
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	f.Lie("code Execution_compute", 0, drivertest.Word(14))
	err = exec.Run(context.Background(), e, device.RunRequest{})
	f.Honest()
	require.ErrorIs(t, err, device.ErrDied)
	require.Len(t, reasons, 1)
	require.Contains(t, reasons[0], "ANeuralNetworksExecution_compute: the driver answers DEAD_OBJECT")
	one.Dies(t, p, e)
	e.Release()
	p.Release()
	q := two.Program(t)
	e = drivertest.Execution(t, q)
	q.Release()
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	e.Release()
	require.Equal(t, before, f.Live())
	require.Len(t, reasons, 1)
}

// lacking finds what the fake driver has except one function.
func lacking(function string) func(symbol string) uintptr {
	return func(symbol string) uintptr {
		if symbol == function {
			return 0
		}
		return fakeDriver.Lookup(symbol)
	}
}

// TestDevice_withoutFiles: a driver that takes no files reads constants and tensors where they are.
func TestDevice_withoutFiles(t *testing.T) {
	f := newFake(t)
	before := f.Live()
	all, err := Open(Bind(fakeDriver.File, lacking("ANeuralNetworksMemory_createFromFd")), driver.Config{ID: "npu"})
	require.NoError(t, err)
	for _, d := range []*Device{all[0], f.Device} {
		const n = 100 // more bytes than are copied at once
		b := graph.NewBuilder("constant")
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(i)
		}
		x := b.Input("x", tensor.T(tensor.Float32, n))
		b.Output(b.Add(&op.Mul{}, x, b.Const("", tensor.T(tensor.Float32, n), tensor.Float32s(values...))))
		g, err := b.Graph()
		require.NoError(t, err)
		p, err := d.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
		require.NoError(t, err)
		e, err := p.New(device.ExecOptions{})
		require.NoError(t, err)
		p.Release()
		in, err := d.Alloc(4 * n)
		require.NoError(t, err)
		require.NoError(t, mem.Write(in, 0, tensor.Float32s(values...)))
		require.NoError(t, e.BindInput(0, mem.View{Buf: in, Type: tensor.T(tensor.Float32, n)}))
		in.Release()
		require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
		data, err := e.OutputData(0)
		require.NoError(t, err)
		got, err := tensor.ReadFloat32s(data, n)
		require.NoError(t, err)
		for i := range got {
			require.Equal(t, float32(i)*float32(i), got[i])
		}
		require.Equal(t, d != f.Device, e.Stats().CopiedIn > 0)
		e.Release()
	}
	require.Equal(t, before, f.Live())
}
