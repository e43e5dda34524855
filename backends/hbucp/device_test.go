package hbucp

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/backends/hbdnn"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/drivertest"
)

// fake is the device of the fake driver.
type fake struct {
	*hbdnn.Device
	*drivertest.Driver
}

func newFake(t testing.TB) *fake {
	t.Helper()
	fakeDriver.Need(t)
	d, err := New(Bind(fakeDriver.File, fakeDriver.Lookup), driver.Config{ID: "bpu", Name: "Fake", Patience: time.Minute})
	require.NoError(t, err)
	return &fake{d, fakeDriver}
}

func (f *fake) subject() drivertest.Subject {
	return drivertest.Subject{Device: f.Device, Life: f.Life, Driver: f.Driver,
		Graph: func(s tensor.Shape) (*graph.Graph, error) { return drivertest.SumOf(hbdnn.Container, s, sumFile) }}
}

// The flags and types of the fake driver's models (ctest/drivers/bpu_objects.h, hb_dnn.h).
const (
	padded, scaled, perAxis = 1, 2, 16

	s8, u8, s16, f32 = 2, 3, 5, 7
)

// compiled is a compiled file with one model.
func compiled(model []byte) []byte {
	name := make([]byte, 32)
	copy(name, "model")
	out := append([]byte("FAKEBPU\x00FAKEBPU\x00"), drivertest.Word(1)...)
	return append(append(append(out, name...), drivertest.Word(uint32(len(model)))...), model...)
}

// file is a compiled file with a model that adds two tensors.
func file(kind, flags uint32, dims ...int64) []byte {
	all := [4]uint32{}
	for i, d := range dims {
		all[i] = uint32(d)
	}
	return compiled(append([]byte("SUM1"), drivertest.Word(uint32(len(dims)), all[0], all[1], all[2], all[3], kind,
		flags)...))
}

func sumFile(dims ...int64) []byte { return file(f32, 0, dims...) }

func TestDevice_contract(t *testing.T) { newFake(t).subject().Contract(t) }
func TestDevice_blockedRun(t *testing.T) {
	newFake(t).subject().BlockedRun(t, "hbUCPWaitTaskDone", nil)
}
func TestDevice_slowRun(t *testing.T)  { newFake(t).subject().SlowRun(t) }
func TestDevice_zeroCopy(t *testing.T) { newFake(t).subject().ZeroCopy(t, 0, 16, 32) }

// once loads a model and runs it.
func (f *fake) once(model []byte) func() error {
	return func() error {
		return drivertest.Once(func() (device.Program, error) { return f.Load(context.Background(), model) })
	}
}

// TestDevice_forms computes sums of every form that the driver has for tensors: the elements are the sums of those that
// went in, with gaps or without.
func TestDevice_forms(t *testing.T) {
	f := newFake(t)
	scales := &tensor.Quant{Scale: []float32{0.5, 1, 1.5}, Zero: []int32{0, 0, 0}, Axis: 1}
	for _, c := range []struct {
		kind, flags uint32
		dims        []int64
		dtype       tensor.DType
		quant       *tensor.Quant
	}{
		{f32, 0, []int64{3}, tensor.Float32, nil},
		{f32, padded, []int64{2, 3}, tensor.Float32, nil},
		{u8, padded, []int64{1, 2, 3, 5}, tensor.Uint8, nil},
		{s16, 0, []int64{1, 2, 3, 4}, tensor.Int16, nil},
		{s8, scaled, []int64{4}, tensor.Int8, tensor.PerTensor(0.5, 3)},
		{s16, scaled | padded, []int64{2, 4}, tensor.Int16, tensor.PerTensor(0.5, 3)},
		{s8, perAxis, []int64{1, 3, 2, 4}, tensor.Int8, scales},
	} {
		p, err := f.Load(context.Background(), file(c.kind, c.flags, c.dims...))
		require.NoError(t, err, "%v", c)
		in, out := p.Ports()
		want := tensor.T(c.dtype, c.dims...)
		want.Quant = c.quant
		for _, port := range append(in, out...) {
			require.Equal(t, want.DType, port.Type.DType, "%v", c)
			require.True(t, want.Shape.Equal(port.Type.Shape) && want.Quant.Equal(port.Type.Quant), "%v, want %v", port.Type,
				want)
		}
		e, err := p.New(device.ExecOptions{Priority: device.PriorityHigh})
		require.NoError(t, err)
		n, _ := want.ByteSize()
		for i, factor := range []int{1, 5} {
			buf := mem.Borrow(elements(c.dtype, n, factor), nil)
			require.NoError(t, e.BindInput(i, mem.View{Buf: buf, Type: in[i].Type}))
			buf.Release()
		}
		require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
		got, err := e.OutputData(0)
		require.NoError(t, err)
		require.Equal(t, elements(c.dtype, n, 6), got, "%v", c)
		e.Release()
		p.Release()
	}
}

// elements are n bytes of i*k for element i modulo 7.
func elements(d tensor.DType, n int64, k int) (out []byte) {
	for i := 0; int64(len(out)) < n; i++ {
		v := i % 7 * k
		switch d {
		case tensor.Float32:
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
		case tensor.Int16:
			out = binary.LittleEndian.AppendUint16(out, uint16(v))
		default:
			out = append(out, byte(v))
		}
	}
	return out
}

// TestDevice_openStrides: strides that a program is to say are decided, as multiples of 64, so that the driver finds
// the rows of an image where they are; sizes that a program is to say are refused.
func TestDevice_openStrides(t *testing.T) {
	f := newFake(t)
	weights, err := os.ReadFile("../../examples/digits/digits.weights")
	require.NoError(t, err)
	image, err := os.ReadFile("../../examples/digits/images/000_label4.pgm")
	require.NoError(t, err)
	p, err := f.Load(context.Background(), compiled(weights))
	require.NoError(t, err)
	defer p.Release()
	in, _ := p.Ports()
	require.Equal(t, []int64{1, 8, 8, 1}, in[0].Max)
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	defer e.Release()
	buf := mem.Borrow(image[len(image)-64:], nil)
	defer buf.Release()
	require.NoError(t, e.BindInput(0, mem.View{Buf: buf, Type: in[0].Type}))
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	data, err := e.OutputData(0)
	require.NoError(t, err)
	probabilities, err := tensor.ReadFloat32s(data, 10)
	require.NoError(t, err)
	require.Equal(t, slices.Max(probabilities), probabilities[4], "%v", probabilities)
	f.Lies(t, fault.Unsupported, f.once(sumFile(4)), nil,
		drivertest.At("properties input", 0, drivertest.Word(math.MaxUint32), "its size 0 is for the program to say"))
}

// TestDevice_lies has the driver answer what cannot be: an error of kind fault.Device, and nothing stays behind.
func TestDevice_lies(t *testing.T) {
	at, word, nowhere := drivertest.At, drivertest.Word, drivertest.Nowhere
	f := newFake(t)
	before := f.Live()
	f.Lies(t, fault.Device, f.once(sumFile(4)), nil,
		at("counts", 0, word(0xffffffff), "-1 inputs"),
		at("counts", 4, word(0), "0 outputs"),
		at("properties input", 40, word(11), "valid shape has 11 dimensions"),
		at("properties input", 0, word(0), "its size 0 of [0] is 0"),
		at("properties output", 40, word(2), "its size 1 of [4 0] is 0"),
		at("properties output", 0, word(1<<30), "apart"),
		at("properties output", 44, word(14), "its type is 14"),
		at("properties output", 80, word(2), "its quantization is 2"),
		at("properties output", 88, word(0, 0), "0 bytes"),
		at("properties output", 88, word(15, 0), "do not fit 15 bytes"),
		at("properties output", 88, word(15, 1), "its memory has 4294967311 bytes"),
		at("properties input", 96, word(0x7ffffffc, 0), "apart"),
		at("properties input", 96, word(0xfffffffc, 0xffffffff), "apart"),
		at("name", 0, make([]byte, 8), "points to nothing"),
		at("name", 0, nowhere, "cannot be read"),
		at("memory", 8, make([]byte, 8), "hbUCPMallocCached gives 16 bytes at address 0x0"),
		at("memory", 16, word(15), "gives 15 bytes"),
		at("code infer", 0, word(0xffffffff), "hbDNNInferV2: the driver's code is -1"),
		at("code wait", 0, word(5), "hbUCPWaitTaskDone: the driver's code is 5"),
	)
	require.NoError(t, f.once(sumFile(4))())
	for _, lie := range []drivertest.Lie{
		{Offset: 48, Data: word(0), Want: "0 scales"},
		{Offset: 48, Data: word(5), Want: "5 scales and 1 zero points"},
		{Offset: 56, Data: nowhere, Want: "cannot be read"},
		{Offset: 72, Data: nowhere, Want: "cannot be read"},
	} {
		lie.What = "properties output"
		f.Lies(t, fault.Device, f.once(file(s8, scaled, 1, 4, 2)), nil, lie)
	}
	before++ // memory at address 0 cannot be freed
	require.Eventually(t, func() bool { return f.Live() == before }, time.Minute, time.Millisecond)
}

// TestDevice_files: what the driver does not take is refused.
func TestDevice_files(t *testing.T) {
	_, err := newFake(t).Load(context.Background(), []byte("FAKEBPU and no more"))
	require.Equal(t, fault.File, fault.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "HB_UCP_MODEL_INVALID")
}
