package export

import (
	"github.com/anynpu/anynpu/core/format/onnx/lower"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// recurrent is the common part of the recurrent operators.
type recurrent struct {
	name         string
	direction    op.Direction
	hidden       int64
	functions    []op.Activation // of each direction, one after the other; nil: the operator's own
	clip         float32
	batchFirst   bool
	more         []attr
	states, outs int // how many states come in from input 5 on, and how many outputs there are
}

func recurrentRules() []rule {
	return []rule{
		on(exportLSTM),
		on(func(n *node, o *op.GRU) error {
			return n.recurrent(recurrent{"GRU", o.Direction, o.Hidden, said(o.Activations, o.Functions()),
				o.Clip, o.BatchFirst, []attr{flag("linear_before_reset", o.LinearBeforeReset)}, 1, 2}, n.weights())
		}),
		on(func(n *node, o *op.RNN) error {
			return n.recurrent(recurrent{"RNN", o.Direction, o.Hidden, said(o.Activations, o.Functions()),
				o.Clip, o.BatchFirst, nil, 1, 2}, n.weights())
		}),
		on(exportSVDF),
	}
}

// said are the functions of an operator that names them.
func said(names []string, all []op.Activation) []op.Activation {
	if len(names) == 0 {
		return nil
	}
	return all
}

// functions are the names that ONNX gives activations, by core's name.
var functions = map[string]string{"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid", "softsign": "Softsign",
	"softplus": "Softplus", "hardsigmoid": "HardSigmoid", "leakyrelu": "LeakyRelu", "thresholdedrelu": "ThresholdedRelu",
	"scaledtanh": "ScaledTanh", "elu": "Elu", "affine": "Affine"}

// weights are the inputs 1 to 3.
func (n *node) weights() []string {
	d := n.dtype(0)
	return []string{n.as(1, d), n.as(2, d), n.as(3, d)}
}

// recurrent emits the operator, which has time as its first dimension.
func (n *node) recurrent(o recurrent, weights []string) error {
	d := n.dtype(0)
	if o.hidden == 0 {
		s := n.fact(2).Shape
		if s.Rank() != 3 || !s.Dims[2].Known() {
			return refuse("the number of hidden units is not known")
		}
		o.hidden = s.Dims[2].N
	}
	way, _ := word(lower.Directions, o.direction)
	attrs := append(o.more, text("direction", way), number("hidden_size", o.hidden))
	if len(o.functions) > 0 {
		var names []string
		var alpha, beta []float32
		for _, f := range o.functions {
			name := functions[f.Name]
			if name == "" {
				return refuse("the activation %s of a recurrent operator", f.Name)
			}
			names = append(names, name)
			if takes := op.ActivationArguments(f.Name); takes > 0 {
				if alpha = append(alpha, float32(f.Alpha)); takes > 1 {
					beta = append(beta, float32(f.Beta))
				}
			}
		}
		attrs = append(attrs, texts("activations", names))
		if len(alpha) > 0 {
			attrs = append(attrs, reals("activation_alpha", alpha))
		}
		if len(beta) > 0 {
			attrs = append(attrs, reals("activation_beta", beta))
		}
	}
	if o.clip > 0 {
		attrs = append(attrs, real("clip", o.clip))
	}
	turn := func(v string, perm ...int64) string {
		if v == "" || !o.batchFirst {
			return v
		}
		return n.transpose(v, perm...)
	}
	in := append([]string{turn(n.x(0), 1, 0, 2)}, weights...)
	in = append(in, "")
	if n.has(4) {
		in[4] = n.code(4)
		if n.fact(4).DType != tensor.Int32 {
			in[4] = n.cast(in[4], tensor.Int32)
		}
	}
	for i := range o.states {
		in = append(in, turn(n.as(5+i, d), 1, 0, 2))
	}
	if o.name == "LSTM" {
		in = append(in, n.as(7, d))
	}
	out := n.emit(o.name, o.outs, in, attrs...)
	for k, v := range out {
		if k == 0 {
			v = turn(v, 2, 0, 1, 3)
		} else {
			v = turn(v, 1, 0, 2)
		}
		if err := n.set(k, v, d); err != nil {
			return err
		}
	}
	return nil
}

// exportLSTM: ONNX has the gates in the order input, output, forget and cell, and none of the later additions.
func exportLSTM(n *node, o *op.LSTM) error {
	for i, what := range []string{"a projection", "the bias of a projection", "weights of a normalization"} {
		if n.has(8 + i) {
			return refuse("%s, which LSTM of ONNX does not have", what)
		}
	}
	if o.ClipCell != 0 || o.ClipProjection != 0 || o.ZoneoutCell != 0 || o.ZoneoutHidden != 0 || o.Coupled {
		return refuse("a cell that is cut, zoneout, or an input gate that is 1 minus the forget gate, which LSTM of ONNX " +
			"does not have")
	}
	w := n.weights()
	if o.Gates == op.GatesIFCO {
		for i := range w {
			if w[i] != "" {
				w[i] = n.reordered(w[i], i == 2)
			}
		}
	}
	return n.recurrent(recurrent{"LSTM", o.Direction, o.Hidden, said(o.Activations, o.Functions()), o.Clip, o.BatchFirst,
		[]attr{flag("input_forget", o.InputForget)}, 2, 3}, w)
}

// reordered are weights of input, forget, cell and output gate as input, output, forget and cell; a bias has them
// twice.
func (n *node) reordered(w string, bias bool) string {
	parts := 4
	if bias {
		parts = 8
	}
	p := n.emit("Split", parts, []string{w}, number("axis", 1), number("num_outputs", int64(parts)))
	var in []string
	for i := 0; i < parts; i += 4 {
		in = append(in, p[i], p[i+3], p[i+1], p[i+2])
	}
	return n.one("Concat", in, number("axis", 1))
}

// exportSVDF keeps the last products of the features and weighs them.
func exportSVDF(n *node, o *op.SVDF) error {
	features, err := n.sizes(2)
	if err != nil {
		return err
	}
	d := n.dtype(0)
	filters, steps := features[0], features[1]
	state := n.one("Reshape", []string{n.as(4, d), n.ints(-1, filters, steps)})
	now := n.one("MatMul", []string{n.x(0), n.transpose(n.as(1, d), 1, 0)})
	past := n.one("Slice", []string{state, n.ints(0), n.ints(steps - 1), n.ints(2)})
	all := n.one("Concat", []string{past, n.one("Unsqueeze", []string{now, n.ints(2)})}, number("axis", 2))
	sums := n.one("ReduceSum", []string{n.one("Mul", []string{all, n.as(2, d)}), n.ints(2)}, number("keepdims", 0))
	y := n.one("ReduceSum", []string{n.one("Reshape", []string{sums, n.ints(-1, filters/o.Rank, o.Rank)}), n.ints(2)},
		number("keepdims", 0))
	if n.has(3) {
		y = n.one("Add", []string{y, n.as(3, d)})
	}
	if err := n.set(0, y, d); err != nil {
		return err
	}
	next := n.one("Pad", []string{n.one("Slice", []string{all, n.ints(1), n.ints(steps), n.ints(2)}),
		n.ints(0, 0, 0, 0, 0, 1)})
	return n.set(1, n.one("Flatten", []string{next}, number("axis", 1)), d)
}
