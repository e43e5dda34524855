package op

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// inferBody returns what is known of the outputs of a body for inputs of which in is known.
func inferBody(g *graph.Graph, in []tensor.Fact) ([]tensor.Fact, error) {
	c, err := BodyWith(g, in)
	if err != nil {
		return nil, err
	}
	return c.Facts(c.Out), nil
}

// BodyWith returns a body inferred for inputs of which in is known; it shares nodes and constants with g, which does
// not change. Symbols of the body's own are forgotten: they mean nothing outside.
func BodyWith(g *graph.Graph, in []tensor.Fact) (*graph.Graph, error) {
	if err := takesInputs(g, len(in)); err != nil {
		return nil, err
	}
	c := &graph.Graph{Name: g.Name, Values: make([]graph.ValueInfo, len(g.Values)), Nodes: g.Nodes, In: g.In, Out: g.Out}
	for i, v := range g.Values {
		if v.Fact.Const == nil {
			v.Fact.Shape, v.Fact.Ints = withoutSymbols(v.Fact.Shape), nil
		}
		c.Values[i] = v
	}
	for i, v := range g.In {
		if v < 0 || int(v) >= len(c.Values) {
			return nil, fault.New(fault.Argument, "body %q: input %d: value %d of %d", g.Name, i, v, len(c.Values))
		}
		if err := given(&c.Values[v].Fact, in[i]); err != nil {
			return nil, fault.Wrap(err, "body %q: input %d", g.Name, i)
		}
	}
	if err := c.Infer(); err != nil {
		return nil, fault.Wrap(err, "body %q", g.Name)
	}
	return c, nil
}

// takesInputs checks that a body is there and has n inputs.
func takesInputs(g *graph.Graph, n int) error {
	if g == nil {
		return fault.New(fault.Argument, "a body is missing")
	}
	if len(g.In) != n {
		return fault.New(fault.Argument, "body %q: has %d inputs, gets %d", g.Name, len(g.In), n)
	}
	return nil
}

// given merges what the node knows of a body's input into what the body declares.
func given(f *tensor.Fact, in tensor.Fact) error {
	if f.DType != tensor.Invalid && in.DType != tensor.Invalid && f.DType != in.DType {
		return fault.New(fault.Type, "want %v, got %v", f.DType, in.DType)
	}
	s, ok := f.Shape.Merge(in.Shape)
	if !ok {
		return fault.New(fault.Shape, "want %v, got %v", f.Shape, in.Shape)
	}
	if f.DType == tensor.Invalid {
		f.DType = in.DType
	}
	if f.Quant == nil {
		f.Quant = in.Quant
	}
	f.Shape, f.Const, f.Ints = s, in.Const, in.Ints
	return nil
}

func withoutSymbols(s tensor.Shape) tensor.Shape {
	s = s.Clone()
	for i, d := range s.Dims {
		if !d.Known() {
			s.Dims[i] = tensor.AnyDim()
		}
	}
	return s
}

// either returns what holds of a value that is one of two, and whether that is all that is known of a. Their element
// types must agree.
func either(a, b tensor.Fact) (f tensor.Fact, same bool, err error) {
	d := a.DType
	if d == tensor.Invalid {
		d = b.DType
	}
	if b.DType != tensor.Invalid && d != b.DType || a.DType != tensor.Invalid && b.DType != tensor.Invalid &&
		(a.Quant == nil) != (b.Quant == nil) {
		return f, false, fault.New(fault.Type, "one way gives %v, another %v", a.Type, b.Type)
	}
	f.DType, f.Quant = d, a.Quant
	same = d == a.DType
	switch {
	case !a.Shape.Ranked:
	case a.Shape.Rank() != b.Shape.Rank():
		same = false
	default:
		f.Shape = a.Shape.Clone()
		for i, x := range f.Shape.Dims {
			if !x.Same(b.Shape.Dims[i]) && x.Sym != tensor.Unknown {
				f.Shape.Dims[i] = tensor.AnyDim()
				same = false
			}
		}
	}
	return f, same, nil
}

// inferRepeated infers a body that is run any number of times. before and after are the inputs around the state; the
// body's outputs are skip others, the next state, and what each run gives. It returns what holds of the state after any
// number of runs, and of the rest.
func inferRepeated(g *graph.Graph, before, state, after []tensor.Fact, skip int) (final, each []tensor.Fact,
	err error) {
	now := make([]tensor.Fact, len(state))
	for i, f := range state {
		now[i] = tensor.Fact{Type: f.Type}
	}
	for {
		out, err := inferBody(g, slices.Concat(before, now, after))
		if err != nil {
			return nil, nil, err
		}
		if len(out) < skip+len(now) {
			return nil, nil, fault.New(fault.Argument, "body %q: has %d outputs, want %d or more", g.Name, len(out),
				skip+len(now))
		}
		stable := true
		for i := range now {
			var same bool
			if now[i], same, err = either(now[i], out[skip+i]); err != nil {
				return nil, nil, fault.Wrap(err, "state %d", i)
			}
			stable = stable && same
		}
		if stable {
			return now, out[skip+len(now):], nil
		}
	}
}

// declaredQuant prefers the quantization that the model declares for an output.
func declaredQuant(f tensor.Fact, declared tensor.Type) tensor.Fact {
	if declared.Quant != nil {
		f.Quant = declared.Quant
	}
	f.Const = nil
	return f
}

// withBodies adds what the operators in bodies bring in.
func withBodies(t graph.Traits, bodies []*graph.Graph) graph.Traits {
	for _, g := range bodies {
		if g == nil {
			continue
		}
		for i := range g.Nodes {
			if g.Nodes[i].Op == nil {
				continue
			}
			inner := graph.TraitsOf(g.Nodes[i].Op)
			t.Impure = t.Impure || inner.Impure
			t.Effect = t.Effect || inner.Effect
		}
	}
	return t
}
