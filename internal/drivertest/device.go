package drivertest

import (
	"bytes"
	"context"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Subject is a device of a fake driver.
type Subject struct {
	Device device.Device
	Life   *driver.Life
	Driver *Driver
	// Graph returns a graph of the sum of two float32 tensors, which the device computes. nil: Sum.
	Graph func(s tensor.Shape) (*graph.Graph, error)
}

// Sum is a graph of the sum of two float32 tensors.
func Sum(s tensor.Shape) (*graph.Graph, error) {
	b := graph.NewBuilder("sum")
	typ := tensor.Type{DType: tensor.Float32, Shape: s}
	x, y := b.Input("x", typ), b.Input("y", typ)
	b.SetOrigin(0, "")
	z := b.Add(&op.Add{}, x, y)
	b.Name(z, "z")
	b.Output(z)
	return b.Graph()
}

// SumOf is a graph of a compiled model that adds two float32 tensors.
func SumOf(container string, s tensor.Shape, model func(dims ...int64) []byte) (*graph.Graph, error) {
	dims, _ := s.Ints()
	port := func(name string) device.Port {
		return device.Port{Name: name, Type: tensor.Type{DType: tensor.Float32, Shape: s}}
	}
	return device.CompiledGraph("sum", container, tensor.NewConst(model(dims...)), []device.Port{port("x"), port("y")},
		[]device.Port{port("z")})
}

func (s Subject) graph(shape tensor.Shape) (*graph.Graph, error) {
	if s.Graph != nil {
		return s.Graph(shape)
	}
	return Sum(shape)
}

// Contract checks the contract of devices.
func (s Subject) Contract(t *testing.T) {
	live := maps.Clone(mem.LiveCounters)
	live["objects of the driver"] = s.Driver.Live
	devicetest.Run(t, devicetest.Subject{
		Device: s.Device,
		Graph:  s.graph,
		Endless: func(shape tensor.Shape) (*graph.Graph, func(), error) {
			g, err := s.graph(shape)
			s.Driver.Block(true)
			return g, func() { s.Driver.Block(false) }, err
		},
		Live: live,
	})
}

// Compile compiles a sum.
func (s Subject) Compile(dims ...int64) (device.Program, error) {
	g, err := s.graph(tensor.Of(dims...))
	if err != nil {
		return nil, err
	}
	return s.Device.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
}

// Program is a sum of four elements.
func (s Subject) Program(t testing.TB) device.Program {
	t.Helper()
	p, err := s.Compile(4)
	require.NoError(t, err)
	return p
}

// Execution is one of a sum of four elements, with 1, 2, 3, 4 and 10, 20, 30, 40 bound.
func Execution(t testing.TB, p device.Program) device.Execution {
	t.Helper()
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	for i, values := range [][]float32{{1, 2, 3, 4}, {10, 20, 30, 40}} {
		b := mem.Borrow(tensor.Float32s(values...), nil)
		require.NoError(t, e.BindInput(i, mem.View{Buf: b, Type: tensor.T(tensor.Float32, 4)}))
		b.Release()
	}
	return e
}

// Dies checks that nothing can be done with a device any more; p is a program of it, and e an execution that can run.
func (s Subject) Dies(t testing.TB, p device.Program, e device.Execution) {
	t.Helper()
	dead := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, device.ErrDied)
		require.Equal(t, fault.Device, fault.KindOf(err))
	}
	dead(e.Start(device.RunRequest{}))
	_, err := s.Compile(4)
	dead(err)
	_, err = s.Device.Load(context.Background(), nil)
	dead(err)
	_, err = s.Device.Alloc(4)
	dead(err)
	_, err = s.Device.Support(&graph.Graph{}, device.Options{})
	dead(err)
	_, err = p.New(device.ExecOptions{})
	dead(err)
}

// BlockedRun gives up a run that does not end, and the driver with it: it gets no call any more, also when the run
// ends. function is the call that does not return. keeps frees what the driver of an execution's output keeps for ever;
// nil: nothing.
func (s Subject) BlockedRun(t *testing.T, function string, keeps func(e device.Execution) (free func())) {
	told := make(chan string, 2)
	s.Life.Tell(func(reason string) { told <- reason })
	p := s.Program(t)
	e, other := Execution(t, p), Execution(t, p)
	out, err := s.Device.Alloc(16)
	require.NoError(t, err)
	require.NoError(t, e.BindOutput(0, mem.View{Buf: out, Type: tensor.T(tensor.Float32, 4)}))
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	s.Life.SetPatience(50 * time.Millisecond)
	s.Driver.Block(true)
	err = exec.Run(context.Background(), e, device.RunRequest{Deadline: time.Now().Add(20 * time.Millisecond)})
	require.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
	require.Contains(t, <-told, function+" did not return within 50ms")
	s.Dies(t, p, other)
	calls := s.Driver.Calls()

	// The driver still has the output of the run.
	free := func() {}
	if keeps != nil {
		free = keeps(e)
	}
	e.Release()
	out.Release()
	data, err := out.Map()
	require.NoError(t, err)
	require.Len(t, data, 16)
	buffers, _ := mem.Live()
	s.Driver.Block(false)
	require.Eventually(t, func() bool { now, _ := mem.Live(); return now < buffers }, time.Minute, time.Millisecond)
	other.Release()
	p.Release()
	require.Equal(t, calls, s.Driver.Calls(), "calls after the driver's death")
	free()
}

// SlowRun gives a run up that ends then: the execution computes again.
func (s Subject) SlowRun(t *testing.T) {
	before := s.Driver.Live()
	p := s.Program(t)
	e := Execution(t, p)
	p.Release()
	s.Driver.Block(true)
	for range 2 { // the driver is not in a second run
		err := exec.Run(context.Background(), e, device.RunRequest{Deadline: time.Now().Add(20 * time.Millisecond)})
		require.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
	}
	s.Driver.Block(false)
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	data, err := e.OutputData(0)
	require.NoError(t, err)
	require.Equal(t, tensor.Float32s(11, 22, 33, 44), data)
	e.Release()
	require.Eventually(t, func() bool { return s.Driver.Live() == before }, time.Minute, time.Millisecond)
}

// ZeroCopy binds memory of the device: the driver works on it. The tensors lie in one buffer each, or in one buffer at
// the given offsets.
func (s Subject) ZeroCopy(t *testing.T, offsets ...int64) {
	before := s.Driver.Live()
	p, err := s.Compile(2, 2)
	require.NoError(t, err)
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	p.Release()
	for round := range 3 {
		var views [3]mem.View
		var own []mem.Buffer
		for i := range views {
			views[i].Type = tensor.T(tensor.Float32, 2, 2)
			if offsets == nil || i == 0 {
				views[i].Buf, err = s.Device.Alloc(64)
				require.NoError(t, err)
				own = append(own, views[i].Buf)
			} else {
				views[i].Buf = views[0].Buf
			}
			if offsets != nil {
				views[i].Off = offsets[i]
			}
		}
		require.NoError(t, mem.Write(views[0].Buf, views[0].Off, tensor.Float32s(1, 2, 3, float32(round))))
		require.NoError(t, mem.Write(views[1].Buf, views[1].Off, tensor.Float32s(10, 20, 30, 40)))
		require.NoError(t, e.BindInput(0, views[0]))
		require.NoError(t, e.BindInput(1, views[1]))
		require.NoError(t, e.BindOutput(0, views[2]))
		for range 2 {
			require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
		}
		got := make([]byte, 16)
		require.NoError(t, mem.Read(got, views[2].Buf, views[2].Off))
		require.Equal(t, tensor.Float32s(11, 22, 33, float32(40+round)), got)
		for _, b := range own {
			b.Release()
		}
	}
	stats := e.Stats()
	require.EqualValues(t, 6, stats.Runs)
	require.Zero(t, stats.CopiedIn+stats.CopiedOut)
	e.Release()
	require.Equal(t, before, s.Driver.Live())
}

// OnceSum asks a device for a sum, compiles and runs that.
func OnceSum(d device.Device) error {
	g, err := Sum(tensor.Of(4))
	if err != nil {
		return err
	}
	answers, err := d.Support(g, device.Options{})
	if err != nil {
		return err
	}
	if !answers[0].OK {
		return fault.New(fault.Unsupported, "%s", answers[0].Reason)
	}
	return Once(func() (device.Program, error) {
		return d.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
	})
}

// Once makes a program and runs it. Inputs of four float32 are 1, 2, 3, 4, for which the sum is checked, and all others
// 0.
func Once(compile func() (device.Program, error)) error {
	p, err := compile()
	if err != nil {
		return err
	}
	e, err := p.New(device.ExecOptions{})
	in, _ := p.Ports()
	p.Release()
	if err != nil {
		return err
	}
	defer e.Release()
	four, sums := tensor.T(tensor.Float32, 4), len(in) == 2
	for i := range in {
		n, _ := in[i].Type.ByteSize()
		data := make([]byte, n)
		if in[i].Type.DType == four.DType && in[i].Type.Shape.Equal(four.Shape) {
			data = tensor.Float32s(1, 2, 3, 4)
		} else {
			sums = false
		}
		b := mem.Borrow(data, nil)
		err := e.BindInput(i, mem.View{Buf: b, Type: in[i].Type})
		b.Release()
		if err != nil {
			return err
		}
	}
	if err := exec.Run(context.Background(), e, device.RunRequest{}); err != nil {
		return err
	}
	data, err := e.OutputData(0)
	if err == nil && sums && !bytes.Equal(data, tensor.Float32s(2, 4, 6, 8)) {
		err = fault.New(fault.Internal, "the sum is wrong")
	}
	return err
}
