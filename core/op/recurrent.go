package op

import (
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// Direction is the order in which a recurrent operator walks through time. A reverse walk starts at the last step of
// each sequence and writes its results at the steps they belong to.
type Direction uint8

// The directions; Bidirectional has both, forward first, with their own weights.
const (
	Forward Direction = iota
	Reverse
	Bidirectional
)

// Count is the number of directions, 1 or 2.
func (d Direction) Count() int {
	if d == Bidirectional {
		return 2
	}
	return 1
}

// recurrent holds the common part of LSTM, GRU and RNN.
type recurrent struct {
	direction   Direction
	hidden      int64
	gates       int64 // blocks of weights per direction
	functions   int   // activation functions per direction
	activations []string
	alpha, beta []float32
	clip        float32
	batchFirst  bool
	cell        bool // has a second state, peepholes and, if it is given, a projection
}

// activationArguments is how many of alpha and beta each activation function takes, by lower-case name.
var activationArguments = map[string]int{"relu": 0, "relu1": 0, "relu6": 0, "tanh": 0, "sigmoid": 0, "softsign": 0,
	"softplus":  0,
	"leakyrelu": 1, "thresholdedrelu": 1,
	"elu": 1, "affine": 2, "scaledtanh": 2, "hardsigmoid": 2}

func (r *recurrent) check() error {
	if r.direction > Bidirectional {
		return fault.New(fault.Argument, "unknown direction %d", r.direction)
	}
	if r.hidden < 0 || r.hidden > maxWindow {
		return fault.New(fault.Argument, "hidden size %d", r.hidden)
	}
	if !(r.clip >= 0) {
		return fault.New(fault.Argument, "clip %v: want 0 (none) or more", r.clip)
	}
	if n := r.functions * r.direction.Count(); len(r.activations) != 0 && len(r.activations) != n {
		return fault.New(fault.Argument, "activations %v: want %d", r.activations, n)
	}
	for _, a := range r.activations {
		if _, ok := activationArguments[strings.ToLower(a)]; !ok {
			return fault.New(fault.Argument, "unknown activation %q", a)
		}
	}
	return nil
}

// ActivationArguments is how many of alpha and beta an activation function takes, by its lower-case name.
func ActivationArguments(name string) int { return activationArguments[name] }

// recurrentInputs names the inputs in messages: façades number them otherwise.
var recurrentInputs = [...]string{"sequence", "input weights", "hidden weights", "bias", "sequence lengths",
	"initial hidden state", "initial cell state", "peephole weights", "projection weights", "projection bias",
	"normalization weights"}

// sizes returns the number of hidden units and that of the units that a step hands on, which differ behind a
// projection.
func (r *recurrent) sizes(in []tensor.Fact) (hidden, outputs tensor.Dim) {
	hidden, outputs = tensor.AnyDim(), tensor.AnyDim()
	if r.hidden > 0 {
		hidden = tensor.D(r.hidden)
	}
	if s := in[2].Shape; s.Rank() == 3 {
		outputs = s.Dims[2]
	}
	if !present(in, 8) {
		if hidden.Known() {
			return hidden, hidden
		}
		return outputs, outputs
	}
	if s := in[8].Shape; s.Rank() == 3 {
		if !hidden.Known() {
			hidden = s.Dims[2]
		}
		if !outputs.Known() {
			outputs = s.Dims[1]
		}
	}
	return hidden, outputs
}

// infer checks x, w, r, bias?, seq_lens?, h0? and for a cell c0?, peephole?, projection?, its bias?, normalization?,
// and returns the shapes of y and of the states.
func (r *recurrent) infer(in []tensor.Fact) (y, state, cell tensor.Shape, err error) {
	if err := r.check(); err != nil {
		return y, state, cell, err
	}
	if present(in, 9) && !present(in, 8) {
		return y, state, cell, fault.New(fault.Argument, "input 9, the %s: there are no %s", recurrentInputs[9],
			recurrentInputs[8])
	}
	for i := range in {
		if i == 4 && present(in, i) {
			err = wantType(in, i, "an integer type", tensor.DType.IsInt)
		} else if present(in, i) {
			err = wantTensor(in, i, realWords, isReal)
		}
		if err != nil {
			return y, state, cell, err
		}
	}
	directions := tensor.D(int64(r.direction.Count()))
	hidden, outputs := r.sizes(in)
	for _, d := range []tensor.Dim{hidden, outputs} {
		if d.Known() && d.N > maxWindow {
			return y, state, cell, fault.New(fault.Shape, "input 2: hidden size %d", d.N)
		}
	}
	times := func(n int64) tensor.Dim {
		if hidden.Known() {
			return tensor.D(n * hidden.N)
		}
		return tensor.AnyDim()
	}
	steps, batch, features := tensor.AnyDim(), tensor.AnyDim(), tensor.AnyDim()
	if s := in[0].Shape; s.Ranked {
		if err := wantRank(in, 0, 3); err != nil {
			return y, state, cell, err
		}
		steps, batch, features = s.Dims[0], s.Dims[1], s.Dims[2]
		if r.batchFirst {
			steps, batch = batch, steps
		}
	}
	stateDims, cellDims := []tensor.Dim{directions, batch, outputs}, []tensor.Dim{directions, batch, hidden}
	yDims := []tensor.Dim{steps, directions, batch, outputs}
	if r.batchFirst {
		stateDims, cellDims = []tensor.Dim{batch, directions, outputs}, []tensor.Dim{batch, directions, hidden}
		yDims = []tensor.Dim{batch, steps, directions, outputs}
	}
	want := [][]tensor.Dim{nil, {directions, times(r.gates), features}, {directions, times(r.gates), outputs},
		{directions, times(2 * r.gates)},
		{batch}, stateDims, cellDims, {directions, times(r.gates - 1)}, {directions, outputs, hidden},
		{directions, outputs}, {directions, times(r.gates)}}
	for i := 1; i < len(in); i++ {
		s := in[i].Shape
		if !present(in, i) || !s.Ranked {
			continue
		}
		if err := wantRank(in, i, len(want[i])); err != nil {
			return y, state, cell, err
		}
		for k, d := range want[i] {
			if _, err := agree(s.Dims[k], d, "sizes"); err != nil {
				return y, state, cell, fault.New(fault.Shape, "input %d, the %s: want %v, got %v", i, recurrentInputs[i],
					tensor.OfDims(want[i]...), s)
			}
		}
	}
	return tensor.OfDims(yDims...), tensor.OfDims(stateDims...), tensor.OfDims(cellDims...), nil
}

// facts are the outputs y, h and for a cell c, as many as are declared.
func (r *recurrent) facts(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	inputs, outputs := 6, 2
	if r.cell {
		inputs, outputs = len(recurrentInputs), 3
	}
	if err := arity(in, 3, inputs, declared, 1, outputs); err != nil {
		return nil, err
	}
	y, state, cell, err := r.infer(in)
	if err != nil {
		return nil, err
	}
	out := make([]tensor.Fact, len(declared))
	for i := range out {
		out[i] = outType(declared[i], in[0], []tensor.Shape{y, state, cell}[i])
	}
	return out, nil
}

// Activation is one activation function of a recurrent operator: its lower-case name and arguments.
type Activation struct {
	Name        string
	Alpha, Beta float64
}

// activationDefaults are alpha and beta where they are not given.
var activationDefaults = map[string][2]float64{"leakyrelu": {0.01, 0}, "thresholdedrelu": {1, 0}, "elu": {1, 0},
	"affine":     {1, 0},
	"scaledtanh": {1, 1}, "hardsigmoid": {0.2, 0.5}}

// resolve returns the functions of all directions; alpha and beta are consumed in order by the functions that take
// them.
func (r *recurrent) resolve(defaults ...string) []Activation {
	names := r.activations
	if len(names) == 0 {
		for range r.direction.Count() {
			names = append(names, defaults...)
		}
	}
	out := make([]Activation, len(names))
	a, b := 0, 0
	for i, n := range names {
		n = strings.ToLower(n)
		d := activationDefaults[n]
		out[i] = Activation{n, d[0], d[1]}
		if activationArguments[n] > 0 {
			if a < len(r.alpha) {
				out[i].Alpha = float64(r.alpha[a])
			}
			a++
		}
		if activationArguments[n] > 1 {
			if b < len(r.beta) {
				out[i].Beta = float64(r.beta[b])
			}
			b++
		}
	}
	return out
}
