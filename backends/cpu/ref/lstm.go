package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() { register(Real, lstm) }

func lstm(o *op.LSTM, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	res := newResults(out)
	if allEmpty(out) {
		return res.tensors, nil
	}
	s, err := newSequence(in, 4, o.BatchFirst, o.Clip)
	if err != nil {
		return nil, err
	}
	var c0, peephole []float64
	if len(in) > 6 {
		c0 = reals(in[6])
	}
	if len(in) > 7 {
		peephole = reals(in[7])
	}
	const inputGate = 0
	outputGate, forgetGate, cellGate := 1, 2, 3
	if o.Gates == op.GatesIFCO {
		forgetGate, cellGate, outputGate = 1, 2, 3
	}
	zc, zh := float64(o.ZoneoutCell), float64(o.ZoneoutHidden)
	functions := o.Functions()
	for d := range s.directions {
		f, g, hf := functions[3*d], functions[3*d+1], functions[3*d+2]
		peep := func(k, j int, c float64) float64 {
			if peephole == nil {
				return 0
			}
			return peephole[(3*d+k)*s.hidden+j] * c
		}
		for b := range s.batch {
			h, c := s.initial(s.h0, d, b), s.initial(c0, d, b)
			nextH := alloc[float64](s.hidden)
			s.walk(o.Direction, d, b, func(x []float64, y int) {
				for j := range h {
					sum := func(gate int) float64 { return s.input(d, gate, j, x) + s.recurrence(d, gate, j, h) }
					i := activate(f, s.limit(sum(inputGate)+peep(0, j, c[j])))
					forget := 1 - i
					if !o.InputForget {
						forget = activate(f, s.limit(sum(forgetGate)+peep(2, j, c[j])))
					}
					cell := forget*c[j] + i*activate(g, s.limit(sum(cellGate)))
					v := activate(f, s.limit(sum(outputGate)+peep(1, j, cell))) * activate(hf, cell)
					res.put[0](y+j, v)
					nextH[j] = (1-zh)*v + zh*h[j]
					c[j] = (1-zc)*cell + zc*c[j]
				}
				h, nextH = nextH, h
			})
			res.keep(1, s.state(d, b), h)
			res.keep(2, s.state(d, b), c)
		}
	}
	return res.tensors, nil
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
