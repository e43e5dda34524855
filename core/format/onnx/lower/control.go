package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var controlOperators = []Operator{
	{"", "Loop", 1, lowerLoop},
	{"", "Scan", 8, lowerScan},
}

// body lowers the graph of an attribute. Values that it captures are found in captured.
func (n *node) body(name string, given ...tensor.Type) (*Scope, error) {
	a := n.p.Attrs[name]
	if a == nil || a.G == nil {
		return nil, fault.New(fault.File, "attribute %s holds no graph", name)
	}
	sc, err := n.m.graph(a.G, n.Scope, n.p, given)
	return sc, fault.Wrap(err, "attribute %s", name)
}

// captureInputs returns the values of the enclosing graph that the body sc captures.
func (sc *Scope) captureInputs() []graph.Value {
	var in []graph.Value
	for _, c := range sc.captured {
		in = append(in, c.outer)
	}
	return in
}

// tripBody is the body of a loop or scan.
type tripBody struct {
	graph    *graph.Graph
	given    []tensor.Type // of its inputs before the captures
	captures []graph.Value // of the enclosing graph
}

// lowerTrips lowers attribute body. Its inputs are of the types given, then those of the node from first on, whose
// sizes may change from trip to trip. It returns nil when an operator of the model is missing.
func (n *node) lowerTrips(first int, given ...tensor.Type) (*tripBody, error) {
	for i := first; i < len(n.in); i++ {
		given = append(given, tensor.Type{DType: n.fact(i).DType, Shape: tensor.AnyShape()})
	}
	sc, err := n.body("body", given...)
	if err != nil || len(n.m.missing) > 0 {
		return nil, err
	}
	g, err := sc.b.Graph()
	if err != nil {
		return nil, err
	}
	return &tripBody{g, given, sc.captureInputs()}, nil
}

// lowerLoop is for loops that are not unrolled: the body's inputs are the iteration number, the condition, the carried
// values, then the captures.
func lowerLoop(n *node) error {
	body, err := n.lowerTrips(2, tensor.T(tensor.Int64), tensor.T(tensor.Bool))
	if err != nil || body == nil {
		return err
	}
	in := append([]graph.Value(nil), n.in...)
	for len(in) < 2 {
		in = append(in, graph.None)
	}
	return n.emit(&op.Loop{Body: body.graph, Carried: int64(len(in) - 2)}, append(in, body.captures...)...)
}

// lowerScan: opset 9 and later. The state variables come first, then the scanned inputs, then the captures.
func lowerScan(n *node) error {
	if n.version < 9 {
		return lowerBatchedScan(n)
	}
	if err := n.want(len(n.in), len(n.in)); err != nil {
		return err
	}
	body, err := n.lowerTrips(0)
	if err != nil || body == nil {
		return err
	}
	scanned, err := n.scanInputs(len(n.in))
	if err != nil {
		return err
	}
	o := &op.Scan{Body: body.graph, States: int64(len(n.in)) - scanned, Sequences: scanned,
		InAxes: n.ints("scan_input_axes"), OutAxes: n.ints("scan_output_axes"),
		InReverse: reversed(n.ints("scan_input_directions")), OutReverse: reversed(n.ints("scan_output_directions"))}
	return n.emit(o, append(append([]graph.Value(nil), n.in...), body.captures...)...)
}

// scanInputs reads how many of a Scan's inputs are scanned.
func (n *node) scanInputs(inputs int) (int64, error) {
	scanned := n.int("num_scan_inputs", 0)
	if scanned < 1 || scanned > int64(inputs) {
		return 0, fault.New(fault.File, "attribute num_scan_inputs: %d of %d inputs", scanned, inputs)
	}
	return scanned, nil
}

// reversed reads directions: 1 is from the last slice to the first.
func reversed(directions []int64) []bool {
	var out []bool
	for _, d := range directions {
		out = append(out, d != 0)
	}
	return out
}

// lowerBatchedScan is Scan of opset 8: state variables and sequences carry a batch dimension, over which an outer scan
// runs.
func lowerBatchedScan(n *node) error {
	if n.has(0) {
		return fault.New(fault.Unsupported, "sequence lengths")
	}
	scanned, err := n.scanInputs(len(n.in) - 1)
	if err != nil {
		return err
	}
	body, err := n.lowerTrips(1)
	if err != nil || body == nil {
		return err
	}
	inner := &op.Scan{Body: body.graph, States: int64(len(n.in)-1) - scanned, Sequences: scanned,
		InReverse: reversed(n.ints("directions"))}
	b := graph.NewBuilder(body.graph.Name + " per batch")
	var in []graph.Value
	for _, t := range body.given {
		in = append(in, b.Input("", t))
	}
	for _, v := range body.captures {
		in = append(in, b.Input("", n.b.Fact(v).Type))
	}
	b.Output(b.AddN(inner, len(n.out), in...)...)
	batch, err := b.Graph()
	if err != nil {
		return err
	}
	return n.emit(&op.Scan{Body: batch, Sequences: int64(len(body.given))}, append(append([]graph.Value(nil), n.in[1:]...),
		body.captures...)...)
}
