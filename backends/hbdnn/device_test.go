package hbdnn

import (
	"context"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/drivertest"
)

// fake is the device of a fake driver.
type fake struct {
	*Device
	*drivertest.Driver
}

const newest = "1.24.5"

func newFake(t testing.TB, version string) *fake {
	t.Helper()
	opened := fakeDrivers[version]
	opened.Need(t)
	d, err := New(Bind(opened.File, opened.Lookup), driver.Config{ID: "bpu", Name: "Fake", Patience: time.Minute})
	require.NoError(t, err)
	return &fake{d, opened}
}

func (f *fake) subject() drivertest.Subject {
	return drivertest.Subject{Device: f.Device, Life: f.Life, Driver: f.Driver,
		Graph: func(s tensor.Shape) (*graph.Graph, error) { return drivertest.SumOf(Container, s, sumFile) }}
}

// The flags and types of the fake driver's models.
const (
	padded, scaled, shifted, nhwc, perAxis = 1, 2, 4, 8, 16

	f32, u8, s8, s16 = 13, 9, 8, 11
)

// file is a compiled file with models of these bytes.
func file(models ...[]byte) []byte {
	out := append([]byte("FAKEBPU\x00FAKEBPU\x00"), drivertest.Word(uint32(len(models)))...)
	for i, m := range models {
		name := make([]byte, 32)
		copy(name, "model")
		name[5] = byte('0' + i)
		out = append(append(append(out, name...), drivertest.Word(uint32(len(m)))...), m...)
	}
	return out
}

// sum is a model that adds two tensors.
func sum2(kind, flags uint32, dims ...int64) []byte {
	all := [4]uint32{}
	for i, d := range dims {
		all[i] = uint32(d)
	}
	return append([]byte("SUM1"), drivertest.Word(uint32(len(dims)), all[0], all[1], all[2], all[3], kind, flags)...)
}

func sumFile(dims ...int64) []byte { return file(sum2(f32, 0, dims...)) }

func TestDevice_contract(t *testing.T) { newFake(t, newest).subject().Contract(t) }
func TestDevice_blockedRun(t *testing.T) {
	newFake(t, newest).subject().BlockedRun(t, "hbDNNWaitTaskDone", nil)
}
func TestDevice_slowRun(t *testing.T)  { newFake(t, newest).subject().SlowRun(t) }
func TestDevice_zeroCopy(t *testing.T) { newFake(t, newest).subject().ZeroCopy(t, 0, 16, 32) }

// TestDevice_unaligned binds an address in the driver's memory that an NPU cannot take: it is copied.
func TestDevice_unaligned(t *testing.T) {
	f := newFake(t, newest)
	p := f.subject().Program(t)
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	p.Release()
	all, err := f.Alloc(64)
	require.NoError(t, err)
	require.NoError(t, mem.Write(all, 0, tensor.Float32s(1, 2, 3, 4, 5)))
	typ := tensor.T(tensor.Float32, 4)
	require.NoError(t, e.BindInput(0, mem.View{Buf: all, Type: typ}))
	require.NoError(t, e.BindInput(1, mem.View{Buf: all, Off: 4, Type: typ}))
	require.NoError(t, e.BindOutput(0, mem.View{Buf: all, Off: 32, Type: typ}))
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	got := make([]byte, 16)
	require.NoError(t, mem.Read(got, all, 32))
	require.Equal(t, tensor.Float32s(3, 5, 7, 9), got)
	stats := e.Stats()
	require.EqualValues(t, 16, stats.CopiedIn)
	require.Zero(t, stats.CopiedOut)
	e.Release()
	all.Release()
}

// once loads a model and runs it.
func (f *fake) once(model []byte) func() error {
	return func() error {
		return drivertest.Once(func() (device.Program, error) { return f.Load(context.Background(), model) })
	}
}

// TestDevice_forms computes sums of every form that the driver has for tensors, in each generation of its structs: the
// elements are the sums of those that went in, with gaps or without, in whatever order.
func TestDevice_forms(t *testing.T) {
	for _, version := range []string{newest, "1.14.1", "1.9.7"} {
		f := newFake(t, version)
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
			{s8, perAxis, []int64{1, 3, 2, 4}, []int64{1, 3, 2, 4}, &tensor.Quant{Scale: []float32{0.5, 1, 1.5}, Zero: []int32{0,
				0, 0}, Axis: 1}},
			{s8, perAxis | nhwc, []int64{1, 3, 2, 4}, []int64{1, 4, 3, 2},
				&tensor.Quant{Scale: []float32{0.5, 1, 1.5}, Zero: []int32{0, 0, 0}, Axis: 2}},
		} {
			p, err := f.Load(context.Background(), file(sum2(c.kind, c.flags, c.dims...)))
			require.NoError(t, err, "%s %v", version, c)
			in, out := p.Ports()
			want := tensor.T(map[uint32]tensor.DType{f32: tensor.Float32, u8: tensor.Uint8, s8: tensor.Int8,
				s16: tensor.Int16}[c.kind], c.shown...)
			want.Quant = c.quant
			for _, port := range append(append([]device.Port{}, in...), out...) {
				require.True(t, want.DType == port.Type.DType && want.Shape.Equal(port.Type.Shape) &&
					want.Quant.Equal(port.Type.Quant),
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
	at, word, nowhere := drivertest.At, drivertest.Word, drivertest.Nowhere
	f := newFake(t, newest)
	before := f.Live()
	f.Lies(t, fault.Device, f.once(sumFile(4)), nil,
		at("counts", 0, word(0xffffffff), "-1 inputs"),
		at("counts", 0, word(1<<20), "1048576 inputs"),
		at("counts", 4, word(0), "0 outputs"),
		at("properties input", 32, word(9), "valid shape has 9 dimensions"),
		at("properties input", 68, word(0xffffffff), "aligned shape has -1 dimensions"),
		at("properties input", 0, word(0), "its size 0 of [0] is 0"),
		at("properties output", 32, word(2), "its size 1 of [4 0] is 0"),
		at("properties output", 0, word(1<<30), "apart, do not fit 16 bytes"),
		at("properties output", 76, word(99), "its type is 99"),
		at("properties output", 136, word(0), "0 bytes"),
		at("properties output", 136, word(15), "do not fit 15 bytes"),
		at("properties input", 140, word(0x7ffffffc), "do not fit 16 bytes"),
		at("properties input", 140, word(0xfffffffc), "apart"),
		at("name", 0, make([]byte, 8), "points to nothing"),
		at("name", 0, nowhere, "cannot be read"),
		at("memory", 8, make([]byte, 8), "at address 0x0"),
		at("memory", 16, word(15), "gives 15 bytes"),
		at("code infer", 0, word(0xffffffff), "hbDNNInfer: the driver's code is -1"),
		at("code wait", 0, word(5), "hbDNNWaitTaskDone: the driver's code is 5"),
	)
	require.NoError(t, f.once(sumFile(4))())
	// Codes of a quantization.
	for _, c := range []struct {
		flags uint32
		lie   drivertest.Lie
	}{
		{scaled, drivertest.Lie{Offset: 96, Data: word(0), Want: "0 scales"}},
		{scaled, drivertest.Lie{Offset: 96, Data: word(5), Want: "5 scales and 1 zero points"}},
		{scaled, drivertest.Lie{Offset: 104, Data: make([]byte, 8), Want: "points to nothing"}},
		{scaled, drivertest.Lie{Offset: 104, Data: nowhere, Want: "cannot be read"}},
		{scaled, drivertest.Lie{Offset: 128, Data: word(3), Want: "quantization is 3"}},
		{shifted, drivertest.Lie{Offset: 80, Data: word(0xfffffff0), Want: "-16 shifts"}},
		{shifted, drivertest.Lie{Offset: 88, Data: nowhere, Want: "cannot be read"}},
		{perAxis, drivertest.Lie{Offset: 132, Data: word(3), Want: "4 scales for the axis"}},
	} {
		c.lie.What = "properties output"
		f.Lies(t, fault.Device, f.once(file(sum2(s8, c.flags, 1, 4, 2))), nil, c.lie)
	}
	before++ // memory at address 0 cannot be freed
	require.Eventually(t, func() bool { return f.Live() == before }, time.Minute, time.Millisecond)
}

// TestDevice_files: what the driver does not take, and files with several models, are refused.
func TestDevice_files(t *testing.T) {
	f := newFake(t, newest)
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
