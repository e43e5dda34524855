package nnapi

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	dt "github.com/anynpu/anynpu/internal/drivertest"
)

// boxed is a graph of two boxes that overlap, one that does not, and the two classes beside the background. behind
// computes with the scores.
func boxed(t testing.TB, behind ...graph.Op) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder("boxes")
	var sides []float32
	for _, box := range [][]float32{{0, 0, 8, 8}, {0, 1, 8, 9}, {20, 0, 24, 4}} {
		for range 3 {
			sides = append(sides, box...)
		}
	}
	x := b.Input("scores", tensor.T(tensor.Float32, 3, 3))
	out := b.AddTyped(&op.BoxWithNMSLimit{Score: 0.2, IoU: 0.5, Max: 2}, "", make([]tensor.Type, 4), x,
		b.Const("", tensor.T(tensor.Float32, 3, 12), tensor.Float32s(sides...)),
		b.Const("", tensor.T(tensor.Int32, 3), tensor.Int32s(0, 0, 0)))
	b.Output(out...)
	for _, o := range behind {
		b.Output(b.Add(o, out[0]))
	}
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

// finder is an execution of boxed, with scores bound.
func finder(t *testing.T, d device.Device) device.Execution {
	t.Helper()
	p, err := d.Compile(context.Background(), device.Unit{Graph: boxed(t)}, device.Options{})
	require.NoError(t, err)
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	p.Release()
	scored(t, e, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
	return e
}

// scored binds scores of class 1, then 2.
func scored(t *testing.T, e device.Execution, v ...float32) {
	t.Helper()
	x := mem.Borrow(tensor.Float32s(1, v[0], v[3], 1, v[1], v[4], 1, v[2], v[5]), nil)
	require.NoError(t, e.BindInput(0, mem.View{Buf: x, Type: tensor.T(tensor.Float32, 3, 3)}))
	x.Release()
}

// floatsOf are the elements of output 0.
func floatsOf(t *testing.T, e device.Execution) []float32 {
	t.Helper()
	data, err := e.OutputData(0)
	require.NoError(t, err)
	v, err := tensor.ReadFloat32s(data, len(data)/4)
	require.NoError(t, err)
	return v
}

// TestExecution_finds: each run has results of sizes of its own, which lie where they are bound to.
func TestExecution_finds(t *testing.T) {
	f := newFake(t)
	before := f.Live()
	e := finder(t, f.Device)
	typ, err := e.OutputType(1)
	require.NoError(t, err)
	assert.False(t, typ.Shape.Static())
	run := func() error { return exec.Run(context.Background(), e, device.RunRequest{}) }
	require.NoError(t, run())
	assert.Equal(t, []float32{0.9, 0.7}, floatsOf(t, e)) // the best two of 0.9 0.7 and 0.6 0.4
	for i, want := range []struct {
		typ  tensor.Type
		data []byte
	}{{tensor.T(tensor.Float32, 2), tensor.Float32s(0.9, 0.7)},
		{tensor.T(tensor.Float32, 2, 4), tensor.Float32s(0, 0, 8, 8, 20, 0, 24, 4)},
		{tensor.T(tensor.Int32, 2), tensor.Int32s(1, 1)}, {tensor.T(tensor.Int32, 2), tensor.Int32s(0, 0)}} {
		typ, err := e.OutputType(i)
		require.NoError(t, err)
		assert.Equal(t, want.typ, typ)
		data, err := e.OutputData(i)
		require.NoError(t, err)
		assert.Equal(t, want.data, data)
	}
	scored(t, e, 0.1, 0.1, 0.3, 0.1, 0.1, 0.1)
	require.NoError(t, run())
	assert.Equal(t, []float32{0.3}, floatsOf(t, e))
	scored(t, e, 0, 0, 0, 0, 0, 0)
	require.NoError(t, run())
	typ, err = e.OutputType(1)
	require.NoError(t, err)
	assert.Equal(t, tensor.T(tensor.Float32, 0, 4), typ)
	assert.Empty(t, floatsOf(t, e))

	// Bound, as whatever it turns out to be, and as one row.
	out, err := mem.Host(16, mem.Options{})
	require.NoError(t, err)
	defer out.Release()
	scored(t, e, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
	require.NoError(t, e.BindOutput(0, mem.View{Buf: out, Off: 8}))
	require.NoError(t, run())
	got := make([]byte, 8)
	require.NoError(t, mem.Read(got, out, 8))
	assert.Equal(t, tensor.Float32s(0.9, 0.7), got)
	require.NoError(t, e.BindOutput(0, mem.View{Buf: out, Off: 12}))
	assert.Equal(t, fault.Memory, fault.KindOf(run()))
	require.NoError(t, e.BindOutput(0, mem.View{Buf: out, Type: tensor.T(tensor.Float32, 1)}))
	assert.Equal(t, fault.Shape, fault.KindOf(run()))
	e.Release()
	assert.Equal(t, before, f.Live())
}

// TestExecution_findsNonsense: sizes that cannot be are the driver's fault, and the next run computes.
func TestExecution_findsNonsense(t *testing.T) {
	f := newFake(t)
	e := finder(t, f.Device)
	defer e.Release()
	run := func() error { return exec.Run(context.Background(), e, device.RunRequest{}) }
	short := dt.At("code Execution_compute", 0, dt.Word(8), "")
	dims := func(v ...uint32) dt.Lie { return dt.At("dimensions", 0, dt.Word(v...), "") }
	for _, c := range []struct {
		lies []dt.Lie
		want string
	}{
		{[]dt.Lie{dt.At("rank", 0, dt.Word(2), "")}, "output 0: ANeuralNetworksExecution_getOutputOperandRank says 2, the " +
			"model has 1"},
		{[]dt.Lie{dims(2, 5)}, "output 1: ANeuralNetworksExecution_getOutputOperandDimensions says [2 5], the model has " +
			"[0 4]"},
		{[]dt.Lie{dims(7)}, "output 0: ANeuralNetworksExecution_getOutputOperandDimensions says [7], which are more than " +
			"the 24 bytes that it was given"},
		{[]dt.Lie{dims(math.MaxUint32)}, "says [4294967295], which are more than the 24 bytes that it was given"},
		{[]dt.Lie{short}, "ANeuralNetworksExecution_compute: the driver's code is 8"},
		{[]dt.Lie{short, dims(math.MaxUint32)}, "ANeuralNetworksExecution_compute: the driver's code is 8"},
		{[]dt.Lie{dt.At("more boxes", 0, dt.Word(1000), "")}, "ANeuralNetworksExecution_compute: the driver's code is 8"},
		{[]dt.Lie{dt.At("code Execution_compute", 0, dt.Word(9), "")}, "the driver's code is 9"},
	} {
		for _, l := range c.lies {
			f.Lie(l.What, l.Offset, l.Data)
		}
		err := run()
		f.Honest()
		assert.Equal(t, fault.Device, fault.KindOf(err), "%v", err)
		assert.ErrorContains(t, err, c.want)
		require.NoError(t, run())
		assert.Equal(t, []float32{0.9, 0.7}, floatsOf(t, e))
	}
}

// TestSplit_behindFound: what computes with rows that a run finds is another device's part.
func TestSplit_behindFound(t *testing.T) {
	f := newFake(t)
	before := f.Live()
	p := dt.Compile(t, boxed(t, &op.Neg{}), f.Device, dt.CPU(t))
	nodes := p.Placement().Nodes
	require.Len(t, nodes, 2)
	assert.Equal(t, "npu", nodes[0].Device)
	assert.Equal(t, "cpu", nodes[1].Device)
	assert.Contains(t, nodes[1].Refused[0].Reason, "its sizes are open")
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	p.Release()
	scored(t, e, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	data, err := e.OutputData(4)
	require.NoError(t, err)
	assert.Equal(t, tensor.Float32s(-0.9, -0.7), data)
	e.Release()
	assert.Equal(t, before, f.Live())
}

// TestProgram_findsWithoutFences: outputs of open sizes are none of what the API computes behind fences.
func TestProgram_findsWithoutFences(t *testing.T) {
	f := newFake(t)
	p, err := f.Compile(context.Background(), device.Unit{Graph: boxed(t)}, device.Options{})
	require.NoError(t, err)
	assert.False(t, device.TakesFences(p))
	_, out := p.Ports()
	assert.Equal(t, []int64{0, 4}, out[1].Min)
	assert.Equal(t, []int64{6, 4}, out[1].Max)
	p.Release()
}

// TestMultinomial_range: the numbers are the driver's, of as many classes as there are, and seeds decide them.
func TestMultinomial_range(t *testing.T) {
	f := newFake(t)
	draw := func(o op.Multinomial, seeds ...int32) []byte {
		b := graph.NewBuilder("draw")
		o.To = tensor.Int32
		in := []graph.Value{b.Input("x", tensor.T(tensor.Float32, 3, 5)), b.Int64s(40)}
		if seeds != nil {
			in = append(in, b.Const("", tensor.T(tensor.Int32, 2), tensor.Int32s(seeds...)))
		}
		b.Output(b.Add(&o, in...))
		g, err := b.Graph()
		require.NoError(t, err)
		p := dt.Compile(t, g, f.Device)
		defer p.Release()
		got := dt.Results(t, p, []tensor.Tensor{{DType: tensor.Float32, Dims: []int64{3, 5}, Data: make([]byte, 60)}})
		require.Equal(t, []int64{3, 40}, got[0].Dims)
		for i := range 120 {
			require.Less(t, binary.LittleEndian.Uint32(got[0].Data[4*i:]), uint32(5))
		}
		return got[0].Data
	}
	one := draw(op.Multinomial{}, 1, 2)
	assert.Equal(t, one, draw(op.Multinomial{}, 1, 2))
	assert.NotEqual(t, one, draw(op.Multinomial{}, 2, 2))
	assert.Equal(t, one, draw(op.Multinomial{Seeded: true, Seed: 2<<32 | 1}))
	assert.Equal(t, draw(op.Multinomial{}, 0, 0), draw(op.Multinomial{}))
}
