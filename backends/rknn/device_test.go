package rknn

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/drivertest"
)

// fake is the device of the fake driver.
type fake struct {
	*Device
	*drivertest.Driver
}

func newFake(t testing.TB) *fake {
	t.Helper()
	fakeDriver.Need(t)
	d, err := New(Bind(fakeDriver.File, fakeDriver.Lookup), driver.Config{ID: "npu", Name: "Fake", Patience: time.Minute})
	require.NoError(t, err)
	return &fake{d, fakeDriver}
}

func (f *fake) subject() drivertest.Subject {
	return drivertest.Subject{Device: f.Device, Life: f.Life, Driver: f.Driver,
		Graph: func(s tensor.Shape) (*graph.Graph, error) { return drivertest.SumOf(Container, s, sumModel) }}
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

func TestDevice_contract(t *testing.T)   { newFake(t).subject().Contract(t) }
func TestDevice_blockedRun(t *testing.T) { newFake(t).subject().BlockedRun(t, "rknn_run", nil) }
func TestDevice_slowRun(t *testing.T)    { newFake(t).subject().SlowRun(t) }
func TestDevice_zeroCopy(t *testing.T)   { newFake(t).subject().ZeroCopy(t, 8, 24, 40) }

// once loads a model that adds two tensors and runs it.
func (f *fake) once(dims ...int64) func() error {
	return func() error {
		return drivertest.Once(func() (device.Program, error) { return f.Load(context.Background(), sumModel(dims...)) })
	}
}

// TestDevice_lies has the driver answer what cannot be: an error of kind fault.Device, and nothing stays behind.
func TestDevice_lies(t *testing.T) {
	at, word := drivertest.At, drivertest.Word
	f := newFake(t)
	var a spec.TensorAttr
	var m spec.TensorMem
	f.Lies(t, fault.Device, f.once(4), nil,
		at("query 0", 0, word(0xffffffff), "4294967295 inputs"),
		at("query 0", 4, word(0), "0 outputs"),
		at("query 1", 0, word(7), "answers for 7"),
		at("query 1", int(unsafe.Offsetof(a.Rank)), word(17), "17 dimensions"),
		at("query 1", int(unsafe.Offsetof(a.Rank)), word(3), "dimension 1 of 3 is 0"),
		at("query 2", int(unsafe.Offsetof(a.Dims)), word(0), "dimension 0 of 1 is 0"),
		at("query 2", int(unsafe.Offsetof(a.Rank)), word(2, 1<<31, 1<<31), "sizes"),
		at("query 2", int(unsafe.Offsetof(a.Dims)), word(5), "want 5 in 20"),
		at("query 1", int(unsafe.Offsetof(a.Name)), bytes.Repeat([]byte{'n'}, spec.MaxNameLen), "its name has no end"),
		at("query 1", int(unsafe.Offsetof(a.Name)), []byte{0xff, 0}, "no UTF-8"),
		at("query 2", int(unsafe.Offsetof(a.Kind)), word(99), "its type is 99"),
		at("query 2", int(unsafe.Offsetof(a.Format)), word(9), "its format is 9"),
		at("query 2", int(unsafe.Offsetof(a.Size)), word(15), "in 15 bytes"),
		at("query 2", int(unsafe.Offsetof(a.SizeWithStride)), word(3), "3 bytes with gaps"),
		at("memory", int(unsafe.Offsetof(m.Virt)), make([]byte, 8), "of address 0x0"),
		at("memory", int(unsafe.Offsetof(m.Size)), word(15), "gives 15 bytes"),
		at("memory", int(unsafe.Offsetof(m.Offset)), word(1), "at offset 1"),
		at("memory", int(unsafe.Offsetof(m.Offset)), word(0xfffffff0), "at offset -16"),
		at("code run", 0, word(0xffffffff), "rknn_run: the driver's code is -1"),
	)
	require.NoError(t, f.once(4)())
	// Types of codes.
	quant := func(kind uint32, scale float32, zero int32) []byte {
		return append(word(kind, uint32(spec.QntAffine), 0, uint32(zero)), word(math.Float32bits(scale))...)
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
		copy(p[int(unsafe.Offsetof(a.Kind)):], c.data)
		_, err := portOf(&a)
		require.Equal(t, fault.Device, fault.KindOf(err), "%v", err)
		require.ErrorContains(t, err, c.want)
	}
}

func digitsInput() spec.TensorAttr {
	a := spec.TensorAttr{Rank: 4, Dims: [spec.MaxDims]uint32{1, 8, 8, 1}, Elems: 64, Size: 64, Format: spec.NHWC, Kind: 3}
	copy(a.Name[:], "image")
	return a
}

// TestPort_gaps spreads rows and gathers them again.
func TestPort_gaps(t *testing.T) {
	a := spec.TensorAttr{Rank: 4, Dims: [spec.MaxDims]uint32{1, 2, 3, 2}, Elems: 12, Size: 12, Format: spec.NHWC, Kind: 3,
		WStride:        4,
		SizeWithStride: 16}
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
		a.WStride = wrong
		_, err := portOf(&a)
		require.Equal(t, fault.Device, fault.KindOf(err), "%d: %v", wrong, err)
	}
}
