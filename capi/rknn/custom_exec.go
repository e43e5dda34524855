package rknn

import (
	"context"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// customExecution runs a customProgram for one context, whose functions it has called on the thread of rknn_run.
type customExecution struct {
	exec.Base
	prog    *customProgram
	owner   *Context
	options device.ExecOptions
	values  []staged         // by value of the graph
	arrays  [][2]tensorArray // by place in the order: inputs and outputs for the functions
	inputs  []mem.Buffer     // copies of inputs that cannot be used in place
	done    bool             // there are results
}

var _ device.Execution = (*customExecution)(nil)

// Start implements device.Execution.
func (e *customExecution) Start(r device.RunRequest) error {
	return e.Task.Start(r, func() error {
		e.done = false
		return e.Bound.Ready()
	}, e.run)
}

func (e *customExecution) run(ctx context.Context) error {
	begin := time.Now()
	g := e.prog.unit.Graph
	if err := e.take(g); err != nil {
		return err
	}
	e.Counts.Nodes = nil
	for k, i := range e.prog.order {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := &g.Nodes[i]
		from := time.Since(begin)
		if err := e.node(n, &e.arrays[k]); err != nil {
			return err
		}
		if e.options.Profiling {
			e.Counts.Nodes = append(e.Counts.Nodes, device.NodeTime{Node: n.Origin, Name: n.Name, Op: n.Op.(*op.Custom).Type,
				Device: "program", Start: from, Length: time.Since(begin) - from})
		}
	}
	for i, v := range g.Out {
		p := &e.Bound.Out[i]
		if p.View.Buf == nil {
			continue
		}
		t := e.values[v].t
		view, err := p.Output(t.Type())
		if err == nil {
			err = view.Store(t.Data)
		}
		if err != nil {
			return fault.Wrap(err, "output %d", i)
		}
		e.Counts.CopiedOut += int64(len(t.Data))
	}
	e.done = true
	e.Counts.Runs++
	e.Counts.LastRun = time.Since(begin)
	return nil
}

// take brings constants and inputs to where nodes find them.
func (e *customExecution) take(g *graph.Graph) error {
	for v := range g.Values {
		s := &e.values[v]
		s.name = g.Values[v].Name
		if f := g.Values[v].Fact; f.Const != nil {
			dims, _ := f.Shape.Ints()
			s.t = tensor.Tensor{DType: f.DType, Dims: dims, Quant: f.Quant, Data: f.Const.Data}
		}
	}
	if e.inputs == nil {
		e.inputs = make([]mem.Buffer, len(g.In))
	}
	for i, v := range g.In {
		view, err := e.Bound.In[i].Input()
		if err != nil {
			return fault.Wrap(err, "input %d", i)
		}
		n, _ := view.Type.ByteSize()
		t := tensor.Tensor{DType: view.Type.DType, Dims: e.Bound.In[i].Dims, Quant: view.Type.Quant}
		if data, err := view.Buf.Map(); err == nil && view.Contiguous() {
			t.Data = data[view.Off : view.Off+n : view.Off+n]
			if err := view.Buf.Sync(mem.FromDevice, view.Off, n); err != nil {
				return fault.Wrap(err, "input %d", i)
			}
		} else {
			if t.Data, err = room(&e.inputs[i], n); err != nil {
				return err
			}
			if err := view.Load(t.Data); err != nil {
				return err
			}
			e.Counts.CopiedIn += n
		}
		e.values[v].t = t
	}
	return nil
}

// node has the program's functions compute one node.
func (e *customExecution) node(n *graph.Node, arrays *[2]tensorArray) error {
	o := n.Op.(*op.Custom)
	state := e.owner.states[o.Instance]
	if state == nil {
		return fault.New(fault.Unsupported, "%s: the operator has no function: call rknn_register_custom_ops with op_type "+
			"%q after rknn_init [rknn-operator-no-function]", customLabel(o, n), o.Type)
	}
	facts := make([]tensor.Fact, len(n.In))
	in := make([]CustomOpTensor, 0, len(n.In))
	for k, v := range n.In {
		if v == graph.None {
			continue
		}
		s := &e.values[v]
		facts[k].Type = s.t.Type()
		c := e.prog.unit.Graph.Values[v].Fact.Const
		facts[k].Const = c
		at, err := s.show(c != nil)
		if err != nil {
			return err
		}
		t, err := customTensor(len(in), s.name, s.t.Type(), at)
		if err != nil {
			return fault.Wrap(err, "%s", state.label)
		}
		in = append(in, t)
	}
	types, err := outputTypes(e.prog.unit.Graph, n, facts, e.owner.sizes)
	if err != nil {
		return fault.Wrap(err, "%s", state.label)
	}
	var out []CustomOpTensor
	for k, v := range n.Out {
		if v == graph.None {
			continue
		}
		dims, ok := types[k].Shape.Ints()
		if !ok {
			return fault.New(fault.Shape, "%s: output %d has the shape %v: the model's value_info must declare "+
				"it [rknn-output-shape-model]", state.label,
				k, types[k].Shape)
		}
		s := &e.values[v]
		s.t.DType, s.t.Dims, s.t.Quant = types[k].DType, dims, types[k].Quant
		at, err := s.offer()
		if err != nil {
			return err
		}
		t, err := customTensor(len(out), s.name, types[k], at)
		if err != nil {
			return fault.Wrap(err, "%s", state.label)
		}
		out = append(out, t)
	}
	arrays[0].set(in)
	arrays[1].set(out)
	if err := e.owner.onCaller(func() error {
		if err := state.call("prepare", state.registered.prepare, &arrays[0], &arrays[1]); err != nil {
			return err
		}
		return state.call("compute", state.registered.compute, &arrays[0], &arrays[1])
	}); err != nil {
		return err
	}
	for _, v := range n.Out {
		if v == graph.None {
			continue
		}
		if err := e.values[v].accept(); err != nil {
			return err
		}
	}
	return nil
}

// outputTypes are the types of a node's outputs, given its inputs and the sizes of the model's open dimensions.
func outputTypes(g *graph.Graph, n *graph.Node, in []tensor.Fact, sizes model.Sizes) ([]tensor.Type, error) {
	types := make([]tensor.Type, len(n.Out))
	for k, v := range n.Out {
		types[k] = g.Fact(v).Type
		types[k].Shape = sizes.Fill(types[k].Shape)
	}
	facts, err := n.Op.Infer(in, types)
	if err != nil {
		return nil, err
	}
	for k := range facts {
		if s, ok := facts[k].Shape.Merge(types[k].Shape); ok {
			types[k].Shape = s
		}
		if types[k].DType == tensor.Invalid {
			types[k].DType = facts[k].DType
		}
	}
	return types, nil
}

func (e *customExecution) result(i int) (t tensor.Type, data []byte, done bool) {
	if !e.done {
		return t, nil, false
	}
	last := e.values[e.prog.unit.Graph.Out[i]].t
	return last.Type(), last.Data, true
}

// Release implements device.Execution.
func (e *customExecution) Release() {
	if !e.Close() {
		return
	}
	for v := range e.values {
		e.values[v].release()
	}
	for _, b := range e.inputs {
		if b != nil {
			b.Release()
		}
	}
	for k := range e.arrays {
		e.arrays[k][0].block.Free()
		e.arrays[k][1].block.Free()
	}
	e.prog.Release()
}

// New implements device.Program.
func (p *customProgram) New(o device.ExecOptions) (device.Execution, error) {
	c, ok := o.Owner.(*Context)
	if !ok {
		return nil, fault.New(fault.Argument, "functions of a program run for a context, not for a %T "+
			"[rknn-functions-program-run]", o.Owner)
	}
	p.Retain()
	e := &customExecution{Base: exec.Base{Bound: exec.NewBindings(p.in, p.out)}, prog: p, owner: c, options: o,
		values: make([]staged, len(p.unit.Graph.Values)),
		arrays: make([][2]tensorArray, len(p.order))}
	e.Result = e.result
	return e, nil
}
