package onnx

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

func init() {
	add(map[string]lowering{"If": lowerIf, "Loop": lowerLoop, "Scan": lowerScan})
}

// body lowers the graph of an attribute. What it captures is found in captured.
func (n *node) body(name string) (*scope, error) {
	a := n.p.attrs[name]
	if a == nil || a.g == nil {
		return nil, fault.New(fault.File, "attribute %s holds no graph", name)
	}
	sc, err := n.im.graph(a.g, n.scope, n.version)
	return sc, fault.Wrap(err, "attribute %s", name)
}

// captureInputs returns the values of the enclosing graph for the captures of a body.
func (n *node) captureInputs(sc *scope) ([]graph.Value, error) {
	var in []graph.Value
	for _, c := range sc.captured {
		v, err := n.lookup(c.name)
		if err != nil {
			return nil, err
		}
		in = append(in, v)
	}
	return in, nil
}

// lowerIf: both branches get one list of captures, so that they share the node's inputs.
func lowerIf(n *node) error {
	then, err := n.body("then_branch")
	if err != nil {
		return err
	}
	otherwise, err := n.body("else_branch")
	if err != nil {
		return err
	}
	in := []graph.Value{n.arg(0)}
	bodies := []*scope{then, otherwise}
	names := []string{}
	seen := map[string]bool{}
	for _, sc := range bodies {
		for _, c := range sc.captured {
			if !seen[c.name] {
				seen[c.name] = true
				names = append(names, c.name)
			}
		}
	}
	graphs := make([]*graph.Graph, 2)
	for i, sc := range bodies {
		own := map[string]graph.Value{}
		for _, c := range sc.captured {
			own[c.name] = c.own
		}
		g, err := sc.b.Graph()
		if err != nil {
			return err
		}
		g.In = g.In[:0]
		for _, name := range names {
			v, ok := own[name]
			if !ok { // the other branch uses it
				outer, err := n.lookup(name)
				if err != nil {
					return err
				}
				g.Values = append(g.Values, graph.ValueInfo{Name: name, Fact: n.b.Fact(outer)})
				v = graph.Value(len(g.Values) - 1)
			}
			g.In = append(g.In, v)
		}
		graphs[i] = g
	}
	for _, name := range names {
		v, err := n.lookup(name)
		if err != nil {
			return err
		}
		in = append(in, v)
	}
	return n.emit(&op.If{Then: graphs[0], Else: graphs[1]}, in...)
}

// lowerLoop: the body's inputs are the iteration number, the condition, the carried values, then the captures.
func lowerLoop(n *node) error {
	sc, err := n.body("body")
	if err != nil {
		return err
	}
	g, err := sc.b.Graph()
	if err != nil {
		return err
	}
	captures, err := n.captureInputs(sc)
	if err != nil {
		return err
	}
	in := append([]graph.Value(nil), n.in...)
	for len(in) < 2 {
		in = append(in, graph.None)
	}
	return n.emit(&op.Loop{Body: g, Carried: int64(len(in) - 2)}, append(in, captures...)...)
}

// lowerScan: opset 9 and later. The state variables come first, then the scanned inputs, then the captures.
func lowerScan(n *node) error {
	if n.version < 9 {
		return fault.New(fault.Unsupported, "the batched form of opset 8")
	}
	sc, err := n.body("body")
	if err != nil {
		return err
	}
	g, err := sc.b.Graph()
	if err != nil {
		return err
	}
	captures, err := n.captureInputs(sc)
	if err != nil {
		return err
	}
	scanned := n.int("num_scan_inputs", 0)
	if scanned < 1 || scanned > int64(len(n.in)) {
		return fault.New(fault.File, "attribute num_scan_inputs: %d of %d inputs", scanned, len(n.in))
	}
	o := &op.Scan{Body: g, States: int64(len(n.in)) - scanned, Sequences: scanned, InAxes: n.ints("scan_input_axes"), OutAxes: n.ints("scan_output_axes"),
		InReverse: reversed(n.ints("scan_input_directions")), OutReverse: reversed(n.ints("scan_output_directions"))}
	return n.emit(o, append(append([]graph.Value(nil), n.in...), captures...)...)
}

// reversed reads directions: 1 is from the last slice to the first.
func reversed(directions []int64) []bool {
	var out []bool
	for _, d := range directions {
		out = append(out, d != 0)
	}
	return out
}
