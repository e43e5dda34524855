package numerics

import (
	"fmt"
	"maps"

	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// memories binds inputs and outputs to memory that they share.
func memories() *group {
	g := newGroup("memory", "inputs and outputs that share memory")
	nets := surroundings()
	maps.Copy(nets, coded())
	for _, name := range sorted(nets) {
		on(g, "rk3588", name, func(t *T) { t.shares(nets[name], len(name)) })
	}
	for _, dims := range [][]int{{6}, {3, 5}, {2, 3, 4, 5}, {1, 1, 5, 4}, {1, 7, 1, 1}} {
		for _, e := range elementTypes {
			n := &net{in: []port{{name: "x", elem: e.elem, dims: dims, quant: e.quant}},
				build: moved(e.elem, e.quant, e.negative), opset: 21}
			on(g, "rk3588", e.name+"_"+shapeName(dims), func(t *T) { t.shares(n, len(dims)) })
		}
	}
	return g
}

// shares runs a net with one output after the other in the memory of the inputs: at their place, and over half of them.
// A run reads all inputs before it writes.
func (t *T) shares(n *net, k int) {
	s, noise := t.start(n), noise(k)
	for out := range s.out {
		for _, far := range []int{0, 1} {
			for _, kind := range []uint32{rknn.Float32, n.in[0].kind()} {
				s.over(out, kind, far, &noise)
			}
		}
	}
}

// over runs with all inputs one after the other in a memory, and an output over them.
func (s *session) over(out int, kind uint32, far int, n *noise) {
	p := &s.out[out]
	var data [][]byte
	total := 0
	for i := range s.net.in {
		in := &s.net.in[i]
		x := n.elements(kind, count(in.dims), s.net.span)
		if in.quant == nil && kind == in.kind() && kind == rknn.Bool {
			for k := range x {
				x[k] = min(x[k], 1)
			}
		}
		rows := 0
		if len(in.dims) == 4 {
			rows = in.dims[2]
		}
		s.in[i] = in.taken(x, kind, false, rows)
		b := encoded(kind, x)
		data, total = append(data, b), total+(len(b)+63)&^63
	}
	to := p.kind()
	if n.below(2) == 0 {
		to = rknn.Float32
	}
	size := count(p.dims) * elemBytes(to)
	at := far * (total / 2 &^ 63)
	base := s.Mem(s.ctx, max(total, at+size)+64)
	part := func(size, at int) *rknn.TensorMem {
		return s.OwnedMem(s.Ptr("create_mem_from_fd", s.ctx, base.FD, base.Virt, size, at))
	}
	next := 0
	for i, b := range data {
		a := s.net.in[i].attr(rknn.QueryInput, i, s.Board())
		a.Kind = kind
		m := part(len(b), next)
		s.OK("set_io_mem", s.ctx, cmem.Address(m), &a)
		copy(m.Bytes(), b)
		next += (len(b) + 63) &^ 63
	}
	a := p.attr(rknn.QueryOutput, out, s.Board())
	a.Kind = to
	m := part(size, at)
	s.OK("set_io_mem", s.ctx, cmem.Address(m), &a)
	for i := range s.out { // others have memory of their own
		if i != out {
			s.bindOutput(i, 2)
		}
	}
	s.run()
	s.same(fmt.Sprintf("%q as type %d over inputs of type %d from byte %d on", p.name, to, kind, at), to, m.Bytes(),
		p.laid(s.want[out], to, p.format(), 1), s.net.tol)
	clear(base.Bytes()) // the next inputs are written there; results of the last run are what they were
	s.fetch("after new bytes in shared memory", far)
}
