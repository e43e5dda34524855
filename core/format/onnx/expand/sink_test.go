package expand

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/tensor"
)

// recorder is a sink that keeps what it is given, and knows constants, what is counted and the shapes of inputs.
type recorder struct {
	text  strings.Builder
	facts map[proto.Name]tensor.Fact
	seqs  map[proto.Name]bool
	e     *Expander
}

func (r *recorder) Begin(*proto.Node)                            {}
func (r *recorder) Check(*proto.Instance) (bool, error)          { return true, nil }
func (r *recorder) Form(*proto.Node, int64) error                { return nil }
func (r *recorder) Missing() bool                                { return false }
func (r *recorder) Replaced(*proto.Instance) error               { return nil }
func (r *recorder) Initializer(name proto.Name, t *proto.Tensor) { r.facts[name] = factOf(t) }

func (r *recorder) Fact(name proto.Name) (tensor.Fact, error) {
	f, ok := r.facts[name]
	if !ok && name != (proto.Name{}) {
		return f, fault.New(fault.File, "value %q has no source", name.Text)
	}
	return f, nil
}

func (r *recorder) Alias(name, of proto.Name) error {
	r.facts[name] = r.facts[of]
	fmt.Fprintf(&r.text, "%s = %s\n", name, of)
	return nil
}

func (r *recorder) Declare(name, of proto.Name, dimensions int) error {
	r.facts[name] = tensor.Fact{Type: tensor.Type{DType: r.facts[of].DType, Shape: tensor.OfDims(slices.Repeat(
		[]tensor.Dim{tensor.AnyDim()}, dimensions)...)}}
	fmt.Fprintf(&r.text, "%s = %s of rank %d\n", name, of, dimensions)
	return nil
}

func (r *recorder) Sequence(name proto.Name) error {
	r.seqs[name] = true
	fmt.Fprintf(&r.text, "%s is a sequence\n", name)
	return nil
}

// Node makes a fact of a constant, of its copies, and of the parts of what has a shape.
func (r *recorder) Node(q *proto.Instance) error {
	line, _, _ := strings.Cut(q.Text(), "\n") // those of its bodies follow as they come out
	r.text.WriteString(line + "\n")
	f := tensor.Fact{Type: tensor.Type{DType: tensor.Float32, Shape: tensor.AnyShape()}}
	switch {
	case q.OpType == "Constant" && q.Attrs["value_int"] != nil:
		f = integers(q.Attrs["value_int"].I)
		f.Shape = tensor.Of()
	case q.OpType == "Constant" && q.Attrs["value_ints"] != nil:
		f = integers(q.Attrs["value_ints"].Ints...)
	case q.OpType == "Constant":
		f = factOf(q.Attrs["value"].T)
	case q.OpType == "Identity":
		f = r.facts[q.In[0]]
	case q.OpType == "Not":
		v, _ := r.facts[q.In[0]].KnownInts()
		f = integers(1 - v[0])
	}
	for _, name := range q.Out {
		r.facts[name] = f
	}
	for _, g := range q.Bodies() { // a body that stays
		if err := r.body(g, q); err != nil {
			return err
		}
	}
	return nil
}

func (r *recorder) body(g *proto.Graph, q *proto.Instance) error {
	f, err := r.e.Graph(g, q, 17)
	if err != nil {
		return err
	}
	for _, v := range g.In {
		r.facts[f.Own(v.Name)] = tensor.Fact{Type: tensor.Type{DType: tensor.Float32, Shape: tensor.AnyShape()}}
	}
	for _, t := range g.Inits {
		r.facts[f.Own(t.Name)] = factOf(t)
	}
	fmt.Fprintf(&r.text, "{ %s\n", g.Name)
	err = r.e.Nodes(f, g.Nodes, r)
	r.text.WriteString("}\n")
	return err
}

func integers(v ...int64) tensor.Fact {
	f := tensor.Fact{Type: tensor.T(tensor.Int64, int64(len(v)))}
	for _, x := range v {
		f.Ints = append(f.Ints, tensor.D(x))
	}
	return f
}

func factOf(t *proto.Tensor) tensor.Fact {
	f := integers(t.Ints...)
	f.Type = tensor.T(tensor.Int64, t.Dims...)
	return f
}

func newRecorder(e *Expander) *recorder {
	return &recorder{facts: map[proto.Name]tensor.Fact{}, seqs: map[proto.Name]bool{}, e: e}
}

// input makes the inputs and initializers of the main graph known.
func (r *recorder) input(g *proto.Graph) {
	for _, v := range g.In {
		t := tensor.Type{DType: tensor.Float32, Shape: tensor.AnyShape()}
		if v.Ranked {
			var dims []int64
			for _, d := range v.Dims {
				dims = append(dims, d.Value)
			}
			t.Shape = tensor.Of(dims...)
		}
		r.facts[proto.Name{Text: v.Name}] = tensor.Fact{Type: t}
	}
	for _, t := range g.Inits {
		r.facts[proto.Name{Text: t.Name}] = factOf(t)
	}
}

// run expands a graph by the first passes of the list.
func run(g *proto.Graph, functions []*proto.Function, count int) (*recorder, error) {
	e := New(functions)
	e.passes = e.passes[:count]
	r := newRecorder(e)
	f, err := e.Graph(g, nil, 17)
	if err != nil {
		return nil, err
	}
	r.input(g)
	return r, e.Nodes(f, g.Nodes, r)
}
