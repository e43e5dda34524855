package nnapi

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/signal"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/drivertest"
)

// pipe is a fence that a byte signals. It counts who waits for it here.
type pipe struct {
	*signal.Signal
	read, write *os.File
	waits       chan struct{}
	shown       *os.File // whose descriptor it tells
}

func newPipe(t *testing.T) *pipe {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	return &pipe{signal.New(), r, w, make(chan struct{}, 8), r}
}

func (p *pipe) FD() (fd int, ok bool) { return int(p.shown.Fd()), true }

func (p *pipe) Wait(ctx context.Context) error {
	p.waits <- struct{}{}
	return p.Signal.Wait(ctx)
}

// signal is the end of the work that the fence stands for.
func (p *pipe) signal(t *testing.T) {
	_, err := p.write.Write([]byte{1})
	require.NoError(t, err)
	p.Set(nil)
}

// fenced is an execution of a sum of four elements, whose tensors are in memory of the device.
type fenced struct {
	device.Execution
	x, y, z mem.Buffer
}

func newFenced(t *testing.T, p device.Program, d device.Device) *fenced {
	t.Helper()
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	f := &fenced{Execution: e}
	for _, b := range []*mem.Buffer{&f.x, &f.y, &f.z} {
		*b, err = d.Alloc(16)
		require.NoError(t, err)
	}
	typ := tensor.T(tensor.Float32, 4)
	require.NoError(t, e.BindInput(0, mem.View{Buf: f.x, Type: typ}))
	require.NoError(t, e.BindInput(1, mem.View{Buf: f.y, Type: typ}))
	require.NoError(t, e.BindOutput(0, mem.View{Buf: f.z, Type: typ}))
	return f
}

func (f *fenced) close() {
	f.Release()
	for _, b := range []mem.Buffer{f.x, f.y, f.z} {
		b.Release()
	}
}

// fill writes the inputs, which make the sums 10*i + n.
func (f *fenced) fill(t *testing.T, n float32) {
	require.NoError(t, mem.Write(f.x, 0, tensor.Float32s(0, 10, 20, 30)))
	require.NoError(t, mem.Write(f.y, 0, tensor.Float32s(n, n, n, n)))
}

// sums reads the output.
func (f *fenced) sums(t *testing.T) []float32 {
	got := make([]byte, 16)
	require.NoError(t, mem.Read(got, f.z, 0))
	v, err := tensor.ReadFloat32s(got, 4)
	require.NoError(t, err)
	return v
}

// begin starts a run.
func (f *fenced) begin(t *testing.T, r device.RunRequest) (ended chan error) {
	ended = make(chan error, 1)
	r.Done = func(err error) { ended <- err }
	require.NoError(t, f.Start(r))
	return ended
}

// handed reports whether the driver has come to wait for one more run; the alternative is a wait for p here.
func (f *fake) handed(t *testing.T, p *pipe, before int64) (there bool) {
	require.Eventually(t, func() bool {
		there = f.Count("after fences") == before+1
		return there || len(p.waits) > 0
	}, time.Minute, time.Millisecond)
	return there
}

// TestExecution_fences: a fence goes to the driver where that can wait for it, and in any case inputs are read after
// it.
func TestExecution_fences(t *testing.T) {
	f := newFake(t)
	before := f.Live()
	p := f.subject().Program(t)
	var n float32
	var file *os.File // in the place of the fence's descriptor
	try := func(name string, want bool, prepare func(e *fenced), r device.RunRequest) {
		t.Run(name, func(t *testing.T) {
			e, fence, count := newFenced(t, p, f.Device), newPipe(t), f.Count("after fences")
			defer e.close()
			if file != nil {
				fence.shown = file
			}
			e.fill(t, -1)
			if prepare != nil {
				prepare(e)
			}
			r.Fences = append(r.Fences, fence)
			ended := e.begin(t, r)
			assert.Equal(t, want, f.handed(t, fence, count))
			n++
			e.fill(t, n)
			select {
			case err := <-ended:
				t.Fatalf("the run ended with %v before its fence", err)
			case <-time.After(20 * time.Millisecond):
			}
			fence.signal(t)
			require.NoError(t, <-ended)
			assert.Equal(t, []float32{n, 10 + n, 20 + n, 30 + n}, e.sums(t))
		})
	}
	here := signal.New()
	here.Set(nil)
	try("handed on", true, nil, device.RunRequest{})
	try("beside one of this process", true, nil, device.RunRequest{Fences: []device.Fence{here}})
	try("the next run", true, nil, device.RunRequest{})
	try("a deadline", false, nil, device.RunRequest{Deadline: time.Now().Add(time.Hour)})
	try("a copied input", false, func(e *fenced) {
		host, err := mem.Host(16, mem.Options{})
		require.NoError(t, err)
		e.x.Release()
		e.x = host
		require.NoError(t, e.BindInput(0, mem.View{Buf: host, Type: tensor.T(tensor.Float32, 4)}))
	}, device.RunRequest{})
	for range maxFenced {
		f.fenced <- struct{}{}
	}
	try("too many", false, nil, device.RunRequest{})
	for range maxFenced {
		<-f.fenced
	}
	shown, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	defer shown.Close()
	file = shown
	try("refused", false, nil, device.RunRequest{})
	assert.Empty(t, f.fenced)
	p.Release()
	assert.Equal(t, before, f.Live())
}

// TestExecution_fenceFails: what the driver answers for a fence that is closed without a signal, or anything else, is
// the error of the run.
func TestExecution_fenceFails(t *testing.T) {
	f := newFake(t)
	before := f.Live()
	p := f.subject().Program(t)
	e := newFenced(t, p, f.Device)
	p.Release()
	e.fill(t, 1)
	lost := newPipe(t)
	ended := e.begin(t, device.RunRequest{Fences: []device.Fence{lost}})
	lost.write.Close()
	err := <-ended
	require.Equal(t, fault.Data, fault.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "OP_FAILED")
	fence := newPipe(t)
	fence.signal(t)
	f.Lie("code Event_wait", 0, drivertest.Word(7))
	err = <-e.begin(t, device.RunRequest{Fences: []device.Fence{fence}})
	f.Honest()
	require.Equal(t, fault.Device, fault.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "ANeuralNetworksEvent_wait: the driver's code is 7")
	e.close()
	assert.Equal(t, before, f.Live())
	assert.Empty(t, f.fenced)
}

// TestExecution_fenceGivenUp: a run that is canceled before its fence ends at once, and the driver is not taken for
// dead while it still waits.
func TestExecution_fenceGivenUp(t *testing.T) {
	f := newFake(t)
	f.Life.SetPatience(20 * time.Millisecond)
	before := f.Live()
	p := f.subject().Program(t)
	e, fence, count := newFenced(t, p, f.Device), newPipe(t), f.Count("after fences")
	p.Release()
	ended := e.begin(t, device.RunRequest{Fences: []device.Fence{fence}})
	require.True(t, f.handed(t, fence, count))
	e.Cancel()
	require.Equal(t, fault.Canceled, fault.KindOf(<-ended))
	e.close()
	time.Sleep(100 * time.Millisecond)
	require.NoError(t, f.Alive())
	f.Life.SetPatience(time.Minute) // the driver computes from now on, and the machine may be slow
	fence.signal(t)
	require.Eventually(t, func() bool { return f.Live() == before }, time.Minute, time.Millisecond)
	require.NoError(t, f.Alive())
}

// TestExecution_fencesOfAPlan: the fence goes to the driver where that has the first part of a plan.
func TestExecution_fencesOfAPlan(t *testing.T) {
	f := newFake(t)
	before := f.Live()
	host := drivertest.CPU(t)
	for first, make := range map[string]func(b *graph.Builder, x, y graph.Value) graph.Value{
		"npu": func(b *graph.Builder, x, y graph.Value) graph.Value {
			return b.Add(&op.Softplus{}, b.Add(&op.Add{}, x, y))
		},
		"cpu": func(b *graph.Builder, x, y graph.Value) graph.Value {
			return b.Add(&op.Add{}, b.Add(&op.Softplus{}, x), y)
		}} {
		b := graph.NewBuilder("parts")
		x, y := b.Input("x", tensor.T(tensor.Float32, 4)), b.Input("y", tensor.T(tensor.Float32, 4))
		b.Output(make(b, x, y))
		g, err := b.Graph()
		require.NoError(t, err)
		p, err := compile.Compile(context.Background(), g, []device.Device{f.Device, host}, compile.Options{})
		require.NoError(t, err)
		parts := p.Placement().Parts
		require.Len(t, parts, 2)
		require.Equal(t, first, parts[0].Device)
		assert.Equal(t, first == "npu", device.TakesFences(p))
		e, fence, count := newFenced(t, p, f.Device), newPipe(t), f.Count("after fences")
		p.Release()
		e.fill(t, 50)
		ended := e.begin(t, device.RunRequest{Fences: []device.Fence{fence}})
		assert.Equal(t, first == "npu", f.handed(t, fence, count))
		e.fill(t, 100) // where ln(1+e^x) is x
		require.NoError(t, mem.Write(e.x, 0, tensor.Float32s(100, 110, 120, 130)))
		fence.signal(t)
		require.NoError(t, <-ended)
		assert.Equal(t, []float32{200, 210, 220, 230}, e.sums(t))
		e.close()
	}
	assert.Equal(t, before, f.Live())
}

// TestProgram_takesNoFences: a driver of an older level, or without the functions, has fences waited for here.
func TestProgram_takesNoFences(t *testing.T) {
	f := newFake(t)
	lookup := lacking("ANeuralNetworksEvent_createFromSyncFenceFd")
	all, err := Open(Bind(fakeDriver.File, lookup), driver.Config{ID: "npu"})
	require.NoError(t, err)
	f.Lie("feature level", 0, drivertest.Long(29))
	older, err := openFake()
	f.Honest()
	require.NoError(t, err)
	for _, d := range []*Device{all[0], older[0]} {
		g, err := drivertest.Sum(tensor.Of(4))
		require.NoError(t, err)
		p, err := d.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
		require.NoError(t, err)
		assert.False(t, device.TakesFences(p))
		e, fence, count := newFenced(t, p, d), newPipe(t), f.Count("after fences")
		p.Release()
		ended := e.begin(t, device.RunRequest{Fences: []device.Fence{fence}})
		assert.False(t, f.handed(t, fence, count))
		e.fill(t, 7)
		fence.signal(t)
		require.NoError(t, <-ended)
		assert.Equal(t, []float32{7, 17, 27, 37}, e.sums(t))
		e.close()
	}
}
