package export

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func controlRules() []rule {
	return []rule{on(exportIf), on(exportLoop), on(exportScan), on(exportCustom)}
}

// body writes a body. Its inputs before captured get names of their own; those from there on are the values of the
// graph around it, which bodies of ONNX read by their names.
//
// Of the first scalars inputs, and of output 0 where there are such, the body of a loop may have lists of one: those of
// ONNX have no dimensions.
func (n *node) body(name string, g *graph.Graph, captures, scalars int) (attr, error) {
	s := n.exporter.scope(g, n.scope)
	var m message
	own := len(g.In) - captures
	names := make([]string, own)
	for i, v := range g.In[:own] {
		names[i] = n.unique(s.label(v, name+"_in", i))
		s.names[v] = names[i]
		if i < scalars && g.Fact(v).Shape.Rank() == 1 {
			s.names[v] = s.one("Reshape", []string{names[i], n.ints(1)})
		}
	}
	for i, v := range g.In[own:] {
		s.names[v] = n.code(len(n.n.In) - captures + i)
	}
	if err := s.run(); err != nil {
		return attr{}, err
	}
	if scalars > 0 && g.Fact(g.Out[0]).Shape.Rank() == 1 {
		s.outs[0] = s.one("Reshape", []string{s.outs[0], n.ints()})
	}
	label := g.Name
	if label == "" {
		label = name
	}
	m.text(2, label)
	for i, v := range g.In[:own] {
		t := g.Fact(v).Type
		if i < scalars {
			t.Shape = tensor.Of()
		}
		m.message(11, n.valueInfo(names[i], t))
	}
	s.write(&m, scalars > 0)
	return body(name, &m), nil
}

// results makes the outputs of an operator with bodies those of the node: they are stored as the bodies store them.
func (n *node) results(out []string) {
	for k, v := range out {
		n.put(k, v)
	}
}

// one element without dimensions, as conditions and trip counts are.
func (n *node) single(i int, d tensor.DType) string {
	if !n.has(i) {
		return ""
	}
	v := n.code(i)
	if n.fact(i).DType != d {
		v = n.cast(v, d)
	}
	if n.fact(i).Shape.Rank() != 0 {
		v = n.reshape(v)
	}
	return v
}

func exportIf(n *node, o *op.If) error {
	var attrs []attr
	for i, g := range []*graph.Graph{o.Then, o.Else} {
		a, err := n.body([]string{"then_branch", "else_branch"}[i], g, len(n.n.In)-1, 0)
		if err != nil {
			return err
		}
		attrs = append(attrs, a)
	}
	n.results(n.emit("If", len(n.n.Out), []string{n.single(0, tensor.Bool)}, attrs...))
	return nil
}

func exportLoop(n *node, o *op.Loop) error {
	carried := 2 + int(o.Carried)
	if err := n.wantInputs(2, carried); err != nil {
		return err
	}
	b, err := n.body("body", o.Body, len(n.n.In)-carried, 2)
	if err != nil {
		return err
	}
	in := []string{n.single(0, tensor.Int64), n.single(1, tensor.Bool)}
	for i := 2; i < carried; i++ {
		in = append(in, n.code(i))
	}
	n.results(n.emit("Loop", len(n.n.Out), in, b))
	return nil
}

// wantInputs refuses values of a loop that are absent, which ONNX has no form for.
func (n *node) wantInputs(from, to int) error {
	for i := from; i < to; i++ {
		if !n.has(i) {
			return refuse("input %d of a loop, which is absent", i)
		}
	}
	return nil
}

func exportScan(n *node, o *op.Scan) error {
	own := int(o.States + o.Sequences)
	if err := n.wantInputs(0, own); err != nil {
		return err
	}
	b, err := n.body("body", o.Body, len(n.n.In)-own, 0)
	if err != nil {
		return err
	}
	attrs := []attr{b, number("num_scan_inputs", o.Sequences)}
	for name, v := range map[string][]int64{"scan_input_axes": o.InAxes, "scan_output_axes": o.OutAxes,
		"scan_input_directions": directions(o.InReverse), "scan_output_directions": directions(o.OutReverse)} {
		if len(v) > 0 {
			attrs = append(attrs, numbers(name, v...))
		}
	}
	n.results(n.emit("Scan", len(n.n.Out), n.codes()[:own], attrs...))
	return nil
}

func directions(reverse []bool) []int64 {
	var list []int64
	for _, r := range reverse {
		if r {
			list = append(list, 1)
		} else {
			list = append(list, 0)
		}
	}
	return list
}

// exportCustom writes the node as the model or the program has it.
func exportCustom(n *node, o *op.Custom) error {
	var attrs []attr
	for i, name := range o.Names {
		one := false
		switch typ := o.Types[i]; typ {
		case "float", "floats":
			v, ok := o.Floats(name)
			if one = typ == "float" && len(v) == 1; one {
				attrs = append(attrs, real(name, v[0]))
			} else if ok {
				attrs = append(attrs, reals(name, v))
			}
		case "int", "ints":
			v, ok := o.Ints(name)
			if one = typ == "int" && len(v) == 1; one {
				attrs = append(attrs, number(name, v[0]))
			} else if ok {
				attrs = append(attrs, numbers(name, v...))
			}
		case "string", "strings":
			v, ok := o.Strings(name)
			if one = typ == "string" && len(v) == 1; one {
				attrs = append(attrs, text(name, v[0]))
			} else if ok {
				attrs = append(attrs, texts(name, v))
			}
		}
	}
	if o.Body != nil {
		return refuse("the program computes the operator itself")
	}
	if o.Domain != "" {
		n.domains[o.Domain] = true
	}
	out := n.emit(o.Type, len(n.n.Out), n.codes(), attrs...)
	for i := n.begin; i < len(n.list); i++ {
		if n.list[i].op == o.Type && n.list[i].out[0] == out[0] {
			n.list[i].domain = o.Domain
		}
	}
	n.results(out)
	return nil
}

// refused is the rule of an operator that ONNX cannot express.
func refused[O graph.Op](why string) rule {
	return on(func(*node, O) error { return refuse("%s", why) })
}

const fixedPoint = "it computes in fixed-point integers of its own"

func refusals() []rule {
	return []rule{
		refused[*op.Assert]("a run fails where a condition is false, for which ONNX has no operator"),
		refused[*op.Fail]("a run that takes the branch fails, for which ONNX has no operator"),
		refused[*op.LSHProjection]("ONNX has no operator that hashes bytes"),
		refused[*op.QuantizedLSTM](fixedPoint),
		refused[*op.Quantized16BitLSTM](fixedPoint),
		refused[*op.BoxWithNMSLimit]("the suppression of ONNX does not lower scores and has one limit for each class alone"),
		refused[*op.DetectionPostProcess]("the suppression of ONNX gives no fixed number of detections and ranks per class " +
			"alone"),
		refused[*op.GenerateProposals]("the suppression of ONNX takes boxes of one overlap and no smallest size"),
		refused[*op.HeatmapMaxKeypoint]("ONNX has no operator that fits peaks between cells"),
	}
}
