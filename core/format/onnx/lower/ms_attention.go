package lower

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

var msAttentionOperators = []Operator{
	{microsoft, "Attention", 1, lowerMSAttention},
	{microsoft, "MultiHeadAttention", 1, lowerMultiHead},
	{microsoft, "QAttention", 1, lowerQAttention},
}

// without refuses inputs that make an operator of another kind.
func (n *node) without(what string, inputs ...int) error {
	for _, i := range inputs {
		if n.has(i) {
			return fault.New(fault.Unsupported, "input %d: %s", i, what)
		}
	}
	return nil
}

// attention is op.Attention of the attributes that both operators have.
func (n *node) attention() (*op.Attention, error) {
	heads := n.int("num_heads", 0)
	if heads < 1 {
		return nil, fault.New(fault.File, "attribute num_heads: %d", heads)
	}
	return &op.Attention{Heads: heads, KVHeads: heads, Scale: n.float("scale", 0),
		Causal: n.int("unidirectional", 0) != 0}, nil
}

// added returns the summand of the scores: the mask at input m with mask_filter_value where it forbids a key, and the
// bias at input b. keys are [B,keys,..], or with heads [B,heads,keys,..].
func (n *node) added(m, b int, keys graph.Value) (graph.Value, error) {
	if !n.has(m) {
		return n.arg(b), nil
	}
	d := n.b.Fact(keys).DType
	if d == tensor.Invalid {
		d = tensor.Float32
	}
	v := n.arg(m)
	s := n.fact(m).Shape
	switch s.Rank() {
	case 1:
		var err error
		if v, err = n.ranged(m, keys); err != nil {
			return graph.None, err
		}
	case 2:
		v = n.b.Add(&op.Unsqueeze{}, v, n.b.Int64s(1, 2))
	case 3:
		v = n.b.Add(&op.Unsqueeze{}, v, n.b.Int64s(1))
	default:
		return graph.None, fault.New(fault.Unsupported, "input %d: want a mask of rank 1, 2 or 3, got %v", m, s)
	}
	filter, err := n.scalarOf(d, float64(n.float("mask_filter_value", -10000)))
	if err != nil {
		return graph.None, err
	}
	none, err := n.scalarOf(d, 0)
	if err != nil {
		return graph.None, err
	}
	if n.b.Fact(v).DType != tensor.Bool {
		v = n.b.Add(&op.Greater{}, v, n.b.Add(&op.Cast{To: n.b.Fact(v).DType}, n.b.Int64s(0)))
	}
	v = n.b.Add(&op.Where{}, v, none, filter)
	if n.has(b) {
		v = n.b.Add(&op.Add{}, v, n.arg(b))
	}
	return v, n.b.Err()
}

// ranged returns which keys count by a mask of one number for each sequence, how many, or of two, where they end and
// begin.
func (n *node) ranged(m int, keys graph.Value) (graph.Value, error) {
	k, s := n.b.Fact(keys).Shape, n.fact(m).Shape.Dims[0]
	if k.Rank() < 3 {
		return graph.None, fault.New(fault.Unsupported, "input %d: the rank of the keys is not known", m)
	}
	if batch := k.Dims[0]; s.Known() && batch.Known() && s.N != batch.N && s.N != 2*batch.N {
		return graph.None, fault.New(fault.Unsupported, "input %d: want %v or twice as many numbers, got %v", m, batch, s)
	}
	length := n.b.Add(&op.Gather{}, n.b.Add(&op.Shape{}, keys), n.scalar(int64(k.Rank()-2)))
	at := n.b.Add(&op.Cast{To: tensor.Int32}, n.b.Add(&op.Range{}, n.scalar(0), length, n.scalar(1)))
	column := func(v graph.Value) graph.Value { return n.b.Add(&op.Unsqueeze{}, v, n.b.Int64s(1, 2, 3)) }
	batch := n.b.Add(&op.Slice{}, n.b.Add(&op.Shape{}, keys), n.b.Int64s(0), n.b.Int64s(1), n.b.Int64s(0))
	rows := n.b.Add(&op.Reshape{}, n.arg(m), n.b.Add(&op.Concat{}, n.b.Int64s(-1), batch))
	row := func(v graph.Value, i int64) graph.Value { return n.b.Add(&op.Gather{}, v, n.scalar(i)) }
	ends := row(rows, 0)
	begins := n.b.Add(&op.Slice{}, rows, n.b.Int64s(1), n.b.Int64s(2), n.b.Int64s(0)) // none with one row: then zeros
	zeros := n.b.Add(&op.Unsqueeze{}, n.b.Add(&op.Sub{}, ends, ends), n.b.Int64s(0))
	begins = row(n.b.Add(&op.Concat{}, begins, zeros), 0)
	return n.b.Add(&op.And{}, n.b.Add(&op.Less{}, at, column(ends)),
		n.b.Add(&op.GreaterEqual{}, at, column(begins))), n.b.Err()
}

// lowerMSAttention: x, the weights of queries, keys and values side by side, their bias, a mask, the past, and a bias
// of the scores.
func lowerMSAttention(n *node) error {
	if err := n.want(2, 7); err != nil {
		return err
	}
	if err := n.without("past keys and values are not supported", 4, 6); err != nil {
		return err
	}
	return n.attend(n.b.Add(&op.MatMul{}, n.arg(0), n.arg(1)), 2, 3, 5)
}

// lowerQAttention: codes of x and of the weights, the bias, the scales of both, a mask, the zero points of both, and
// the past.
func lowerQAttention(n *node) error {
	if err := n.want(5, 9); err != nil {
		return err
	}
	if err := n.without("past keys and values are not supported", 8); err != nil {
		return err
	}
	if err := n.singleScales(3, 6); err != nil {
		return err
	}
	d := n.fact(3).DType
	if d == tensor.Invalid {
		d = tensor.Float32
	}
	x := n.b.Add(&op.Dequantize{To: d}, n.arg(0), n.arg(3), n.arg(6))
	w := n.b.Add(&op.Dequantize{Axis: 1, To: d}, n.arg(1), n.arg(4), n.arg(7))
	return n.attend(n.b.Add(&op.MatMul{}, x, w), 2, 5, -1)
}

// attend makes output 0 of queries, keys and values side by side, and output 1 of the keys and values. bias, mask and
// scores number inputs, -1 for none: a bias of all three, a mask, and a bias of the scores.
func (n *node) attend(qkv graph.Value, bias, mask, scores int) error {
	for _, name := range []string{"do_rotary", "past_present_share_buffer"} {
		if n.int(name, 0) != 0 {
			return fault.New(fault.Unsupported, "attribute %s: it is not supported", name)
		}
	}
	o, err := n.attention()
	if err != nil {
		return err
	}
	if n.has(bias) {
		qkv = n.b.Add(&op.Add{}, qkv, n.arg(bias))
	}
	split := []graph.Value{qkv}
	if sizes := n.ints("qkv_hidden_sizes"); len(sizes) == 3 {
		split = append(split, n.b.Int64s(sizes...))
	} else if len(sizes) > 0 {
		return fault.New(fault.File, "attribute qkv_hidden_sizes: want 3 numbers, got %d", len(sizes))
	}
	v := n.b.AddN(&op.Split{Axis: -1}, 3, split...)
	if err := n.b.Err(); err != nil {
		return err
	}
	forbidden, err := n.added(mask, scores, v[1])
	if err != nil {
		return err
	}
	y := n.b.AddN(o, 3, v[0], v[1], v[2], forbidden)
	if n.out[0] = y[0]; n.asks(1) {
		first := func(v graph.Value) graph.Value { return n.b.Add(&op.Unsqueeze{}, v, n.b.Int64s(0)) }
		n.out[1] = n.b.Add(&op.Concat{}, first(y[1]), first(y[2]))
	}
	return n.b.Err()
}

// lowerMultiHead: queries, keys, values, the bias of the three side by side, a mask of keys, and a bias of the scores.
// Keys and values of rank 4 have their heads before their places.
func lowerMultiHead(n *node) error {
	if err := n.want(1, 10); err != nil {
		return err
	}
	if err := n.without("past keys and values are not supported", 6, 7, 8, 9); err != nil {
		return err
	}
	if !n.has(1) || !n.has(2) {
		return fault.New(fault.Unsupported, "queries, keys and values in one input are not supported")
	}
	o, err := n.attention()
	if err != nil {
		return err
	}
	var ranks [3]int
	for i := range ranks {
		if ranks[i], err = n.rank(i); err != nil {
			return err
		}
	}
	v := []graph.Value{n.arg(0), n.arg(1), n.arg(2)}
	if n.has(3) {
		if ranks != [3]int{3, 3, 3} {
			return fault.New(fault.Unsupported, "input 3: a bias of keys or values of rank 4")
		}
		if err := n.biases(v); err != nil {
			return err
		}
	}
	mask, err := n.added(4, 5, v[1])
	if err != nil {
		return err
	}
	if o.Causal && !fewerKeys(n.fact(0).Shape, n.fact(1).Shape) {
		if o.Causal = false; n.b.Err() == nil {
			mask, err = n.lastSeesAll(v[0], v[1], mask)
		}
		if err != nil {
			return err
		}
	}
	swap := n.b.Int64s(0, 2, 1, 3)
	apart := ranks[0] == 3 && ranks[1] == 4
	if apart {
		v[0] = n.b.Add(&op.Transpose{}, n.b.Add(&op.Reshape{ZeroCopies: true}, v[0], n.b.Int64s(0, 0, o.Heads, -1)), swap)
	}
	y := n.b.AddN(o, min(3, max(1, len(n.out))), append(v, mask)...)
	if err := n.b.Err(); err != nil {
		return err
	}
	copy(n.out, y)
	if apart {
		n.out[0] = n.b.Add(&op.Reshape{ZeroCopies: true}, n.b.Add(&op.Transpose{}, y[0], swap), n.b.Int64s(0, 0, -1))
	}
	return n.b.Err()
}

// fewerKeys reports whether there are at most as many keys as queries, whose shapes are k and q.
func fewerKeys(q, k tensor.Shape) bool {
	a, b := q.Dims[q.Rank()-2], k.Dims[k.Rank()-2]
	return a == b && a.Sym != tensor.Unknown || a.Known() && b.Known() && b.N <= a.N
}

// lastSeesAll forbids keys after a query's own place, by the summand of the scores. The last query sees all keys, as
// ONNX Runtime has it.
func (n *node) lastSeesAll(q, k, scores graph.Value) (graph.Value, error) {
	d := n.b.Fact(k).DType
	if d == tensor.Invalid {
		d = tensor.Float32
	}
	none, err := n.scalarOf(d, 0)
	if err != nil {
		return graph.None, err
	}
	forbidden, err := n.scalarOf(d, math.Inf(-1))
	if err != nil {
		return graph.None, err
	}
	count := func(v graph.Value) graph.Value {
		return n.b.Add(&op.Gather{}, n.b.Add(&op.Shape{}, v), n.scalar(int64(n.b.Fact(v).Shape.Rank()-2)))
	}
	zero, one, keys := n.scalar(0), n.scalar(1), count(k)
	next := n.b.Add(&op.Range{}, one, n.b.Add(&op.Add{}, count(q), one), one)
	ends := n.b.Add(&op.Where{}, n.b.Add(&op.Equal{}, next, count(q)), keys, next)
	ends = n.b.Add(&op.Unsqueeze{}, ends, n.b.Int64s(1))
	after := n.b.Add(&op.GreaterEqual{}, n.b.Add(&op.Range{}, zero, keys, one), ends)
	mask := n.b.Add(&op.Where{}, after, forbidden, none)
	if scores != graph.None {
		mask = n.b.Add(&op.Add{}, scores, mask)
	}
	return mask, n.b.Err()
}

// biases adds the bias of queries, keys and values to them.
func (n *node) biases(v []graph.Value) error {
	var sizes []graph.Value
	for _, x := range v {
		sizes = append(sizes, n.b.Add(&op.Slice{}, n.b.Add(&op.Shape{}, x), n.b.Int64s(2), n.b.Int64s(3), n.b.Int64s(0)))
	}
	b := n.b.AddN(&op.Split{}, 3, n.arg(3), n.b.Add(&op.Concat{}, sizes...))
	if err := n.b.Err(); err != nil {
		return err
	}
	for i := range v {
		v[i] = n.b.Add(&op.Add{}, v[i], b[i])
	}
	return nil
}
