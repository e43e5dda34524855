package plan

import (
	"slices"

	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// isHalf reports whether values of the type are computed in float32 although they have 16 bits.
func isHalf(t tensor.Type) bool {
	return t.Quant == nil && (t.DType == tensor.Float16 || t.DType == tensor.BFloat16)
}

// widener makes a graph of halves one of float32.
type widener struct {
	from    *graph.Graph
	to      *graph.Graph
	half    []bool                      // per value of from
	rounded []bool                      // per value of from: its float32 numbers are halves
	halves  map[graph.Value]graph.Value // per value of from: the same as halves in to
	stay    map[graph.Value]bool        // of from: halves in to, too
	wide    map[graph.Value]graph.Value // of those: the same as float32 in to
	copying []bool                      // per node of from: it takes halves that stay as they are
}

// widen returns g with the values of 16-bit floats as float32, and their type where the graph begins and ends. Numbers
// are rounded to halves there, and where an operator could tell the difference: those of smooth go on with the float32
// ones, which are nearer to the graph's meaning. open, if any, is the graph of other sizes and gets the same nodes. A
// graph without halves is returned as it is. half tells per value of g whether it was widened. Kind fault.Memory.
func widen(g, open *graph.Graph) (wide, wideOpen *graph.Graph, half []bool, err error) {
	w := &widener{from: g, half: make([]bool, len(g.Values)), rounded: make([]bool, len(g.Values)),
		halves: map[graph.Value]graph.Value{}, wide: map[graph.Value]graph.Value{}, copying: make([]bool, len(g.Nodes))}
	for v := range g.Values {
		w.half[v] = isHalf(g.Values[v].Fact.Type)
	}
	w.stay = staying(g, w.half)
	for i := range g.Nodes {
		w.copying[i] = copiesOnly(&g.Nodes[i], w.half, w.stay)
	}
	for v := range w.stay {
		w.half[v] = false
	}
	if !slices.Contains(w.half, true) {
		return g, open, w.half, nil
	}
	order, err := g.Order()
	if err != nil {
		return nil, nil, nil, err
	}
	w.to = &graph.Graph{Name: g.Name, Values: slices.Clone(g.Values), In: slices.Clone(g.In), Out: slices.Clone(g.Out)}
	for v, half := range w.half {
		if half {
			if err := w.value(graph.Value(v)); err != nil {
				return nil, nil, nil, err
			}
		}
	}
	for i, v := range g.In {
		if w.half[v] {
			w.to.In[i] = w.narrow(v)
			w.cast(w.to.In[i], v, -1)
			w.rounded[v] = true
		}
	}
	exactly := w.exactly(order)
	for _, i := range order {
		w.node(i, exactly)
	}
	for i, v := range g.Out {
		if w.half[v] {
			w.to.Out[i] = w.asHalf(v, -1)
		}
	}
	if open != nil {
		own := *w.to
		own.Values = slices.Clone(w.to.Values)
		for v := range open.Values {
			f := open.Values[v].Fact
			if w.half[v] {
				f.DType, f.Const = tensor.Float32, own.Values[v].Fact.Const
			}
			own.Values[v].Fact = f
		}
		for _, other := range []map[graph.Value]graph.Value{w.halves, w.wide} {
			for v, x := range other {
				own.Values[x].Fact.Shape = open.Values[v].Fact.Shape
			}
		}
		open = &own
	}
	return w.to, open, w.half, nil
}

// value makes v float32, with its numbers when it is a constant.
func (w *widener) value(v graph.Value) error {
	f := &w.to.Values[v].Fact
	from := f.DType
	f.DType = tensor.Float32
	if f.Const == nil {
		return nil
	}
	n := len(f.Const.Data) / 2
	wide, err := mem.Make[float32](n)
	if err != nil {
		return err
	}
	convert.Floats(wide, from, f.Const.Data)
	f.Const = tensor.NewConst(mem.Bytes(wide))
	w.rounded[v] = true
	return nil
}

// narrow returns a new value for the halves of v.
func (w *widener) narrow(v graph.Value) graph.Value {
	info := w.from.Values[v]
	w.to.Values = append(w.to.Values, info)
	h := graph.Value(len(w.to.Values) - 1)
	w.halves[v] = h
	return h
}

// cast adds a conversion between the forms of a value. It belongs to the node of a model's operator.
func (w *widener) cast(from, to graph.Value, origin int) {
	w.to.Nodes = append(w.to.Nodes, graph.Node{Op: &op.Cast{To: w.to.Values[to].Fact.DType}, Origin: origin,
		In: []graph.Value{from}, Out: []graph.Value{to}})
}

// asHalf returns the halves of v, making them when there are none.
func (w *widener) asHalf(v graph.Value, origin int) graph.Value {
	h, ok := w.halves[v]
	if !ok {
		if h = w.narrow(v); w.from.Values[v].Fact.Const == nil {
			w.cast(v, h, origin)
		}
	}
	return h
}

// exactly reports per value of halves whether a node reads it that is not smooth, or a node behind others that only
// move it.
func (w *widener) exactly(order []int) []bool {
	exact := make([]bool, len(w.half))
	for _, i := range slices.Backward(order) {
		n := &w.from.Nodes[i]
		name := graph.NameOf(n.Op)
		needs := !moves[name] && !smooth[name]
		if moves[name] {
			needs = slices.ContainsFunc(n.Out, func(v graph.Value) bool { return v != graph.None && exact[v] })
		}
		for _, v := range n.In {
			if v != graph.None && w.half[v] {
				exact[v] = exact[v] || needs
			}
		}
	}
	return exact
}

// node adds node i of the graph.
func (w *widener) node(i int, exactly []bool) {
	n := w.from.Nodes[i]
	mine := func(v graph.Value) bool { return v >= 0 && int(v) < len(w.half) && w.half[v] } // others are float32 already
	n.In, n.Out = slices.Clone(n.In), slices.Clone(n.Out)
	widens := w.widens(&n)
	if !w.copying[i] && !native[graph.NameOf(n.Op)] {
		if read := w.widened(n.In); read != nil {
			own := n
			own.In = read
			if widens = w.widens(&own); widens {
				n = own
			}
		}
	}
	if !widens {
		for k, v := range n.In {
			if mine(v) {
				n.In[k] = w.asHalf(v, n.Origin)
			}
		}
		for k, v := range n.Out {
			if mine(v) {
				n.Out[k] = w.narrow(v)
			}
		}
		w.to.Nodes = append(w.to.Nodes, n)
		for k, v := range w.from.Nodes[i].Out {
			if mine(v) {
				w.cast(n.Out[k], v, n.Origin)
				w.rounded[v] = true
			}
		}
		return
	}
	keeps := moves[graph.NameOf(n.Op)]
	for _, v := range n.In {
		keeps = keeps && (!mine(v) || w.rounded[v])
	}
	raw := map[graph.Value]graph.Value{}
	for k, v := range n.Out {
		if !mine(v) {
			continue
		}
		if w.rounded[v] = keeps || exactly[v]; exactly[v] && !keeps {
			w.to.Values = append(w.to.Values, w.to.Values[v])
			n.Out[k] = graph.Value(len(w.to.Values) - 1)
			raw[v] = n.Out[k]
		}
	}
	w.to.Nodes = append(w.to.Nodes, n)
	for _, v := range w.from.Nodes[i].Out {
		if x, ok := raw[v]; ok {
			h := w.narrow(v)
			w.cast(x, h, n.Origin)
			w.cast(h, v, n.Origin)
		}
	}
}

// widened returns operands of which those that stay halves are float32 numbers, nil when none stays.
func (w *widener) widened(in []graph.Value) (read []graph.Value) {
	for k, v := range in {
		if v == graph.None || !w.stay[v] {
			continue
		}
		if read == nil {
			read = slices.Clone(in)
		}
		x, ok := w.wide[v]
		if !ok {
			info := w.to.Values[v]
			info.Fact.DType = tensor.Float32
			w.to.Values = append(w.to.Values, info)
			x = graph.Value(len(w.to.Values) - 1)
			w.wide[v] = x
			w.cast(v, x, -1)
		}
		read[k] = x
	}
	return read
}

// widens reports whether an operator computes the same of float32 numbers, and gives float32 for halves then.
func (w *widener) widens(n *graph.Node) bool {
	tr := graph.TraitsOf(n.Op)
	if _, control := n.Op.(graph.Control); control || tr.Impure || tr.Effect || native[graph.NameOf(n.Op)] {
		return false
	}
	in := w.to.Facts(n.In)
	declared := make([]tensor.Type, len(n.Out))
	for k, v := range n.Out {
		if v != graph.None {
			declared[k] = w.to.Values[v].Fact.Type
		}
	}
	out, err := n.Op.Infer(in, declared)
	if err != nil || len(out) != len(n.Out) {
		return false
	}
	for k, v := range n.Out {
		if v != graph.None && out[k].DType != w.to.Values[v].Fact.DType {
			return false
		}
	}
	return true
}

var (
	// moves are operators whose results are numbers of their operands.
	moves = set("abs", "center_crop_pad", "clip", "compress", "concat", "declare", "depth_to_space", "expand", "flatten",
		"gather", "gather_elements", "gather_nd", "identity", "max", "max_pool", "min", "neg", "reduce_max", "reduce_min",
		"relu", "reshape", "reverse_sequence", "slice", "space_to_depth", "split", "squeeze", "strided_slice", "tile",
		"transpose", "trilu", "unsqueeze")
	// smooth are operators whose results change little when their operands do.
	smooth = set("add", "attention", "average_pool", "batch_norm", "conv", "conv_transpose", "cos", "deform_conv", "div",
		"einsum", "elu", "erf", "exp", "fully_connected", "gelu", "group_norm", "gru", "hard_sigmoid", "hard_swish",
		"instance_norm", "l2_normalize", "layer_norm", "leaky_relu", "log", "log_softmax", "lp_norm", "lrn", "lstm",
		"mat_mul", "mish", "mul", "pad", "pow", "prelu", "reciprocal", "reduce_l1", "reduce_l2", "reduce_log_sum",
		"reduce_log_sum_exp", "reduce_mean", "reduce_sum", "reduce_sum_square", "resize", "rms_norm", "rnn",
		"rotary_embedding", "rsqrt", "scatter_elements", "scatter_nd", "selu", "sigmoid", "sin", "softmax", "softplus",
		"softsign", "sqrt", "square", "sub", "swish", "tanh", "where")
	// native are operators that look at the elements' bits, or whose use of them is unknown.
	native = set("anynpu.part", "bit_cast", "cast", "compiled", "custom", "lsh_projection")
)
