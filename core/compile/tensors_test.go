package compile_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/core/tensordump"
)

// dumpedTensors has what programs compute written to a folder.
func dumpedTensors(t *testing.T, names string) (folder string) {
	folder = t.TempDir()
	s, err := tensordump.Select(names, "", "")
	require.NoError(t, err)
	compile.Tensors = tensordump.New(folder, s, func(string, error) {})
	t.Cleanup(func() { compile.Tensors = nil })
	return folder
}

// numbers are the elements of a file, which stand at its end.
func numbers(t *testing.T, n int, path ...string) []float32 {
	data, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	v, err := tensor.ReadFloat32s(data[len(data)-4*n:], n)
	require.NoError(t, err)
	return v
}

// TestTensors_everyNode: of y = ((x+1)*3 + 1)*3 on two devices each step is written, also of outputs that the program
// has bound, and the program's ports stay as they are.
func TestTensors_everyNode(t *testing.T) {
	folder := dumpedTensors(t, "")
	p := mustCompile(t, mixed(t, tensor.Of(2)), toy.New("npu"), toy.NewHost("cpu"))
	defer p.Release()
	in, out := p.Ports()
	require.Len(t, in, 1)
	require.Len(t, out, 2)
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	defer e.Release()
	x, y := floatView(t, []float32{1, 2}, 2), floatView(t, []float32{0, 0}, 2)
	defer x.Buf.Release()
	defer y.Buf.Release()
	require.NoError(t, e.BindInput(0, x))
	require.NoError(t, e.BindOutput(0, y))
	for range 2 {
		require.NoError(t, exec.Run(background, e, device.RunRequest{}))
		require.NoError(t, mem.Write(x.Buf, 0, tensor.Float32s(0, 0)))
	}
	assert.Equal(t, []float32{1, 1}, output(t, e, 1))
	run := filepath.Join(folder, "mixed_0")
	entries, err := os.ReadDir(run)
	require.NoError(t, err)
	require.Len(t, entries, 6, "x, four nodes, the index")
	assert.Equal(t, []float32{1, 2}, numbers(t, 2, run, "x.npy"))
	assert.Equal(t, []float32{21, 30}, numbers(t, 2, run, "y.npy"))
	assert.Equal(t, []float32{12, 12}, numbers(t, 2, folder, "mixed_1", "y.npy"))
}

// TestTensors_chosenAndSaved: names choose, and a saved program loads as one without a dump.
func TestTensors_chosenAndSaved(t *testing.T) {
	folder := dumpedTensors(t, "y")
	devices := []device.Device{toy.New("npu"), toy.NewHost("cpu")}
	p := mustCompile(t, mixed(t, tensor.Of(1)), devices...)
	defer p.Release()
	assert.Equal(t, []float32{21}, evaluate(t, p, 1))
	entries, err := os.ReadDir(filepath.Join(folder, "mixed_0"))
	require.NoError(t, err)
	require.Len(t, entries, 2)
	var saved bytes.Buffer
	require.NoError(t, p.Save(&saved))
	again, err := compile.Load(background, saved.Bytes(), devices)
	require.NoError(t, err)
	defer again.Release()
	_, out := again.Ports()
	assert.Len(t, out, 2)
	assert.Equal(t, []float32{21}, evaluate(t, again, 1))
	assert.Equal(t, []float32{21}, numbers(t, 1, folder, "mixed_1", "y.npy"), "of the loaded program")
}

// TestTensors_loaded: of a program that was saved by another process, and loaded, each value is written by its name.
func TestTensors_loaded(t *testing.T) {
	devices := []device.Device{toy.New("npu"), toy.NewHost("cpu")}
	p := mustCompile(t, mixed(t, tensor.Of(1)), devices...)
	var saved bytes.Buffer
	require.NoError(t, p.Save(&saved))
	p.Release()
	folder := dumpedTensors(t, "")
	again, err := compile.Load(background, saved.Bytes(), devices)
	require.NoError(t, err)
	in, out := again.Ports()
	require.Len(t, in, 1)
	require.Len(t, out, 2)
	assert.Equal(t, []float32{21}, evaluate(t, again, 1))
	run := filepath.Join(folder, "mixed_0")
	entries, err := os.ReadDir(run)
	require.NoError(t, err)
	require.Len(t, entries, 6, "x, four nodes, the index")
	assert.Equal(t, []float32{1}, numbers(t, 1, run, "x.npy"))
	assert.Equal(t, []float32{21}, numbers(t, 1, run, "y.npy"))
	again.Release()
}

// keeper is a device whose programs keep the values that it names.
type keeper struct {
	device.Device
	names []string // nil: not known
}

func (d *keeper) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	p, err := d.Device.Compile(ctx, u, o)
	return &keeping{p, d.names}, err
}

type keeping struct {
	device.Program
	names []string
}

func (p *keeping) Kept() ([]string, bool) { return p.names, p.names != nil }

// TestTensors_fused: of a part that fuses, the values that it keeps are written; of one that cannot tell, all.
func TestTensors_fused(t *testing.T) {
	for _, c := range []struct {
		names []string
		files int // with the input and the index
	}{{[]string{}, 4}, {nil, 6}} {
		folder := t.TempDir()
		s, err := tensordump.Select("", "", "")
		require.NoError(t, err)
		s.Fused = true
		compile.Tensors = tensordump.New(folder, s, func(string, error) {})
		t.Cleanup(func() { compile.Tensors = nil })
		p := mustCompile(t, mixed(t, tensor.Of(1)), &keeper{toy.NewHost("cpu"), c.names})
		assert.Equal(t, []float32{21}, evaluate(t, p, 1))
		p.Release()
		entries, err := os.ReadDir(filepath.Join(folder, "mixed_0"))
		require.NoError(t, err)
		assert.Len(t, entries, c.files, "%v", c.names)
		assert.Equal(t, []float32{21}, numbers(t, 1, folder, "mixed_0", "y.npy"))
	}
}

// TestTensors_cannotWrite: the runs go on.
func TestTensors_cannotWrite(t *testing.T) {
	folder := dumpedTensors(t, "")
	p := mustCompile(t, mixed(t, tensor.Of(1)), toy.New("npu"), toy.NewHost("cpu"))
	defer p.Release()
	require.NoError(t, os.RemoveAll(folder))
	for range 2 {
		assert.Equal(t, []float32{21}, evaluate(t, p, 1))
	}
	assert.True(t, compile.Tensors.Ended())
}
