package cpu

import (
	"context"
	"math"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestExecution_runsInPlace(t *testing.T) {
	p := compile(t, newDevice(t, Config{}), chain(t, 3, tensor.Of(4)))
	defer p.Release()
	e := newExec(t, p, device.ExecOptions{Profiling: true})
	defer e.Release()
	x, y := hostView(t, []float32{1, 2, 3, 4}, 4), hostView(t, make([]float32, 4), 4)
	require.NoError(t, e.BindInput(0, x))
	require.NoError(t, e.BindOutput(0, y))
	x.Buf.Release() // the execution has its own reference
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	data, _ := y.Buf.Map()
	assert.Equal(t, []float32{4, 5, 6, 7}, floats(t, data))
	y.Buf.Release()
	s := e.Stats()
	assert.EqualValues(t, 1, s.Runs)
	assert.Zero(t, s.CopiedIn)
	require.Len(t, s.Nodes, 3)
	assert.Equal(t, device.NodeTime{Node: 2, Op: "add", Device: "cpu", Kernel: device.KernelFast, Start: s.Nodes[2].Start,
		Length: s.Nodes[2].Length}, s.Nodes[2])
	// the first sum, which the second takes over, and a place for an output that is not bound
	assert.EqualValues(t, 64+16, s.PeakMemory)
}

func TestExecution_dynamicShape(t *testing.T) {
	d := newDevice(t, Config{DimMin: 2, DimMax: 9})
	p := compile(t, d, chain(t, 1, tensor.OfDims(tensor.Dim{Sym: 3}, tensor.D(2))))
	defer p.Release()
	in, out := p.Ports()
	assert.Equal(t, []int64{2, 2}, in[0].Min)
	assert.Equal(t, []int64{9, 2}, in[0].Max)
	assert.Equal(t, "x", in[0].Name)
	assert.False(t, out[0].Type.Shape.Static())
	e := newExec(t, p, device.ExecOptions{})
	defer e.Release()
	x := hostView(t, []float32{1, 2, 3, 4, 5, 6}, 3, 2)
	defer x.Buf.Release()
	free := x
	free.Type = tensor.Type{}
	require.NoError(t, e.BindInput(0, free))
	assert.Equal(t, fault.State, fault.KindOf(e.Start(device.RunRequest{})), "no sizes")
	assert.Equal(t, fault.Shape, fault.KindOf(e.SetShape(0, []int64{2, 3})))
	assert.Equal(t, fault.Shape, fault.KindOf(e.SetShape(0, []int64{2})))
	assert.Equal(t, fault.Shape, fault.KindOf(e.SetShape(0, []int64{-1, 2})))
	for _, n := range []int64{2, 3, 1, 0} {
		require.NoError(t, e.SetShape(0, []int64{n, 2}))
		require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
		typ, err := e.OutputType(0)
		require.NoError(t, err)
		assert.Equal(t, tensor.T(tensor.Float32, n, 2), typ)
		data, err := e.OutputData(0)
		require.NoError(t, err)
		assert.Equal(t, []float32{2, 3, 4, 5, 6, 7}[:2*n], floats(t, data))
	}
	require.NoError(t, e.SetShape(0, []int64{4, 2}))
	assert.Equal(t, fault.Memory, fault.KindOf(exec.Run(context.Background(), e, device.RunRequest{})),
		"the buffer has 3x2")
	require.NoError(t, e.SetShape(0, []int64{3, 2}))
	y := hostView(t, make([]float32, 5))
	defer y.Buf.Release()
	y.Type = tensor.Type{}
	require.NoError(t, e.BindOutput(0, y))
	err := exec.Run(context.Background(), e, device.RunRequest{})
	assert.Equal(t, fault.Memory, fault.KindOf(err), "output of 6 into 5: %v", err)
	require.NoError(t, e.SetShape(0, []int64{2, 2}))
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	data, _ := y.Buf.Map()
	assert.Equal(t, []float32{2, 3, 4, 5, 0}, floats(t, data))
}

// far is memory the host cannot map.
type far struct {
	mem.Buffer
	data []byte
}

func (f *far) Map() ([]byte, error)                { return nil, mem.ErrUnmappable }
func (f *far) CopyIn(off int64, src []byte) error  { copy(f.data[off:], src); return nil }
func (f *far) CopyOut(dst []byte, off int64) error { copy(dst, f.data[off:]); return nil }

func newFar(n int) *far {
	data := make([]byte, n)
	return &far{Buffer: mem.Borrow(data, nil), data: data}
}

func TestExecution_copiesWhatItCannotUse(t *testing.T) {
	p := compile(t, newDevice(t, Config{}), chain(t, 1, tensor.Of(2, 2)))
	defer p.Release()
	e := newExec(t, p, device.ExecOptions{})
	defer e.Release()
	typ := tensor.T(tensor.Float32, 2, 2)
	odd := mem.Borrow(make([]byte, 40), nil)
	defer odd.Release()
	remote := newFar(16)
	defer remote.Release()
	for name, c := range map[string]struct{ in, out mem.View }{
		"unaligned": {mem.View{Buf: odd, Off: 1, Type: typ}, mem.View{Buf: odd, Off: 19, Type: typ}},
		"strided": {mem.View{Buf: odd, Type: typ, Strides: []int64{1, 2}}, mem.View{Buf: odd, Off: 16, Type: typ,
			Strides: []int64{1, 2}}},
		"unmappable": {mem.View{Buf: remote, Type: typ}, mem.View{Buf: remote, Type: typ}},
		"in place":   {mem.View{Buf: odd, Type: typ}, mem.View{Buf: odd, Type: typ}},
	} {
		require.NoError(t, c.in.Store(tensor.Float32s(1, 2, 3, 4)), name)
		require.NoError(t, e.BindInput(0, c.in), name)
		require.NoError(t, e.BindOutput(0, c.out), name)
		before := e.Stats().CopiedIn
		require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}), name)
		assert.Equal(t, name != "in place", e.Stats().CopiedIn > before, name)
		got := make([]byte, 16)
		require.NoError(t, c.out.Load(got))
		assert.Equal(t, []float32{2, 3, 4, 5}, floats(t, got), name)
	}
}

func TestExecution_refuses(t *testing.T) {
	p := compile(t, newDevice(t, Config{}), chain(t, 1, tensor.Of(4)))
	defer p.Release()
	e := newExec(t, p, device.ExecOptions{})
	b, err := mem.Host(16, mem.Options{})
	require.NoError(t, err)
	defer b.Release()
	f := tensor.Float32
	for name, c := range map[string]struct {
		port int
		v    mem.View
		kind fault.Kind
	}{
		"port 1":       {1, mem.View{Buf: b, Type: tensor.T(f, 4)}, fault.Argument},
		"port -1":      {-1, mem.View{Buf: b, Type: tensor.T(f, 4)}, fault.Argument},
		"type":         {0, mem.View{Buf: b, Type: tensor.T(tensor.Int32, 4)}, fault.Type},
		"shape":        {0, mem.View{Buf: b, Type: tensor.T(f, 2, 2)}, fault.Shape},
		"too small":    {0, mem.View{Buf: b, Off: 4, Type: tensor.T(f, 4)}, fault.Memory},
		"offset":       {0, mem.View{Buf: b, Off: 17}, fault.Memory},
		"free strides": {0, mem.View{Buf: b, Strides: []int64{2}}, fault.Shape},
	} {
		assert.Equal(t, c.kind, fault.KindOf(e.BindInput(c.port, c.v)), name)
		assert.Equal(t, c.kind, fault.KindOf(e.BindOutput(c.port, c.v)), name)
	}
	assert.Equal(t, fault.State, fault.KindOf(e.Start(device.RunRequest{})), "nothing bound")
	_, err = e.OutputData(0)
	assert.Equal(t, fault.State, fault.KindOf(err))
	_, err = e.OutputType(1)
	assert.Equal(t, fault.Argument, fault.KindOf(err))
	e.Release()
	e.Release()
	assert.Equal(t, fault.State, fault.KindOf(e.BindInput(0, mem.View{Buf: b})))
	assert.Equal(t, fault.State, fault.KindOf(e.Start(device.RunRequest{})))
}

func TestExecution_passesInputsAndConstantsThrough(t *testing.T) {
	b := graph.NewBuilder("through")
	x := b.Input("x", tensor.T(tensor.Float32, 1))
	b.Output(x, b.Float32(7))
	g, err := b.Graph()
	require.NoError(t, err)
	p := compile(t, newDevice(t, Config{}), g)
	defer p.Release()
	e := newExec(t, p, device.ExecOptions{})
	defer e.Release()
	v := hostView(t, []float32{5}, 1)
	defer v.Buf.Release()
	require.NoError(t, e.BindInput(0, v))
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	require.NoError(t, mem.Write(v.Buf, 0, tensor.Float32s(6)))
	for i, want := range []float32{5, 7} {
		data, err := e.OutputData(i)
		require.NoError(t, err)
		assert.Equal(t, []float32{want}, floats(t, data))
	}
}

func TestExecution_concurrentRunsAgree(t *testing.T) {
	p := compile(t, newDevice(t, Config{Threads: 2}), chain(t, 20, tensor.Of(50)))
	x := make([]float32, 50)
	want := make([]float32, 50)
	for i := range x {
		x[i], want[i] = float32(i), float32(i+20)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			e, err := p.New(device.ExecOptions{Priority: device.Priority(i % 4)})
			if !assert.NoError(t, err) {
				return
			}
			defer e.Release()
			v := hostView(t, x, 50)
			defer v.Buf.Release()
			assert.NoError(t, e.BindInput(0, v))
			for range 10 {
				assert.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
				data, err := e.OutputData(0)
				assert.NoError(t, err)
				assert.Equal(t, want, floats(t, data))
			}
		})
	}
	wg.Wait()
	p.Release()
}

// TestExecution_leavesTheCaller: a run that would sleep is not computed on the caller's goroutine, but apart from it.
func TestExecution_leavesTheCaller(t *testing.T) {
	for _, reference := range []bool{false, true} {
		d := newDevice(t, Config{Threads: 1, Reference: reference})
		p := compile(t, d, chain(t, 3, tensor.Of(4)))
		e := newExec(t, p, device.ExecOptions{})
		in := hostView(t, []float32{1, 2, 3, 4}, 4)
		require.NoError(t, e.BindInput(0, in))
		sleeps := false
		e.(*execution).Task.Sleeps = func() bool { return sleeps }
		w := d.Workers(device.PriorityDefault)
		taken, proceed, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		r := device.RunRequest{Here: true, Done: func(err error) { done <- err }}
		require.NoError(t, e.Start(r))
		require.Len(t, done, 1, "it has ended")
		require.NoError(t, <-done)

		var other sync.WaitGroup
		other.Go(func() {
			assert.NoError(t, w.Do(t.Context(), 1, pool.Func(func(int, int) { close(taken); <-proceed })))
		})
		<-taken
		sleeps = true
		require.NoError(t, e.Start(r))
		require.Empty(t, done)
		close(proceed)
		require.NoError(t, <-done)
		other.Wait()
		w.Release()
		e.Release()
		p.Release()
		in.Buf.Release()
	}
}

// A peer cuts a file short that it shares with us.
func TestExecution_sharedMemoryVanishes(t *testing.T) {
	p := compile(t, newDevice(t, Config{}), chain(t, 1, tensor.Of(4)))
	defer p.Release()
	for name, output := range map[string]bool{"input": false, "output": true} {
		f, err := os.CreateTemp(t.TempDir(), "shared")
		require.NoError(t, err)
		require.NoError(t, f.Truncate(16))
		b, err := mem.ImportFD(int(f.Fd()), 0, 16, false)
		require.NoError(t, err)
		e := newExec(t, p, device.ExecOptions{})
		v := hostView(t, make([]float32, 4), 4)
		shared := mem.View{Buf: b, Type: tensor.T(tensor.Float32, 4)}
		in, out := shared, v
		if output {
			in, out = v, shared
		}
		require.NoError(t, e.BindInput(0, in))
		require.NoError(t, e.BindOutput(0, out))
		require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
		require.NoError(t, f.Truncate(0))
		err = exec.Run(context.Background(), e, device.RunRequest{})
		assert.Equal(t, fault.Memory, fault.KindOf(err), "%s: %v", name, err)
		require.NoError(t, f.Truncate(16))
		assert.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
		e.Release()
		b.Release()
		v.Buf.Release()
		f.Close()
	}
}

func TestExecution_guardMode(t *testing.T) {
	mem.SetGuard(true)
	defer mem.SetGuard(false)
	p := compile(t, newDevice(t, Config{Reference: true}), chain(t, 3, tensor.Of(3)))
	defer p.Release()
	e := newExec(t, p, device.ExecOptions{})
	defer e.Release()
	v := hostView(t, []float32{1, 2, 3}, 3)
	defer v.Buf.Release()
	require.NoError(t, e.BindInput(0, v))
	before, _ := mem.Live()
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	after, _ := mem.Live()
	assert.Equal(t, before, after)
	data, err := e.OutputData(0)
	require.NoError(t, err)
	assert.Equal(t, []float32{4, 5, 6}, floats(t, data))
}

func BenchmarkExecution_oneElement(b *testing.B) {
	p := compile(b, newDevice(b, Config{}), chain(b, 1, tensor.Of(1)))
	defer p.Release()
	e := newExec(b, p, device.ExecOptions{})
	defer e.Release()
	v := hostView(b, []float32{1}, 1)
	defer v.Buf.Release()
	require.NoError(b, e.BindInput(0, v))
	require.NoError(b, e.BindOutput(0, v))
	b.ReportAllocs()
	for b.Loop() {
		if err := exec.Run(context.Background(), e, device.RunRequest{}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestExecution_deadlineAndCancelBetweenSteps(t *testing.T) {
	d := newDevice(t, Config{Threads: 1})
	p := compile(t, d, chain(t, 3, tensor.Of(1)))
	defer p.Release()
	e := newExec(t, p, device.ExecOptions{})
	defer e.Release()
	v := hostView(t, []float32{1}, 1)
	defer v.Buf.Release()
	require.NoError(t, e.BindInput(0, v))
	workers := d.threads.get()
	holder := workers.NewRun(0, nil)
	require.NoError(t, holder.Begin(context.Background())) // has the only thread: the run waits at its first step
	done := make(chan error, 1)
	require.NoError(t, e.Start(device.RunRequest{Done: func(err error) { done <- err }}))
	for workers.Waiting() != 1 {
		runtime.Gosched()
	}
	e.Cancel()
	err := <-done
	assert.Equal(t, fault.Canceled, fault.KindOf(err))
	assert.ErrorContains(t, err, "operator 0 (add)")
	err = exec.Run(context.Background(), e, device.RunRequest{Deadline: time.Now().Add(10 * time.Millisecond)})
	assert.Equal(t, fault.Timeout, fault.KindOf(err))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	assert.Equal(t, fault.Canceled, fault.KindOf(exec.Run(ctx, e, device.RunRequest{})))
	holder.End()
	assert.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
}

// A loop without end, in a graph with work for the fast kernels too: the run ends by its limit, and the next one is as
// good as the first.
func TestExecution_loopLimit(t *testing.T) {
	body := graph.NewBuilder("body")
	trip := body.Input("trip", tensor.T(tensor.Int64))
	cond := body.Input("cond", tensor.T(tensor.Bool))
	x := body.Input("x", tensor.T(tensor.Float32, 4))
	last := body.Input("last", tensor.T(tensor.Int64))
	body.Output(body.Add(&op.And{}, cond, body.Add(&op.Less{}, trip, last)), body.Add(&op.Add{}, x, x))
	g, err := body.Graph()
	require.NoError(t, err)
	b := graph.NewBuilder("loop")
	in, n := b.Input("x", tensor.T(tensor.Float32, 4)), b.Input("n", tensor.T(tensor.Int64))
	y := b.AddN(&op.Loop{Body: g, Carried: 1}, 1, graph.None, graph.None, b.Add(&op.Add{}, in, in), n)[0]
	b.Output(y)
	whole, err := b.Graph()
	require.NoError(t, err)
	p := compile(t, newDevice(t, Config{Threads: 1}), whole)
	defer p.Release()
	e := newExec(t, p, device.ExecOptions{})
	defer e.Release()
	v := hostView(t, []float32{1, 2, 3, 4}, 4)
	defer v.Buf.Release()
	require.NoError(t, e.BindInput(0, v))
	run := func(trips int64, r device.RunRequest) error {
		count := mem.Borrow(tensor.Int64s(trips), nil)
		defer count.Release()
		require.NoError(t, e.BindInput(1, mem.View{Buf: count, Type: tensor.T(tensor.Int64)}))
		return exec.Run(context.Background(), e, r)
	}
	err = run(math.MaxInt64, device.RunRequest{LoopLimit: 10 * time.Millisecond})
	assert.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
	assert.ErrorContains(t, err, "the loop has taken longer than 10ms")
	require.NoError(t, run(2, device.RunRequest{LoopLimit: time.Hour}))
	data, err := e.OutputData(0)
	require.NoError(t, err)
	assert.Equal(t, []float32{16, 32, 48, 64}, floats(t, data), "three trips")
	require.NoError(t, run(2, device.RunRequest{}))
}
