package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// refStep computes a node by reference.
type refStep struct {
	st       *run.Step
	node     *graph.Node
	in       []tensor.Tensor // what is known beforehand
	bufs     []int           // per input, None: absent
	outs     []int           // per output, None: not read
	declared []tensor.Type
	args     []tensor.Tensor
}

// Reference computes a node of the graph by reference.
type Reference struct{}

func (Reference) Layout(l *ir.Layouter, n *ir.Node) {
	for _, v := range n.In {
		if v != graph.None {
			l.Read(n, v, run.NCHW)
		}
	}
	for _, v := range n.Out {
		if v != graph.None {
			n.Writes = append(n.Writes, l.Result(v))
		}
	}
}

func (Reference) Lower(w *ir.Lowering, n *ir.Node) run.Step {
	in, declared := make([]tensor.Tensor, len(n.In)), make([]tensor.Type, len(n.Out))
	var from, to []int // index in reads and writes, None: absent
	reads, writes := 0, 0
	for k, v := range n.In {
		if from = append(from, run.None); v != graph.None {
			x := &w.Net.Values[v]
			in[k] = tensor.Tensor{DType: x.Type.DType, Dims: x.Dims, Quant: x.Type.Quant}
			from[k] = reads
			reads++
		}
	}
	for k, v := range n.Out {
		if to = append(to, run.None); v != graph.None {
			declared[k] = w.Graph.Fact(v).Type
			to[k] = writes
			writes++
		}
	}
	at := &w.Graph.Nodes[n.At]
	return run.Step{Start: func(_ *run.State, st *run.Step) run.Process {
		return &refStep{st: st, node: at, in: in, bufs: from, outs: to, declared: declared,
			args: make([]tensor.Tensor, len(in))}
	}}
}

func (r *refStep) Run(s *run.State) error {
	defer clear(r.args)
	for k, i := range r.bufs {
		if i == run.None {
			continue
		}
		buf := r.st.Reads[i]
		t := r.in[k]
		if p := s.Plan.Buffers[buf].Place; p == run.IsResult || p == run.IsInput {
			t = s.Results[buf]
			if r.in[k].Dims != nil {
				t.Dims = r.in[k].Dims
			}
		} else {
			t.Data = s.Mem[buf]
		}
		r.args[k] = t
	}
	res, err := ref.ComputePausing(s.Ctx, s.Pause, r.node.Op, r.args, r.declared)
	if err != nil {
		return err
	}
	if len(res) != len(r.outs) {
		return fault.New(fault.Internal, "the kernel returned %d tensors, the node has %d outputs", len(res), len(r.outs))
	}
	for k, i := range r.outs {
		if i == run.None {
			continue
		}
		if _, ok := r.declared[k].Shape.Merge(tensor.Of(res[k].Dims...)); !ok {
			return fault.New(fault.Shape, "output %d: computes %v, the model declares %v", k, tensor.Of(res[k].Dims...),
				r.declared[k].Shape)
		}
		if err := s.Keep(r.st.Writes[i], res[k]); err != nil {
			return err
		}
	}
	return nil
}
