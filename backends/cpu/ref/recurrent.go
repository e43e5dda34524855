package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// sequence is the inputs of a recurrent operator as real values, and its sizes.
type sequence struct {
	steps, batch, features, directions int
	hidden, outputs                    int // units, and those that a step hands on
	gates                              int
	batchFirst                         bool
	x, w, r, bias, h0                  []float64
	lens                               []int64 // nil: all steps
	clip                               float64
}

func newSequence(in []tensor.Tensor, gates int, batchFirst bool, clip float32) (*sequence, error) {
	optional := func(i int) tensor.Tensor {
		if i < len(in) {
			return in[i]
		}
		return tensor.Tensor{}
	}
	d := in[0].Dims
	s := &sequence{steps: int(d[0]), batch: int(d[1]), features: int(d[2]), hidden: int(in[2].Dims[1]) / gates,
		outputs: int(in[2].Dims[2]), directions: int(in[2].Dims[0]),
		gates: gates, batchFirst: batchFirst, x: reals(in[0]), w: reals(in[1]), r: reals(in[2]),
		bias: reals(optional(3)),
		h0:   reals(optional(5)), clip: float64(clip)}
	if batchFirst {
		s.steps, s.batch = s.batch, s.steps
	}
	if lens := optional(4); !lens.Absent() {
		v, err := readInts(lens.DType, lens.Data, lens.Count())
		if err != nil {
			return nil, fault.As(fault.Type, err, "input 4")
		}
		for b, n := range v {
			tick()
			if n < 0 || n > int64(s.steps) {
				return nil, fault.New(fault.Data, "input 4: length %d of sequence %d is outside 0..%d", n, b, s.steps)
			}
		}
		s.lens = v
	}
	return s, nil
}

// state is the position of the first element for direction d, batch b of a state of so many units.
func (s *sequence) state(d, b, units int) int {
	if s.batchFirst {
		return (b*s.directions + d) * units
	}
	return (d*s.batch + b) * units
}

// initial copies a state's start, zeros when it is not given.
func (s *sequence) initial(from []float64, d, b, units int) []float64 {
	h := alloc[float64](units)
	if from != nil {
		copy(h, from[s.state(d, b, units):])
	}
	return h
}

// walk calls step for each valid time step of direction d, batch b: x is the step's features, y the position of its
// values in the output sequence.
func (s *sequence) walk(direction op.Direction, d, b int, step func(x []float64, y int)) {
	n := s.steps
	if s.lens != nil {
		n = int(s.lens[b])
	}
	reverse := direction == op.Reverse || direction == op.Bidirectional && d == 1
	for k := range n {
		tick()
		t := k
		if reverse {
			t = n - 1 - k
		}
		row, y := t*s.batch+b, (t*s.directions+d)*s.batch+b
		if s.batchFirst {
			row, y = b*s.steps+t, (b*s.steps+t)*s.directions+d
		}
		step(s.x[row*s.features:][:s.features], y*s.outputs)
	}
}

// input is W x + bW of hidden unit j of a gate; recurrence is R h + bR.
func (s *sequence) input(d, gate, j int, x []float64) float64 {
	w, _ := s.products(d, gate, j, x, nil)
	bias, _ := s.biases(d, gate, j)
	return w + bias
}

func (s *sequence) recurrence(d, gate, j int, h []float64) float64 {
	_, r := s.products(d, gate, j, nil, h)
	_, bias := s.biases(d, gate, j)
	return r + bias
}

// products are W x and R h of hidden unit j of a gate.
func (s *sequence) products(d, gate, j int, x, h []float64) (wx, rh float64) {
	row := (d*s.gates+gate)*s.hidden + j
	return inner[float64, float64](x, s.w[row*s.features:]), inner[float64, float64](h, s.r[row*s.outputs:])
}

func (s *sequence) biases(d, gate, j int) (w, r float64) {
	if s.bias == nil {
		return 0, 0
	}
	return s.bias[2*d*s.gates*s.hidden+gate*s.hidden+j], s.bias[(2*d+1)*s.gates*s.hidden+gate*s.hidden+j]
}

// limit cuts the argument of an activation.
func (s *sequence) limit(v float64) float64 {
	if s.clip > 0 {
		return min(max(v, -s.clip), s.clip)
	}
	return v
}

// results are the outputs of a recurrent operator; those that are not asked for are computed and dropped.
type results struct {
	tensors []tensor.Tensor
	put     [4]func(i int, r float64)
}

func newResults(out []tensor.Type) *results {
	r := &results{}
	for i := range r.put {
		r.put[i] = func(int, float64) {}
	}
	for i, t := range out {
		y, put := realStore(t)
		r.tensors, r.put[i] = append(r.tensors, y), put
	}
	return r
}

// keep stores a state.
func (r *results) keep(output, at int, v []float64) {
	for j, x := range v {
		tick()
		r.put[output](at+j, x)
	}
}

// activate applies an activation function.
func activate(f op.Activation, x float64) float64 {
	switch f.Name {
	case "relu":
		return max(0, x)
	case "relu1":
		return min(max(-1, x), 1)
	case "relu6":
		return min(max(0, x), 6)
	case "tanh":
		return math.Tanh(x)
	case "sigmoid":
		return 1 / (1 + math.Exp(-x))
	case "softsign":
		return x / (1 + math.Abs(x))
	case "softplus":
		return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
	case "leakyrelu":
		if x < 0 {
			return f.Alpha * x
		}
		return x
	case "thresholdedrelu":
		if x <= f.Alpha {
			return 0
		}
		return x
	case "elu":
		if x < 0 {
			return f.Alpha * math.Expm1(x)
		}
		return x
	case "affine":
		return f.Alpha*x + f.Beta
	case "scaledtanh":
		return f.Alpha * math.Tanh(f.Beta*x)
	}
	return min(max(f.Alpha*x+f.Beta, 0), 1) // hardsigmoid
}
