package ref

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	registerControl(func(ctx context.Context, o *op.If, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		cond, err := int0(in[0], 0)
		if err != nil {
			return nil, err
		}
		body := o.Else
		if cond != 0 {
			body = o.Then
		}
		if err := body.Validate(); err != nil {
			return nil, err
		}
		res, err := Run(ctx, body, in[1:])
		if err != nil {
			return nil, fault.Wrap(err, "body %q", body.Name)
		}
		return settle(res, out)
	})
	registerControl(loop)
	registerControl(scan)
}

// settle gives the results of bodies the types that inference promised, in memory of their own.
func settle(res []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	ys := make([]tensor.Tensor, len(out))
	for i, t := range out {
		x := res[i]
		if t.DType != tensor.Invalid && x.DType != t.DType || (x.Quant == nil) != (t.Quant == nil) {
			return nil, fault.New(fault.Type, "output %d: want %v, the body gave %v", i, t, x.Type())
		}
		if _, ok := t.Shape.Merge(tensor.Of(x.Dims...)); !ok {
			return nil, fault.New(fault.Shape, "output %d: want %v, the body gave %v", i, t, x.Type())
		}
		var err error
		if ys[i], err = requantized(x, tensor.Type{DType: x.DType, Quant: t.Quant}); err != nil {
			return nil, fault.Wrap(err, "output %d", i)
		}
		ys[i].Data = cloned(ys[i].Data)
	}
	return ys, nil
}

func loop(ctx context.Context, o *op.Loop, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	trips, err := int0(in[0], math.MaxInt64)
	if err != nil {
		return nil, err
	}
	cond, err := int0(in[1], 1)
	if err != nil {
		return nil, err
	}
	if err := o.Body.Validate(); err != nil {
		return nil, err
	}
	n := int(o.Carried)
	state, captures := in[2:2+n], in[2+n:]
	piles := make([]pile, len(out)-n)
	begin, limit := time.Now(), device.LoopLimit(ctx)
	for trip := int64(0); trip < trips && cond != 0; trip++ {
		tick()
		if err := ctx.Err(); err != nil {
			return nil, fault.As(fault.Canceled, err, "trip %d", trip)
		}
		if limit > 0 && time.Since(begin) > limit {
			return nil, fault.New(fault.Timeout, "trip %d: the loop has taken longer than %v", trip, limit)
		}
		args := []tensor.Tensor{counter(o.Body, 0, tensor.Int64, trip), counter(o.Body, 1, tensor.Bool, cond)}
		res, err := Run(ctx, o.Body, slices.Concat(args, state, captures))
		if err != nil {
			return nil, fault.Wrap(err, "trip %d: body %q", trip, o.Body.Name)
		}
		if len(res) != 1+len(out) {
			return nil, fault.New(fault.Argument, "body %q: has %d outputs, want %d", o.Body.Name, len(res), 1+len(out))
		}
		if cond, err = int0(res[0], 0); err != nil {
			return nil, fault.Wrap(err, "body %q: output 0", o.Body.Name)
		}
		state = res[1 : 1+n]
		for i := range piles {
			if err := piles[i].add(res[1+n+i]); err != nil {
				return nil, fault.Wrap(err, "trip %d: body %q: output %d", trip, o.Body.Name, 1+n+i)
			}
		}
	}
	return finish(state, piles, out, nil, nil)
}

func scan(ctx context.Context, o *op.Scan, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	if err := o.Body.Validate(); err != nil {
		return nil, err
	}
	n, m := int(o.States), int(o.Sequences)
	state, sequences, captures := in[:n], in[n:n+m], in[n+m:]
	axes := make([]int, m)
	for i, x := range sequences {
		var err error
		if axes[i], err = op.Axis(listed(o.InAxes, i), len(x.Dims)); err != nil {
			return nil, err
		}
	}
	length := int(sequences[0].Dims[axes[0]])
	piles := make([]pile, len(out)-n)
	for step := range length {
		tick()
		if err := ctx.Err(); err != nil {
			return nil, fault.As(fault.Canceled, err, "slice %d", step)
		}
		args := slices.Clone(state)
		for i, x := range sequences {
			k := step
			if listed(o.InReverse, i) {
				k = length - 1 - step
			}
			args = append(args, sliceAt(x, axes[i], k))
		}
		res, err := Run(ctx, o.Body, append(args, captures...))
		if err != nil {
			return nil, fault.Wrap(err, "slice %d: body %q", step, o.Body.Name)
		}
		if len(res) != len(out) {
			return nil, fault.New(fault.Argument, "body %q: has %d outputs, want %d", o.Body.Name, len(res), len(out))
		}
		state = res[:n]
		for i := range piles {
			if err := piles[i].add(res[n+i]); err != nil {
				return nil, fault.Wrap(err, "slice %d: body %q: output %d", step, o.Body.Name, n+i)
			}
		}
	}
	return finish(state, piles, out, o.OutAxes, o.OutReverse)
}

// finish returns the last state and the stacked outputs.
func finish(state []tensor.Tensor, piles []pile, out []tensor.Type, axes []int64, reverse []bool) ([]tensor.Tensor,
	error) {
	res := slices.Clone(state)
	for i, p := range piles {
		y, err := p.stack(out[len(state)+i], listed(axes, i), listed(reverse, i))
		if err != nil {
			return nil, fault.Wrap(err, "output %d", len(state)+i)
		}
		res = append(res, y)
	}
	return settle(res, out)
}

// counter returns a number as input i of a body, which may declare it as a scalar or as a list of one.
func counter(body *graph.Graph, i int, d tensor.DType, v int64) tensor.Tensor {
	var dims []int64
	if body.Fact(body.In[i]).Shape.Rank() == 1 {
		dims = []int64{1}
	}
	t := newTensor(d, dims...)
	storeInt(t, 0, v)
	return t
}

// sliceAt returns step k of x along an axis, without the axis.
func sliceAt(x tensor.Tensor, axis, k int) tensor.Tensor {
	outer, size, inner := around(x.Dims, axis)
	y := newTensor(x.DType, slices.Delete(slices.Clone(x.Dims), axis, axis+1)...)
	y.Quant = x.Quant
	for i := range outer {
		tick()
		move(y, i*inner, x, (i*size+k)*inner, inner)
	}
	return y
}

// pile collects what each run of a body gives for one output.
type pile struct{ parts []tensor.Tensor }

func (p *pile) add(t tensor.Tensor) (err error) {
	defer refuse(&err)
	if len(p.parts) > 0 {
		first := p.parts[0]
		if t.DType != first.DType || !slices.Equal(t.Dims, first.Dims) || !t.Quant.Equal(first.Quant) {
			return fault.New(fault.Shape, "%v after %v", t.Type(), first.Type())
		}
	}
	if n := int64(len(p.parts) + 1); int64(t.Count()) > maxElements/n {
		return fault.As(fault.Memory, mem.ErrExhausted, "%d times %v is too large", n, t.Type())
	}
	p.parts = append(grow(p.parts, 1), t)
	return nil
}

// stack joins the parts on a new axis. Without parts the sizes come from inference, 0 for the unknown ones.
func (p *pile) stack(t tensor.Type, axis int64, reverse bool) (tensor.Tensor, error) {
	if len(p.parts) == 0 {
		dims := []int64{0}
		if t.Shape.Ranked {
			dims = make([]int64, t.Shape.Rank())
			for i, d := range t.Shape.Dims {
				dims[i] = d.N
			}
			a, err := op.Axis(axis, len(dims))
			if err != nil {
				return tensor.Tensor{}, err
			}
			dims[a] = 0
		}
		return sized(t, dims...)
	}
	first := p.parts[0]
	a, err := op.Axis(axis, len(first.Dims)+1)
	if err != nil {
		return tensor.Tensor{}, err
	}
	n := len(p.parts)
	y, err := sized(first.Type(), slices.Insert(slices.Clone(first.Dims), a, int64(n))...)
	if err != nil {
		return y, err
	}
	outer, _, inner := around(y.Dims, a)
	for k, part := range p.parts {
		if reverse {
			k = n - 1 - k
		}
		for i := range outer {
			tick()
			move(y, (i*n+k)*inner, part, i*inner, inner)
		}
	}
	return y, nil
}

// listed returns entry i of an optional list.
func listed[T any](list []T, i int) T {
	var none T
	if i < len(list) {
		return list[i]
	}
	return none
}
