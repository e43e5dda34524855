package ohnn

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
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
	f.subject().BlockedRun(t, "OH_NNExecutor_RunSync", func(e device.Execution) func() {
		at := e.(*execution).Slots[2].Set.At // of a file here
		return func() {
			_, err := Bind(fakeDriver.File, fakeDriver.Lookup).TensorDestroy(unsafe.Pointer(&at))
			require.NoError(t, err)
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

// What the driver points to instead.
var (
	twice = append(drivertest.Long(5), drivertest.Long(5)...)
	five  = drivertest.Word(5)
)

// TestDevice_lies has the driver answer what cannot be: an error of kind fault.Device, and nothing stays behind.
func TestDevice_lies(t *testing.T) {
	at, word, long, nowhere := drivertest.At, drivertest.Word, drivertest.Long, drivertest.Nowhere
	f := newFake(t)
	before := f.Live()
	address := func(data []byte) []byte { return long(uint64(uintptr(unsafe.Pointer(&data[0])))) }
	settled := func(l drivertest.Lie) { require.Equal(t, before, f.Live(), l.Want) }
	f.Lies(t, fault.Device, once, settled,
		at("device count", 0, word(0xffffffff), "4294967295 devices"),
		at("device count", 0, word(65), "65 devices"),
		at("device ids", 0, long(0), "points to nothing"),
		at("device ids", 0, nowhere, "cannot be read"),
		at("device ids", 0, address(twice), "two devices with id 5"),
		at("device name", 0, long(0), "points to nothing"),
		at("device name", 0, nowhere, "cannot be read"),
		at("device name", 0, address(drivertest.Endless), "no end within"),
		at("device name", 0, address(drivertest.Latin), "no UTF-8"),
		at("device type", 0, word(4), "its type is 4"),
		at("device type", 0, word(0xffffffff), "its type is 4294967295"),
		at("flag count", 0, word(0), "answers for 0 operations of 1"),
		at("flag count", 0, word(0xffffffff), "answers for 4294967295 operations of 1"),
		at("flags", 0, long(0), "points to nothing"),
		at("flags", 0, nowhere, "cannot be read"),
		at("counts", 0, long(0), "GetInputCount says 0, the model has 2"),
		at("counts", 0, long(1<<40), "GetInputCount says 1099511627776"),
		at("data buffer", 0, long(0), "a tensor of 16 bytes at address 0x0"),
		at("tensor size", 0, long(15), "a tensor of 15 bytes at address"),
		at("rank", 0, word(0), "says [], the model has [4]"),
		at("rank", 0, word(11), "11 dimensions"),
		at("rank", 0, word(0xffffffff), "4294967295 dimensions"),
		at("shape", 0, long(0), "points to nothing"),
		at("shape", 0, nowhere, "cannot be read"),
		at("shape", 0, address(five), "says [5], the model has [4]"),
		at("code Device_GetAllDevicesID", 0, word(1), "OH_NNDevice_GetAllDevicesID: the driver's code is 1"),
		at("code Compilation_Build", 0, word(1), "OH_NNCompilation_Build: the driver's code is 1"),
		at("code Executor_RunSync", 0, word(99), "OH_NNExecutor_RunSync: the driver's code is 99"),
	)
	// A refusal is none: the node is another device's.
	for _, what := range []string{"code Model_AddOperation", "code Model_Finish", "code Model_GetAvailableOperations"} {
		f.Lies(t, fault.Unsupported, once, settled, drivertest.Lie{What: what, Data: word(codeInvalid),
			Want: "the driver refuses it with code 2"})
	}
	f.Lies(t, fault.Memory, once, settled, drivertest.Lie{What: "code Executor_RunSync", Data: word(codeMemory)})
	require.NoError(t, once())
}
