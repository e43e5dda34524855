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

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
)

// relu is y = Relu(x).
func relu(dims ...int64) *onnxtest.Model {
	return (&onnxtest.Model{}).Input("x", onnxtest.Float, dims...).Output("y", onnxtest.Float, dims...).
		Node("Relu", "y", "x")
}

func raw32(v float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)) }

// open loads models from memory and returns the first; the pack ends with the test.
func open(t *testing.T, models ...*onnxtest.Model) *Model {
	var data []uintptr
	var sizes []int32
	for _, m := range models {
		b := m.Bytes()
		data, sizes = append(data, addressOf(b)), append(sizes, int32(len(b)))
		defer runtime.KeepAlive(b)
	}
	p, err := dnnInitializeFromDDR(data, sizes)
	require.NoError(t, err)
	h, err := handle.Of(p)
	require.NoError(t, err)
	for _, m := range p.Models() {
		_, err := handle.Of(m)
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		if _, err := handle.Hold[Packed](h); err == nil {
			handle.Unhold(h)
			require.NoError(t, dnnRelease(h))
		}
	})
	return head(p)
}

// file writes a model to a file.
func file(t *testing.T, name string, m *onnxtest.Model) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, m.Bytes(), 0o600))
	return path
}

func cText(t *testing.T, s string) uintptr {
	b := append([]byte(s), 0)
	t.Cleanup(func() { runtime.KeepAlive(b) })
	return addressOf(b)
}

func textAt(t *testing.T, addr uintptr) string {
	s, err := boundary.CString(cPointer(addr))
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

// head is the first model of a pack.
func head(p *Packed) *Model { return p.Models()[0].(*Model) }
