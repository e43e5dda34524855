package nnapi

import (
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(map[string]func(t *translation) error{
		"lstm":                 lowerLSTM,
		"quantized_16bit_lstm": lowerQuantized16BitLSTM,
		"quantized_lstm":       lowerQuantizedLSTM,
	})
}

// lstmActivations are the API's numbers for core's words.
var lstmActivations = map[string]int64{"affine": spec.LSTMNone, "relu": spec.LSTMReLU, "relu6": spec.LSTMReLU6,
	"tanh": spec.LSTMTanh, "sigmoid": spec.LSTMSigmoid}

// lstm is a layer with cells. Gates are numbered as the API has them: input, forget, cell, output.
type lstm struct {
	*layer
	o              *op.LSTM
	units, outputs int64
	gates          int64
}

// places are where core's orders have the gates.
var places = map[op.GateOrder][4]int64{op.GatesIFCO: {0, 1, 2, 3}, op.GatesIOFC: {0, 2, 3, 1}}

// gate is a part of input k, whose blocks for the gates begin at a given one: size elements for each. The input gate
// has none where it is coupled.
func (l *lstm) gate(k, g int, begin int64, dims ...int64) *operand {
	if l.In(k) == nil || g == 0 && l.o.Coupled {
		return none(l.In(0).code, len(dims))
	}
	size := int64(1)
	for _, d := range dims {
		size *= d
	}
	at := places[l.o.Gates][g]
	if l.o.Coupled {
		at--
	}
	return l.block(l.In(k), (begin+at)*size, dims...)
}

// lowerLSTM has a LSTM for one step, and a sequence of them for more; of two directions each has its own.
func lowerLSTM(t *translation) error {
	o := t.N.Op.(*op.LSTM)
	base, err := t.layerOf(o.Direction, o.BatchFirst)
	switch {
	case err != nil:
		return err
	case o.Clip > 0 || len(o.ActAlpha)+len(o.ActBeta) > 0:
		return refuse("the activations of NNAPI's recurrent layers have no limits and factors")
	case o.InputForget:
		return refuse("in NNAPI the input gate follows the forget gate, not the other way round")
	case o.ZoneoutCell != 0 || o.ZoneoutHidden != 0:
		return refuse("NNAPI hands no part of an earlier state on")
	case !finite(o.ClipCell) || !finite(o.ClipProjection):
		return refuse("NNAPI has no such limit for cells or projections")
	}
	l := &lstm{layer: base, o: o, gates: 4, outputs: t.In(2).Dims()[2]}
	if o.Coupled {
		l.gates = 3
	}
	l.units = t.In(2).Dims()[1] / l.gates
	var parts [3][]*operand // steps, outputs, cells
	for l.way = range l.directions {
		made, err := l.direct()
		if err != nil {
			return err
		}
		for i, p := range made {
			parts[i] = append(parts[i], p)
		}
	}
	l.finish(parts[0], parts[1], parts[2])
	return nil
}

// activation is the API's number for the direction's function of cells; its gates are sigmoids.
func (l *lstm) activation() (code int64, err error) {
	words := []string{"sigmoid", "tanh", "tanh"}
	if n := len(l.o.Activations); n > 0 {
		words = l.o.Activations[(int(l.way)*3)%n:][:3]
	}
	gates, before, behind := strings.ToLower(words[0]), strings.ToLower(words[1]), strings.ToLower(words[2])
	code, known := lstmActivations[before]
	if gates != "sigmoid" || before != behind || !known {
		return 0, refuse("LSTM has sigmoids for gates and one activation for cells, not %s, %s and %s", gates, before,
			behind)
	}
	return code, nil
}

// direct turns one direction and returns its steps, and the output and the cells behind the last one.
func (l *lstm) direct() (made [3]*operand, err error) {
	code, err := l.activation()
	if err != nil {
		return made, err
	}
	x, none1 := l.In(0), func() *operand { return none(l.In(0).code, 1) }
	in := []*operand{l.input()}
	for g := range 4 {
		in = append(in, l.gate(1, g, l.way*l.gates, l.units, l.features))
	}
	for g := range 4 {
		in = append(in, l.gate(2, g, l.way*l.gates, l.units, l.outputs))
	}
	in = append(in, l.peepholes()...)
	for g := range 4 {
		switch b := l.gate(3, g, 2*l.way*l.gates, l.units); {
		case !b.none:
			b = l.sum(b, l.gate(3, g, (2*l.way+1)*l.gates, l.units))
			in = append(in, b)
		case g == 0 && l.o.Coupled:
			in = append(in, b)
		default:
			in = append(in, zeros(x, l.units))
		}
	}
	projection, bias := none(x.code, 2), none1()
	if p := l.In(8); p != nil {
		projection = l.block(p, l.way*l.outputs*l.units, l.outputs, l.units)
	}
	if b := l.In(9); b != nil {
		bias = l.block(b, l.way*l.outputs, l.outputs)
	}
	in = append(in, projection, bias, l.state(5, l.outputs), l.state(6, l.units), int32Scalar(code),
		floatScalar(l.o.ClipCell, x), floatScalar(l.o.ClipProjection, x))
	var norms []*operand
	for g := range 4 {
		norms = append(norms, l.gate(10, g, l.way*l.gates, l.units))
	}
	made = [3]*operand{l.results(l.outputs), x.Between(l.batches, l.outputs), x.Between(l.batches, l.units)}
	switch {
	case l.steps == 1:
		if l.In(10) != nil {
			in = append(in, norms...)
		}
		scratch := x.Between(l.batches, l.gates*l.units)
		l.addMulti(spec.LSTM, []*operand{scratch, made[1], made[2], made[0]}, in...)
		return made, nil
	case l.wanted(1) || l.wanted(2):
		l.addMulti(spec.UnidirectionalSequenceLSTM, slices.Clone(made[:]),
			append(append(in, boolScalar(!l.batchFirst)), norms...)...)
	default:
		l.add(spec.UnidirectionalSequenceLSTM, made[0], append(append(in, boolScalar(!l.batchFirst)), norms...)...)
	}
	if l.reverse() {
		made[0] = l.turned(made[0])
	}
	return made, nil
}

// peepholes belong to input, forget and output gate; core has them as input, output, forget.
func (l *lstm) peepholes() []*operand {
	out := []*operand{none(l.In(0).code, 1), none(l.In(0).code, 1), none(l.In(0).code, 1)}
	p, n := l.In(7), l.gates-1
	if p == nil {
		return out
	}
	at := func(i int64) *operand { return l.block(p, (l.way*n+i)*l.units, l.units) }
	if !l.o.Coupled {
		out[0] = at(0)
	}
	out[1], out[2] = at(n-1), at(n-2)
	return out
}

// lowerQuantized16BitLSTM: core's operator is the API's.
func lowerQuantized16BitLSTM(t *translation) error {
	t.addMulti(spec.Quantized16BitLSTM, []*operand{t.Out(0), t.Out(1)}, t.Operands(t.N.In)...)
	return nil
}

// quantizedLSTM are the types of the arguments of QUANTIZED_LSTM that may be left out or differ from core's.
var quantizedLSTM = []struct {
	first, last int
	code        spec.OperandCode
	rank        int
}{{1, 8, spec.TensorQuant8Symm, 2}, {9, 11, spec.TensorQuant16Symm, 1}, {12, 15, spec.TensorInt32, 1},
	{16, 16, spec.TensorQuant8Symm, 2}, {17, 17, spec.TensorInt32, 1}, {20, 23, spec.TensorQuant16Symm, 1}}

// lowerQuantizedLSTM: core's operator is the API's, whose weights are of a type without a zero point and whose output
// is there twice.
func lowerQuantizedLSTM(t *translation) error {
	o := t.N.Op.(*op.QuantizedLSTM)
	in := make([]*operand, 24)
	for k := range in {
		in[k] = t.In(k)
	}
	for _, q := range quantizedLSTM {
		for k := q.first; k <= q.last; k++ {
			switch x := in[k]; {
			case x == nil:
				in[k] = none(q.code, q.rank)
			case x.code == q.code:
			case x.data == nil || x.typ.Quant == nil || x.typ.Quant.ZeroAt(0) != 0:
				return refuse("input %d is no constant of %v", k, q.code)
			default:
				in[k] = &operand{code: q.code, typ: x.typ, data: x.data}
			}
		}
	}
	number := func(v float32) *operand {
		return &operand{code: spec.Float32, typ: tensor.T(tensor.Float32), data: tensor.Float32s(v)}
	}
	in = append(in, number(o.ClipCell), number(o.ClipProjection))
	for _, s := range o.Intermediate {
		in = append(in, number(s))
	}
	in = append(in, int32Scalar(o.HiddenZero), number(o.HiddenScale))
	state := t.Out(0).Between(t.Out(0).Dims()...)
	t.addMulti(spec.QuantizedLSTM, []*operand{state, t.Out(1), t.Out(0)}, in...)
	return nil
}
