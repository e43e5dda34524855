package nnapi

import (
	"math"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(map[string]func(t *translation) error{"rnn": lowerRNN, "svdf": lowerSVDF})
}

// wanted reports whether somebody reads output k of the node.
func (t *translation) wanted(k int) bool {
	if !t.given(k) {
		return false
	}
	v := t.N.Out[k]
	return slices.Contains(t.G.Out, v) ||
		slices.ContainsFunc(t.G.Nodes, func(n graph.Node) bool { return slices.Contains(n.In, v) })
}

// block is a part of an operand, elements that lie side by side from one on, in sizes of its own; nil of nil.
func (t *translation) block(x *operand, begin int64, dims ...int64) *operand {
	if x == nil {
		return nil
	}
	y := x.Between(dims...)
	n, _ := y.typ.Shape.Count()
	if x.data != nil {
		size := int64(x.typ.DType.Bits() / 8)
		y.data = x.data[begin*size : (begin+n)*size]
		return y
	}
	if all, _ := x.typ.Shape.Count(); all > n {
		row, part := x.Between(all), x.Between(n)
		t.reshape(x, row)
		t.add(spec.Slice, part, row, list(begin), list(n))
		x = part
	}
	t.reshape(x, y)
	return y
}

// zeros is a constant of the type of another operand.
func zeros(like *operand, dims ...int64) *operand {
	o := like.Between(dims...)
	n, _ := o.typ.ByteSize()
	o.data = make([]byte, n)
	return o
}

// sum adds two biases, before the run if they are known.
func (t *translation) sum(a, b *operand) *operand {
	y := a.Between(a.Dims()...)
	if a.data == nil || b.data == nil {
		t.add(spec.Add, y, a, b, unfused())
		return y
	}
	n, d := int(a.Dims()[0]), a.typ.DType
	p, err := tensor.ReadFloats(d, a.data, n)
	q, err2 := tensor.ReadFloats(d, b.data, n)
	if err != nil || err2 != nil {
		t.refused = refuse("a bias is no list of real numbers")
		return y
	}
	y.data = make([]byte, len(a.data))
	for i := range p {
		tensor.PutFloat(d, y.data, i, p[i]+q[i], false)
	}
	return y
}

// layer is the common part of recurrent operators.
type layer struct {
	*translation
	batchFirst           bool
	steps, batches       int64
	features, directions int64
	direction            op.Direction
	way                  int64 // the direction that is being turned
}

// layerOf is the layer of the node; err says what NNAPI has against lengths of its sequences.
func (t *translation) layerOf(direction op.Direction, batchFirst bool) (l *layer, err error) {
	d := t.In(0).Dims()
	if len(d) != 3 {
		return nil, refuse("a sequence has three dimensions")
	}
	l = &layer{translation: t, batchFirst: batchFirst, steps: d[0], batches: d[1], features: d[2],
		directions: int64(direction.Count()), direction: direction}
	if batchFirst {
		l.steps, l.batches = d[1], d[0]
	}
	if t.In(4) == nil {
		return l, nil
	}
	lengths, ok := t.Ints(4, nil)
	if !ok || slices.ContainsFunc(lengths, func(n int64) bool { return n != l.steps }) {
		return nil, refuse("sequences of NNAPI are all of one length")
	}
	return l, nil
}

func (l *layer) reverse() bool { return l.direction == op.Reverse || l.way == 1 }

// turned is a sequence from its end.
func (l *layer) turned(x *operand) *operand {
	axis := 0
	if l.batchFirst {
		axis = 1
	}
	n := x.Dims()[axis]
	if n == 1 {
		return x
	}
	y := x.Between(x.Dims()...)
	rank := len(x.Dims())
	zero, strides, begin := make([]int64, rank), slices.Repeat([]int64{1}, rank), make([]int64, rank)
	begin[axis], strides[axis] = n-1, -1
	t, open := l.translation, int64(1)<<len(begin)-1 // all bounds
	t.add(spec.StridedSlice, y, x, list(begin...), list(zero...), list(strides...), int32Scalar(0), int32Scalar(open),
		int32Scalar(0))
	return y
}

// input is the sequence as the direction reads it; of one step it is that step.
func (l *layer) input() *operand {
	x := l.In(0)
	if l.steps == 1 {
		return l.block(x, 0, l.batches, l.features)
	}
	if l.reverse() {
		return l.turned(x)
	}
	return x
}

// state is the direction's state before the first step, input k of the node: zeros unless it is given.
func (l *layer) state(k int, units int64) *operand {
	x := l.In(k)
	switch {
	case x == nil:
		return zeros(l.In(0), l.batches, units)
	case !l.batchFirst || l.directions == 1:
		return l.block(x, l.way*l.batches*units, l.batches, units)
	}
	one, y := x.Between(l.batches, 1, units), x.Between(l.batches, units)
	l.add(spec.Slice, one, x, list(0, l.way, 0), list(one.Dims()...))
	l.reshape(one, y)
	return y
}

// results are operands for the results of a direction: the steps, and the states after the last one.
func (l *layer) results(units int64) (y *operand) {
	switch x := l.In(0); {
	case l.steps == 1:
		return x.Between(l.batches, units)
	case l.batchFirst:
		return x.Between(l.batches, l.steps, units)
	default:
		return x.Between(l.steps, l.batches, units)
	}
}

// join makes output k of the node of its directions' results: sequences of steps, or states.
func (l *layer) join(k int, sequences bool, parts []*operand) {
	y, axis := l.Out(k), 0
	switch {
	case sequences && l.batchFirst:
		axis = 2
	case sequences || l.batchFirst:
		axis = 1
	}
	if len(parts) == 1 {
		l.reshape(parts[0], y)
		return
	}
	dims := slices.Clone(y.Dims())
	dims[axis] = 1
	for i, p := range parts {
		parts[i] = p.Between(dims...)
		l.reshape(p, parts[i])
	}
	l.add(spec.Concatenation, y, append(parts, int32Scalar(int64(axis)))...)
}

// activations are the API's numbers for core's words.
var activations = map[string]int64{"affine": spec.FusedNone, "relu": spec.FusedReLU, "relu1": spec.FusedReLU1,
	"relu6": spec.FusedReLU6}

func lowerRNN(t *translation) error {
	o := t.N.Op.(*op.RNN)
	l, err := t.layerOf(o.Direction, o.BatchFirst)
	switch {
	case err != nil:
		return err
	case o.Clip > 0 || len(o.ActAlpha)+len(o.ActBeta) > 0:
		return refuse("the activations of NNAPI's recurrent layers have no limits and factors")
	case len(o.Activations) == 0:
		return refuse("the activations of RNN are RELU, RELU1 and RELU6, or none: tanh is none of them")
	}
	units := t.In(2).Dims()[2]
	var steps, states []*operand
	for l.way = range l.directions {
		act := strings.ToLower(o.Activations[min(int(l.way), len(o.Activations)-1)])
		code, known := activations[act]
		if !known {
			return refuse("the activations of RNN are RELU, RELU1 and RELU6, or none: %s is none of them", act)
		}
		bias := zeros(t.In(0), units)
		if b := t.In(3); b != nil {
			bias = t.sum(t.block(b, 2*l.way*units, units), t.block(b, (2*l.way+1)*units, units))
		}
		in := []*operand{l.input(), t.block(t.In(1), l.way*units*l.features, units, l.features),
			t.block(t.In(2), l.way*units*units, units, units), bias, l.state(5, units), int32Scalar(code)}
		y, h := l.results(units), t.In(0).Between(l.batches, units)
		switch {
		case l.steps == 1:
			t.addMulti(spec.RNN, []*operand{h, y}, in...)
		case t.wanted(1):
			t.addMulti(spec.UnidirectionalSequenceRNN, []*operand{y, h}, append(in, l.major())...)
		default:
			t.add(spec.UnidirectionalSequenceRNN, y, append(in, l.major())...)
		}
		if l.reverse() && l.steps > 1 {
			y = l.turned(y)
		}
		steps, states = append(steps, y), append(states, h)
	}
	l.finish(steps, states)
	return nil
}

// major is 1 where steps come before batches.
func (l *layer) major() *operand {
	if l.batchFirst {
		return int32Scalar(0)
	}
	return int32Scalar(1)
}

// finish makes those of the node's outputs that are read.
func (l *layer) finish(steps []*operand, states ...[]*operand) {
	if l.wanted(0) {
		l.join(0, true, steps)
	}
	for k, s := range states {
		if l.wanted(k + 1) {
			l.join(k+1, false, s)
		}
	}
}

func lowerSVDF(t *translation) error {
	o := t.N.Op.(*op.SVDF)
	in := []*operand{t.In(0), t.In(1), t.In(2), t.orNone(3, t.In(0)), t.In(4), int32Scalar(o.Rank),
		int32Scalar(spec.FusedNone)}
	state := t.In(4).Between(t.In(4).Dims()...)
	if t.given(1) {
		state = t.Out(1)
	}
	t.addMulti(spec.SVDF, []*operand{state, t.Out(0)}, in...)
	return nil
}

// orNone is input k, or an argument that is left out in its place.
func (t *translation) orNone(k int, like *operand) *operand {
	if x := t.In(k); x != nil {
		return x
	}
	return none(like.code, 1)
}

// none is an argument that is left out.
func none(code spec.OperandCode, rank int) *operand {
	typ := tensor.T(code.DType(), make([]int64, rank)...)
	if f, _ := code.Facts(); f.Parameters == spec.ScaleOnly || f.Parameters == spec.ScaleAndZero {
		typ.Quant = tensor.PerTensor(1, 0)
	}
	return &operand{code: code, typ: typ, none: true}
}

// finite reports whether a limit of the API, 0 for none, can say it.
func finite(v float32) bool { return v >= 0 && !math.IsInf(float64(v), 0) }
