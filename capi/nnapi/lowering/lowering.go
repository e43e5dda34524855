// Package lowering makes core graphs of finished NNAPI models.
//
// Arguments that are tensors (axes, shapes, paddings, filters) may be constants, model inputs or temporaries. Scalar
// arguments become attributes of core operators for the most part and must be constants then. Lower names the model
// inputs that are such scalars: a graph is made for their values. A scalar that the model computes is
// fault.Unsupported there, with a sentence.
package lowering

import (
	"fmt"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// Graph returns a model as a core graph: its inputs and outputs in the model's order, Node.Origin the operation's index
// and Node.Name its name. m must have passed the judgement of Model_finish, and nnapi.Check of each operation.
//
// TENSOR_BOOL8 becomes bool, whose elements are 0 or 1: a run's inputs are brought to that by the caller.
//
// Errors tell two cases apart. Kind fault.Unsupported: the library cannot compute the operation (BAD_DATA where no
// other device does). Any other kind: the operation has no result, as with an axis beyond the rank or sizes that
// contradict each other. The API's reference finds that only when it computes, so the answer is OP_FAILED. A fault that
// only values or sizes show fails the run with the same kinds. FailedOperation names the operation.
//
// A scalar that must be a constant and is not is fault.Unsupported as well: Lower takes it as a model input.
func Graph(m *nnapi.Model) (*graph.Graph, error) {
	r, err := Lower(m)
	if err == nil && r.first != nil {
		err = r.first
	}
	if err != nil {
		return nil, err
	}
	return r.Graph, nil
}

// Result is the result of Lower for a model.
type Result struct {
	// Graph computes the model if Values is empty. Else it is only what is known of the rest: in the place of the results
	// of the operations in Waiting it has inputs, behind those of the model.
	Graph *graph.Graph
	// Values are the model inputs, as indices into nnapi.Model.Inputs in rising order, that must be constants: scalars of
	// the operations in Waiting.
	Values  []int
	Waiting []int

	first   error                // about the first operation of Waiting
	wanted  map[uint32]bool      // operands of Values
	pending map[graph.Value]bool // inputs of Graph that stand for results
}

// Lower is Graph for models some of whose inputs are scalars on whose values the graph depends.
func Lower(m *nnapi.Model) (*Result, error) {
	b := graph.NewBuilder("nnapi")
	r := &Result{wanted: map[uint32]bool{}, pending: map[graph.Value]bool{}}
	l := newLowering(m, b, r)
	for i, v := range m.Inputs {
		l.values[v] = b.Input(operandName(v), typeOf(&m.Operands[v]))
		l.inputs[v] = i
	}
	if err := l.operations(); err != nil {
		return nil, err
	}
	b.SetOrigin(-1, "")
	b.SetTerms(nil)
	out, err := l.outputs()
	if err != nil {
		return nil, err
	}
	b.Output(out...)
	for i, v := range m.Inputs {
		if r.wanted[v] {
			r.Values = append(r.Values, i)
		}
	}
	r.Graph, err = b.Graph()
	return r, err
}

// FailedOperation returns the index of the operation that an error of Graph is about; ok is false when it is about the
// model as a whole.
func FailedOperation(err error) (index int, ok bool) {
	for err != nil {
		if f, is := err.(*failure); is {
			return f.index, true
		}
		u, is := err.(interface{ Unwrap() error })
		if !is {
			break
		}
		err = u.Unwrap()
	}
	return 0, false
}

// failure is an error about one operation.
type failure struct {
	index int
	error
}

func (f *failure) Unwrap() error { return f.error }

// lowerings holds how an operation becomes core nodes.
var lowerings [nnapi.Operations]func(n *node)

// lowerAll adds the operations of one file to lowerings.
func lowerAll(m map[nnapi.OperationCode]func(n *node)) {
	for c, f := range m {
		if lowerings[c] != nil {
			panic("lowering: " + c.String() + " twice")
		}
		lowerings[c] = f
	}
}

// lowering is the making of one graph, or of a part of it out of a model that control flow refers to.
type lowering struct {
	m      *nnapi.Model
	b      *graph.Builder
	values []graph.Value          // per operand; graph.None until it is made
	inputs map[uint32]int         // model inputs by operand
	waits  *Result                // notes which values are wanted; of the outermost model
	terms  map[graph.Value]string // what the operation under way calls its inputs, and what is made of them

	// Of a model that control flow refers to: how deep it is, whether its nodes stand in the graph of the model that
	// refers to it, and the operation there that does. count is of models that were lowered for control flow so far.
	depth     int
	inside    bool
	outer     int
	outerName string
	of        string // of which model its operations are, where the graph has another's name
	count     *int
	sources   map[uint32]uint32 // its inputs that are inputs of the outermost model, by operand
}

func newLowering(m *nnapi.Model, b *graph.Builder, waits *Result) *lowering {
	l := &lowering{m: m, b: b, waits: waits, values: make([]graph.Value, len(m.Operands)), inputs: map[uint32]int{}}
	for i := range l.values {
		l.values[i] = graph.None
	}
	return l
}

// node is one operation while it is lowered. Its methods do nothing after the first error, which fail keeps.
type node struct {
	*lowering
	op    nnapi.Operation
	form  *nnapi.Form // nil for control flow
	index int
	err   error
}

// operations lowers all operations of the model.
func (l *lowering) operations() error {
	order, err := l.order()
	if err != nil {
		return err
	}
	for _, i := range order {
		o := l.m.Operations[i]
		n := &node{lowering: l, op: o, index: i, form: nnapi.FormOf(l.m, o)}
		l.terms = map[graph.Value]string{}
		n.names()
		n.run()
		if n.err == nil {
			n.err = l.b.Err()
		} else {
			n.err = fault.Wrap(n.err, "operation %d (%v)", i, o.Code)
		}
		if n.err != nil && n.wait() {
			continue
		}
		if n.err != nil {
			return &failure{i, n.err}
		}
	}
	return nil
}

// names gives nodes that are added from now on the origin and the words of the operation.
func (n *node) names() {
	n.b.SetOrigin(n.origin())
	n.b.SetTerms(func(v graph.Value) string { return n.terms[v] })
}

func (n *node) run() {
	if !n.op.Code.Known() {
		n.fail(fault.Unsupported, "the library does not compute this operation [nnapi-library-compute-operation]")
		return
	}
	f := lowerings[n.op.Code]
	if f == nil {
		n.fail(fault.Unsupported, "the library does not compute this operation yet "+
			"[nnapi-library-compute-operation-run]")
		return
	}
	if control := n.op.Code == nnapi.If || n.op.Code == nnapi.While; n.form == nil && !control {
		n.fail(fault.Argument, "its operands do not fit its signature [nnapi-operands-fit-signature]")
		return
	}
	if err := nnapi.CheckParameters(n.m, n.op); err != nil {
		n.err = err
		return
	}
	for i, v := range n.op.Inputs {
		n.need(v)
		if x := n.values[v]; x != graph.None && n.terms[x] == "" {
			n.terms[x] = n.term(i)
		}
	}
	if n.ok() {
		f(n)
	}
	for i, v := range n.op.Outputs {
		if n.ok() && n.values[v] == graph.None {
			n.fail(fault.Internal, "output %d was not made [nnapi-output-made]", i)
		}
	}
}

// order returns the operations in executable order, otherwise as they were added.
func (l *lowering) order() ([]int, error) {
	maker := make(map[uint32]int, len(l.m.Operations))
	for i, o := range l.m.Operations {
		for _, v := range o.Outputs {
			if k, twice := maker[v]; twice {
				return nil, fault.New(fault.Argument, "operand %d is made by operation %d and again by operation "+
					"%d [nnapi-operand-made-operation]", v, k, i)
			}
			maker[v] = i
		}
	}
	order := make([]int, 0, len(l.m.Operations))
	const (
		waits = 1 // on the stack
		done  = 2
	)
	state := make([]uint8, len(l.m.Operations))
	type frame struct{ op, next int } // next: the input to look at
	for root := range l.m.Operations {
		if state[root] == done {
			continue
		}
		stack := []frame{{root, 0}} // explicit: models are as deep as programs like
		state[root] = waits
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			ins := l.m.Operations[top.op].Inputs
			if top.next == len(ins) {
				state[top.op] = done
				order = append(order, top.op)
				stack = stack[:len(stack)-1]
				continue
			}
			k, made := maker[ins[top.next]]
			top.next++
			switch {
			case !made || state[k] == done:
			case state[k] == waits:
				return nil, fault.New(fault.Argument, "operation %d (%v) depends on its own result "+
					"[nnapi-operation-depends-result]", k,
					l.m.Operations[k].Code)
			default:
				state[k] = waits
				stack = append(stack, frame{k, 0})
			}
		}
	}
	return order, nil
}

// need makes the value of a constant; every other operand with a value must have been made by now.
func (n *node) need(v uint32) {
	o := &n.m.Operands[v]
	if n.values[v] != graph.None || o.Lifetime == nnapi.NoValue || o.Lifetime == nnapi.Subgraph {
		return
	}
	if o.Lifetime != nnapi.Constant {
		n.fail(fault.Argument, "operand %d has no source: it is no model input, has no value, and no operation "+
			"makes it [nnapi-operand-no-source]", v)
		return
	}
	n.values[v] = n.b.Const(operandName(v), typeOf(o), o.Data)
}

// outputs returns the values of the model's outputs. One that is an input or a constant, or that another output is too,
// gets a node of its own.
func (l *lowering) outputs() ([]graph.Value, error) {
	made := map[graph.Value]bool{}
	for _, o := range l.m.Operations {
		for _, v := range o.Outputs {
			made[l.values[v]] = true
		}
	}
	for v := range l.inputs {
		made[l.values[v]] = false
	}
	for v := range l.waits.pending {
		made[v] = false
	}
	var out []graph.Value
	for i, v := range l.m.Outputs {
		x := l.values[v]
		if x == graph.None {
			return nil, fault.New(fault.Argument, "model output %d, operand %d, is made by no operation "+
				"[nnapi-model-output-operand]", i, v)
		}
		if !made[x] {
			x = l.b.Add(&op.Identity{}, x)
		}
		made[x] = false
		out = append(out, x)
	}
	return out, l.b.Err()
}

func operandName(v uint32) string { return fmt.Sprintf("operand %d", v) }
