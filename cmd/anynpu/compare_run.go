package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/layers"
	"github.com/anynpu/anynpu/internal/npy"
)

// comparisonOf is a comparison on its way.
type comparisonOf struct {
	*compareFlags
	a, b   *side
	report *compareReport

	want, own layers.Values // by value of b's graph
	rows      []layers.Row
}

// compare fills the report.
func (c *comparisonOf) compare(ctx context.Context, in []tensor.Tensor, stderr io.Writer) error {
	inB, err := c.inputsOfB(in)
	if err != nil {
		return err
	}
	if c.b.Graph, err = sized(c.b.m.Graph, inB); err != nil {
		return exit(exitModel, err)
	}
	if c.golden == "" {
		if c.a.Graph, err = sized(c.a.m.Graph, in); err != nil {
			return exit(exitModel, err)
		}
	}
	if err := c.counterparts(ctx, in, inB); err != nil {
		return err
	}
	results, err := c.b.Outputs(ctx, inB)
	if err != nil {
		return exit(exitRun, fault.Wrap(err, "%s", c.b.text))
	}
	for i, v := range c.b.Graph.Out {
		o := compared{Name: c.b.Graph.Values[v].Name, Type: results[i].DType.String(), Sizes: results[i].Dims}
		if w, ok := c.want[v]; ok {
			o.measure(results[i], w)
		} else {
			o.Why = withoutCounterpart
		}
		c.report.Outputs = append(c.report.Outputs, o)
	}
	if !c.layers {
		return nil
	}
	if c.own, err = c.b.Run(ctx, inB); err != nil {
		return exit(exitRun, fault.Wrap(err, "%s", c.b.text))
	}
	progress := newProgress(stderr, len(c.b.Graph.Nodes))
	defer progress.done()
	c.rows, err = layers.Compare(ctx, &c.b.Side, c.own, c.want, func(done, _ int) { progress.step(done) })
	if err != nil {
		return exit(exitRun, err)
	}
	c.fill(c.report)
	return nil
}

// inputsOfB are the inputs in the order of the second model, paired as layers.PairNames does.
func (c *comparisonOf) inputsOfB(in []tensor.Tensor) ([]tensor.Tensor, error) {
	a, b := portsOf(c.a.m.Graph), portsOf(c.b.m.Graph)
	if len(a) != len(b) {
		return nil, exit(exitModel, fault.New(fault.Argument,
			"%d inputs, and %d in %s: models of the same inputs are compared [tool-inputs-models-inputs]",
			len(a), len(b), c.b.text))
	}
	out := make([]tensor.Tensor, len(b))
	of := layers.PairNames(portNames(a), portNames(b))
	for i, p := range b {
		from := of[i]
		if _, fits := p.Type.Shape.Merge(tensor.Of(in[from].Dims...)); !fits || in[from].DType != p.Type.DType {
			return nil, exit(exitModel, fault.New(fault.Argument, "input %q of %s is %v; the first model's has "+
				"%v [tool-input-model]", p.Name,
				c.b.text, p.Type, in[from].Type()))
		}
		out[i] = in[from]
	}
	return out, nil
}

// counterparts finds the values of the first side that belong to those of the second.
func (c *comparisonOf) counterparts(ctx context.Context, in, inB []tensor.Tensor) (err error) {
	g := c.b.Graph
	switch {
	case c.golden != "":
		if c.want, err = goldenValues(c.golden, g); err != nil {
			return exit(exitUsage, err)
		}
		if len(c.want) == 0 {
			return usage("--golden %s: it has no file NAME.npy for any value of %s "+
				"[tool-golden-no-file]", c.golden, c.b.text)
		}
	case c.layers:
		values, err := c.a.Run(ctx, in)
		if err != nil {
			return exit(exitRun, fault.Wrap(err, "%s", c.a.text))
		}
		of := layers.Match(c.a.Graph, g)
		if c.a.m.Path == c.b.m.Path { // one file, imported twice: the same values
			of = map[graph.Value]graph.Value{}
			for v := range g.Values {
				of[graph.Value(v)] = graph.Value(v)
			}
		}
		c.want = layers.Values{}
		for v, w := range of {
			if t, ok := values[w]; ok && t.DType.IsFloat() == g.Fact(v).DType.IsFloat() {
				c.want[v] = t
			}
		}
	default:
		results, err := c.a.Outputs(ctx, in)
		if err != nil {
			return exit(exitRun, fault.Wrap(err, "%s", c.a.text))
		}
		c.want = layers.Values{}
		of := layers.Match(c.a.Graph, g)
		for _, v := range g.Out {
			for i, w := range c.a.Graph.Out {
				if x, ok := of[v]; ok && x == w || c.a.m.Path == c.b.m.Path && v == w {
					c.want[v] = results[i]
				}
			}
		}
	}
	for i, v := range g.In {
		c.want[v] = inB[i]
	}
	return nil
}

// label is how the report calls a node: the file's index, operator and name.
func (c *comparisonOf) label(n int) (index int, operator, name string) {
	node := &c.b.Graph.Nodes[n]
	return node.Origin, c.b.m.operator(node.Origin, graph.NameOf(node.Op)), node.Name
}

// valueName is the name of a value, or of its place where it has none.
func (c *comparisonOf) valueName(r layers.Row) string {
	if name := c.b.Graph.Values[r.Value].Name; name != "" {
		return name
	}
	return fmt.Sprintf("value %d", r.Value)
}

// fill adds the rows of a comparison by layers.
func (c *comparisonOf) fill(r *compareReport) {
	r.Departs = layers.Departures(c.rows, c.limit)
	r.Layers = []layer{}
	for _, row := range c.rows {
		t := c.want[row.Value]
		l := layer{compared: compared{Name: c.valueName(row), Type: c.b.Graph.Fact(row.Value).DType.String(), Sizes: t.Dims,
			Error: distanceOf(row.Total, t.Dims), Why: row.Why}, Added: distanceOf(row.Added, t.Dims), Nodes: len(row.Nodes)}
		l.Node, l.Operator, l.NodeName = c.label(row.Node)
		r.Layers = append(r.Layers, l)
	}
	for _, i := range r.Departs {
		r.Layers[i].Departs = true
	}
}

// goldenValues reads what the folder has of the values of a graph, by the names that `run --dump` gives the files.
func goldenValues(dir string, g *graph.Graph) (layers.Values, error) {
	values := layers.Values{}
	list := dumped(g)
	ports := make([]device.Port, len(list))
	for i, v := range list {
		ports[i].Name = g.Values[v].Name
	}
	for i, name := range fileNames(ports) {
		file, err := os.Open(filepath.Join(dir, name))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, fault.As(fault.File, err, "--golden")
		}
		t, err := npy.Read(file)
		file.Close()
		if err != nil {
			return nil, fault.Wrap(err, "--golden: %s", file.Name())
		}
		values[list[i]] = t
	}
	return values, nil
}
