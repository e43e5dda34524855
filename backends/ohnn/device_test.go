package ohnn

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"testing"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/device/devicetest"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// fake is the first device of the fake driver and what it is told.
type fake struct {
	*Device
	opened *driver.Opened
}

func newFake(t testing.TB) *fake {
	t.Helper()
	if fakeDriver == nil {
		t.Skip("SKIP: there is no C compiler for the fake driver")
	}
	all, err := openFake()
	require.NoError(t, err)
	require.Len(t, all, 2)
	f := &fake{all[0], fakeDriver}
	f.lie("", 0, nil)
	return f
}

func openFake() ([]*Device, error) {
	return Open(Bind(fakeDriver.File, fakeDriver.Lookup), Config{ID: "npu", Vendor: "Fake", Patience: time.Minute})
}

// lie has the driver answer with bytes at an offset from now on; "" takes all back.
func (f *fake) lie(what string, offset int, data []byte) {
	name, at := append([]byte(what), 0), append(bytes.Clone(data), 0)
	first := unsafe.Pointer(&name[0])
	if what == "" {
		first = nil
	}
	_, _, _ = purego.SyscallN(f.opened.Lookup("fake_lie"), uintptr(first), uintptr(offset),
		uintptr(unsafe.Pointer(&at[0])), uintptr(len(data)))
}

func (f *fake) block(on bool) {
	_, _, _ = purego.SyscallN(f.opened.Lookup("fake_block"), driver.Bool(on))
}

// live is the number of objects that the driver has.
func (f *fake) live() int64 {
	n, _, _ := purego.SyscallN(f.opened.Lookup("fake_live"))
	return int64(int32(n))
}

func sumGraph(s tensor.Shape) (*graph.Graph, error) {
	b := graph.NewBuilder("sum")
	typ := tensor.Type{DType: tensor.Float32, Shape: s}
	x, y := b.Input("x", typ), b.Input("y", typ)
	b.SetOrigin(0, "")
	z := b.Add(&op.Add{}, x, y)
	b.Name(z, "z")
	b.Output(z)
	return b.Graph()
}

func TestDevice_contract(t *testing.T) {
	f := newFake(t)
	live := maps.Clone(mem.LiveCounters)
	live["objects of the driver"] = f.live
	all, err := openFake()
	require.NoError(t, err)
	for _, d := range append(all[1:], f.Device) {
		t.Run(d.Info().Name, func(t *testing.T) {
			devicetest.Run(t, devicetest.Subject{
				Device: d,
				Endless: func(s tensor.Shape) (*graph.Graph, func(), error) {
					g, err := sumGraph(s)
					f.block(true)
					return g, func() { f.block(false) }, err
				},
				Live: live,
			})
		})
	}
}

// sum compiles the sum of four elements.
func (f *fake) sum(t testing.TB) device.Program {
	t.Helper()
	p, err := f.compileSum()
	require.NoError(t, err)
	return p
}

func (f *fake) compileSum() (device.Program, error) {
	g, err := sumGraph(tensor.Of(4))
	if err != nil {
		return nil, err
	}
	return f.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
}

// newExecution is one of a sum of four elements, with inputs bound.
func newExecution(t testing.TB, p device.Program) device.Execution {
	t.Helper()
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	for i, values := range [][]float32{{1, 2, 3, 4}, {10, 20, 30, 40}} {
		b := mem.Borrow(tensor.Float32s(values...), nil)
		require.NoError(t, e.BindInput(i, mem.View{Buf: b, Type: tensor.T(tensor.Float32, 4)}))
		b.Release()
	}
	return e
}

// TestDevice_blockedRun gives up a run, and all devices of the driver with it.
func TestDevice_blockedRun(t *testing.T) {
	f := newFake(t)
	told := make(chan string, 2)
	f.Life.Tell(func(reason string) { told <- reason })
	p := f.sum(t)
	e, other := newExecution(t, p), newExecution(t, p)
	out, err := f.Alloc(16)
	require.NoError(t, err)
	require.NoError(t, e.BindOutput(0, mem.View{Buf: out, Type: tensor.T(tensor.Float32, 4)}))
	f.Life.SetPatience(50 * time.Millisecond)
	f.block(true)
	err = exec.Run(context.Background(), e, device.RunRequest{Deadline: time.Now().Add(20 * time.Millisecond)})
	require.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
	require.Contains(t, <-told, "OH_NNExecutor_RunSync did not return within 50ms")

	dead := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, device.ErrDied)
		require.Equal(t, fault.Device, fault.KindOf(err))
	}
	dead(other.Start(device.RunRequest{}))
	_, err = f.compileSum()
	dead(err)
	_, err = f.Load(context.Background(), nil)
	dead(err)
	_, err = f.Alloc(4)
	dead(err)
	_, err = f.Support(&graph.Graph{}, device.Options{})
	dead(err)
	_, err = p.New(device.ExecOptions{})
	dead(err)

	// The driver still has the output of the run.
	at := e.(*execution).Slots[2].Set.At
	e.Release()
	out.Release()
	data, err := out.Map()
	require.NoError(t, err)
	require.Len(t, data, 16)
	buffers, _ := mem.Live()
	f.block(false)
	require.Eventually(t, func() bool { now, _ := mem.Live(); return now < buffers }, time.Minute, time.Millisecond)
	// What the driver keeps for ever is in a file here.
	_, err = f.driver.TensorDestroy(unsafe.Pointer(&at))
	require.NoError(t, err)
	other.Release()
	p.Release()
}

// TestDevice_slowRun gives a run up that ends then: the execution computes again.
func TestDevice_slowRun(t *testing.T) {
	f := newFake(t)
	before := f.live()
	p := f.sum(t)
	e := newExecution(t, p)
	p.Release()
	f.block(true)
	for range 2 { // the driver is not in a second run
		err := exec.Run(context.Background(), e, device.RunRequest{Deadline: time.Now().Add(20 * time.Millisecond)})
		require.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
	}
	f.block(false)
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	data, err := e.OutputData(0)
	require.NoError(t, err)
	require.Equal(t, tensor.Float32s(11, 22, 33, 44), data)
	e.Release()
	require.Eventually(t, func() bool { return f.live() == before }, time.Minute, time.Millisecond)
}

// TestDevice_zeroCopy binds memory with a descriptor: the driver works on it.
func TestDevice_zeroCopy(t *testing.T) {
	f := newFake(t)
	before := f.live()
	p := f.sum(t)
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	p.Release()
	typ := tensor.T(tensor.Float32, 4)
	for round := range 3 {
		var b [3]mem.Buffer
		for i := range b {
			var err error
			b[i], err = f.Alloc(32)
			require.NoError(t, err)
		}
		require.NoError(t, mem.Write(b[0], 0, tensor.Float32s(1, 2, 3, float32(round))))
		require.NoError(t, mem.Write(b[1], 0, tensor.Float32s(10, 20, 30, 40)))
		require.NoError(t, e.BindInput(0, mem.View{Buf: b[0], Type: typ}))
		require.NoError(t, e.BindInput(1, mem.View{Buf: b[1], Type: typ}))
		require.NoError(t, e.BindOutput(0, mem.View{Buf: b[2], Type: typ}))
		for range 2 {
			require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
		}
		got := make([]byte, 16)
		require.NoError(t, mem.Read(got, b[2], 0))
		require.Equal(t, tensor.Float32s(11, 22, 33, float32(40+round)), got)
		for _, one := range b {
			one.Release()
		}
	}
	s := e.Stats()
	require.EqualValues(t, 6, s.Runs)
	require.Zero(t, s.CopiedIn+s.CopiedOut)
	e.Release()
	require.Equal(t, before, f.live())
}

// once opens the driver, compiles a sum, runs it and compares the result.
func (f *fake) once() error {
	all, err := openFake()
	if err != nil {
		return err
	}
	g, err := sumGraph(tensor.Of(4))
	if err != nil {
		return err
	}
	d := all[0]
	if answers, err := d.Support(g, device.Options{}); err != nil {
		return err
	} else if !answers[0].OK {
		return fault.New(fault.Unsupported, "%s", answers[0].Reason)
	}
	p, err := d.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
	if err != nil {
		return err
	}
	e, err := p.New(device.ExecOptions{})
	p.Release()
	if err != nil {
		return err
	}
	defer e.Release()
	for i := range 2 {
		b := mem.Borrow(tensor.Float32s(1, 2, 3, 4), nil)
		err := e.BindInput(i, mem.View{Buf: b, Type: tensor.T(tensor.Float32, 4)})
		b.Release()
		if err != nil {
			return err
		}
	}
	if err := exec.Run(context.Background(), e, device.RunRequest{}); err != nil {
		return err
	}
	data, err := e.OutputData(0)
	if err == nil && !bytes.Equal(data, tensor.Float32s(2, 4, 6, 8)) {
		err = fault.New(fault.Internal, "the sum is wrong")
	}
	return err
}

func bytes32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func bytes64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// What the driver points to instead. endless is a name without an end: more bytes than a name has, and none of them is
// 0.
var (
	endless = bytes.Repeat([]byte{'n'}, 1<<13)
	latin   = []byte{0xff, 0}
	twice   = append(bytes64(5), bytes64(5)...)
	five    = bytes32(5)
)

// TestDevice_lies has the driver answer what cannot be: an error of kind fault.Device, and nothing stays behind.
func TestDevice_lies(t *testing.T) {
	f := newFake(t)
	nowhere := bytes64(16) // in the first page, which nothing is ever in
	address := func(data []byte) []byte { return bytes64(uint64(uintptr(unsafe.Pointer(&data[0])))) }
	before := f.live()
	for _, c := range []struct {
		what string
		data []byte
		want string
	}{
		{"device count", bytes32(0xffffffff), "4294967295 devices"},
		{"device count", bytes32(65), "65 devices"},
		{"device ids", bytes64(0), "points to nothing"},
		{"device ids", nowhere, "cannot be read"},
		{"device ids", address(twice), "two devices with id 5"},
		{"device name", bytes64(0), "points to nothing"},
		{"device name", nowhere, "cannot be read"},
		{"device name", address(endless), "no end within"},
		{"device name", address(latin), "no UTF-8"},
		{"device type", bytes32(4), "its type is 4"},
		{"device type", bytes32(0xffffffff), "its type is 4294967295"},
		{"flag count", bytes32(0), "answers for 0 operations of 1"},
		{"flag count", bytes32(0xffffffff), "answers for 4294967295 operations of 1"},
		{"flags", bytes64(0), "points to nothing"},
		{"flags", nowhere, "cannot be read"},
		{"counts", bytes64(0), "GetInputCount says 0, the model has 2"},
		{"counts", bytes64(1 << 40), "GetInputCount says 1099511627776"},
		{"data buffer", bytes64(0), "a tensor of 16 bytes at address 0x0"},
		{"tensor size", bytes64(15), "a tensor of 15 bytes at address"},
		{"rank", bytes32(0), "says [], the model has [4]"},
		{"rank", bytes32(11), "11 dimensions"},
		{"rank", bytes32(0xffffffff), "4294967295 dimensions"},
		{"shape", bytes64(0), "points to nothing"},
		{"shape", nowhere, "cannot be read"},
		{"shape", address(five), "says [5], the model has [4]"},
		{"code Device_GetAllDevicesID", bytes32(1), "OH_NNDevice_GetAllDevicesID: the driver's code is 1"},
		{"code Compilation_Build", bytes32(1), "OH_NNCompilation_Build: the driver's code is 1"},
		{"code Executor_RunSync", bytes32(99), "OH_NNExecutor_RunSync: the driver's code is 99"},
	} {
		f.lie(c.what, 0, c.data)
		err := f.once()
		f.lie("", 0, nil)
		require.Error(t, err, c.want)
		require.Equal(t, fault.Device, fault.KindOf(err), "%v", err)
		require.ErrorContains(t, err, c.want)
		require.Equal(t, before, f.live(), c.want)
	}
	// A refusal is none: the node is another device's.
	for _, what := range []string{"code Model_AddOperation", "code Model_Finish", "code Model_GetAvailableOperations"} {
		f.lie(what, 0, bytes32(codeInvalid))
		err := f.once()
		f.lie("", 0, nil)
		require.Equal(t, fault.Unsupported, fault.KindOf(err), "%v", err)
		require.ErrorContains(t, err, "the driver refuses it with code 2")
		require.Equal(t, before, f.live())
	}
	f.lie("code Executor_RunSync", 0, bytes32(codeMemory))
	require.Equal(t, fault.Memory, fault.KindOf(f.once()))
	f.lie("", 0, nil)
	require.NoError(t, f.once())
}
