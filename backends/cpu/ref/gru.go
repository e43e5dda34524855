package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() { register(Real, gru) }

func gru(o *op.GRU, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	res := newResults(out)
	if allEmpty(out) {
		return res.tensors, nil
	}
	s, err := newSequence(in, 3, o.BatchFirst, o.Clip)
	if err != nil {
		return nil, err
	}
	const updateGate, resetGate, hiddenGate = 0, 1, 2
	functions := o.Functions()
	for d := range s.directions {
		f, g := functions[2*d], functions[2*d+1]
		for b := range s.batch {
			h := s.initial(s.h0, d, b, s.outputs)
			next, reset, gated := alloc[float64](s.hidden), alloc[float64](s.hidden), alloc[float64](s.hidden)
			s.walk(o.Direction, d, b, func(x []float64, y int) {
				for j := range h {
					tick()
					reset[j] = activate(f, s.limit(s.input(d, resetGate, j, x)+s.recurrence(d, resetGate, j, h)))
					gated[j] = reset[j] * h[j]
				}
				for j := range h {
					tick()
					z := activate(f, s.limit(s.input(d, updateGate, j, x)+s.recurrence(d, updateGate, j, h)))
					past := s.recurrence(d, hiddenGate, j, gated)
					if o.LinearBeforeReset {
						past = reset[j] * s.recurrence(d, hiddenGate, j, h)
					}
					next[j] = (1-z)*activate(g, s.limit(s.input(d, hiddenGate, j, x)+past)) + z*h[j]
					res.put[0](y+j, next[j])
				}
				h, next = next, h
			})
			res.keep(1, s.state(d, b, s.outputs), h)
		}
	}
	return res.tensors, nil
}
