package ohnn

import (
	"fmt"
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// lowerings holds, by operator name, how an operation becomes core nodes. Operators not in it are unknown to every
// device.
var lowerings = map[string]func(n *node) error{}

// lowerAll adds the operators of one file to lowerings.
func lowerAll(m map[string]func(n *node) error) {
	for name, f := range m {
		lowerings[name] = f
	}
}

// lowering is the making of one graph.
type lowering struct {
	m      *Model
	b      *graph.Builder
	vals   []graph.Value          // per tensor; graph.None until it is made
	terms  map[graph.Value]string // what the operation under way calls its inputs and parameters, and what is made of them
	defect string
}

// node is one operation while it is lowered.
type node struct {
	*lowering
	*operation
	index int
}

// typ returns the tensor's type as core sees it. Quantization parameters of tensors that are not integers mean nothing
// there.
func (t *modelTensor) typ() tensor.Type {
	dims := make([]tensor.Dim, len(t.shape))
	for i, d := range t.shape {
		dims[i] = tensor.D(int64(d))
		if d < 0 {
			dims[i] = tensor.AnyDim()
		}
	}
	out := tensor.Type{DType: t.dataType.DType(), Shape: tensor.OfDims(dims...)}
	if out.DType.IsInt() {
		out.Quant = t.coreQuant()
	}
	return out
}

// coreQuant returns the tensor's quantization parameters, nil when it has none. Several entries belong to the first
// dimension (the output channels of a filter) if it has as many, else to the last that has.
func (t *modelTensor) coreQuant() *tensor.Quant {
	q := t.quant
	if len(q.scales) == 0 {
		return nil
	}
	out := &tensor.Quant{Zero: append([]int32(nil), q.zeros...)}
	for _, s := range q.scales {
		out.Scale = append(out.Scale, float32(s))
	}
	if len(q.scales) > 1 {
		for i := len(t.shape) - 1; i >= 0; i-- {
			if int(t.shape[i]) == len(q.scales) && (out.Axis == 0 || i == 0) {
				out.Axis = i
			}
		}
	}
	return out
}

// in returns the value of input i.
func (n *node) in(i int) graph.Value { return n.vals[n.inputs[i]] }

// ins returns the values of all inputs.
func (n *node) ins() []graph.Value {
	v := make([]graph.Value, len(n.inputs))
	for i := range v {
		v[i] = n.in(i)
	}
	return v
}

// fact returns what is known of input i.
func (n *node) fact(i int) tensor.Fact { return n.b.Fact(n.in(i)) }

// rank returns the rank of input i, which is always known.
func (n *node) rank(i int) int { return n.fact(i).Shape.Rank() }

// tensorIn and tensorOut return the model's description of an input or output.
func (n *node) tensorIn(i int) *modelTensor  { return n.m.tensors[n.inputs[i]] }
func (n *node) tensorOut(i int) *modelTensor { return n.m.tensors[n.outputs[i]] }

// outType returns the declared type of output i.
func (n *node) outType(i int) tensor.Type { return n.tensorOut(i).typ() }

func (n *node) inputTypes() string {
	s := "("
	for i, index := range n.inputs {
		if i > 0 {
			s += ", "
		}
		s += n.m.tensors[index].typ().String()
	}
	return s + ")"
}

// contradict notes the first declaration that is not what its operator makes. Upstream's tests build such models, so it
// is no error yet.
func (n *node) contradict(format string, args ...any) {
	if n.defect == "" {
		n.defect = fmt.Sprintf("operation %d (%v): ", n.index, n.Op) + fmt.Sprintf(format, args...)
	}
}

// addTyped adds a core node that carries the operation's name and its words for the inputs, so that messages of a run
// show them. Declared types that contradict what the operator computes are dropped; put brings the result to the
// declared type or notes the contradiction.
func (n *node) addTyped(o graph.Op, declared []tensor.Type, in ...graph.Value) ([]graph.Value, error) {
	facts := make([]tensor.Fact, len(in))
	terms := make([]string, len(in))
	source := "" // a result is made of the first input that has a word
	for i, v := range in {
		if v != graph.None {
			facts[i], terms[i] = n.b.Fact(v), n.terms[v]
		}
		if source == "" {
			source = terms[i]
		}
	}
	got, err := o.Infer(facts, declared)
	if err != nil {
		return nil, graph.Reword(err, terms)
	}
	for k := range got {
		if k >= len(declared) {
			break
		}
		if declared[k].DType != tensor.Invalid && got[k].DType != tensor.Invalid && declared[k].DType != got[k].DType {
			declared[k].DType, declared[k].Quant = tensor.Invalid, nil
		}
		if _, ok := declared[k].Shape.Merge(got[k].Shape); !ok {
			declared[k].Shape = tensor.AnyShape()
		}
	}
	out := n.b.AddTyped(o, "", declared, in...)
	for _, v := range out {
		n.terms[v] = source
	}
	return out, n.b.Err()
}

// param makes a constant of the numbers that a parameter gives.
func (n *node) param(name string, v ...int64) graph.Value { return n.called(name, n.b.Int64s(v...)) }

// called gives a value that is no input the word that messages have for it.
func (n *node) called(term string, v graph.Value) graph.Value {
	n.terms[v] = term
	return v
}

// add adds a core node with one output whose type is inferred.
func (n *node) add(o graph.Op, in ...graph.Value) (graph.Value, error) {
	out, err := n.addTyped(o, make([]tensor.Type, 1), in...)
	if err != nil {
		return graph.None, err
	}
	return out[0], nil
}

// addAs adds a core node with one output of element type and quantization like output i of the operation, its shape
// inferred.
func (n *node) addAs(i int, o graph.Op, in ...graph.Value) (graph.Value, error) {
	t := n.outType(i)
	t.Shape = tensor.AnyShape()
	out, err := n.addTyped(o, []tensor.Type{t}, in...)
	if err != nil {
		return graph.None, err
	}
	return out[0], nil
}

// emit adds the core node that makes all outputs of the operation.
func (n *node) emit(o graph.Op, in ...graph.Value) error {
	declared := make([]tensor.Type, len(n.outputs))
	for i := range declared {
		declared[i] = n.outType(i)
	}
	out, err := n.addTyped(o, declared, in...)
	if err != nil {
		return err
	}
	for i, v := range out {
		if err := n.put(i, v); err != nil {
			return err
		}
	}
	return nil
}

// put makes v output i of the operation, brought to the representation of real values that the model declares. Any
// other element type, and a shape that does not fit, contradict the model.
func (n *node) put(i int, v graph.Value) error {
	want, got := n.outType(i), n.b.Fact(v)
	var err error
	switch {
	case want.DType == tensor.Invalid || want.DType == got.DType && (want.Quant == nil || want.Quant.Equal(got.Quant)):
	case want.Quant != nil || got.Quant != nil:
		t := want
		t.Shape = tensor.AnyShape()
		var out []graph.Value
		if out, err = n.addTyped(&op.Convert{}, []tensor.Type{t}, v); err == nil {
			v = out[0]
		}
	case want.DType.IsFloat() && got.DType.IsFloat():
		v, err = n.add(&op.Cast{To: want.DType}, v)
	default:
		n.contradict("output %d is declared %v and computed in %v "+
			"[ohnn-output-declared-computed]", i, want.DType, got.DType)
	}
	if err != nil {
		return err
	}
	if _, ok := want.Shape.Merge(got.Shape); !ok {
		dims := make([]int64, want.Shape.Rank()) // an open dimension of one element can only be 1
		one := true
		for i, d := range want.Shape.Dims {
			dims[i] = 1
			one = one && (!d.Known() || d.N == 1)
		}
		if b, ok := got.Shape.Count(); ok && b == 1 && one {
			if v, err = n.add(&op.Reshape{}, v, n.b.Int64s(dims...)); err != nil {
				return err
			}
		} else {
			n.contradict("output %d is declared with shape %v and has shape %v "+
				"[ohnn-output-declared-shape]", i, want.Shape, got.Shape)
		}
	}
	n.set(i, v)
	return nil
}

// set makes v output i as it is.
func (n *node) set(i int, v graph.Value) {
	n.vals[n.outputs[i]] = v
	n.b.Name(v, tensorName(n.outputs[i]))
}

// int64 returns a scalar constant.
func (n *node) int64(x int64) graph.Value {
	return n.b.Const("", tensor.T(tensor.Int64), tensor.Int64s(x))
}

// activate applies a fused activation (0 none, 1 ReLU, 2 ReLU6) to v and makes it output 0.
func (n *node) activate(kind int64, v graph.Value) error {
	var err error
	switch kind {
	case 1:
		v, err = n.addAs(0, &op.Relu{}, v)
	case 2:
		v, err = n.relu6(v)
	}
	if err != nil {
		return err
	}
	return n.put(0, v)
}

// emitFused adds the node that makes output 0 and the activation behind it.
func (n *node) emitFused(activation int64, o graph.Op, in ...graph.Value) error {
	if activation == 0 {
		return n.emit(o, in...)
	}
	v, err := n.addAs(0, o, in...)
	if err != nil {
		return err
	}
	return n.activate(activation, v)
}

// list returns input i as a list of integers: rank 1, or a scalar that stands for a list of one.
func (n *node) list(i int) (graph.Value, error) {
	if err := n.wantRank(i, 0, 1); err != nil {
		return graph.None, err
	}
	return n.integers(i)
}

// integers returns input i as integers. Models may carry numbers in floating point where integers are meant.
func (n *node) integers(i int) (graph.Value, error) {
	f := n.fact(i)
	switch {
	case f.DType.IsInt():
		return n.in(i), nil
	case !f.DType.IsFloat():
		return graph.None, fault.New(fault.Type, "input %d: want integers, got %v "+
			"[ohnn-input-integers-got]", i, f.DType)
	}
	if f.Const != nil && f.DType == tensor.Float32 {
		count, _ := f.Shape.Count()
		v, err := tensor.ReadFloat32s(f.Const.Data, int(count))
		if err != nil {
			return graph.None, fault.New(fault.Argument, "input %d: %v [ohnn-input-values]", i, err)
		}
		out := make([]int64, len(v))
		for k, x := range v {
			if x != float32(math.Trunc(float64(x))) || math.Abs(float64(x)) > 1<<31 {
				return graph.None, fault.New(fault.Argument, "input %d: element %d is %v: want an integer "+
					"[ohnn-input-element-integer]", i, k, x)
			}
			out[k] = int64(x)
		}
		t := f.Type
		t.DType = tensor.Int64
		return n.b.Const("", t, tensor.Int64s(out...)), nil
	}
	return n.add(&op.Cast{To: tensor.Int64}, n.in(i))
}

func (n *node) relu6(v graph.Value) (graph.Value, error) {
	lo, err := n.number(v, 0)
	if err != nil {
		return graph.None, err
	}
	hi, err := n.number(v, 6)
	if err != nil {
		return graph.None, err
	}
	return n.addAs(0, &op.Clip{}, v, lo, hi)
}

// wantRank checks the rank of input i: lo to hi, or at least lo when hi is negative.
func (n *node) wantRank(i, lo, hi int) error {
	r, s := n.rank(i), n.fact(i).Shape
	switch {
	case r >= lo && (r <= hi || hi < 0):
		return nil
	case hi < 0:
		return fault.New(fault.Shape, "input %d: want rank %d or more, got %v [ohnn-input-rank-least]", i, lo, s)
	case lo == hi:
		return fault.New(fault.Shape, "input %d: want rank %d, got %v [ohnn-input-rank]", i, lo, s)
	}
	return fault.New(fault.Shape, "input %d: want rank %d to %d, got %v [ohnn-input-rank-range]", i, lo, hi, s)
}

// number returns a scalar constant that can be combined with v: of v's own type for plain integers, else float32.
func (n *node) number(v graph.Value, x float32) (graph.Value, error) {
	f := n.b.Fact(v)
	if f.Quant != nil || !f.DType.IsInt() {
		if f.DType == tensor.Float32 || f.DType == tensor.Invalid || f.Quant != nil {
			return n.b.Float32(x), nil
		}
		return n.add(&op.Cast{To: f.DType}, n.b.Float32(x))
	}
	if float64(x) != math.Trunc(float64(x)) {
		return graph.None, fault.New(fault.Type, "%v cannot be combined with %v [ohnn-types-combined]", x, f.DType)
	}
	return n.add(&op.Cast{To: f.DType, OutOfRange: op.CastSaturate}, n.int64(int64(x)))
}

// real returns v in float32, float64 as it is, for operators whose parameters are real values whatever the type of the
// data.
func (n *node) real(v graph.Value) (graph.Value, error) {
	f := n.b.Fact(v)
	switch {
	case f.DType == tensor.Float32 && f.Quant == nil, f.DType == tensor.Float64:
		return v, nil
	case f.Quant != nil || f.DType.IsFloat():
		out, err := n.addTyped(&op.Convert{}, []tensor.Type{{DType: tensor.Float32}}, v)
		if err != nil {
			return graph.None, err
		}
		return out[0], nil
	}
	return n.add(&op.Cast{To: tensor.Float32}, v)
}
