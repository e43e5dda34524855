package cpu

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// reference is the engine that computes node by node with the kernels of package ref.
type reference struct{ threads *threads }

func (reference) name() string { return "ref" }

// refPlan is a graph in executable order.
type refPlan struct {
	threads *threads
	graph   *graph.Graph
	steps   []refStep
	consts  []tensor.Tensor // by value; absent where the value is no constant
}

type refStep struct {
	node     *graph.Node
	declared []tensor.Type
	dead     []graph.Value // read here for the last time
}

func (e reference) prepare(ctx context.Context, u device.Unit, _ device.Options) (prepared, error) {
	g := u.Graph
	order, err := g.Order()
	if err != nil {
		return nil, err
	}
	p := &refPlan{threads: e.threads, graph: g, consts: make([]tensor.Tensor, len(g.Values))}
	for v := range g.Values {
		f := g.Values[v].Fact
		if f.Const == nil {
			continue
		}
		dims, ok := f.Shape.Ints()
		if size, fits := f.ByteSize(); !ok || !fits || size != int64(len(f.Const.Data)) {
			return nil, fault.New(fault.Argument, "constant %d %q: %v with %d bytes", v, g.Values[v].Name, f.Type,
				len(f.Const.Data))
		}
		p.consts[v] = tensor.Tensor{DType: f.DType, Dims: dims, Quant: f.Quant, Data: f.Const.Data}
	}
	last := make([]int, len(g.Values)) // step that reads the value last
	for step, i := range order {
		for _, v := range slices.Concat(g.Nodes[i].In, g.Nodes[i].Out) {
			if v != graph.None {
				last[v] = step
			}
		}
	}
	for _, v := range g.Out {
		last[v] = len(order)
	}
	for step, i := range order {
		n := &g.Nodes[i]
		s := refStep{node: n, declared: graphTypes(g, n.Out)}
		for _, v := range slices.Concat(n.In, n.Out) {
			if v != graph.None && last[v] == step && p.consts[v].Absent() {
				s.dead = append(s.dead, v)
			}
		}
		p.steps = append(p.steps, s)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e.threads.acquire()
	return p, nil
}

func (p *refPlan) release() { p.threads.release() }

func (p *refPlan) nhwcPorts() []bool { return nil }

func (p *refPlan) imageRow(int) int { return 0 }

func (i *refInstance) setApart(int, int) { panic("cpu: the reference has no rows apart") }

func (p *refPlan) originals() (*graph.Graph, func(), error) { return p.graph, func() {}, nil }

func (p *refPlan) instance(o device.ExecOptions) (instance, error) {
	if o.Owner == nil {
		o.Owner = p
	}
	run := p.threads.get().NewRun(rank(o.Priority), o.Owner)
	return &refInstance{plan: p, options: o, turn: run, vals: make([]tensor.Tensor, len(p.graph.Values))}, nil
}

// refInstance holds the values of one run.
type refInstance struct {
	plan    *refPlan
	options device.ExecOptions
	turn    *pool.Run
	vals    []tensor.Tensor
	guards  []mem.Buffer // in guard mode
	times   []device.NodeTime
	peak    int64
}

func (r *refInstance) release() {
	r.vals = nil
	r.turn.Release()
}

func (r *refInstance) sleeps() bool { return r.turn.Sleeps() }

func (r *refInstance) end() (wake func()) { return r.turn.Part() }

func (r *refInstance) profile() ([]device.NodeTime, int64) { return r.times, r.peak }

func (r *refInstance) run(ctx context.Context, in []tensor.Tensor, _ []tensor.Tensor) ([]tensor.Tensor, error) {
	p := r.plan
	copy(r.vals, p.consts)
	defer clear(r.vals)
	for i, v := range p.graph.In {
		r.vals[v] = in[i]
	}
	begin, live := time.Now(), int64(0)
	r.peak, r.times = 0, nil
	guarded := mem.Guarded()
	if guarded {
		defer r.releaseGuards()
		for v := range r.vals {
			if err := r.guard(graph.Value(v)); err != nil {
				return nil, err
			}
		}
	}
	for i := range p.steps {
		s := &p.steps[i]
		if err := r.turn.Next(ctx); err != nil {
			return nil, s.node.Err(err)
		}
		from := time.Now()
		made, err := r.step(ctx, s)
		if err != nil {
			return nil, s.node.Err(err)
		}
		if r.options.Profiling {
			r.times = append(r.times, device.NodeTime{
				Node: s.node.Origin, Name: s.node.Name, Op: graph.NameOf(s.node.Op), Kernel: device.KernelReference,
				Start: from.Sub(begin), Length: time.Since(from),
			})
		}
		if guarded {
			for _, v := range s.node.Out {
				if err := r.guard(v); err != nil {
					return nil, s.node.Err(err)
				}
			}
		}
		live += made
		r.peak = max(r.peak, live)
		for _, v := range s.dead {
			if !slices.Contains(p.graph.In, v) {
				live -= int64(len(r.vals[v].Data))
			}
			r.vals[v] = tensor.Tensor{}
		}
	}
	out := make([]tensor.Tensor, len(p.graph.Out))
	for i, v := range p.graph.Out {
		out[i] = r.vals[v]
		if guarded {
			out[i].Data = bytes.Clone(out[i].Data)
		}
	}
	return out, nil
}

// guard moves a value to memory against a page that cannot be touched, until the end of the run.
func (r *refInstance) guard(v graph.Value) error {
	if v == graph.None || r.vals[v].Absent() {
		return nil
	}
	b, err := mem.Host(int64(len(r.vals[v].Data)), mem.Options{})
	if err != nil {
		return err
	}
	r.guards = append(r.guards, b)
	data, err := b.Map()
	copy(data, r.vals[v].Data)
	r.vals[v].Data = data
	return err
}

func (r *refInstance) releaseGuards() {
	for _, b := range r.guards {
		b.Release()
	}
	r.guards = nil
}

// step computes one node and returns the bytes of its results.
func (r *refInstance) step(ctx context.Context, s *refStep) (made int64, err error) {
	defer func() {
		if stop := r.turn.Cut(); stop != nil {
			_ = recover()
			err = stop
		}
	}()
	args := make([]tensor.Tensor, len(s.node.In))
	for k, v := range s.node.In {
		if v != graph.None {
			args[k] = r.vals[v]
		}
	}
	res, err := ref.ComputePausing(ctx, r.turn.Pause, s.node.Op, args, s.declared)
	if err != nil {
		return 0, err
	}
	if len(res) != len(s.node.Out) {
		return 0, fault.New(fault.Internal, "the kernel returned %d tensors, the node has %d outputs", len(res),
			len(s.node.Out))
	}
	for k, v := range s.node.Out {
		if v == graph.None {
			continue
		}
		if _, ok := s.declared[k].Shape.Merge(tensor.Of(res[k].Dims...)); !ok {
			return 0, fault.New(fault.Shape, "output %d: computes %v, the model declares %v", k, tensor.Of(res[k].Dims...),
				s.declared[k].Shape)
		}
		r.vals[v] = res[k]
		made += int64(len(res[k].Data))
	}
	return made, nil
}
