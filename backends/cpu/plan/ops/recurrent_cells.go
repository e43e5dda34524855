package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
)

func (t *recurrentTask) Run(s *run.State) error {
	work := s.F32(t.st.Scratch)
	take := func(n int) []float32 {
		v := work[:n]
		work = work[n:]
		return v
	}
	cols, size := t.gates*t.hidden, t.batch*t.hidden
	t.all, t.z = take(t.steps*t.batch*cols), take(t.batch*cols)
	t.h, t.c, t.held = take(size), take(size), take(size)
	for d := range t.directions {
		t.input(s, d)
		t.begin(s, t.h, t.h0, d)
		t.begin(s, t.c, t.c0, d)
		for k := range t.steps {
			at := k
			if t.direction == op.Reverse || t.direction == op.Bidirectional && d == 1 {
				at = t.steps - 1 - k
			}
			switch t.gates {
			case 4:
				t.lstm(s, d, at)
			case 3:
				t.gru(s, d, at)
			default:
				t.multiply(s, d, at, t.r, t.gates*t.hidden, 0, t.h, true)
				t.apply(t.functions[d], 0)
				copy(t.h, t.z)
			}
			t.emit(s, d, at)
		}
		t.end(s, t.h, t.outputs[1], d)
		t.end(s, t.c, t.outputs[2], d)
	}
	return nil
}

// lstm computes step at of direction d: c = forget*c + input*candidate, h = output*f(c).
func (t *recurrentTask) lstm(s *run.State, d, at int) {
	t.multiply(s, d, at, t.r, 4*t.hidden, 0, t.h, true)
	gates, candidate, out := t.functions[3*d], t.functions[3*d+1], t.functions[3*d+2]
	for k, gate := range t.order {
		f := gates
		if k == 3 {
			f = candidate
		}
		t.apply(f, gate)
	}
	for b := range t.batch {
		i, f, o, g := t.gate(b, t.order[0]), t.gate(b, t.order[1]), t.gate(b, t.order[2]), t.gate(b, t.order[3])
		c, h := t.c[b*t.hidden:][:t.hidden], t.h[b*t.hidden:][:t.hidden]
		kernel.BinaryVV(kernel.Mul, c, c, f)
		kernel.BinaryVV(kernel.Mul, g, g, i)
		kernel.BinaryVV(kernel.Add, c, c, g)
		kernel.Unary(out.Op, h, c, out.Alpha, out.Beta)
		kernel.BinaryVV(kernel.Mul, h, h, o)
	}
}

// gru computes step at of direction d: h = (1-update)*candidate + update*h.
func (t *recurrentTask) gru(s *run.State, d, at int) {
	const update, reset, candidate = 0, 1, 2
	gates, last := t.functions[2*d], t.functions[2*d+1]
	if t.separate() {
		t.multiply(s, d, at, t.r, 2*t.hidden, 0, t.h, true)
	} else {
		t.multiply(s, d, at, t.r, 3*t.hidden, 0, t.h, false)
		t.addInput(at)
	}
	t.apply(gates, update)
	t.apply(gates, reset)
	for b := range t.batch {
		if r := t.gate(b, reset); t.separate() {
			kernel.BinaryVV(kernel.Mul, t.held[b*t.hidden:][:t.hidden], t.h[b*t.hidden:][:t.hidden], r)
		} else {
			z := t.gate(b, candidate)
			kernel.BinaryVV(kernel.Mul, z, z, r)
			kernel.BinaryVV(kernel.Add, z, z, t.inputs(at, b)[2*t.hidden:])
		}
	}
	if t.separate() {
		t.multiply(s, d, at, t.inner, t.hidden, 2*t.hidden, t.held, true)
	}
	t.apply(last, candidate)
	for b := range t.batch {
		z, n, h := t.gate(b, update), t.gate(b, candidate), t.h[b*t.hidden:][:t.hidden]
		kernel.BinaryVV(kernel.Mul, h, h, z)
		kernel.BinarySV(kernel.Sub, z, 1, z)
		kernel.BinaryVV(kernel.Mul, n, n, z)
		kernel.BinaryVV(kernel.Add, h, h, n)
	}
}

// addInput adds the input's products to the gates but the candidate.
func (t *recurrentTask) addInput(at int) {
	for b := range t.batch {
		z := t.z[b*3*t.hidden:][:2*t.hidden]
		kernel.BinaryVV(kernel.Add, z, z, t.inputs(at, b))
	}
}

// inputs are the input's products of step at, sequence b.
func (t *recurrentTask) inputs(at, b int) []float32 {
	row, ld := t.row(at)
	cols := t.gates * t.hidden
	return t.all[(row+b*ld)*cols:][:cols]
}
