package nnapi

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// Bodies of control flow are models of their own, to which an operand of an operation refers.

func init() {
	register(map[string]func(t *translation) error{"if": lowerIf, "loop": lowerLoop})
}

// body is a graph inside of a node while it is turned.
type body struct {
	*translation
	in, out []*operand
}

// bodyOf turns a graph of which some inputs are there; err says what stands against it.
func (t *translation) bodyOf(g *graph.Graph, in []graph.Value) (b *body, err error) {
	inner := newTranslation(g, t.level)
	for _, v := range slices.Concat(in, g.Out) {
		if err := takes(g.Fact(v)); err != nil {
			return nil, fault.Wrap(err, "a value of its body")
		}
	}
	if err := driver.Translate(g, inner.node); err != nil {
		return nil, refuse("%v", err)
	}
	b = &body{inner, inner.Operands(in), inner.Operands(g.Out)}
	for i, y := range b.out {
		made := slices.ContainsFunc(b.Ops, func(o *operation) bool { return slices.Contains(o.out, y) })
		if !made || slices.Contains(b.out[:i], y) {
			b.out[i] = b.copied(y)
		}
	}
	return b, inner.refused
}

// copied makes an operand with the values of x: results of models are made by operations.
func (t *translation) copied(x *operand) *operand {
	y := x.Between(x.Dims()...)
	if x.typ.DType == tensor.Bool {
		t.add(spec.LogicalOr, y, x, x)
	} else {
		t.add(spec.Maximum, y, x, x)
	}
	if err := t.judge(t.Ops[len(t.Ops)-1]); err != nil {
		t.refused = err
	}
	return y
}

// model is the operand that refers to a body.
func (b *body) model() *operand {
	b.Simplify(b.out, fuse)
	return &operand{code: spec.ModelOperand, typ: tensor.T(tensor.Invalid), sub: describe(b.Ops, b.in, b.out)}
}

// outs are the node's results, with operands for those that are left out, which are of the types of like.
func (t *translation) outs(like []*operand) []*operand {
	out := make([]*operand, len(like))
	for k, o := range like {
		out[k] = o.Between(o.Dims()...)
		if t.given(k) {
			out[k] = t.Out(k)
		}
	}
	return out
}

func lowerIf(t *translation) error {
	o := t.N.Op.(*op.If)
	in, results := []*operand{t.In(0)}, []*operand(nil)
	for _, g := range []*graph.Graph{o.Then, o.Else} {
		b, err := t.bodyOf(g, g.In)
		if err != nil {
			return err
		}
		in, results = append(in, b.model()), b.out
	}
	t.addMulti(spec.If, t.outs(results), append(in, t.Operands(t.N.In[1:])...)...)
	return nil
}

// flag is an operand for a condition.
func flag() *operand { return &operand{code: spec.TensorBool8, typ: tensor.T(tensor.Bool, 1)} }

// lowerLoop: WHILE asks a model before each trip. The condition for the next trip is a part of the state, and so is the
// number of trips where there is a limit.
func lowerLoop(t *translation) error {
	o := t.N.Op.(*op.Loop)
	g, limit := o.Body, int64(math.MaxInt64)
	if t.N.In[0] != graph.None {
		v, ok := t.G.Fact(t.N.In[0]).KnownInts()
		if !ok || len(v) != 1 {
			return refuse("the limit of trips is not known before the run")
		}
		limit = v[0]
	}
	trip := func(list []graph.Value) bool { return slices.Contains(list, g.In[0]) }
	switch {
	case int64(len(g.Out)) != o.Carried+1:
		return refuse("WHILE has no results that grow by the trip")
	case trip(g.Out) || slices.ContainsFunc(g.Nodes, func(n graph.Node) bool { return trip(n.In) }):
		return refuse("WHILE does not tell its body the number of the trip")
	}
	b, err := t.bodyOf(g, g.In[1:])
	if err != nil {
		return err
	}
	first := &operand{code: spec.TensorBool8, typ: tensor.T(tensor.Bool, 1), data: []byte{1}}
	if t.N.In[1] != graph.None {
		first = t.In(1)
	}
	args := append([]*operand{first}, t.Operands(t.N.In[2:])...)
	ask := &body{translation: newTranslation(t.G, t.level), out: []*operand{flag()}}
	for _, x := range b.in {
		ask.in = append(ask.in, x.Between(x.Dims()...))
	}
	if limit == math.MaxInt64 {
		ask.add(spec.LogicalOr, ask.out[0], ask.in[0], ask.in[0])
	} else {
		args = slices.Insert(args, 1, list(0))
		count, next := list(0).Between(1), list(0).Between(1)
		b.add(spec.Add, next, count, list(1), int32Scalar(spec.FusedNone))
		b.in, b.out = slices.Insert(b.in, 1, count), slices.Insert(b.out, 1, next)
		asked, below := list(0).Between(1), flag()
		ask.in = slices.Insert(ask.in, 1, asked)
		ask.add(spec.Less, below, asked, list(min(limit, math.MaxInt32)))
		ask.add(spec.LogicalAnd, ask.out[0], ask.in[0], below)
	}
	inside := len(b.out) - int(o.Carried)
	var results []*operand
	for _, x := range b.out[:inside] {
		results = append(results, x.Between(x.Dims()...))
	}
	results = append(results, t.outs(b.out[inside:])...)
	t.addMulti(spec.While, results, append([]*operand{ask.model(), b.model()}, args...)...)
	return nil
}
