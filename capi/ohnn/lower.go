package ohnn

import (
	"fmt"
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// lowered is a finished model as a core graph. Node.Origin is the operation's index.
type lowered struct {
	done   bool
	graph  *graph.Graph
	defect string // what the model declares and does not mean, "" if nothing: it builds, and its runs are refused
	err    error  // why there is no graph
	failed int    // operation that err is about, -1: the model as a whole
}

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

// lowered returns the model's graph, made on the first call. The caller holds m.mu; the model is built.
func (m *Model) graph() *lowered {
	if !m.lower.done {
		m.lower = m.makeGraph()
	}
	return &m.lower
}

func (m *Model) makeGraph() lowered {
	l := &lowering{m: m, b: graph.NewBuilder("ohnn"), vals: make([]graph.Value, len(m.tensors))}
	out := lowered{done: true, failed: -1}
	for i := range l.vals {
		l.vals[i] = graph.None
	}
	l.b.SetTerms(func(v graph.Value) string { return l.terms[v] })
	for _, index := range m.inputs {
		l.vals[index] = l.b.Input(tensorName(index), m.tensors[index].typ())
	}
	order, err := m.order()
	if err != nil {
		out.err = err
		return out
	}
	for _, i := range order {
		n := &node{l, m.ops[i], i}
		if err := n.run(); err != nil {
			out.err, out.failed = fault.Wrap(err, "operation %d (%v): inputs %s", i, n.Op, n.inputTypes()), i
			return out
		}
	}
	out.err = l.modelOutputs()
	if out.err == nil {
		out.graph, out.err = l.b.Graph()
	}
	out.defect = l.defect
	return out
}

func (n *node) run() error {
	f := lowerings[n.Name]
	if f == nil {
		return fault.New(fault.Unsupported, "the library does not compute this operator")
	}
	n.b.SetOrigin(n.index, n.Op.String())
	n.terms = map[graph.Value]string{}
	for i, index := range n.inputs {
		if err := n.need(index); err != nil {
			return fault.Wrap(err, "input %d", i)
		}
		if v := n.in(i); n.terms[v] == "" {
			n.terms[v] = fmt.Sprintf("input %d", i)
		}
	}
	if err := n.checkQuants(); err != nil {
		return err
	}
	if err := f(n); err != nil {
		return err
	}
	return n.b.Err()
}

// need makes the value of a constant; every other tensor must have been made by now.
func (l *lowering) need(index uint32) error {
	if l.vals[index] != graph.None {
		return nil
	}
	t := l.m.tensors[index]
	if t.data == nil {
		return fault.New(fault.Argument, "tensor %d has no source: it is no model input, has no data, and no operation "+
			"makes it", index)
	}
	l.vals[index] = l.b.Const(tensorName(index), t.typ(), t.data)
	return l.b.Err()
}

// order returns the operations in executable order, otherwise as they were added. A tensor made twice and a cycle are
// errors.
func (m *Model) order() ([]int, error) {
	maker := make([]int, len(m.tensors))
	for i := range maker {
		maker[i] = -1
	}
	for i, o := range m.ops {
		for _, index := range o.outputs {
			if maker[index] >= 0 {
				return nil, fault.New(fault.Argument, "tensor %d is made by operation %d and again by operation %d", index,
					maker[index], i)
			}
			maker[index] = i
		}
	}
	for _, index := range m.inputs {
		if maker[index] >= 0 {
			return nil, fault.New(fault.Argument, "tensor %d is a model input and made by operation %d", index, maker[index])
		}
	}
	var order []int
	state := make([]uint8, len(m.ops)) // 0: new, 1: waits for its inputs, 2: in order
	// An explicit stack: models are as deep as programs like.
	for root := range m.ops {
		stack := []int{root}
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			if state[i] == 2 {
				stack = stack[:len(stack)-1]
				continue
			}
			state[i] = 1
			ready := true
			for _, index := range m.ops[i].inputs {
				k := maker[index]
				if k < 0 || state[k] == 2 {
					continue
				}
				if state[k] == 1 {
					return nil, fault.New(fault.Argument, "operation %d (%v) depends on its own result", k, m.ops[k].Op)
				}
				stack = append(stack, k)
				ready = false
				break
			}
			if ready {
				state[i] = 2
				order = append(order, i)
				stack = stack[:len(stack)-1]
			}
		}
	}
	return order, nil
}

// modelOutputs makes the model outputs the graph's; one that is an input, a constant or named before gets a node of its
// own.
func (l *lowering) modelOutputs() error {
	l.b.SetOrigin(-1, "")
	l.b.SetTerms(nil)
	seen := map[graph.Value]bool{}
	made := map[graph.Value]bool{}
	for _, o := range l.m.ops {
		for _, index := range o.outputs {
			made[l.vals[index]] = true
		}
	}
	for _, index := range l.m.outputs {
		if err := l.need(index); err != nil {
			return fault.Wrap(err, "model output")
		}
		v := l.vals[index]
		if seen[v] || !made[v] {
			v = l.b.Add(&op.Identity{}, v)
		}
		seen[v] = true
		l.b.Output(v)
	}
	return l.b.Err()
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
	source := "" // the first input that has a word is what a result is made of
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
		n.contradict("output %d is declared %v and computed in %v", i, want.DType, got.DType)
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
			n.contradict("output %d is declared with shape %v and has shape %v", i, want.Shape, got.Shape)
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
		return graph.None, fault.New(fault.Type, "input %d: want integers, got %v", i, f.DType)
	}
	if f.Const != nil && f.DType == tensor.Float32 {
		count, _ := f.Shape.Count()
		v, err := tensor.ReadFloat32s(f.Const.Data, int(count))
		if err != nil {
			return graph.None, fault.New(fault.Argument, "input %d: %v", i, err)
		}
		out := make([]int64, len(v))
		for k, x := range v {
			if x != float32(math.Trunc(float64(x))) || math.Abs(float64(x)) > 1<<31 {
				return graph.None, fault.New(fault.Argument, "input %d: element %d is %v: want an integer", i, k, x)
			}
			out[k] = int64(x)
		}
		t := f.Type
		t.DType = tensor.Int64
		return n.b.Const("", t, tensor.Int64s(out...)), nil
	}
	return n.add(&op.Cast{To: tensor.Int64}, n.in(i))
}
