package compile_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestRun_misbehavingDevice(t *testing.T) {
	for name, c := range map[string]struct {
		mode toy.Mode
		s    tensor.Shape
		kind fault.Kind
		text string
	}{
		"failing run":  {toy.FailRun, tensor.Of(1), fault.Device, "part 0 on npu: toy: the hardware reports error 7"},
		"panic":        {toy.PanicRun, tensor.Of(1), fault.Internal, "panic: toy"},
		"wrong type":   {toy.WrongType, tensor.Of(1), fault.Device, "reports int8"},
		"wrong size":   {toy.WrongSize, tensor.Of(1), fault.Device, "reports float32[1099511627776,3,9]"},
		"unknown size": {toy.UnknownSize, tensor.AnyOfRank(1), fault.Device, "reports float32[...]"},
		"short data":   {toy.ShortData, tensor.AnyOfRank(1), fault.Device, "returns 3 bytes for float32[1]"},
		"no memory":    {toy.FailAlloc, tensor.Of(1), fault.Memory, "no 4 bytes left"},
		"dead":         {toy.Dead, tensor.Of(1), fault.Device, "part 0 on npu"},
	} {
		npu := toy.New("npu")
		p := mustCompile(t, mixed(t, c.s), npu, toy.NewHost("cpu"))
		e, err := p.New(device.ExecOptions{})
		require.NoError(t, err)
		x := floatView(t, []float32{1}, 1)
		require.NoError(t, e.BindInput(0, x))
		npu.Set(c.mode)
		err = exec.Run(background, e, device.RunRequest{})
		require.Error(t, err, name)
		assert.Equal(t, c.kind, fault.KindOf(err), "%s: %v", name, err)
		assert.ErrorContains(t, err, c.text, name)
		assert.Equal(t, name == "dead", errors.Is(err, device.ErrDied))
		_, err = e.OutputData(0)
		assert.Equal(t, fault.State, fault.KindOf(err), name)
		if c.mode != toy.Dead {
			npu.Set(toy.Normal)
			require.NoError(t, exec.Run(background, e, device.RunRequest{}), name)
			assert.Equal(t, []float32{21}, output(t, e, 0), name)
		}
		x.Buf.Release()
		e.Release()
		p.Release()
	}
}

// sharing is a device whose memory has a file descriptor: it and the host work in it without copies.
type sharing struct {
	*toy.Device
	fail bool // Alloc
}

func (s sharing) Alloc(size int64) (mem.Buffer, error) {
	if s.fail {
		return nil, fault.New(fault.Memory, "no %d bytes left", size)
	}
	return mem.Memfd(size, mem.Options{})
}

// Values that cross to a device lie in its memory, whichever side produces them.
func TestRun_valuesCrossWithoutCopies(t *testing.T) {
	npu := &sharing{Device: toy.New("npu")}
	for _, fail := range []bool{false, true} {
		p := mustCompile(t, mixed(t, tensor.Of(1)), npu, toy.NewHost("cpu"))
		npu.fail = fail
		e, err := p.New(device.ExecOptions{})
		require.NoError(t, err)
		data, err := mem.Memfd(4, mem.Options{})
		require.NoError(t, err)
		require.NoError(t, mem.Write(data, 0, tensor.Float32s(1)))
		require.NoError(t, e.BindInput(0, mem.View{Buf: data, Type: tensor.T(tensor.Float32, 1)}))
		err = exec.Run(background, e, device.RunRequest{})
		if fail { // the device has no memory for what it produces itself
			assert.Equal(t, fault.Memory, fault.KindOf(err))
		} else {
			require.NoError(t, err)
			assert.Equal(t, []float32{21}, output(t, e, 0))
			assert.Zero(t, e.Stats().CopiedIn, "bytes that a part copied because it cannot work where they lie")
		}
		data.Release()
		e.Release()
		p.Release()
	}
}

// A reader that has no memory left copies what the host produces.
func TestRun_readerWithoutMemory(t *testing.T) {
	b := graph.NewBuilder("host first")
	x := b.Input("x", tensor.T(tensor.Float32, 1))
	b.Output(b.Add(&op.Add{}, b.Add(&op.Mul{}, x, b.Float32(3)), b.Float32(1)))
	g, err := b.Graph()
	require.NoError(t, err)
	p := mustCompile(t, g, &sharing{toy.New("npu"), true}, toy.NewHost("cpu"))
	defer p.Release()
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	defer e.Release()
	v := floatView(t, []float32{2}, 1)
	defer v.Buf.Release()
	require.NoError(t, e.BindInput(0, v))
	require.NoError(t, exec.Run(background, e, device.RunRequest{}))
	assert.Equal(t, []float32{7}, output(t, e, 0))
	assert.EqualValues(t, 4, e.Stats().CopiedIn)
}

func TestRun_cancelDeadlineAndDeath(t *testing.T) {
	npu := toy.New("npu")
	npu.Set(toy.Block)
	p := mustCompile(t, mixed(t, tensor.Of(1)), npu, toy.NewHost("cpu"))
	defer p.Release()
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	x := floatView(t, []float32{1}, 1)
	defer x.Buf.Release()
	require.NoError(t, e.BindInput(0, x))
	done := make(chan error, 1)
	start := func(r device.RunRequest) {
		r.Done = func(err error) { done <- err }
		require.NoError(t, e.Start(r))
		<-npu.Blocked
	}
	start(device.RunRequest{})
	assert.Equal(t, fault.State, fault.KindOf(e.Start(device.RunRequest{})))
	assert.Equal(t, fault.State, fault.KindOf(e.BindInput(0, x)))
	e.Cancel()
	assert.Equal(t, fault.Canceled, fault.KindOf(<-done))
	err = exec.Run(background, e, device.RunRequest{Deadline: time.Now().Add(20 * time.Millisecond)})
	assert.Equal(t, fault.Timeout, fault.KindOf(err))
	select {
	case <-npu.Blocked:
	default: // the deadline has passed before the device began
	}
	start(device.RunRequest{})
	npu.Set(toy.Dead)
	err = <-done
	assert.ErrorIs(t, err, device.ErrDied)
	assert.Equal(t, fault.Device, fault.KindOf(err))
	e.Release()

	npu = toy.New("npu2")
	npu.Set(toy.Block)
	q := mustCompile(t, mixed(t, tensor.Of(1)), npu, toy.NewHost("cpu"))
	e, err = q.New(device.ExecOptions{})
	require.NoError(t, err)
	q.Release()
	require.NoError(t, e.BindInput(0, x))
	start(device.RunRequest{})
	e.Release() // while running
	assert.Equal(t, fault.Canceled, fault.KindOf(<-done))
	assert.Equal(t, fault.State, fault.KindOf(e.Start(device.RunRequest{})))
}

func TestRun_requestReachesEveryDevice(t *testing.T) {
	npu, cpu := toy.New("npu"), toy.NewHost("cpu")
	p := mustCompile(t, mixed(t, tensor.Of(1)), npu, cpu)
	defer p.Release()
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	defer e.Release()
	x := floatView(t, []float32{1}, 1)
	defer x.Buf.Release()
	require.NoError(t, e.BindInput(0, x))
	for _, r := range []device.RunRequest{{LoopLimit: 3 * time.Second}, {Burst: &device.Burst{}}, {}} {
		require.NoError(t, exec.Run(background, e, r))
		for _, d := range []*toy.Device{npu, cpu} {
			assert.Equal(t, r.LoopLimit, time.Duration(d.Limit.Load()))
			assert.Same(t, r.Burst, d.Burst.Load())
		}
	}
}

func TestRun_concurrentExecutions(t *testing.T) {
	p := mustCompile(t, mixed(t, tensor.Of(3)), toy.New("npu"), toy.NewHost("cpu"))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 5 {
				x := float32(i*10 + k)
				assert.Equal(t, []float32{9*x + 12, 12, 12}, evaluate(t, p, x, 0, 0))
			}
		})
	}
	wg.Wait()
	p.Release()
}
