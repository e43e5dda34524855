package hbdnn

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"math"
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
	"github.com/anynpu/anynpu/core/tensor"
)

// fake is a fake driver and what it is told.
type fake struct {
	*Device
	opened *driver.Opened
}

func newFake(t testing.TB, version string, c Config) *fake {
	t.Helper()
	opened, built := fakeDrivers[version]
	if !built {
		t.Skip("SKIP: there is no C compiler for the fake driver")
	}
	c.ID, c.Name = "bpu", "Fake"
	d, err := New(Bind(opened.File, opened.Lookup), c)
	require.NoError(t, err)
	f := &fake{d, opened}
	f.lie("", 0, nil)
	return f
}

const newest = "1.24.5"

// lie has the driver answer with bytes at an offset from now on; "" takes all back.
func (f *fake) lie(what string, offset int, data []byte) {
	name, at := append([]byte(what), 0), append(bytes.Clone(data), 0)
	first := unsafe.Pointer(&name[0])
	if what == "" {
		first = nil
	}
	_, _, _ = purego.SyscallN(f.opened.Lookup("fake_lie"), uintptr(first), uintptr(offset), uintptr(unsafe.Pointer(&at[0])),
		uintptr(len(data)))
}

func (f *fake) block(on bool) {
	_, _, _ = purego.SyscallN(f.opened.Lookup("fake_block"), driver.Bool(on))
}

// live is the number of packs, tasks and pieces of memory that the driver has.
func (f *fake) live() int64 {
	n, _, _ := purego.SyscallN(f.opened.Lookup("fake_live"))
	return int64(int32(n))
}

// The flags and types of the fake driver's models.
const (
	padded, scaled, shifted, nhwc, perAxis = 1, 2, 4, 8, 16

	f32, u8, s8, s16 = 13, 9, 8, 11
)

func word(values ...uint32) (out []byte) {
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return out
}

// file is a compiled file with models of these bytes.
func file(models ...[]byte) []byte {
	out := append([]byte("FAKEBPU\x00FAKEBPU\x00"), word(uint32(len(models)))...)
	for i, m := range models {
		name := make([]byte, 32)
		copy(name, "model")
		name[5] = byte('0' + i)
		out = append(append(append(out, name...), word(uint32(len(m)))...), m...)
	}
	return out
}

// sum is a model that adds two tensors.
func sum2(kind, flags uint32, dims ...int64) []byte {
	all := [4]uint32{}
	for i, d := range dims {
		all[i] = uint32(d)
	}
	return append([]byte("SUM1"), word(uint32(len(dims)), all[0], all[1], all[2], all[3], kind, flags)...)
}

func sumFile(dims ...int64) []byte { return file(sum2(f32, 0, dims...)) }

// sumGraph is its graph.
func sumGraph(s tensor.Shape) (*graph.Graph, error) {
	dims, _ := s.Ints()
	port := func(name string) device.Port {
		return device.Port{Name: name, Type: tensor.Type{DType: tensor.Float32, Shape: s}}
	}
	return device.CompiledGraph("sum", Container, tensor.NewConst(sumFile(dims...)), []device.Port{port("x"), port("y")},
		[]device.Port{port("z")})
}

func TestDevice_contract(t *testing.T) {
	f := newFake(t, newest, Config{Patience: time.Minute})
	live := maps.Clone(mem.LiveCounters)
	live["packs, tasks and memory of the driver"] = f.live
	devicetest.Run(t, devicetest.Subject{
		Device: f.Device,
		Graph:  sumGraph,
		Endless: func(s tensor.Shape) (*graph.Graph, func(), error) {
			g, err := sumGraph(s)
			f.block(true)
			return g, func() { f.block(false) }, err
		},
		Live: live,
	})
}

// TestDevice_blockedRun gives up a run, and the device with it.
func TestDevice_blockedRun(t *testing.T) {
	told := make(chan string, 2)
	f := newFake(t, newest, Config{Patience: 50 * time.Millisecond, Died: func(reason string) { told <- reason }})
	p, err := f.Load(context.Background(), sumFile(4))
	require.NoError(t, err)
	e, other := newExecution(t, p), newExecution(t, p)
	out, err := f.Alloc(16)
	require.NoError(t, err)
	require.NoError(t, e.BindOutput(0, mem.View{Buf: out, Type: tensor.T(tensor.Float32, 4)}))
	f.block(true)
	err = exec.Run(context.Background(), e, device.RunRequest{Deadline: time.Now().Add(20 * time.Millisecond)})
	require.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
	require.Contains(t, <-told, "hbDNNWaitTaskDone did not return within 50ms")

	dead := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, device.ErrDied)
		require.Equal(t, fault.Device, fault.KindOf(err))
	}
	dead(other.Start(device.RunRequest{}))
	_, err = f.Load(context.Background(), sumFile(4))
	dead(err)
	_, err = f.Alloc(4)
	dead(err)
	_, err = f.Support(&graph.Graph{}, device.Options{})
	dead(err)
	_, err = p.New(device.ExecOptions{})
	dead(err)

	// The driver still has the output of the run.
	e.Release()
	out.Release()
	data, err := out.Map()
	require.NoError(t, err)
	require.Len(t, data, 16)
	buffers, _ := mem.Live()
	f.block(false)
	require.Eventually(t, func() bool { now, _ := mem.Live(); return now < buffers }, time.Minute, time.Millisecond)
	other.Release()
	p.Release()
}

// TestDevice_slowRun gives a run up that ends then: the execution computes again.
func TestDevice_slowRun(t *testing.T) {
	f := newFake(t, newest, Config{Patience: time.Minute})
	before := f.live()
	p, err := f.Load(context.Background(), sumFile(4))
	require.NoError(t, err)
	e := newExecution(t, p)
	p.Release()
	f.block(true)
	for range 2 { // the driver is not in a second run
		err = exec.Run(context.Background(), e, device.RunRequest{Deadline: time.Now().Add(20 * time.Millisecond)})
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

// TestDevice_zeroCopy binds memory of the driver's: it works on it.
func TestDevice_zeroCopy(t *testing.T) {
	f := newFake(t, newest, Config{})
	before := f.live() // of devices that have died
	p, err := f.Load(context.Background(), sumFile(2, 2))
	require.NoError(t, err)
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	p.Release()
	for round := range 3 {
		all, err := f.Alloc(64)
		require.NoError(t, err)
		require.NoError(t, mem.Write(all, 0, tensor.Float32s(1, 2, 3, float32(round), 10, 20, 30, 40)))
		typ := tensor.T(tensor.Float32, 2, 2)
		require.NoError(t, e.BindInput(0, mem.View{Buf: all, Off: 0, Type: typ}))
		require.NoError(t, e.BindInput(1, mem.View{Buf: all, Off: 16, Type: typ}))
		require.NoError(t, e.BindOutput(0, mem.View{Buf: all, Off: 32, Type: typ}))
		for range 2 {
			require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
		}
		got := make([]byte, 16)
		require.NoError(t, mem.Read(got, all, 32))
		require.Equal(t, tensor.Float32s(11, 22, 33, float32(40+round)), got)
		require.NoError(t, e.BindInput(1, mem.View{Buf: all, Off: 4, Type: typ})) // no address for an NPU
		require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
		require.NoError(t, mem.Read(got, all, 32))
		require.Equal(t, tensor.Float32s(3, 5, 3+float32(round), float32(round)+10), got)
		all.Release()
	}
	s := e.Stats()
	require.EqualValues(t, 9, s.Runs)
	require.EqualValues(t, 3*16, s.CopiedIn)
	require.Zero(t, s.CopiedOut)
	e.Release()
	require.Equal(t, before, f.live())
}

// TestDevice_forms computes sums of every form that the driver has for tensors, in each generation of its structs: the
// elements are the sums of those that went in, with gaps or without, in whatever order.
func TestDevice_forms(t *testing.T) {
	for _, version := range []string{newest, "1.14.1", "1.9.7"} {
		f := newFake(t, version, Config{})
		for _, c := range []struct {
			kind, flags uint32
			dims, shown []int64
			quant       *tensor.Quant
		}{
			{f32, 0, []int64{3}, []int64{3}, nil},
			{f32, padded, []int64{2, 3}, []int64{2, 3}, nil},
			{u8, padded, []int64{1, 2, 3, 5}, []int64{1, 2, 3, 5}, nil},
			{s16, nhwc, []int64{1, 2, 3, 4}, []int64{1, 4, 2, 3}, nil},
			{f32, nhwc | padded, []int64{2, 2, 3, 5}, []int64{2, 5, 2, 3}, nil},
			{s8, scaled, []int64{4}, []int64{4}, tensor.PerTensor(0.5, 3)},
			{s8, shifted | padded, []int64{2, 4}, []int64{2, 4}, tensor.PerTensor(0.125, 0)},
			{s8, perAxis, []int64{1, 3, 2, 4}, []int64{1, 3, 2, 4}, &tensor.Quant{Scale: []float32{0.5, 1, 1.5}, Zero: []int32{0, 0, 0}, Axis: 1}},
			{s8, perAxis | nhwc, []int64{1, 3, 2, 4}, []int64{1, 4, 3, 2}, &tensor.Quant{Scale: []float32{0.5, 1, 1.5}, Zero: []int32{0, 0, 0}, Axis: 2}},
		} {
			p, err := f.Load(context.Background(), file(sum2(c.kind, c.flags, c.dims...)))
			require.NoError(t, err, "%s %v", version, c)
			in, out := p.Ports()
			want := tensor.T(map[uint32]tensor.DType{f32: tensor.Float32, u8: tensor.Uint8, s8: tensor.Int8, s16: tensor.Int16}[c.kind], c.shown...)
			want.Quant = c.quant
			for _, port := range append(append([]device.Port{}, in...), out...) {
				require.True(t, want.DType == port.Type.DType && want.Shape.Equal(port.Type.Shape) && want.Quant.Equal(port.Type.Quant),
					"%s: %v, want %v", version, port.Type, want)
			}
			e, err := p.New(device.ExecOptions{Priority: device.PriorityHigh})
			require.NoError(t, err)
			n, _ := want.ByteSize()
			a, b, sum := elements(c.kind, n, 1), elements(c.kind, n, 5), elements(c.kind, n, 6)
			for i, data := range [][]byte{a, b} {
				buf := mem.Borrow(data, nil)
				require.NoError(t, e.BindInput(i, mem.View{Buf: buf, Type: in[i].Type}))
				buf.Release()
			}
			require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
			got, err := e.OutputData(0)
			require.NoError(t, err)
			require.Equal(t, sum, got, "%s %v", version, c)
			e.Release()
			p.Release()
		}
	}
}

// elements are n bytes of i*k for element i modulo 7.
func elements(kind uint32, n int64, k int) (out []byte) {
	for i := 0; int64(len(out)) < n; i++ {
		v := i % 7 * k
		switch kind {
		case f32:
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
		case s16:
			out = binary.LittleEndian.AppendUint16(out, uint16(v))
		default:
			out = append(out, byte(v))
		}
	}
	return out
}

// TestDevice_lies has the driver answer what cannot be: an error of kind fault.Device, and nothing stays behind.
func TestDevice_lies(t *testing.T) {
	f := newFake(t, newest, Config{Patience: time.Minute})
	before := f.live()
	nowhere := make([]byte, 8) // an address that is no memory of anybody's
	nowhere[0] = 64
	for _, c := range []struct {
		what   string
		offset int
		data   []byte
		want   string
	}{
		{"counts", 0, word(0xffffffff), "-1 inputs"},
		{"counts", 0, word(1 << 20), "1048576 inputs"},
		{"counts", 4, word(0), "0 outputs"},
		{"properties input", 32, word(9), "valid shape has 9 dimensions"},
		{"properties input", 68, word(0xffffffff), "aligned shape has -1 dimensions"},
		{"properties input", 0, word(0), "its size 0 of [0] is 0"},
		{"properties output", 32, word(2), "its size 1 of [4 0] is 0"},
		{"properties output", 0, word(1 << 30), "apart, do not fit 16 bytes"},
		{"properties output", 76, word(99), "its type is 99"},
		{"properties output", 136, word(0), "0 bytes"},
		{"properties output", 136, word(15), "do not fit 15 bytes"},
		{"properties input", 140, word(0x7ffffffc), "do not fit 16 bytes"},
		{"properties input", 140, word(0xfffffffc), "apart"},
		{"name", 0, make([]byte, 8), "points to nothing"},
		{"name", 0, nowhere, "cannot be read"},
		{"memory", 8, make([]byte, 8), "at address 0x0"},
		{"memory", 16, word(15), "gives 15 bytes"},
		{"code infer", 0, word(0xffffffff), "hbDNNInfer: the driver's code is -1"},
		{"code wait", 0, word(5), "hbDNNWaitTaskDone: the driver's code is 5"},
	} {
		f.lie(c.what, c.offset, c.data)
		err := f.once(sumFile(4))
		f.lie("", 0, nil)
		require.Error(t, err, c.want)
		require.Equal(t, fault.Device, fault.KindOf(err), "%v", err)
		require.ErrorContains(t, err, c.want)
	}
	require.NoError(t, f.once(sumFile(4)))
	// Codes of a quantization.
	for _, c := range []struct {
		flags  uint32
		offset int
		data   []byte
		want   string
	}{
		{scaled, 96, word(0), "0 scales"},
		{scaled, 96, word(5), "5 scales and 1 zero points"},
		{scaled, 104, make([]byte, 8), "points to nothing"},
		{scaled, 104, nowhere, "cannot be read"},
		{scaled, 128, word(3), "quantization is 3"},
		{shifted, 80, word(0xfffffff0), "-16 shifts"},
		{shifted, 88, nowhere, "cannot be read"},
		{perAxis, 132, word(3), "4 scales for the axis"},
	} {
		f.lie("properties output", c.offset, c.data)
		err := f.once(file(sum2(s8, c.flags, 1, 4, 2)))
		f.lie("", 0, nil)
		require.Equal(t, fault.Device, fault.KindOf(err), "%v", err)
		require.ErrorContains(t, err, c.want)
	}
	before++ // memory at address 0 cannot be freed
	require.Eventually(t, func() bool { return f.live() == before }, time.Minute, time.Millisecond)
}

// once loads a model and runs it.
func (f *fake) once(model []byte) error {
	p, err := f.Load(context.Background(), model)
	if err != nil {
		return err
	}
	e, err := p.New(device.ExecOptions{})
	p.Release()
	if err != nil {
		return err
	}
	defer e.Release()
	in, _ := p.Ports()
	for i := range in {
		n, _ := in[i].Type.ByteSize()
		b := mem.Borrow(make([]byte, n), nil)
		err := e.BindInput(i, mem.View{Buf: b, Type: in[i].Type})
		b.Release()
		if err != nil {
			return err
		}
	}
	if err := exec.Run(context.Background(), e, device.RunRequest{}); err != nil {
		return err
	}
	_, err = e.OutputData(0)
	return err
}

// TestDevice_files: what the driver does not take, and files with several models, are refused.
func TestDevice_files(t *testing.T) {
	f := newFake(t, newest, Config{})
	for want, data := range map[string][]byte{
		"HB_DNN_INVALID_MODEL":          []byte("FAKEBPU and no more"),
		"0 bytes are no compiled model": nil,
	} {
		_, err := f.Load(context.Background(), data)
		require.Equal(t, fault.File, fault.KindOf(err), "%v", err)
		require.ErrorContains(t, err, want)
	}
	_, err := f.Load(context.Background(), file(sum2(f32, 0, 4), sum2(f32, 0, 2)))
	require.Equal(t, fault.Unsupported, fault.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "2 models, model0, model1")
}
