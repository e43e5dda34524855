package rknn

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"maps"
	"math"
	"os"
	"reflect"
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

// fake is the fake driver and what it is told.
type fake struct {
	*Device
	opened *driver.Opened
}

func newFake(t testing.TB) *fake {
	t.Helper()
	if fakeDriver == nil {
		t.Skip("SKIP: there is no C compiler for the fake driver")
	}
	d, err := New(Bind(fakeDriver.File, fakeDriver.Lookup), Config{ID: "npu", Name: "Fake", Patience: time.Minute})
	require.NoError(t, err)
	f := &fake{d, fakeDriver}
	f.lie("", 0, nil)
	return f
}

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

// live is the number of contexts and pieces of memory that the driver has.
func (f *fake) live() int64 {
	n, _, _ := purego.SyscallN(f.opened.Lookup("fake_live"))
	return int64(int32(n))
}

// sumModel is a compiled model that adds two tensors.
func sumModel(dims ...int64) []byte {
	data := append([]byte("RKNN\x00\x00\x00\x00FAKENPU\x00SUM1"), make([]byte, 20)...)
	binary.LittleEndian.PutUint32(data[20:], uint32(len(dims)))
	for i, d := range dims {
		binary.LittleEndian.PutUint32(data[24+4*i:], uint32(d))
	}
	return data
}

// sumGraph is its graph.
func sumGraph(s tensor.Shape) (*graph.Graph, error) {
	dims, _ := s.Ints()
	port := func(name string) device.Port {
		return device.Port{Name: name, Type: tensor.Type{DType: tensor.Float32, Shape: s}}
	}
	return device.CompiledGraph("sum", Container, tensor.NewConst(sumModel(dims...)), []device.Port{port("x"), port("y")},
		[]device.Port{port("z")})
}

func TestDevice_contract(t *testing.T) {
	f := newFake(t)
	live := maps.Clone(mem.LiveCounters)
	live["contexts and memory of the driver"] = f.live
	s := devicetest.Subject{
		Device: f.Device,
		Graph:  sumGraph,
		Endless: func(s tensor.Shape) (*graph.Graph, func(), error) {
			g, err := sumGraph(s)
			f.block(true)
			return g, func() { f.block(false) }, err
		},
		Live: live,
	}
	devicetest.Run(t, s)
}

// TestDevice_blockedRun gives up a run, and the device with it.
func TestDevice_blockedRun(t *testing.T) {
	f := newFake(t)
	told := make(chan string, 2)
	f.Life.Tell(func(reason string) { told <- reason })
	p, err := f.Load(context.Background(), sumModel(4))
	require.NoError(t, err)
	e, other := newExecution(t, p), newExecution(t, p)
	out, err := f.Alloc(16)
	require.NoError(t, err)
	require.NoError(t, e.BindOutput(0, mem.View{Buf: out, Type: tensor.T(tensor.Float32, 4)}))
	f.Life.SetPatience(50 * time.Millisecond)
	f.block(true)
	err = exec.Run(context.Background(), e, device.RunRequest{Deadline: time.Now().Add(20 * time.Millisecond)})
	require.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
	require.Contains(t, <-told, "rknn_run did not return within 50ms")

	dead := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, device.ErrDied)
		require.Equal(t, fault.Device, fault.KindOf(err))
	}
	dead(other.Start(device.RunRequest{}))
	_, err = f.Load(context.Background(), sumModel(4))
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
	f := newFake(t)
	p, err := f.Load(context.Background(), sumModel(4))
	require.NoError(t, err)
	before := f.live() - 1
	e := newExecution(t, p)
	p.Release()
	f.block(true)
	err = exec.Run(context.Background(), e, device.RunRequest{Deadline: time.Now().Add(20 * time.Millisecond)})
	require.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
	err = exec.Run(context.Background(), e, device.RunRequest{Deadline: time.Now().Add(20 * time.Millisecond)})
	require.Equal(t, fault.Timeout, fault.KindOf(err), "the driver is not in a second run: %v", err)
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

// TestDevice_zeroCopy binds memory with a descriptor: the driver works on it.
func TestDevice_zeroCopy(t *testing.T) {
	f := newFake(t)
	before := f.live() // of devices that have died
	p, err := f.Load(context.Background(), sumModel(2, 2))
	require.NoError(t, err)
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	p.Release()
	defer func() { require.Equal(t, before, f.live()) }()
	defer e.Release()
	for round := range 3 {
		all, err := f.Alloc(64)
		require.NoError(t, err)
		require.NoError(t, mem.Write(all, 8, tensor.Float32s(1, 2, 3, float32(round), 10, 20, 30, 40)))
		typ := tensor.T(tensor.Float32, 2, 2)
		require.NoError(t, e.BindInput(0, mem.View{Buf: all, Off: 8, Type: typ}))
		require.NoError(t, e.BindInput(1, mem.View{Buf: all, Off: 24, Type: typ}))
		require.NoError(t, e.BindOutput(0, mem.View{Buf: all, Off: 40, Type: typ}))
		for range 2 {
			require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
		}
		got := make([]byte, 16)
		require.NoError(t, mem.Read(got, all, 40))
		require.Equal(t, tensor.Float32s(11, 22, 33, float32(40+round)), got)
		all.Release()
	}
	s := e.Stats()
	require.EqualValues(t, 6, s.Runs)
	require.Zero(t, s.CopiedIn+s.CopiedOut)
}

// TestDevice_lies has the driver answer what cannot be: an error of kind fault.Device, and nothing stays behind.
func TestDevice_lies(t *testing.T) {
	f := newFake(t)
	word := func(values ...uint32) []byte {
		var out []byte
		for _, v := range values {
			out = binary.LittleEndian.AppendUint32(out, v)
		}
		return out
	}
	var a tensorAttr
	var m tensorMem
	for _, c := range []struct {
		what   string
		offset int
		data   []byte
		want   string
	}{
		{"query 0", 0, word(0xffffffff), "4294967295 inputs"},
		{"query 0", 4, word(0), "0 outputs"},
		{"query 1", 0, word(7), "answers for 7"},
		{"query 1", int(unsafe.Offsetof(a.rank)), word(17), "17 dimensions"},
		{"query 1", int(unsafe.Offsetof(a.rank)), word(3), "dimension 1 of 3 is 0"},
		{"query 2", int(unsafe.Offsetof(a.dims)), word(0), "dimension 0 of 1 is 0"},
		{"query 2", int(unsafe.Offsetof(a.rank)), word(2, 1<<31, 1<<31), "sizes"},
		{"query 2", int(unsafe.Offsetof(a.dims)), word(5), "want 5 in 20"},
		{"query 1", int(unsafe.Offsetof(a.name)), bytes.Repeat([]byte{'n'}, maxName), "its name has no end"},
		{"query 1", int(unsafe.Offsetof(a.name)), []byte{0xff, 0}, "no UTF-8"},
		{"query 2", int(unsafe.Offsetof(a.kind)), word(99), "its type is 99"},
		{"query 2", int(unsafe.Offsetof(a.format)), word(9), "its format is 9"},
		{"query 2", int(unsafe.Offsetof(a.size)), word(15), "in 15 bytes"},
		{"query 2", int(unsafe.Offsetof(a.sizeWithStride)), word(3), "3 bytes with gaps"},
		{"memory", int(unsafe.Offsetof(m.virt)), make([]byte, 8), "of address 0x0"},
		{"memory", int(unsafe.Offsetof(m.size)), word(15), "gives 15 bytes"},
		{"memory", int(unsafe.Offsetof(m.offset)), word(1), "at offset 1"},
		{"memory", int(unsafe.Offsetof(m.offset)), word(0xfffffff0), "at offset -16"},
		{"code run", 0, word(0xffffffff), "rknn_run: the driver's code is -1"},
	} {
		f.lie(c.what, c.offset, c.data)
		err := f.once(sumModel(4))
		f.lie("", 0, nil)
		require.Error(t, err, c.want)
		require.Equal(t, fault.Device, fault.KindOf(err), "%v", err)
		require.ErrorContains(t, err, c.want)
	}
	require.NoError(t, f.once(sumModel(4)))
	// Types of codes.
	quant := func(kind uint32, scale float32, zero int32) []byte {
		return append(word(kind, quantAffine, 0, uint32(zero)), word(math.Float32bits(scale))...)
	}
	for _, c := range []struct {
		data []byte
		want string
	}{
		{quant(2, 0.5, 128), "zero point 128"},
		{quant(2, 0, 0), "scale 0"},
		{quant(2, float32(math.NaN()), 0), "scale NaN"},
		{quant(2, -1, 0), "scale -1"},
	} {
		a := digitsInput()
		p := unsafe.Slice((*byte)(unsafe.Pointer(&a)), unsafe.Sizeof(a))
		copy(p[int(unsafe.Offsetof(a.kind)):], c.data)
		_, err := portOf(&a)
		require.Equal(t, fault.Device, fault.KindOf(err), "%v", err)
		require.ErrorContains(t, err, c.want)
	}
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

func digitsInput() tensorAttr {
	a := tensorAttr{rank: 4, dims: [maxDims]uint32{1, 8, 8, 1}, elems: 64, size: 64, format: formatNHWC, kind: 3}
	copy(a.name[:], "image")
	return a
}

// TestPort_gaps spreads rows and gathers them again.
func TestPort_gaps(t *testing.T) {
	a := tensorAttr{rank: 4, dims: [maxDims]uint32{1, 2, 3, 2}, elems: 12, size: 12, format: formatNHWC, kind: 3, wStride: 4,
		sizeWithStride: 16}
	p, err := portOf(&a)
	require.NoError(t, err)
	dense := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	gaps := make([]byte, 16)
	p.spread(gaps, dense)
	require.Equal(t, []byte{1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12, 0, 0}, gaps)
	back := make([]byte, 12)
	p.gather(back, gaps)
	require.Equal(t, dense, back)
	for _, wrong := range []uint32{2, 5, 1 << 31} {
		a.wStride = wrong
		_, err := portOf(&a)
		require.Equal(t, fault.Device, fault.KindOf(err), "%d: %v", wrong, err)
	}
}

// TestStructs_areTheHeaders compares with the description of rknn_api.h.
func TestStructs_areTheHeaders(t *testing.T) {
	var api struct {
		Structs []struct {
			Name   string
			Size   uintptr
			Fields []struct{ Offset uintptr }
		}
	}
	for _, name := range []string{"rknn", "rknn_matmul"} {
		text, err := os.ReadFile("../../capi/abi/abicheck/" + name + ".json")
		require.NoError(t, err)
		known := api.Structs
		api.Structs = nil
		require.NoError(t, json.Unmarshal(text, &api))
		api.Structs = append(known, api.Structs...)
	}
	ours := map[string]reflect.Type{"rknn_input_output_num": reflect.TypeFor[inOutNum](),
		"rknn_tensor_attr": reflect.TypeFor[tensorAttr](), "rknn_tensor_mem": reflect.TypeFor[tensorMem](),
		"rknn_matmul_info": reflect.TypeFor[matmulInfo](), "rknn_matmul_tensor_attr": reflect.TypeFor[matmulAttr](),
		"rknn_matmul_io_attr": reflect.TypeFor[matmulIO]()}
	for _, s := range api.Structs {
		own := ours[s.Name]
		if own == nil {
			continue
		}
		delete(ours, s.Name)
		require.Equal(t, s.Size, own.Size(), s.Name)
		require.Len(t, s.Fields, own.NumField(), s.Name)
		for i, f := range s.Fields {
			require.Equal(t, f.Offset, own.Field(i).Offset, "%s, field %d", s.Name, i)
		}
	}
	require.Empty(t, ours)
}
