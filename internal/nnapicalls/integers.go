// Package nnapicalls says an ONNX model as a program of NNAPI does by calls: operands, operations, inputs and outputs.
package nnapicalls

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// integers rewrites a graph between whose operators numbers are quantized and dequantized as one whose operators
// compute codes, as models of NNAPI have it. What is not between the two stays as it is, and so does a graph without
// them.
func integers(g *graph.Graph) (*graph.Graph, error) {
	if !slices.ContainsFunc(g.Nodes, func(n graph.Node) bool { return isOf[*op.Quantize](&n) }) {
		return g, nil
	}
	r := &rewriting{Graph: g, b: graph.NewBuilder(g.Name), producers: g.Producers(), uses: g.Uses(),
		values: map[graph.Value]graph.Value{}, codes: map[graph.Value]graph.Value{}, done: map[int]bool{}}
	for _, v := range g.In {
		r.values[v] = r.b.Input(g.Values[v].Name, g.Fact(v).Type)
	}
	order, err := g.Order()
	if err != nil {
		return nil, err
	}
	for _, i := range order {
		if err := r.node(i); err != nil {
			return nil, fault.Wrap(err, "%s", g.Nodes[i].Label())
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	for _, v := range g.Out {
		r.b.Output(r.number(v))
	}
	return r.b.Graph()
}

func isOf[O graph.Op](n *graph.Node) bool {
	_, is := n.Op.(O)
	return is
}

// rewriting makes a graph of another.
type rewriting struct {
	*graph.Graph
	b         *graph.Builder
	producers []int
	uses      [][]int
	values    map[graph.Value]graph.Value // as they were
	codes     map[graph.Value]graph.Value // integers of the old graph, with their scales
	done      map[int]bool
	err       error // the first
}

// number is a value of the old graph as it was: what was dequantized is so where somebody needs it.
func (r *rewriting) number(v graph.Value) graph.Value {
	if v == graph.None {
		return v
	}
	if w, there := r.values[v]; there {
		return w
	}
	w := graph.None
	switch c, is := r.code(v); {
	case is:
		w = r.b.AddTyped(&op.Convert{}, "", []tensor.Type{{DType: tensor.Float32}}, c)[0]
	case r.Fact(v).Const != nil:
		w = r.b.ConstOf("", r.Fact(v).Type, r.Fact(v).Const)
	}
	if w == graph.None && r.err == nil {
		r.err = fault.New(fault.Unsupported, "%s: what it dequantizes has no constant scales",
			r.Nodes[r.producers[v]].Label())
	}
	r.values[v] = w
	return w
}

// scales are those of a node that quantizes or dequantizes.
func (r *rewriting) scales(n *graph.Node, axis int64) (*tensor.Quant, error) {
	s := r.Fact(n.In[1])
	count, _ := s.Shape.Count()
	if s.Const == nil || s.DType != tensor.Float32 {
		return nil, fault.New(fault.Unsupported, "its scales are no constants of float32")
	}
	scales, err := tensor.ReadFloat32s(s.Const.Data, int(count))
	if err != nil {
		return nil, err
	}
	q := &tensor.Quant{Scale: scales}
	if len(n.In) > 2 && n.In[2] != graph.None {
		zeros, ok := whole(r.Fact(n.In[2]))
		if !ok {
			return nil, fault.New(fault.Unsupported, "its zero points are no constants")
		}
		for _, z := range zeros {
			q.Zero = append(q.Zero, int32(z))
		}
	}
	if len(scales) > 1 {
		q.Axis = int(axis)
		return q, nil
	}
	return tensor.PerTensor(scales[0], q.ZeroAt(0)), nil
}

// whole are the integers of a constant.
func whole(f tensor.Fact) ([]int64, bool) {
	n, known := f.Shape.Count()
	if !known || f.Const == nil {
		return nil, false
	}
	v, err := tensor.ReadInts(f.DType, f.Const.Data, int(n))
	return v, err == nil
}

// code are the codes of what was dequantized, or of constants that were and then transposed.
func (r *rewriting) code(v graph.Value) (c graph.Value, is bool) {
	if v == graph.None || r.producers[v] < 0 {
		return graph.None, false
	}
	n := &r.Nodes[r.producers[v]]
	if isOf[*op.Transpose](n) && r.Fact(n.In[0]).Const == nil && r.producers[n.In[0]] >= 0 {
		from := &r.Nodes[r.producers[n.In[0]]]
		if !isOf[*op.Dequantize](from) || r.Fact(from.In[0]).Const == nil {
			return graph.None, false
		}
		if c, is = r.code(n.In[0]); is {
			c = r.b.Add(&op.Transpose{}, c, r.number(n.In[1]))
		}
		return c, is
	}
	o, is := n.Op.(*op.Dequantize)
	if !is || o.Block != 0 {
		return graph.None, false
	}
	if c, there := r.codes[n.In[0]]; there {
		return c, true
	}
	f := r.Fact(n.In[0])
	q, err := r.scales(n, o.Axis)
	if f.Const == nil || err != nil {
		return graph.None, false
	}
	typ := f.Type
	typ.Quant = q
	c = r.b.ConstOf("", typ, f.Const)
	r.codes[n.In[0]] = c
	return c, true
}

func (r *rewriting) node(i int) error {
	n := &r.Nodes[i]
	switch o := n.Op.(type) {
	case *op.Dequantize:
		return nil // where it is needed
	case *op.Quantize:
		if _, there := r.codes[n.Out[0]]; there {
			return nil
		}
		q, err := r.scales(n, o.Axis)
		if err != nil {
			return err
		}
		r.codes[n.Out[0]] = r.b.AddTyped(&op.Convert{}, "", []tensor.Type{r.typed(n.Out[0], q)}, r.number(n.In[0]))[0]
		return nil
	}
	if r.done[i] || isOf[*op.Transpose](n) && r.coded(n.Out[0]) {
		return nil
	}
	if made, err := r.fused(i); made || err != nil {
		return err
	}
	if made, err := r.connected(i); made || err != nil {
		return err
	}
	in := make([]graph.Value, len(n.In))
	for k, v := range n.In {
		in[k] = r.number(v)
	}
	for k, v := range r.b.AddN(n.Op, len(n.Out), in...) {
		r.values[n.Out[k]] = v
	}
	return nil
}

func (r *rewriting) coded(v graph.Value) bool {
	_, is := r.code(v)
	return is
}

// typed is the element type of an integer value with scales.
func (r *rewriting) typed(v graph.Value, q *tensor.Quant) tensor.Type {
	return tensor.Type{DType: r.Fact(v).DType, Quant: q}
}

// only is the one node that reads a value, nil if there are others or it is an output.
func (r *rewriting) only(v graph.Value) *graph.Node {
	if len(r.uses[v]) != 1 || slices.Contains(r.Out, v) {
		return nil
	}
	return &r.Nodes[r.uses[v][0]]
}

// fused makes an operator of codes of node i, if its operands were dequantized and its result, or an activation of it,
// is quantized.
func (r *rewriting) fused(i int) (made bool, err error) {
	n := &r.Nodes[i]
	keeps, computes := sameScales(n.Op), false
	switch n.Op.(type) {
	case *op.Conv, *op.Add, *op.Mul:
		computes = true
	}
	if !keeps && !computes {
		return false, nil
	}
	next, act := r.only(n.Out[0]), (*graph.Node)(nil)
	if next != nil && computes && (isOf[*op.Relu](next) || isOf[*op.Clip](next)) {
		act, next = next, r.only(next.Out[0])
	}
	if next == nil || !isOf[*op.Quantize](next) {
		return false, nil
	}
	q, err := r.scales(next, 0)
	if err != nil {
		return false, err
	}
	in := make([]graph.Value, len(n.In))
	for k, v := range n.In {
		c, is := r.code(v)
		switch {
		case is:
			in[k] = c
		case v == graph.None || r.Fact(v).Const != nil && r.Fact(v).DType.IsInt():
			in[k] = r.number(v)
		default:
			return false, nil
		}
	}
	if isOf[*op.Conv](n) && len(in) > 2 && in[2] != graph.None {
		if in[2], err = r.bias(in[0], in[1], in[2]); err != nil {
			return false, err
		}
	}
	typ := r.typed(next.Out[0], q)
	if keeps {
		return true, r.kept(n, next, in, typ)
	}
	y := r.b.AddTyped(n.Op, "", []tensor.Type{typ}, in...)[0]
	if act != nil {
		operands := []graph.Value{y}
		for _, bound := range act.In[1:] {
			operands = append(operands, r.number(bound))
		}
		y = r.b.AddTyped(act.Op, "", []tensor.Type{typ}, operands...)[0]
		r.done[r.producers[act.Out[0]]] = true
	}
	r.codes[next.Out[0]] = y
	return true, r.b.Err()
}

// sameScales reports whether an operator only moves or compares codes: its result has the scale of its operand. Means
// of codes would be rounded to the steps of what they are of: those are computed from real numbers.
func sameScales(o graph.Op) bool {
	switch o.(type) {
	case *op.MaxPool, *op.Flatten, *op.Reshape:
		return true
	}
	return false
}

// kept makes an operator whose result has the scale of its operand, which it changes behind it.
func (r *rewriting) kept(n, next *graph.Node, in []graph.Value, typ tensor.Type) error {
	own := r.b.Fact(in[0]).Type
	own.Shape = tensor.AnyShape()
	y := r.b.AddTyped(n.Op, "", []tensor.Type{own}, in...)[0]
	if !own.Quant.Equal(typ.Quant) {
		y = r.b.AddTyped(&op.Convert{}, "", []tensor.Type{{DType: tensor.Float32}}, y)[0]
		y = r.b.AddTyped(&op.Convert{}, "", []tensor.Type{typ}, y)[0]
	}
	r.codes[next.Out[0]] = y
	return r.b.Err()
}

// connected makes a product with weights that have a scale for each row, with its bias, a convolution of single cells:
// the API has such weights for nothing else.
func (r *rewriting) connected(i int) (made bool, err error) {
	n := &r.Nodes[i]
	o, is := n.Op.(*op.MatMul)
	if !is || o.TransposeA || !o.TransposeB || len(n.In) > 2 || r.Fact(n.In[0]).Shape.Rank() != 2 {
		return false, nil
	}
	sum := r.only(n.Out[0])
	if sum == nil || !isOf[*op.Add](sum) || sum.In[0] != n.Out[0] {
		return false, nil
	}
	next := r.only(sum.Out[0])
	x, ok1 := r.code(n.In[0])
	w, ok2 := r.code(n.In[1])
	bias, ok3 := r.code(sum.In[1])
	if next == nil || !isOf[*op.Quantize](next) || !ok1 || !ok2 || !ok3 || r.b.Fact(w).Const == nil {
		return false, nil
	}
	q, err := r.scales(next, 0)
	if err != nil {
		return false, err
	}
	if bias, err = r.bias(x, w, bias); err != nil {
		return false, err
	}
	rows, _ := r.Fact(n.In[0]).Shape.Ints()
	f := r.b.Fact(w)
	dims, _ := f.Shape.Ints()
	cells := f.Type
	cells.Shape = tensor.Of(dims[0], 1, 1, dims[1])
	own, typ := r.b.Fact(x).Type, r.typed(next.Out[0], q)
	own.Shape = tensor.AnyShape()
	x = r.b.AddTyped(&op.Reshape{}, "", []tensor.Type{own}, x, r.b.Int64s(rows[0], 1, 1, rows[1]))[0]
	y := r.b.AddTyped(&op.Conv{Groups: 1, ChannelsLast: true}, "", []tensor.Type{typ}, x,
		r.b.ConstOf("", cells, f.Const), bias)[0]
	r.codes[next.Out[0]] = r.b.AddTyped(&op.Reshape{}, "", []tensor.Type{typ}, y, r.b.Int64s(rows[0], dims[0]))[0]
	r.done[r.producers[sum.Out[0]]] = true
	return true, r.b.Err()
}

// bias is a bias in units of the products of x and the weights, and without scales of its own.
func (r *rewriting) bias(x, w, bias graph.Value) (graph.Value, error) {
	f, a, c := r.b.Fact(bias), r.b.Fact(x).Quant, r.b.Fact(w).Quant
	if f.Const == nil || f.DType != tensor.Int32 || f.Quant == nil || a == nil || c == nil {
		return bias, fault.New(fault.Unsupported, "its bias is no constant of int32")
	}
	counts, ok := whole(f)
	if !ok {
		return bias, fault.New(fault.Unsupported, "its bias is not known")
	}
	units := make([]int32, len(counts))
	for i, n := range counts {
		k := min(i, len(f.Quant.Scale)-1)
		real := float64(n-int64(f.Quant.ZeroAt(k))) * float64(f.Quant.Scale[k])
		v := math.RoundToEven(real / (float64(a.Scale[0]) * float64(c.Scale[min(i, len(c.Scale)-1)])))
		if !(math.Abs(v) <= math.MaxInt32) {
			return bias, fault.New(fault.Unsupported, "its bias %v is too large for its products", real)
		}
		units[i] = int32(v)
	}
	typ := f.Type
	typ.Quant = nil
	return r.b.Const("", typ, tensor.Int32s(units...)), nil
}
