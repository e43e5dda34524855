package lowering

import (
	"errors"
	"fmt"
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func (n *node) ok() bool { return n.err == nil && n.b.Err() == nil }

func (n *node) fail(k fault.Kind, format string, args ...any) {
	if n.ok() {
		n.err = fault.New(k, format, args...)
	}
}

// argument says what the signature calls input i: "filter".
func (n *node) argument(i int) string { return n.form.Inputs.NameAt(i, len(n.op.Inputs)) }

// term is the name of input i in messages: "input 1 (filter)".
func (n *node) term(i int) string {
	if n.form == nil {
		return fmt.Sprintf("input %d", i)
	}
	return fmt.Sprintf("input %d (%s)", i, n.argument(i))
}

// operand returns the model's description of input i, result that of output i.
func (n *node) operand(i int) *nnapi.Operand { return &n.m.Operands[n.op.Inputs[i]] }
func (n *node) result(i int) *nnapi.Operand  { return &n.m.Operands[n.op.Outputs[i]] }

// given reports whether input i is there and has a value.
func (n *node) given(i int) bool {
	return i < len(n.op.Inputs) && n.operand(i).Lifetime != nnapi.NoValue
}

// in returns the value of input i, graph.None when it is left out.
func (n *node) in(i int) graph.Value {
	if !n.given(i) {
		return graph.None
	}
	return n.values[n.op.Inputs[i]]
}

// fact returns what is known of a value; nothing is known of graph.None.
func (n *node) fact(v graph.Value) tensor.Fact { return n.b.Fact(v) }

// rank returns the rank of v, -1 while it is unknown.
func (n *node) rank(v graph.Value) int { return n.fact(v).Shape.Rank() }

// dim returns the size of dimension i of v as far as it is known.
func (n *node) dim(v graph.Value, i int) tensor.Dim {
	if s := n.fact(v).Shape; s.Ranked && i < len(s.Dims) {
		return s.Dims[i]
	}
	return tensor.AnyDim()
}

// int returns the value of the INT32 scalar that input i is; it must be a constant.
func (n *node) int(i int) int64 {
	v, ok := n.fact(n.in(i)).KnownInts()
	if !ok || len(v) != 1 {
		n.notConstant(i)
		return 0
	}
	return v[0]
}

func (n *node) notConstant(i int) {
	if n.ok() && n.wants(i) {
		return
	}
	n.fail(fault.Unsupported, "%s: the library takes only a constant here [nnapi-library-takes-constant]", n.term(i))
}

// unknownValue is the error of an operation that wants the value of a model input.
type unknownValue struct{ error }

func (u *unknownValue) Unwrap() error { return u.error }

// source returns the input of the outermost model that operand v is, if it is a scalar.
func (l *lowering) source(v uint32) (uint32, bool) {
	if !l.m.Operands[v].Type.IsScalar() {
		return 0, false
	}
	if l.depth > 0 {
		s, ok := l.sources[v]
		return s, ok
	}
	_, ok := l.inputs[v]
	return v, ok
}

// wants notes that the value of input i has to be known; it reports false if that can never be.
func (n *node) wants(i int) bool {
	if _, ok := n.source(n.op.Inputs[i]); !ok {
		return false
	}
	n.err = &unknownValue{fault.New(fault.Unsupported, "%s: the library takes only a constant here "+
		"[nnapi-library-takes-constant]", n.term(i))}
	return true
}

// wait notes the values that the operation wants, if it has failed for want of one, all that it could want. An
// operation of the outermost model then has inputs of the graph as its results.
func (n *node) wait() bool {
	var u *unknownValue
	if !errors.As(n.err, &u) {
		return false
	}
	for _, v := range n.op.Inputs {
		if s, ok := n.source(v); ok {
			n.waits.wanted[s] = true
		}
	}
	if n.depth > 0 {
		return false
	}
	if n.waits.first == nil {
		n.waits.first = &failure{n.index, n.err}
	}
	n.waits.Waiting = append(n.waits.Waiting, n.index)
	for _, v := range n.op.Outputs {
		n.values[v] = n.b.Input(operandName(v), typeOf(&n.m.Operands[v]))
		n.waits.pending[n.values[v]] = true
	}
	return true
}

// flag returns the value of the BOOL scalar that input i is, false when it is left out.
func (n *node) flag(i int) bool { return n.given(i) && n.int(i) != 0 }

// float returns the value of the FLOAT32 or FLOAT16 scalar that input i is; it must be a constant.
func (n *node) float(i int) float32 {
	f := n.fact(n.in(i))
	if f.Const == nil {
		n.notConstant(i)
		return 0
	}
	v, err := tensor.ReadFloats(f.DType, f.Const.Data, 1)
	if err != nil {
		n.fail(fault.Internal, "%s: %v [nnapi-input-value]", n.term(i), err)
		return 0
	}
	return float32(v[0])
}

// within checks the value of a constant scalar.
func (n *node) within(i int, v, lo, hi int64) {
	if v < lo || v > hi {
		n.fail(fault.Argument, "%s: want %d to %d, got %d [nnapi-got-within]", n.term(i), lo, hi, v)
	}
}

// axis returns input i, which names a dimension of a tensor of the given rank (-1: unknown), from -rank or, with front,
// from 0 on.
func (n *node) axis(i, rank int, front bool) int64 {
	a := n.int(i)
	switch {
	case front && a < 0:
		n.fail(fault.Argument, "%s: want 0 or more, got %d [nnapi-got-lower-pack]", n.term(i), a)
	case rank >= 0:
		if _, err := op.Axis(a, rank); err != nil {
			n.fail(fault.Argument, "%s: %v [nnapi-input-value]", n.term(i), err)
		}
	}
	return a
}

// outType returns the declared element type and quantization of output i, without its shape.
func (n *node) outType(i int) tensor.Type {
	t := typeOf(n.result(i))
	t.Shape = tensor.AnyShape()
	return t
}

// add adds a core node with one output whose type is inferred.
func (n *node) add(o graph.Op, in ...graph.Value) graph.Value {
	return n.typed(o, tensor.Type{}, in...)
}

// addAs adds a core node with one output of the element type and quantization of output i of the operation.
func (n *node) addAs(i int, o graph.Op, in ...graph.Value) graph.Value {
	return n.typed(o, n.outType(i), in...)
}

// typed adds a core node with one output of a declared type. A value that is made of an operand keeps its name in
// messages.
func (n *node) typed(o graph.Op, t tensor.Type, in ...graph.Value) graph.Value {
	return n.many(o, []tensor.Type{t}, in...)[0]
}

// many adds a core node with one output per entry of declared.
func (n *node) many(o graph.Op, declared []tensor.Type, in ...graph.Value) []graph.Value {
	if !n.ok() {
		out := make([]graph.Value, len(declared))
		for i := range out {
			out[i] = graph.None
		}
		return out
	}
	out := n.b.AddTyped(o, "", declared, in...)
	for _, v := range in {
		if v != graph.None && n.terms[v] != "" {
			for _, y := range out {
				n.terms[y] = n.terms[v]
			}
			break
		}
	}
	return out
}

// emit adds the core node with the operation's outputs, in order.
func (n *node) emit(o graph.Op, in ...graph.Value) {
	declared := make([]tensor.Type, len(n.op.Outputs))
	for i := range declared {
		declared[i] = n.outType(i)
	}
	for i, v := range n.many(o, declared, in...) {
		n.put(i, v)
	}
}

// put makes v output i of the operation. It must have the declared element type; a shape that contradicts the declared
// one is an error, of kind fault.Shape.
func (n *node) put(i int, v graph.Value) {
	if !n.ok() {
		return
	}
	want, got := typeOf(n.result(i)), n.fact(v)
	if got.DType != tensor.Invalid && got.DType != want.DType {
		n.fail(fault.Internal, "output %d: computes %v for %v [nnapi-output-computes]", i, got.DType, n.result(i).Type)
		return
	}
	if _, ok := want.Shape.Merge(got.Shape); !ok {
		n.fail(fault.Shape, "output %d, operand %d, is declared with dimensions %v and has %v "+
			"[nnapi-output-operand-declared]", i, n.op.Outputs[i],
			want.Shape,
			got.Shape)
		return
	}
	if want.Shape.Ranked && !got.Shape.Equal(want.Shape) && !covers(got.Shape, want.Shape) {
		// The declaration knows more than inference. A node of its own holds it: a run that gives other sizes fails there.
		v = n.typed(&op.Identity{}, want, v)
	}
	n.values[n.op.Outputs[i]] = v
	n.b.Name(v, operandName(n.op.Outputs[i]))
}

// covers reports whether everything that want says of a shape is known in got.
func covers(got, want tensor.Shape) bool {
	if !got.Ranked {
		return false
	}
	for i, d := range want.Dims {
		if d.Known() && !got.Dims[i].Known() {
			return false
		}
	}
	return true
}

// int64s returns a list constant.
func (n *node) int64s(v ...int64) graph.Value { return n.b.Int64s(v...) }

// scalar returns an int64 constant of rank 0.
func (n *node) scalar(v int64) graph.Value {
	return n.b.Const("", tensor.T(tensor.Int64), tensor.Int64s(v))
}

// wide returns integers as int64.
func (n *node) wide(v graph.Value) graph.Value { return n.add(&op.Cast{To: tensor.Int64}, v) }

// real returns v as float32; the type of v is float or quantized.
func (n *node) real(v graph.Value) graph.Value {
	return n.typed(&op.Convert{}, tensor.Type{DType: tensor.Float32}, v)
}

// emitReal makes output i of v, which holds the same real numbers in float32.
func (n *node) emitReal(i int, v graph.Value) {
	if n.outType(i).DType != tensor.Float32 {
		v = n.addAs(i, &op.Convert{}, v)
	}
	n.put(i, v)
}

// fuse returns the fused activation in input i.
func (n *node) fuse(i int) int64 {
	a := n.int(i)
	n.within(i, a, nnapi.FusedNone, nnapi.FusedReLU6)
	return a
}

// activated clips v, of the type of output 0, to the range of a fused activation.
func (n *node) activated(fused int64, v graph.Value) graph.Value { return n.clipped(0, fused, v) }

// clipped is activated for output i.
func (n *node) clipped(i int, fused int64, v graph.Value) graph.Value {
	switch fused {
	case nnapi.FusedReLU:
		return n.addAs(i, &op.Relu{}, v)
	case nnapi.FusedReLU1:
		return n.addAs(i, &op.Clip{}, v, n.b.Float32(-1), n.b.Float32(1))
	case nnapi.FusedReLU6:
		return n.addAs(i, &op.Clip{}, v, n.b.Float32(0), n.b.Float32(6))
	}
	return v
}

// emitFused adds the core node that makes output 0, and the activation that input i names unless it changes nothing.
func (n *node) emitFused(i int, o graph.Op, in ...graph.Value) {
	fused, v := n.fuse(i), n.addAs(0, o, in...)
	if !within(fused, n.outType(0)) {
		v = n.activated(fused, v)
	}
	n.put(0, v)
}

// fusedBounds are the ranges of the fused activations.
var fusedBounds = map[int64][2]float64{nnapi.FusedReLU: {0, math.Inf(1)}, nnapi.FusedReLU1: {-1, 1},
	nnapi.FusedReLU6: {0, 6}}

// within reports whether all codes of a quantized type are within the range of a fused activation, bounds rounded to
// codes as results are.
func within(fused int64, t tensor.Type) bool {
	b, ok := fusedBounds[fused]
	if !ok || t.Quant == nil || !t.Quant.IsPerTensor() {
		return false
	}
	lo, hi := tensor.IntLimits(t.DType)
	scale, zero := float64(t.Quant.Scale[0]), float64(t.Quant.ZeroAt(0))
	return math.Round(b[0]/scale)+zero <= float64(lo) && math.Round(b[1]/scale)+zero >= float64(hi)
}

// channelsLast reports whether the images are [N,H,W,C]: input i, which may be left out, says otherwise when it is
// true.
func (n *node) channelsLast(i int) bool { return !n.flag(i) }

// imageDims are the dimensions of height, width and channels.
func imageDims(channelsLast bool) (h, w, c int) {
	if channelsLast {
		return 1, 2, 3
	}
	return 2, 3, 1
}

// shape returns the sizes of v as a list of int64: a constant where they are known.
func (n *node) shape(v graph.Value) graph.Value {
	if dims, ok := n.fact(v).Shape.Ints(); ok {
		return n.int64s(dims...)
	}
	return n.add(&op.Shape{}, v)
}

// size returns the size of one dimension of v as a list of one int64.
func (n *node) size(v graph.Value, i int) graph.Value {
	if d := n.dim(v, i); d.Known() {
		return n.int64s(d.N)
	}
	return n.add(&op.Shape{Start: int64(i), End: int64(i + 1), HasEnd: true}, v)
}

// join joins lists; one of int64 comes of constant integers.
func (n *node) join(lists ...graph.Value) graph.Value {
	var all []int64
	for _, l := range lists {
		v, ok := n.fact(l).KnownInts()
		if !ok {
			return n.add(&op.Concat{}, lists...)
		}
		all = append(all, v...)
	}
	return n.int64s(all...)
}

// reshape gives v known sizes, of which one may be -1.
func (n *node) reshape(v graph.Value, dims ...int64) graph.Value {
	return n.add(&op.Reshape{}, v, n.int64s(dims...))
}

// atLeastOne returns v with dimensions [1] where all of its dimensions are gone: the API's tensors have one at least.
func (n *node) atLeastOne(v graph.Value) graph.Value {
	switch n.rank(v) {
	case -1:
	case 0:
		return n.reshape(v, 1)
	default:
		return v
	}
	sizes := n.add(&op.Shape{}, v)
	count := n.add(&op.Max{}, n.add(&op.Shape{}, sizes), n.int64s(1))
	sizes = n.add(&op.Slice{}, n.join(sizes, n.int64s(1)), n.int64s(0), count)
	return n.add(&op.Reshape{}, v, sizes)
}

// demand fails each run in which an element of cond is false. data appear in the error.
func (n *node) demand(cond graph.Value, data ...graph.Value) {
	n.add(&op.Assert{}, append([]graph.Value{cond}, data...)...)
}

// vector returns input i, a constant list; ok is false when it is not constant.
func (n *node) vector(i int) (v []int64, ok bool) { return n.fact(n.in(i)).KnownInts() }
