package rknn

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/drivertest"
)

// small are float16 integers from -1 to 1, by a rule of their own for each seed.
func small(seed, n int) []byte {
	var out []byte
	for i := range n {
		out = binary.LittleEndian.AppendUint16(out, tensor.Float32To16(float32((i*7+i/5+seed)%3-1)))
	}
	return out
}

// twenty is a graph of 20 operators on [m,64] matrices of small integers, six of them products: with a bias, by a
// constant that is stored transposed, by a value, in a chain, and of a size that the NPU does not take. What is large
// is cut off behind each, so that all sums are exact in whatever order.
func twenty(t testing.TB, m int64) *graph.Graph {
	b := graph.NewBuilder("twenty")
	half := func(dims ...int64) tensor.Type { return tensor.T(tensor.Float16, dims...) }
	origin := 0
	add := func(o graph.Op, in ...graph.Value) graph.Value {
		b.SetOrigin(origin, "")
		origin++
		return b.Add(o, in...)
	}
	constant := func(seed int, dims ...int64) graph.Value {
		n, _ := tensor.Count(dims)
		return b.Const("", half(dims...), small(seed, int(n)))
	}
	low, high := b.Const("", half(), small(0, 1)), b.Const("", half(), small(2, 1)) // -1 and 1
	cut := func(x graph.Value) graph.Value { return add(&op.Clip{}, x, low, high) }
	x := b.Input("x", half(m, 64))
	y := b.Input("y", half(64, 64))
	a := cut(add(&op.MatMul{}, x, constant(1, 64, 128), constant(4, 128))) // 0, 1
	a = cut(add(&op.FullyConnected{}, a, constant(2, 64, 128)))            // 2, 3
	c := add(&op.Abs{}, a)                                                 // 4
	a = cut(add(&op.MatMul{}, a, y))                                       // 5, 6
	a = cut(add(&op.Add{}, a, c))                                          // 7, 8
	d := cut(add(&op.MatMul{TransposeB: true}, a, constant(5, 96, 64)))    // 9, 10
	d = add(&op.Neg{}, d)                                                  // 11
	d = cut(add(&op.MatMul{}, d, constant(3, 96, 48)))                     // 12, 13: 48 columns
	d = add(&op.Relu{}, d)                                                 // 14
	e := cut(add(&op.MatMul{}, a, constant(7, 64, 64)))                    // 15, 16
	e = add(&op.Mul{}, e, c)                                               // 17
	f := add(&op.Sub{}, e, c)                                              // 18
	f = add(&op.Abs{}, f)                                                  // 19
	require.Equal(t, 20, origin)
	b.Output(d, f)
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

// results runs a program on small integers.
func results(t testing.TB, p device.Program) (out []tensor.Tensor) {
	in, _ := p.Ports()
	for i := range in {
		dims, _ := in[i].Type.Shape.Ints()
		n, _ := tensor.Count(dims)
		out = append(out, tensor.Tensor{DType: tensor.Float16, Dims: dims, Data: small(11+i, int(n))})
	}
	return drivertest.Results(t, p, out)
}

// TestSplit_equalsTheCPU splits a graph over the CPU and the fake NPU.
func TestSplit_equalsTheCPU(t *testing.T) {
	f := newFake(t)
	host := drivertest.CPU(t)
	before := f.Live()
	for _, m := range []int64{1, 512} {
		g := twenty(t, m)
		alone := drivertest.Compile(t, g, host)
		both, err := compile.Compile(context.Background(), g, []device.Device{f.Device, host}, compile.Options{ByCost: m > 1})
		require.NoError(t, err)
		want := results(t, alone)
		assert.Contains(t, want[1].Data, byte(0x3c), "there are ones among the results")
		assert.Equal(t, want, results(t, both))
		on := map[string][]int{}
		for _, n := range both.Placement().Nodes {
			on[n.Device] = append(on[n.Device], n.Origin)
		}
		t.Log(both.Placement().Summary())
		assert.Equal(t, []int{0, 2, 5, 9, 15}, on["npu"])
		assert.Len(t, on["cpu"], 15)
		alone.Release()
		both.Release()
	}
	// Rows that take less time than the way there: all is the CPU's, and the report says why.
	p, err := compile.Compile(context.Background(), twenty(t, 1), []device.Device{f.Device, host},
		compile.Options{ByCost: true})
	require.NoError(t, err)
	assert.Len(t, p.Placement().Parts, 1)
	assert.Contains(t, p.Placement().Nodes[0].Refused[0].Reason, "to cross")
	p.Release()
	_, err = compile.Compile(context.Background(), twenty(t, 1), []device.Device{f.Device, host},
		compile.Options{Strict: true})
	require.ErrorContains(t, err, "operator 1 (clip): npu: the driver computes compiled models and products of matrices "+
		"alone")
	assert.Equal(t, before, f.Live())
}

// TestProducts_lies has the driver give sizes and codes of products that cannot be, and not return.
func TestProducts_lies(t *testing.T) {
	f := newFake(t)
	b := graph.NewBuilder("product")
	x := b.Input("x", tensor.T(tensor.Float16, 2, 32))
	b.Output(b.Add(&op.MatMul{}, x, b.Const("", tensor.T(tensor.Float16, 32, 32), small(1, 32*32))))
	g, err := b.Graph()
	require.NoError(t, err)
	for _, offset := range []int{324, 332 + 324, 664 + 324} {
		f.Lie("matmul", offset, []byte{1, 0, 0, 0})
		_, err = f.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
		require.ErrorContains(t, err, "takes 1 bytes, want")
		require.Equal(t, fault.Device, fault.KindOf(err))
		f.Honest()
	}
	p, err := f.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
	require.NoError(t, err)
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	in := mem.Borrow(small(1, 64), nil)
	require.NoError(t, e.BindInput(0, mem.View{Buf: in, Type: tensor.T(tensor.Float16, 2, 32)}))
	in.Release()
	f.Lie("code matmul_run", 0, []byte{0xff, 0xff, 0xff, 0xff})
	err = exec.Run(context.Background(), e, device.RunRequest{})
	require.ErrorContains(t, err, "rknn_matmul_run: the driver's code is -1")
	f.Honest()
	f.Block(true)
	err = exec.Run(context.Background(), e, device.RunRequest{Deadline: time.Now().Add(20 * time.Millisecond)})
	require.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
	f.Block(false)
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	e.Release()
	p.Release()
}

// TestProducts_float16OfFloat32 computes float32 in float16 where the program allows it, and nothing else.
func TestProducts_float16OfFloat32(t *testing.T) {
	f := newFake(t)
	b := graph.NewBuilder("product")
	x := b.Input("x", tensor.T(tensor.Float32, 1, 32))
	one := make([]float32, 32*32)
	for i := range 32 {
		one[33*i] = 2
	}
	b.Output(b.Add(&op.MatMul{}, x, b.Const("", tensor.T(tensor.Float32, 32, 32), tensor.Float32s(one...))))
	g, err := b.Graph()
	require.NoError(t, err)
	_, err = f.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
	require.Equal(t, fault.Unsupported, fault.KindOf(err))
	p, err := f.Compile(context.Background(), device.Unit{Graph: g}, device.Options{Float16: true})
	require.NoError(t, err)
	defer p.Release()
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	defer e.Release()
	values, want := make([]float32, 32), make([]float32, 32)
	for i := range values {
		values[i] = float32(i) / 3
		want[i] = 2 * tensor.Float16To32(tensor.Float32To16(values[i]))
	}
	in := mem.Borrow(tensor.Float32s(values...), nil)
	require.NoError(t, e.BindInput(0, mem.View{Buf: in, Type: tensor.T(tensor.Float32, 1, 32)}))
	in.Release()
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	data, err := e.OutputData(0)
	require.NoError(t, err)
	assert.Equal(t, tensor.Float32s(want...), data)
}
