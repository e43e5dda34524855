package plan

import (
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// refStep computes a node by reference.
type refStep struct {
	st       *step
	node     *graph.Node
	in       []tensor.Tensor // what is known beforehand
	bufs     []int           // per input, none: absent
	outs     []int           // per output, none: not read
	declared []tensor.Type
	args     []tensor.Tensor
}

// refOp computes a node of the graph by reference.
type refOp struct{}

func (refOp) layout(l *layouter, n *node) {
	for _, v := range n.in {
		if v != graph.None {
			l.read(n, v, nchw)
		}
	}
	for _, v := range n.out {
		if v != graph.None {
			n.writes = append(n.writes, l.result(v))
		}
	}
}

func (refOp) lower(w *lowering, n *node) step {
	in, declared := make([]tensor.Tensor, len(n.in)), make([]tensor.Type, len(n.out))
	var from, to []int // index in reads and writes, none: absent
	reads, writes := 0, 0
	for k, v := range n.in {
		if from = append(from, none); v != graph.None {
			x := &w.net.values[v]
			in[k] = tensor.Tensor{DType: x.typ.DType, Dims: x.dims, Quant: x.typ.Quant}
			from[k] = reads
			reads++
		}
	}
	for k, v := range n.out {
		if to = append(to, none); v != graph.None {
			declared[k] = w.graph.Fact(v).Type
			to[k] = writes
			writes++
		}
	}
	at := &w.graph.Nodes[n.at]
	return step{start: func(_ *State, st *step) process {
		return &refStep{st: st, node: at, in: in, bufs: from, outs: to, declared: declared,
			args: make([]tensor.Tensor, len(in))}
	}}
}

func (r *refStep) run(s *State) error {
	defer clear(r.args)
	for k, i := range r.bufs {
		if i == none {
			continue
		}
		buf := r.st.reads[i]
		t := r.in[k]
		if p := s.plan.buffers[buf].place; p == isResult || p == isInput {
			t = s.results[buf]
			if r.in[k].Dims != nil {
				t.Dims = r.in[k].Dims
			}
		} else {
			t.Data = s.mem[buf]
		}
		r.args[k] = t
	}
	res, err := ref.ComputeContext(s.ctx, r.node.Op, r.args, r.declared)
	if err != nil {
		return err
	}
	if len(res) != len(r.outs) {
		return fault.New(fault.Internal, "the kernel returned %d tensors, the node has %d outputs", len(res), len(r.outs))
	}
	for k, i := range r.outs {
		if i == none {
			continue
		}
		if _, ok := r.declared[k].Shape.Merge(tensor.Of(res[k].Dims...)); !ok {
			return fault.New(fault.Shape, "output %d: computes %v, the model declares %v", k, tensor.Of(res[k].Dims...),
				r.declared[k].Shape)
		}
		if err := s.keep(r.st.writes[i], res[k]); err != nil {
			return err
		}
	}
	return nil
}
