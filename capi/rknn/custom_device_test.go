package rknn

import (
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestCustomDevice_keepsTheContract stands in for a program whose function adds two tensors, and for the thread of
// rknn_run that calls it.
func TestCustomDevice_keepsTheContract(t *testing.T) {
	node := &op.Custom{Domain: "test", Type: "sum", Instance: 1}
	node.SetLike(0, 0)
	state, err := newOpState(CustomOp{compute: 1}, node, "the sum")
	require.NoError(t, err)
	defer state.end()
	var slow sync.Map // states whose function takes its time
	add := func(s *opState) func(_, _ uintptr, in, out *tensorArray) int32 {
		return func(_, _ uintptr, in, out *tensorArray) int32 {
			if _, waits := slow.Load(s); waits {
				time.Sleep(10 * time.Millisecond)
			}
			x, y, z := seen(in, 0), seen(in, 1), seen(out, 0)
			for i := range z {
				z[i] = x[i] + y[i]
			}
			return 0
		}
	}
	state.invoke = add(state)
	late, err := newOpState(CustomOp{compute: 1}, node, "the slow sum")
	require.NoError(t, err)
	defer late.end()
	late.invoke = add(late)
	slow.Store(late, true)
	c := &Context{jobs: make(chan job), states: map[int64]*opState{1: state, 2: late}}
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case j := <-c.jobs:
				j.done <- j.f()
			case <-stop:
				return
			}
		}
	}()
	sum := func(s tensor.Shape, instance int64, times int) (*graph.Graph, error) {
		b := graph.NewBuilder("sum")
		typ := tensor.Type{DType: tensor.Float32, Shape: s}
		x, y := b.Input("x", typ), b.Input("y", typ)
		z := x
		for i := range times {
			o := *node
			o.Instance = instance
			b.SetOrigin(i, "")
			z = b.AddTyped(&o, "", []tensor.Type{typ}, z, y)[0]
		}
		b.Name(z, "z")
		b.Output(z)
		return b.Graph()
	}
	devicetest.Run(t, devicetest.Subject{
		Device: &customDevice{}, Owner: c, Live: mem.LiveCounters,
		Graph: func(s tensor.Shape) (*graph.Graph, error) { return sum(s, 1, 1) },
		Endless: func(s tensor.Shape) (*graph.Graph, func(), error) {
			g, err := sum(s, 2, 60_000) // ten minutes
			return g, func() {}, err
		},
	})
}

// seen are the elements of a tensor as the program's function sees them.
func seen(a *tensorArray, i int) []float32 {
	t := &unsafe.Slice((*CustomOpTensor)(cPointer(a.block.Addr())), a.n)[i]
	return unsafe.Slice((*float32)(cPointer(t.mem.Virt)), int(t.attr.Elems))
}

// A context that runs on several devices hands itself to each of them as the owner.
func TestCustomDevice_wantsAContext(t *testing.T) {
	b := graph.NewBuilder("g")
	b.Output(b.Input("x", tensor.T(tensor.Float32, 1)))
	g, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&customDevice{}).Compile(t.Context(), device.Unit{Graph: g}, device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	for _, owner := range []any{nil, 7, Context{}} {
		if _, err := p.New(device.ExecOptions{Owner: owner}); fault.KindOf(err) != fault.Argument {
			t.Errorf("owner %T: %v", owner, err)
		}
	}
}
