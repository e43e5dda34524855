package lowering

import (
	"fmt"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	lowerAll(map[nnapi.OperationCode]func(n *node){
		nnapi.If:    lowerIf,
		nnapi.While: lowerWhile,
	})
}

// maxNesting is how deep models may refer to models. Each level is lowered anew where it is referred to.
const maxNesting = 64

// maxNested is how many models one graph may be made of, each counted as often as it is referred to.
const maxNested = 1000

const conditionModel = "condition model"

// part adds the operations of a model that control flow refers to, with in as its inputs, and returns its outputs. The
// inputs are the operation's from index first on, of which the first state change from trip to trip. A model that
// several operations refer to is lowered for each.
func (n *node) part(b *graph.Builder, word string, m *nnapi.Model, in []graph.Value, first, state int) []graph.Value {
	if !n.ok() {
		return make([]graph.Value, len(m.Outputs))
	}
	fail := func(err error) []graph.Value {
		n.err = fault.Wrap(err, "%s", word)
		return make([]graph.Value, len(m.Outputs))
	}
	if n.count == nil {
		n.count = new(int)
	}
	if *n.count++; *n.count > maxNested || n.depth >= maxNesting {
		return fail(fault.New(fault.Unsupported, "models refer to models more than %d deep, or %d in all "+
			"[nnapi-models-refer-models]", maxNesting,
			maxNested))
	}
	l := newLowering(leftOut(m, in), b, n.waits)
	l.depth, l.count, l.sources = n.depth+1, n.count, map[uint32]uint32{}
	if b == n.b {
		l.inside = true
		l.outer, l.outerName = n.origin()
		l.outerName += ", " + word
	} else if word == conditionModel { // it stands in the graph of the body
		l.of = " of the " + word
	}
	for i, v := range m.Inputs {
		l.values[v] = in[i]
		l.inputs[v] = i
		if s, ok := n.source(n.op.Inputs[first+i]); ok && i >= state {
			l.sources[v] = s
		}
	}
	defer n.names()
	if err := l.operations(); err != nil {
		return fail(err)
	}
	out, err := l.outputs()
	if err != nil {
		return fail(err)
	}
	return out
}

// leftOut returns m with the inputs that have no value as operands without one: m itself if there are none.
func leftOut(m *nnapi.Model, in []graph.Value) *nnapi.Model {
	if !slices.Contains(in, graph.None) {
		return m
	}
	out := *m
	out.Operands = slices.Clone(m.Operands)
	for i, v := range m.Inputs {
		if in[i] == graph.None {
			out.Operands[v].Lifetime = nnapi.NoValue
		}
	}
	return &out
}

// capture is argument i of control flow inside of a body that b builds: an input of the body of the type of operand v,
// or what is known of a scalar already. passes reports whether the argument is one of the core node too. An argument
// that is left out has no value in the body either.
func (n *node) capture(b *graph.Builder, i int, m *nnapi.Model, v uint32) (inner graph.Value, passes bool) {
	x := n.in(i)
	if x == graph.None {
		return graph.None, false
	}
	if c := n.fact(x).Const; c != nil && n.operand(i).Type.IsScalar() {
		return b.Const(operandName(v), typeOf(&m.Operands[v]), c.Data), false
	}
	return b.Input(operandName(v), typeOf(&m.Operands[v])), true
}

// body makes a graph of a model, whose nodes have the operations of that model as their origins.
func (n *node) body(word string) *graph.Builder {
	b := graph.NewBuilder(word)
	b.SetOrigin(n.origin())
	return b
}

// origin is the operation that n is in the model of which the graph under way is made. Nodes of a model that stands in
// the graph of another belong to the operation that refers to it, and have its name with their own.
func (n *node) origin() (int, string) {
	if n.inside {
		return n.outer, fmt.Sprintf("%s: operation %d %v", n.outerName, n.index, n.op.Code)
	}
	return n.index, n.op.Code.String() + n.of
}

// lowerIf runs one of two bodies, whose captures are the operation's arguments.
func lowerIf(n *node) {
	var args []graph.Value
	var bodies [2]*graph.Graph
	for k, word := range []string{"then model", "else model"} {
		m := n.operand(1 + k).Sub
		b := n.body(word)
		in := make([]graph.Value, len(m.Inputs))
		args = nil
		for i, v := range m.Inputs {
			passes := false
			if in[i], passes = n.capture(b, 3+i, m, v); passes {
				args = append(args, n.in(3+i))
			}
		}
		out := n.part(b, word, m, in, 3, 0)
		bodies[k] = n.finish(b, out)
	}
	if !n.ok() {
		return
	}
	n.control(&op.If{Then: bodies[0], Else: bodies[1]}, len(n.op.Outputs), append([]graph.Value{n.in(0)}, args...))
}

// lowerWhile runs the body while the condition holds: the condition is judged once before the loop, and by the loop's
// body after each trip. The body makes the state, the other arguments are captures.
func lowerWhile(n *node) {
	cond, body := n.operand(0).Sub, n.operand(1).Sub
	state := len(body.Outputs)
	args := make([]graph.Value, 0, len(n.op.Inputs)-2)
	for i := 2; i < len(n.op.Inputs); i++ {
		args = append(args, n.in(i))
	}
	for i := range state {
		if args[i] == graph.None {
			n.fail(fault.Argument, "input %d: it is left out, and the body model computes it anew "+
				"[nnapi-input-left-body]", 2+i)
		}
	}
	first := n.part(n.b, conditionModel, cond, args, 2, state)
	b := n.body("body model")
	b.Input("trip", tensor.T(tensor.Int64))
	b.Input("condition", tensor.T(tensor.Bool, 1))
	in := make([]graph.Value, len(args))
	passed := args[:state:state]
	for i, v := range body.Inputs {
		if i < state {
			in[i] = b.Input(operandName(v), typeOf(&body.Operands[v]))
			continue
		}
		passes := false
		if in[i], passes = n.capture(b, 2+i, body, v); passes {
			passed = append(passed, args[i])
		}
	}
	next := n.part(b, "body model", body, in, 2, state)
	if !n.ok() {
		return
	}
	again := n.part(b, conditionModel, cond, append(append([]graph.Value(nil), next...), in[state:]...), 2, state)
	g := n.finish(b, append(again, next...))
	if !n.ok() {
		return
	}
	ins := append([]graph.Value{graph.None, first[0]}, passed...)
	n.control(&op.Loop{Body: g, Carried: int64(state)}, state, ins)
}

// finish returns the graph that b has built, with outputs out.
func (n *node) finish(b *graph.Builder, out []graph.Value) *graph.Graph {
	if !n.ok() {
		return nil
	}
	b.SetTerms(nil)
	b.Output(out...)
	g, err := b.Graph()
	if err != nil {
		n.err = err
	}
	return g
}

// control adds a node with count outputs, which begin with the operation's.
func (n *node) control(o graph.Op, count int, in []graph.Value) {
	out := n.many(o, make([]tensor.Type, count), in...)
	for i := range n.op.Outputs {
		n.put(i, out[i])
	}
}
