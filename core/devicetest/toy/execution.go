package toy

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// execution is one run at a time of a program.
type execution struct {
	exec.Base
	prog      *program
	profiling bool
	types     []tensor.Type
	data      [][]byte // of unbound outputs
}

func (p *program) New(o device.ExecOptions) (device.Execution, error) {
	if err := p.dev.alive(); err != nil {
		return nil, err
	}
	if _, ok := o.Cores(p.dev.cores()); !ok {
		return nil, fault.New(fault.Argument, "toy: core mask %#x, there are %d cores", o.CoreMask, p.dev.cores())
	}
	p.Retain()
	live.Add(1)
	e := &execution{Base: exec.Base{Bound: exec.NewBindings(p.in, p.out)}, prog: p, profiling: o.Profiling}
	e.Result = e.result
	return e, nil
}

func (e *execution) Start(r device.RunRequest) error {
	if err := e.prog.dev.alive(); err != nil {
		return err
	}
	return e.Task.Start(r, e.Bound.Ready, e.run)
}

func (e *execution) run(ctx context.Context) error {
	d := e.prog.dev
	d.Limit.Store(int64(device.LoopLimit(ctx)))
	d.Burst.Store(device.BurstOf(ctx))
	switch {
	case d.is(FailRun):
		return fault.New(fault.Device, "toy: the hardware reports error 7")
	case d.is(PanicRun):
		panic("toy")
	case d.is(Block):
		d.Blocked <- struct{}{}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-d.died:
		}
	}
	if err := d.alive(); err != nil {
		return err
	}
	g := e.prog.unit.Graph
	vals := make([]tensor.Tensor, len(g.Values))
	for v := range g.Values {
		if f := g.Values[v].Fact; f.Const != nil {
			dims, _ := f.Shape.Ints()
			vals[v] = tensor.Tensor{Dims: dims, Data: f.Const.Data}
		}
	}
	for i, v := range g.In {
		t, err := e.fetch(&e.Bound.In[i])
		if err != nil {
			return fault.Wrap(err, "input %d", i)
		}
		vals[v] = t
	}
	for _, i := range e.prog.order {
		n := &g.Nodes[i]
		f := func(x, y float32) float32 { return x + y }
		if _, mul := n.Op.(*op.Mul); mul {
			f = func(x, y float32) float32 { return x * y }
		}
		if e.prog.half {
			whole := f
			f = func(x, y float32) float32 { return tensor.Float16To32(tensor.Float32To16(whole(x, y))) }
		}
		result, err := combine(vals[n.In[0]], vals[n.In[1]], f)
		if err != nil {
			return n.Err(err)
		}
		vals[n.Out[0]] = result
	}
	e.types, e.data = make([]tensor.Type, len(g.Out)), make([][]byte, len(g.Out))
	for i, v := range g.Out {
		e.types[i], e.data[i] = tensor.T(tensor.Float32, vals[v].Dims...), vals[v].Data
		if b := &e.Bound.Out[i]; b.View.Buf != nil {
			if err := e.deliver(b, e.types[i], vals[v].Data); err != nil {
				return fault.Wrap(err, "output %d", i)
			}
			e.data[i] = nil
		}
	}
	e.Counts.Runs++
	e.Counts.Nodes = e.Counts.Nodes[:0:0]
	for _, i := range e.prog.order {
		if !e.profiling {
			break
		}
		e.Counts.Nodes = append(e.Counts.Nodes, device.NodeTime{Node: g.Nodes[i].Origin, Op: graph.NameOf(g.Nodes[i].Op),
			Device: d.id})
	}
	return nil
}

// fetch reads an input: in place when the device reaches the buffer, else as a copy.
func (e *execution) fetch(b *exec.Binding) (tensor.Tensor, error) {
	v, err := b.Input()
	if err != nil {
		return tensor.Tensor{}, err
	}
	n, _ := v.Type.ByteSize()
	t := tensor.Tensor{Dims: b.Dims, Data: make([]byte, n)}
	if !e.prog.dev.reaches(v.Buf) {
		e.Counts.CopiedIn += n
	}
	return t, v.Load(t.Data)
}

// deliver writes a bound output.
func (e *execution) deliver(b *exec.Binding, t tensor.Type, data []byte) error {
	v, err := b.Output(t)
	if err != nil {
		return err
	}
	if !e.prog.dev.reaches(v.Buf) {
		e.Counts.CopiedOut += int64(len(data))
	}
	return v.Store(data)
}

// combine computes f(a, b), which must not mind the order, of tensors of equal sizes or where one has one element.
func combine(a, b tensor.Tensor, f func(x, y float32) float32) (tensor.Tensor, error) {
	if len(a.Data) < len(b.Data) {
		a, b = b, a
	}
	if len(a.Data) != len(b.Data) && len(b.Data) != 4 {
		return tensor.Tensor{}, fault.New(fault.Unsupported, "toy: %v with %v", a.Dims, b.Dims)
	}
	out := tensor.Tensor{Dims: a.Dims, Data: make([]byte, len(a.Data))}
	for i := 0; i < len(a.Data); i += 4 {
		x := math.Float32frombits(binary.LittleEndian.Uint32(a.Data[i:]))
		y := math.Float32frombits(binary.LittleEndian.Uint32(b.Data[i%len(b.Data):]))
		binary.LittleEndian.PutUint32(out.Data[i:], math.Float32bits(f(x, y)))
	}
	return out, nil
}

// result is the device's description of an output, right or wrong.
func (e *execution) result(i int) (t tensor.Type, data []byte, done bool) {
	if e.types == nil {
		return t, nil, false
	}
	t, data = e.Bound.Out[i].Port.Type, e.data[i]
	switch d := e.prog.dev; {
	case d.is(WrongType):
		t.DType = tensor.Int8
	case d.is(WrongSize):
		t.Shape = tensor.Of(1<<40, 3, 9)
	case d.is(UnknownSize):
		t.Shape = tensor.AnyShape()
	default:
		t = e.types[i]
	}
	if d := e.prog.dev; data != nil && d.is(ShortData) {
		data = data[1:]
	}
	return t, data, true
}

func (e *execution) Release() {
	if !e.Close() {
		return
	}
	e.prog.Release()
	live.Add(-1)
}
