package onnxruntime

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// products is a chain of n products of a [side,side] matrix x with the matrix w, named apart from each other so that
// none is left out.
func products(t testing.TB, n int, side int64) *graph.Graph {
	b := graph.NewBuilder("products")
	typ := tensor.T(tensor.Float32, side, side)
	x, w := b.Input("x", typ), b.Input("w", typ)
	for i := range n {
		b.SetOrigin(i, "")
		x = b.Add(&op.MatMul{}, x, w)
	}
	b.Name(x, "y")
	b.Output(x)
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

// bound is an execution whose inputs and output are bound to buffers of their own; x is all 1, w has the number v on
// its diagonal.
func bound(t testing.TB, d device.Device, g *graph.Graph, v float32) (device.Execution, mem.Buffer) {
	p, err := d.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
	require.NoError(t, err)
	defer p.Release()
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	typ := g.Fact(g.In[0]).Type
	size, _ := typ.ByteSize()
	side := typ.Shape.Dims[0].N
	var out mem.Buffer
	for i := range 3 {
		buf, err := mem.Host(size, mem.Options{})
		require.NoError(t, err)
		defer buf.Release()
		data, err := buf.Map()
		require.NoError(t, err)
		f := mem.Elements[float32](data)
		for k := range f {
			switch {
			case i == 0:
				f[k] = 1
			case i == 1 && int64(k)%(side+1) == 0:
				f[k] = v
			}
		}
		view := mem.View{Buf: buf, Type: typ}
		if i < 2 {
			require.NoError(t, e.BindInput(i, view))
		} else {
			require.NoError(t, e.BindOutput(0, view))
			buf.Retain()
			out = buf
		}
	}
	return e, out
}

func run(e device.Execution, deadline time.Time) error {
	done := make(chan error, 1)
	if err := e.Start(device.RunRequest{Deadline: deadline, Done: func(err error) { done <- err }}); err != nil {
		return err
	}
	return <-done
}

// TestExecution_boundInPlace: 20 doublings of 1 are 2^20, nothing is copied, and a run after another writes a buffer
// that is bound anew.
func TestExecution_boundInPlace(t *testing.T) {
	e, out := bound(t, openCPU(t), products(t, 20, 16), 2)
	defer e.Release()
	defer out.Release()
	for range 3 {
		require.NoError(t, run(e, time.Time{}))
		data, _ := out.Map()
		for _, v := range mem.Elements[float32](data) {
			require.EqualValues(t, 1<<20, v)
		}
		clear(data)
	}
	s := e.Stats()
	assert.Zero(t, s.CopiedIn)
	assert.Zero(t, s.CopiedOut)
	assert.EqualValues(t, 3, s.Runs)
}

// TestExecution_deadlineAndCancel: a run that has begun ends early, with its own error, and the next one is whole.
func TestExecution_deadlineAndCancel(t *testing.T) {
	e, out := bound(t, openCPU(t), products(t, 400, 128), 1)
	defer e.Release()
	defer out.Release()
	require.NoError(t, run(e, time.Time{}))
	err := run(e, time.Now().Add(time.Millisecond))
	require.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
	done := make(chan error, 1)
	require.NoError(t, e.Start(device.RunRequest{Done: func(err error) { done <- err }}))
	e.Cancel()
	err = <-done
	require.Equal(t, fault.Canceled, fault.KindOf(err), "%v", err)
	require.NoError(t, run(e, time.Time{}))
	data, _ := out.Map()
	for _, v := range mem.Elements[float32](data) {
		require.EqualValues(t, 1, v)
	}
}

// TestExecution_inputsThatNothingReads: the one between two others is not taken for one of them.
func TestExecution_inputsThatNothingReads(t *testing.T) {
	for _, d := range []*Device{openCPU(t), open(t, openVINO(t), Provider{Name: "OpenVINO",
		Options: map[string]string{"device_type": "CPU"}})} {
		b := graph.NewBuilder("g")
		typ := tensor.T(tensor.Float32, 4)
		b.Input("a", typ)
		x := b.Input("b", typ)
		b.Input("c", typ)
		b.Output(b.Add(&op.Neg{}, x))
		g, err := b.Graph()
		require.NoError(t, err)
		p, err := d.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
		require.NoError(t, err)
		e, err := p.New(device.ExecOptions{})
		p.Release()
		require.NoError(t, err)
		for i := range 3 {
			data := tensor.Float32s(float32(i), float32(i), float32(i), float32(i))
			buf := mem.Borrow(data, nil)
			require.NoError(t, e.BindInput(i, mem.View{Buf: buf, Type: typ}))
			buf.Release()
		}
		require.NoError(t, run(e, time.Time{}))
		got, err := e.OutputData(0)
		require.NoError(t, err)
		assert.Equal(t, []float32{-1, -1, -1, -1}, mem.Elements[float32](got), d.Info().Name)
		e.Release()
	}
}

// TestDevices_together has threads of the devices of two libraries compute, stop and give up at once; each run gets its
// own result. Sessions of a round end on other threads than they began, and the next round makes new ones: without
// keepSignalStack a signal then kills the process.
func TestDevices_together(t *testing.T) {
	devices := map[string]*Device{
		"newest": openCPU(t),
		"oldest": open(t, openVINO(t), Provider{Name: CPUProvider})}
	rounds := time.Duration(1)
	if all() {
		rounds = 4
		devices["OpenVINO"] = open(t, openVINO(t), Provider{Name: "OpenVINO",
			Options: map[string]string{"device_type": "CPU"}})
	}
	for round := range rounds {
		t.Run(strconv.Itoa(int(round)), func(t *testing.T) {
			for name, d := range devices {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					together(t, d, soak()/rounds)
				})
			}
		})
	}
}

func together(t *testing.T, d *Device, long time.Duration) {
	g := products(t, 8, 64)
	end := time.Now().Add(long)
	var wg sync.WaitGroup
	for k := range 16 {
		e, out := bound(t, d, g, 2)
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer e.Release()
			defer out.Release()
			data, _ := out.Map()
			for n := 0; time.Now().Before(end); n++ {
				switch (n + k) % 4 {
				case 1:
					err := run(e, time.Now().Add(time.Duration(n%50)*10*time.Microsecond))
					if err != nil && fault.KindOf(err) != fault.Timeout {
						t.Errorf("thread %d: %v", k, err)
					}
				case 2:
					done := make(chan error, 1)
					if err := e.Start(device.RunRequest{Done: func(err error) { done <- err }}); err != nil {
						t.Errorf("thread %d: %v", k, err)
						return
					}
					e.Cancel()
					if err := <-done; err != nil && fault.KindOf(err) != fault.Canceled {
						t.Errorf("thread %d: %v", k, err)
					}
				default:
					if err := run(e, time.Time{}); err != nil {
						t.Errorf("thread %d: %v", k, err)
						return
					}
					for _, v := range mem.Elements[float32](data) {
						if v != 256 {
							t.Errorf("thread %d: %v, want 256", k, v)
							return
						}
					}
					clear(data)
				}
			}
		}()
	}
	wg.Wait()
}
