package graph

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// Builder adds values and nodes to a graph and infers each node as it is added. The first error sticks: later calls do
// nothing, Err and Graph return it. The zero Builder is not usable; see NewBuilder.
type Builder struct {
	g          *Graph
	origin     int
	originName string
	terms      func(Value) string
	err        error
}

// NewBuilder returns a builder of a new, empty graph.
func NewBuilder(name string) *Builder {
	return &Builder{g: &Graph{Name: name}, origin: -1}
}

// Extend returns a builder that adds to g.
func Extend(g *Graph) *Builder { return &Builder{g: g, origin: -1} }

// SetTerms sets what the API calls the values that are inputs of the nodes added from now on, see Node.Terms; nil:
// nothing.
func (b *Builder) SetTerms(f func(Value) string) { b.terms = f }

// SetOrigin sets Node.Origin for the nodes added from now on, and the Name of those that get none of their own.
func (b *Builder) SetOrigin(i int, name string) { b.origin, b.originName = i, name }

// Err returns the first error.
func (b *Builder) Err() error { return b.err }

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *Builder) value(name string, f tensor.Fact) Value {
	b.g.Values = append(b.g.Values, ValueInfo{Name: name, Fact: f})
	return Value(len(b.g.Values) - 1)
}

// Input adds a graph input of type t.
func (b *Builder) Input(name string, t tensor.Type) Value {
	v := b.value(name, tensor.Fact{Type: t})
	b.g.In = append(b.g.In, v)
	return v
}

// Given adds a value of which f is known: a constant when f says so, else a graph input. It serves to take values over
// from another graph.
func (b *Builder) Given(name string, f tensor.Fact) Value {
	v := b.value(name, f)
	if f.Const == nil {
		b.g.In = append(b.g.In, v)
	}
	return v
}

// Const adds a constant. data must have the length that t demands.
func (b *Builder) Const(name string, t tensor.Type, data []byte) Value {
	return b.ConstOf(name, t, tensor.NewConst(data))
}

// ConstOf adds a constant whose value, and perhaps hash, already exist. c.Data must have the length that t demands.
func (b *Builder) ConstOf(name string, t tensor.Type, c *tensor.Const) Value {
	size, ok := t.ByteSize()
	if !ok || size != int64(len(c.Data)) {
		b.fail(fault.New(fault.Argument, "constant %q: %v with %d bytes", name, t, len(c.Data)))
	}
	return b.value(name, tensor.Fact{Type: t, Const: c})
}

// Int64s adds a one-dimensional int64 constant.
func (b *Builder) Int64s(v ...int64) Value {
	return b.Const("", tensor.T(tensor.Int64, int64(len(v))), tensor.Int64s(v...))
}

// Float32 adds a scalar float32 constant.
func (b *Builder) Float32(x float32) Value {
	return b.Const("", tensor.T(tensor.Float32), tensor.Float32s(x))
}

// Add adds a node with one output and returns it, None after an error.
func (b *Builder) Add(op Op, in ...Value) Value {
	return b.AddN(op, 1, in...)[0]
}

// AddN adds a node with n outputs whose types are inferred.
func (b *Builder) AddN(op Op, n int, in ...Value) []Value {
	return b.AddTyped(op, "", make([]tensor.Type, n), in...)
}

// AddTyped adds a node with one output per entry of declared; a zero Type declares nothing.
func (b *Builder) AddTyped(op Op, name string, declared []tensor.Type, in ...Value) []Value {
	out := make([]Value, len(declared))
	for i := range out {
		out[i] = None
	}
	if b.err != nil {
		return out
	}
	for i, t := range declared {
		out[i] = b.value("", tensor.Fact{Type: t})
	}
	if name == "" {
		name = b.originName
	}
	n := Node{Op: op, Name: name, Origin: b.origin, In: append([]Value(nil), in...), Out: out}
	if b.terms != nil {
		n.Terms = make([]string, len(in))
		for k, v := range in {
			if v != None {
				n.Terms[k] = b.terms(v)
			}
		}
	}
	for k, v := range in {
		if v != None && (v < 0 || int(v) >= len(b.g.Values)) {
			b.fail(fault.New(fault.Argument, "%s: input %d: value %d of %d", n.Label(), k, v, len(b.g.Values)))
			return out
		}
	}
	if err := b.g.inferNode(&n); err != nil {
		b.fail(err)
		return out
	}
	b.g.Nodes = append(b.g.Nodes, n)
	return out
}

// Fact returns what is known of v.
func (b *Builder) Fact(v Value) tensor.Fact { return b.g.Fact(v) }

// Name gives v a name.
func (b *Builder) Name(v Value, name string) {
	if b.err == nil && v != None {
		b.g.Values[v].Name = name
	}
}

// Output makes vs the graph's outputs, after those already given.
func (b *Builder) Output(vs ...Value) { b.g.Out = append(b.g.Out, vs...) }

// Inputs returns the graph's inputs so far.
func (b *Builder) Inputs() []Value { return b.g.In }

// Outputs returns the graph's outputs so far.
func (b *Builder) Outputs() []Value { return b.g.Out }

// Graph returns the validated graph, or the first error.
func (b *Builder) Graph() (*Graph, error) {
	if b.err != nil {
		return nil, b.err
	}
	if err := b.g.Validate(); err != nil {
		return nil, err
	}
	return b.g, nil
}
