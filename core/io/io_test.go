package io

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// adder is an execution for tests: every output is the sum of all inputs and its own number, byte by byte. It reads the
// inputs anew for each output, when those before are written already, so that it shows what shares memory.
type adder struct {
	exec.Base
	results [][]byte
	copies  int // outputs that were not bound
	work    func(context.Context) error
}

func newAdder(in, out int, dims ...int64) *adder {
	ports := func(n int) []device.Port {
		list := make([]device.Port, n)
		for i := range list {
			list[i].Type = tensor.T(tensor.Uint8, dims...)
		}
		return list
	}
	a := &adder{Base: exec.Base{Bound: exec.NewBindings(ports(in), ports(out))}, results: make([][]byte, out)}
	a.Result = func(i int) (tensor.Type, []byte, bool) { return ports(out)[i].Type, a.results[i], a.results[i] != nil }
	a.work = a.run
	return a
}

func (a *adder) Start(r device.RunRequest) error { return a.Task.Start(r, a.Bound.Ready, a.work) }

func (a *adder) Release() { a.Close() }

func (a *adder) run(context.Context) error {
	a.copies = 0
	n, _ := a.Bound.In[0].Port.Type.ByteSize()
	for k := range a.Bound.Out {
		sum := make([]byte, n)
		for i := range a.Bound.In {
			v, err := a.Bound.In[i].Input()
			if err != nil {
				return err
			}
			one := make([]byte, n)
			if err := v.Load(one); err != nil {
				return err
			}
			for j := range sum {
				sum[j] += one[j]
			}
		}
		for j := range sum {
			sum[j] += byte(k)
		}
		a.results[k] = sum
		o := &a.Bound.Out[k]
		if o.View.Buf == nil {
			a.copies++
			continue
		}
		v, err := o.Output(o.Port.Type)
		if err == nil {
			err = v.Store(sum)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// of returns an execution of an adder, and the adder.
func of(t *testing.T, in, out int, dims ...int64) (*Execution, *adder) {
	a := newAdder(in, out, dims...)
	x := New(a, in, out)
	t.Cleanup(x.Release)
	return x, a
}

func buffer(t *testing.T, data ...byte) mem.Buffer {
	b := mem.Borrow(data, nil)
	t.Cleanup(b.Release)
	return b
}

func part(t *testing.T, b mem.Buffer, off, n int64) mem.Buffer {
	p, err := mem.Sub(b, off, n)
	require.NoError(t, err)
	t.Cleanup(p.Release)
	return p
}

var plain = convert.Tensor{Type: tensor.Uint8}

func port(at int, dims ...int64) *Port { return &Port{Tensor: &plain, At: at, Dims: dims} }

func view(b mem.Buffer, dims ...int64) mem.View {
	return mem.View{Buf: b, Type: tensor.T(tensor.Uint8, dims...)}
}

// compute does what a façade does with operands for all ports.
func compute(t *testing.T, x *Execution, in, out []Operand, dims ...int64) (placed []bool) {
	defer x.Unbind()
	for i := range in {
		require.NoError(t, x.Feed(port(i, dims...), &in[i]))
	}
	for i := range out {
		x.Take(port(i, dims...), &out[i])
	}
	for i := range out {
		p, err := x.Place(i)
		require.NoError(t, err)
		placed = append(placed, p)
	}
	require.NoError(t, x.Run(device.RunRequest{}))
	for i := range out {
		require.NoError(t, x.Deliver(i))
	}
	return placed
}
