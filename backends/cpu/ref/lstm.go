package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() { register(Real, lstm) }

// lstmCells is an LSTM with its operands beside those of every recurrent operator.
type lstmCells struct {
	*sequence
	o                                        *op.LSTM
	c0, peephole, projection, added, weights []float64
	argument, in, forget, made               []float64 // of all units: a sum, the gates, the outputs before a projection
}

func lstm(o *op.LSTM, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	res := newResults(out)
	if allEmpty(out) {
		return res.tensors, nil
	}
	gates := 4
	if o.Coupled {
		gates = 3
	}
	s, err := newSequence(in, gates, o.BatchFirst, o.Clip)
	if err != nil {
		return nil, err
	}
	t := &lstmCells{sequence: s, o: o, argument: alloc[float64](s.hidden), in: alloc[float64](s.hidden),
		forget: alloc[float64](s.hidden), made: alloc[float64](s.hidden)}
	for i, to := range []*[]float64{&t.c0, &t.peephole, &t.projection, &t.added, &t.weights} {
		if 6+i < len(in) {
			*to = reals(in[6+i])
		}
	}
	zc, zh := float64(o.ZoneoutCell), float64(o.ZoneoutHidden)
	for d := range s.directions {
		for b := range s.batch {
			h, c := s.initial(s.h0, d, b, s.outputs), s.initial(t.c0, d, b, s.hidden)
			y, cell := alloc[float64](s.outputs), alloc[float64](s.hidden)
			s.walk(o.Direction, d, b, func(x []float64, at int) {
				t.step(d, x, h, c, y, cell)
				for j, v := range y {
					tick()
					res.put[0](at+j, v)
					h[j] = (1-zh)*v + zh*h[j]
				}
				for j, v := range cell {
					tick()
					c[j] = (1-zc)*v + zc*c[j]
				}
			})
			res.keep(1, s.state(d, b, s.outputs), h)
			res.keep(2, s.state(d, b, s.hidden), c)
		}
	}
	return res.tensors, nil
}

// step computes the outputs y and the cell of one step from the states h and c.
func (t *lstmCells) step(d int, x, h, c, y, cell []float64) {
	inputGate, outputGate, forgetGate, cellGate := t.o.Blocks()
	functions := t.o.Functions()
	f, g, hf := functions[3*d], functions[3*d+1], functions[3*d+2]
	in, forget := t.in, t.forget
	if !t.o.InputForget {
		for j, v := range t.arguments(d, forgetGate, 2, x, h, c) {
			tick()
			forget[j] = activate(f, t.limit(v))
		}
	}
	if !t.o.Coupled {
		for j, v := range t.arguments(d, inputGate, 0, x, h, c) {
			tick()
			in[j] = activate(f, t.limit(v))
		}
	}
	for j, v := range t.arguments(d, cellGate, none, x, h, c) {
		tick()
		switch {
		case t.o.InputForget:
			forget[j] = 1 - in[j]
		case t.o.Coupled:
			in[j] = 1 - forget[j]
		}
		cell[j] = cut(forget[j]*c[j]+in[j]*activate(g, t.limit(v)), t.o.ClipCell)
	}
	made := y
	if t.projection != nil {
		made = t.made
	}
	for j, v := range t.arguments(d, outputGate, 1, x, h, cell) {
		tick()
		made[j] = activate(f, t.limit(v)) * activate(hf, cell[j])
	}
	if t.projection == nil {
		return
	}
	for k := range y {
		tick()
		v := inner[float64, float64](made, t.projection[(d*t.outputs+k)*t.hidden:])
		if t.added != nil {
			v += t.added[d*t.outputs+k]
		}
		y[k] = cut(v, t.o.ClipProjection)
	}
}

// none is no peephole.
const none = -1

// arguments returns what a gate's function is applied to, of all units; hole is the gate's peephole of input, output
// and forget gate. The result is valid until the next call.
func (t *lstmCells) arguments(d, gate, hole int, x, h, c []float64) []float64 {
	holes := 3
	if t.o.Coupled {
		hole, holes = hole-1, 2
	}
	v := t.argument
	for j := range v {
		tick()
		wx, rh := t.products(d, gate, j, x, h)
		v[j] = wx + rh
		if t.peephole != nil && hole >= 0 {
			v[j] += t.peephole[(holes*d+hole)*t.hidden+j] * c[j]
		}
	}
	if t.weights != nil {
		normalizeUnits(v, t.weights[(d*t.gates+gate)*t.hidden:])
	}
	for j := range v {
		tick()
		w, r := t.biases(d, gate, j)
		v[j] += w + r
	}
	return v
}

// normalizeUnits gives v mean 0 and variance 1, and multiplies it by the weights.
func normalizeUnits(v, weights []float64) {
	mean, variance := 0.0, 0.0
	for _, x := range v {
		tick()
		mean += x / float64(len(v))
	}
	for _, x := range v {
		tick()
		variance += (x - mean) * (x - mean) / float64(len(v))
	}
	for j, x := range v {
		tick()
		v[j] = (x - mean) / math.Sqrt(variance+1e-8) * weights[j]
	}
}

// cut limits v to [-to, to] when to > 0.
func cut(v float64, to float32) float64 {
	if to > 0 {
		return min(max(v, -float64(to)), float64(to))
	}
	return v
}

// allEmpty reports whether no tensor has elements.
func allEmpty(out []tensor.Type) bool {
	for _, t := range out {
		if !empty(t) {
			return false
		}
	}
	return true
}
