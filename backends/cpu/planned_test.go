package cpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/conformance/graphs"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// levels runs f at every instruction set of this machine; with -short at the highest alone: the race detector looks at
// how threads meet, which is the same for each, and makes the portable kernels take minutes.
func levels(t *testing.T, f func(t *testing.T)) {
	all := kernel.Supported()
	if testing.Short() {
		all = all[len(all)-1:]
	}
	for _, isa := range all {
		t.Run(isa.String(), func(t *testing.T) {
			restore, err := kernel.Select(isa)
			require.NoError(t, err)
			defer restore()
			f(t)
		})
	}
}

// execute computes a graph once through the device's interfaces.
func execute(t testing.TB, e device.Execution, in []tensor.Tensor, outputs int) ([]tensor.Tensor, error) {
	for i, x := range in {
		b := mem.Borrow(x.Data, nil)
		err := e.BindInput(i, mem.View{Buf: b, Type: x.Type()})
		b.Release()
		if err != nil {
			return nil, err
		}
	}
	if err := exec.Run(context.Background(), e, device.RunRequest{}); err != nil {
		return nil, err
	}
	out := make([]tensor.Tensor, outputs)
	for i := range out {
		typ, err := e.OutputType(i)
		require.NoError(t, err)
		data, err := e.OutputData(i)
		require.NoError(t, err)
		dims, _ := typ.Shape.Ints()
		out[i] = tensor.Tensor{DType: typ.DType, Dims: dims, Quant: typ.Quant, Data: data}
	}
	return out, nil
}

// inferred returns a graph as the façades hand it over: with all that inference finds.
func inferred(t testing.TB, g *graph.Graph) *graph.Graph {
	own := g.WithInputs(nil)
	require.NoError(t, own.Infer())
	return own
}

func computeCases(t *testing.T, c Config, runs int) {
	cases, err := graphs.Cases()
	require.NoError(t, err)
	d := newDevice(t, c)
	plans := 0
	for _, c := range cases {
		p, err := d.Compile(context.Background(), device.Unit{Graph: inferred(t, c.Graph)}, device.Options{})
		require.NoError(t, err, c.Name)
		if _, ok := p.(*program).plan.(*plannedGraph); ok {
			plans++
		}
		e := newExec(t, p, device.ExecOptions{})
		for range runs {
			got, err := execute(t, e, c.In, len(c.Graph.Out))
			if assert.NoError(t, err, c.Name) {
				assert.NoError(t, c.Compare(got), c.Name)
			}
		}
		e.Release()
		p.Release()
	}
	assert.Greater(t, plans, len(cases)/2, "graphs that were planned")
}

// The suite of random graphs at every level and with one and two threads. Two runs: the second finds the memory of the
// first.
func TestPlanned_randomGraphs(t *testing.T) {
	levels(t, func(t *testing.T) {
		for _, threads := range []int{1, 2} {
			t.Run(fmt.Sprintf("%d threads", threads), func(t *testing.T) { computeCases(t, Config{Threads: threads}, 2) })
		}
	})
}

func TestPlanned_guardMode(t *testing.T) {
	mem.SetGuard(true)
	defer mem.SetGuard(false)
	levels(t, func(t *testing.T) { computeCases(t, Config{Threads: 2}, 1) })
}

// network is a small convolutional network whose batch and sizes may be unknown.
func network(t testing.TB, dims ...tensor.Dim) *graph.Graph {
	rnd := rand.New(rand.NewPCG(3, 4))
	b := graph.NewBuilder("network")
	weights := func(dims ...int64) graph.Value {
		w := make([]float32, tensor.New(tensor.Float32, dims...).Count())
		for i := range w {
			w[i] = float32(rnd.NormFloat64()) / 8
		}
		return b.Const("", tensor.T(tensor.Float32, dims...), tensor.Float32s(w...))
	}
	x := b.Input("x", tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(dims...)})
	y := b.Add(&op.Relu{}, b.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, x, weights(32, 3, 3, 3), weights(32)))
	z := b.Add(&op.Relu{}, b.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, y, weights(32, 3, 3, 32)))
	z = b.Add(&op.Hardmax{Axis: 1}, b.Add(&op.Add{}, y, z)) // computed by reference
	z = b.Add(&op.MaxPool{Kernel: []int64{2, 2}, Strides: []int64{2, 2}}, z)
	z = b.Add(&op.Flatten{Axis: 1}, b.Add(&op.AveragePool{Global: true}, z))
	b.Output(b.Add(&op.Softmax{Axis: 1}, b.Add(&op.FullyConnected{}, z, weights(10, 32))))
	g, err := b.Graph()
	require.NoError(t, err)
	return inferred(t, g)
}

func ramp(dims ...int64) tensor.Tensor {
	x := tensor.New(tensor.Float32, dims...)
	for i := range x.Count() {
		tensor.PutFloat(tensor.Float32, x.Data, i, float64(i%23)/11-1, false)
	}
	return x
}

func assertNear(t testing.TB, want, got tensor.Tensor) {
	assert.Equal(t, want.Dims, got.Dims)
	assert.InDeltaSlice(t, floats(t, want.Data), floats(t, got.Data), 1e-4)
}

// More sizes than plans are kept, each of them twice.
func TestPlanned_inputSizesAtTheRun(t *testing.T) {
	any := tensor.AnyDim()
	p := compile(t, newDevice(t, Config{Threads: 2}), network(t, any, tensor.D(3), any, any))
	defer p.Release()
	e := newExec(t, p, device.ExecOptions{})
	defer e.Release()
	for range 2 {
		for n := range int64(maxPlans + 2) {
			x := ramp(1+n%2, 3, 4+n, 6+2*n)
			want, err := ref.Run(context.Background(), p.(*program).unit.Graph, []tensor.Tensor{x})
			require.NoError(t, err)
			got, err := execute(t, e, []tensor.Tensor{x}, 1)
			require.NoError(t, err)
			assertNear(t, want[0], got[0])
		}
	}
	assert.Len(t, p.(*program).plan.(*plannedGraph).plans, maxPlans)
	_, err := execute(t, e, []tensor.Tensor{ramp(1, 3, 1, 1)}, 1) // nothing is left to pool
	_, want := ref.Run(context.Background(), p.(*program).unit.Graph, []tensor.Tensor{ramp(1, 3, 1, 1)})
	assert.Equal(t, fault.KindOf(want), fault.KindOf(err))
	assert.Error(t, err)
}

func TestPlanned_manyExecutionsOfOneProgram(t *testing.T) {
	p := compile(t, newDevice(t, Config{Threads: 3}), network(t, tensor.D(1), tensor.D(3), tensor.D(17), tensor.D(15)))
	defer p.Release()
	x := ramp(1, 3, 17, 15)
	want, err := ref.Run(context.Background(), p.(*program).unit.Graph, []tensor.Tensor{x})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for k := range 6 {
		wg.Go(func() {
			e, err := p.New(device.ExecOptions{Priority: device.Priority(k % 4), Threads: k % 2})
			if !assert.NoError(t, err) {
				return
			}
			defer e.Release()
			for range 8 {
				got, err := execute(t, e, []tensor.Tensor{x}, 1)
				if assert.NoError(t, err) {
					assertNear(t, want[0], got[0])
				}
			}
		})
	}
	wg.Wait()
}

func TestPlanned_profileNamesTheKernels(t *testing.T) {
	p := compile(t, newDevice(t, Config{}), network(t, tensor.D(1), tensor.D(3), tensor.D(8), tensor.D(8)))
	defer p.Release()
	e := newExec(t, p, device.ExecOptions{Profiling: true})
	defer e.Release()
	_, err := execute(t, e, []tensor.Tensor{ramp(1, 3, 8, 8)}, 1)
	require.NoError(t, err)
	kernels := map[string]string{}
	for _, n := range e.Stats().Nodes {
		kernels[n.Op] += n.Kernel + " "
	}
	assert.Equal(t, "fast fast ", kernels["conv"])
	assert.Equal(t, "fused fused ", kernels["relu"])
	assert.Equal(t, "reference ", kernels["hardmax"])
	assert.NotZero(t, e.Stats().PeakMemory)
}

func TestPlanned_runAllocatesNothing(t *testing.T) {
	p := compile(t, newDevice(t, Config{Threads: 2}), fastNetwork(t))
	defer p.Release()
	for _, bound := range []bool{false, true} {
		e := newExec(t, p, device.ExecOptions{})
		defer e.Release()
		x, y := ramp(1, 8, 16, 16), tensor.New(tensor.Float32, 1, 16, 16, 16)
		in, out := mem.Borrow(x.Data, nil), mem.Borrow(y.Data, nil)
		require.NoError(t, e.BindInput(0, mem.View{Buf: in, Type: x.Type()}))
		if bound {
			require.NoError(t, e.BindOutput(0, mem.View{Buf: out}))
		}
		in.Release()
		out.Release()
		ended := make(chan error, 1)
		r := device.RunRequest{Done: func(err error) { ended <- err }}
		assert.Zero(t, testing.AllocsPerRun(20, func() {
			err := e.Start(r)
			if err == nil {
				err = <-ended
			}
			if err != nil {
				t.Error(err)
			}
		}), "output bound: %v", bound)
	}
}

func fastNetwork(t testing.TB) *graph.Graph {
	b := graph.NewBuilder("fast")
	x := b.Input("x", tensor.T(tensor.Float32, 1, 8, 16, 16))
	w := b.Const("", tensor.T(tensor.Float32, 16, 3, 3, 8), make([]byte, 4*16*9*8))
	b.Output(b.Add(&op.Relu{}, b.Add(&op.Conv{Pads: []int64{1, 1, 1, 1}}, x, w)))
	g, err := b.Graph()
	require.NoError(t, err)
	return inferred(t, g)
}
