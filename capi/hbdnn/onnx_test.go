package hbdnn

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/capi/handle"
)

// ONNX element types.
const (
	onnxFloat = 1
	onnxUint8 = 2
	onnxInt8  = 3
)

// onnxModel is an ONNX model under construction.
type onnxModel struct{ graph, props []byte }

func field(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}

func number(b []byte, n protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
}

func (m *onnxModel) value(n protowire.Number, name string, elem int64, dims ...int64) *onnxModel {
	var shape []byte
	for _, d := range dims {
		shape = field(shape, 1, number(nil, 1, d))
	}
	tensor := field(number(nil, 1, elem), 2, shape)
	m.graph = field(m.graph, n, field(field(nil, 1, []byte(name)), 2, field(nil, 1, tensor)))
	return m
}

func (m *onnxModel) input(name string, elem int64, dims ...int64) *onnxModel {
	return m.value(11, name, elem, dims...)
}

func (m *onnxModel) output(name string, elem int64, dims ...int64) *onnxModel {
	return m.value(12, name, elem, dims...)
}

func (m *onnxModel) node(op, out string, in ...string) *onnxModel {
	var n []byte
	for _, i := range in {
		n = field(n, 1, []byte(i))
	}
	m.graph = field(m.graph, 1, field(field(field(n, 2, []byte(out)), 3, []byte(op+"_"+out)), 4, []byte(op)))
	return m
}

func (m *onnxModel) scalar(name string, elem int64, raw []byte) *onnxModel {
	m.graph = field(m.graph, 5, field(field(number(nil, 2, elem), 8, []byte(name)), 9, raw))
	return m
}

func (m *onnxModel) meta(key, value string) *onnxModel {
	m.props = field(m.props, 14, field(field(nil, 1, []byte(key)), 2, []byte(value)))
	return m
}

func (m *onnxModel) bytes() []byte {
	graph := field(m.graph, 2, []byte("g"))
	opset := field(nil, 8, number(nil, 2, 13))
	return append(append(field(number(nil, 1, 8), 7, graph), opset...), m.props...)
}

func (m *onnxModel) named(name string) *onnxModel { return m.meta("anynpu.name", name) }

// relu is y = Relu(x).
func relu(dims ...int64) *onnxModel {
	return (&onnxModel{}).input("x", onnxFloat, dims...).output("y", onnxFloat, dims...).node("Relu", "y", "x")
}

func raw32(v float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)) }

// open loads models from memory and returns the first; the pack ends with the test.
func open(t *testing.T, models ...*onnxModel) *Model {
	var data []uintptr
	var sizes []int32
	for _, m := range models {
		b := m.bytes()
		data, sizes = append(data, addressOf(b)), append(sizes, int32(len(b)))
		defer runtime.KeepAlive(b)
	}
	p, err := dnnInitializeFromDDR(data, sizes)
	require.NoError(t, err)
	h, err := handle.Of(p)
	require.NoError(t, err)
	for _, m := range p.models {
		_, err := handle.Of(m)
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		if _, err := handle.Hold[Packed](h); err == nil {
			handle.Unhold(h)
			require.NoError(t, dnnRelease(h))
		}
	})
	return p.models[0]
}

// file writes a model to a file.
func file(t *testing.T, name string, m *onnxModel) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, m.bytes(), 0o600))
	return path
}

func cText(t *testing.T, s string) uintptr {
	b := append([]byte(s), 0)
	t.Cleanup(func() { runtime.KeepAlive(b) })
	return addressOf(b)
}

func textAt(t *testing.T, addr uintptr) string {
	s, err := cString(addr)
	require.NoError(t, err)
	return s
}

func requireCode(t *testing.T, want Code, err error, words ...string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, want, status(err), "%v", err)
	for _, w := range words {
		require.ErrorContains(t, err, w)
	}
}

// full is hbDNNTensor of the newest generation.
type full struct {
	mem        [4]SysMem
	properties fullProperties
}

type fullProperties struct {
	valid, aligned TensorShape
	layout, kind   int32
	shiftLen       int32
	shift          uintptr
	scaleLen       int32
	scale          uintptr
	zeroLen        int32
	zero           uintptr
	quant          int32
	axis           int32
	bytes          int32
	stride         [8]int32
}

func (p *fullProperties) own() *TensorProperties { return (*TensorProperties)(unsafe.Pointer(p)) }

// tensor is one with memory for a port of the model; data is Go memory, which the test keeps.
func tensorFor(t *testing.T, p *port) *full {
	f := &full{}
	served().store(f.properties.own(), &p.description)
	require.NoError(t, sysAllocMem(&f.mem[0], uint32(p.description.bytes)))
	t.Cleanup(func() { _ = sysFreeMem(&f.mem[0]) })
	return f
}

func (f *full) floats() []float32 {
	return unsafe.Slice((*float32)(cPointer(f.mem[0].virt)), int(f.mem[0].size/4))
}

func (f *full) data() []byte { return bytesAt(f.mem[0].virt, int64(f.mem[0].size)) }

func first(list []full) *Tensor { return (*Tensor)(unsafe.Pointer(&list[0])) }

// infer runs a model and waits.
func infer(t *testing.T, m *Model, in []full, out []full) error {
	task, err := start(m, in, out, &InferCtrlParam{})
	if err != nil {
		return err
	}
	o, err := handle.Hold[Task](task)
	require.NoError(t, err)
	err = dnnWaitTaskDone(o, 0)
	handle.Unhold(task)
	require.NoError(t, dnnReleaseTask(task))
	return err
}

func start(m *Model, in, out []full, c *InferCtrlParam) (uintptr, error) {
	var task uintptr
	err := startInto(&task, m, in, out, c)
	return task, err
}

func startInto(task *uintptr, m *Model, in, out []full, c *InferCtrlParam) error {
	outputs := uintptr(unsafe.Pointer(&out[0]))
	err := dnnInfer(task, &outputs, first(in), m, c)
	runtime.KeepAlive(out)
	return err
}
