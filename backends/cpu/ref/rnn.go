package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() { register(Real, rnn) }

func rnn(o *op.RNN, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	res := newResults(out)
	if allEmpty(out) {
		return res.tensors, nil
	}
	s, err := newSequence(in, 1, o.BatchFirst, o.Clip)
	if err != nil {
		return nil, err
	}
	functions := o.Functions()
	for d := range s.directions {
		for b := range s.batch {
			h := s.initial(s.h0, d, b, s.outputs)
			next := alloc[float64](s.hidden)
			s.walk(o.Direction, d, b, func(x []float64, y int) {
				for j := range h {
					tick()
					next[j] = activate(functions[d], s.limit(s.input(d, 0, j, x)+s.recurrence(d, 0, j, h)))
					res.put[0](y+j, next[j])
				}
				h, next = next, h
			})
			res.keep(1, s.state(d, b, s.outputs), h)
		}
	}
	return res.tensors, nil
}
