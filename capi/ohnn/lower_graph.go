package ohnn

import (
	"fmt"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// graph returns the model's graph, made on the first call. The caller holds m.mu; the model is built.
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
		return fault.New(fault.Unsupported, "the library does not compute this operator "+
			"[ohnn-library-compute-operator]")
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
			"makes it [ohnn-tensor-no-source]", index)
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
				return nil, fault.New(fault.Argument, "tensor %d is made by operation %d and again by operation "+
					"%d [ohnn-tensor-made-operation]", index,
					maker[index], i)
			}
			maker[index] = i
		}
	}
	for _, index := range m.inputs {
		if maker[index] >= 0 {
			return nil, fault.New(fault.Argument, "tensor %d is a model input and made by operation %d "+
				"[ohnn-tensor-model-input]", index, maker[index])
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
					return nil, fault.New(fault.Argument, "operation %d (%v) depends on its own result "+
						"[ohnn-operation-depends-result]", k, m.ops[k].Op)
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
