package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

var ifOperators = []Operator{
	{"", "If", 1, lowerIf},
}

// branch is a lowered branch of an If.
type branch struct {
	graph    *graph.Graph
	captured []capture
	captures map[graph.Value]graph.Value
	unfit    error // why it cannot be computed with the sizes that are known
}

// lowerIf is for conditions that are not known: both branches get one list of captures, so that they share the node's
// inputs.
func lowerIf(n *node) error {
	if err := n.want(1, 1); err != nil {
		return err
	}
	var branches [2]*branch
	for i, name := range []string{"then_branch", "else_branch"} {
		var err error
		if branches[i], err = n.branch(name); err != nil {
			return err
		}
	}
	if len(n.m.missing) > 0 {
		return nil
	}
	if branches[0].unfit != nil && branches[1].unfit != nil {
		return branches[0].unfit
	}
	in := []graph.Value{n.arg(0)}
	seen := map[graph.Value]bool{}
	for _, b := range branches {
		for _, c := range b.captured {
			if !seen[c.outer] {
				seen[c.outer] = true
				in = append(in, c.outer)
			}
		}
	}
	for _, b := range branches {
		g := b.graph
		g.In = g.In[:0]
		for _, outer := range in[1:] {
			v, ok := b.captures[outer]
			if !ok { // the other branch uses it
				g.Values = append(g.Values, graph.ValueInfo{Fact: n.b.Fact(outer)})
				v = graph.Value(len(g.Values) - 1)
			}
			g.In = append(g.In, v)
		}
	}
	return n.emit(&op.If{Then: branches[0].graph, Else: branches[1].graph}, in...)
}

// branch lowers the graph of an attribute. One that does not fit the sizes around it, but may fit others, becomes a
// body that fails, as only the branch that is taken must fit.
func (n *node) branch(name string) (*branch, error) {
	sc, err := n.body(name)
	if unfit(err) {
		return n.failing(name, err)
	}
	if err != nil || len(n.m.missing) > 0 {
		return nil, err
	}
	g, err := sc.b.Graph()
	return &branch{graph: g, captured: sc.captured, captures: sc.captures}, err
}

// unfit reports whether an error may come of sizes.
func unfit(err error) bool {
	k := fault.KindOf(err)
	return err != nil && (k == fault.Shape || k == fault.Argument)
}

// failing is a branch that fails with why, unless it is at fault in itself: then it fails also where nothing is known
// of the sizes around it.
func (n *node) failing(name string, why error) (*branch, error) {
	blind := n.blind
	n.blind = true
	_, err := n.body(name)
	n.blind = blind
	if err != nil && fault.KindOf(err) != fault.Unsupported {
		return nil, why
	}
	own := n.p.Attrs[name].G
	g := &graph.Graph{Name: own.Name, Nodes: []graph.Node{{Op: &op.Fail{Text: why.Error()},
		Origin: -1}}}
	for _, o := range own.Out {
		g.Values = append(g.Values, graph.ValueInfo{Name: o.Name})
		g.Out = append(g.Out, graph.Value(len(g.Values)-1))
	}
	g.Nodes[0].Out = g.Out
	return &branch{graph: g, unfit: why}, nil
}
