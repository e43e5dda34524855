package lower

import (
	"math"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// linearAttention holds the attributes of a LinearAttention.
type linearAttention struct {
	heads, group   int64 // of keys and values; query heads to one of them
	keys, values   int64 // elements of a key and of a value
	decays, deltas bool
	real           tensor.DType // that states and sums have
}

// lowerLinearAttention: a Scan over the tokens carries the state S [B, heads, keys, values] of float32, or float64 when
// the inputs are. Per token S is multiplied by exp(decay); k (x) v, or with deltas k (x) beta (v - S' k), is added to
// it; the output is q' S.
func lowerLinearAttention(n *node) error {
	if err := n.want(3, 6); err != nil {
		return err
	}
	z, err := n.linearAttention()
	if err != nil {
		return err
	}
	split := func(i int, sizes ...int64) graph.Value {
		v := n.b.Add(&op.Cast{To: z.real}, n.arg(i))
		return n.b.Add(&op.Reshape{ZeroCopies: true}, v, n.b.Int64s(append([]int64{0, 0}, sizes...)...))
	}
	scale := float64(n.float("scale", 0))
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(z.keys))
	}
	by, err := n.scalarOf(z.real, scale)
	if err != nil {
		return err
	}
	in := []graph.Value{n.stateBefore(z), n.b.Add(&op.Mul{}, split(0, z.heads, z.group, z.keys), by),
		split(1, z.heads, 1, z.keys), split(2, z.heads, 1, z.values)}
	if z.decays {
		width := n.fact(4).Shape.Dims[2].N / z.heads
		in = append(in, n.b.Add(&op.Exp{}, split(4, z.heads, width, 1)))
	}
	if z.deltas {
		in = append(in, split(5, n.fact(5).Shape.Dims[2].N, 1, 1))
	}
	body, err := z.token(n.b, in)
	if err != nil {
		return err
	}
	axes := make([]int64, len(in)-1)
	for i := range axes {
		axes[i] = 1
	}
	out := n.b.AddN(&op.Scan{Body: body, States: 1, Sequences: int64(len(axes)), InAxes: axes, OutAxes: []int64{1}}, 2,
		in...)
	y := n.b.Add(&op.Reshape{ZeroCopies: true}, out[1], n.b.Int64s(0, 0, z.heads*z.group*z.values))
	n.out[0] = n.b.Add(&op.Cast{To: n.fact(0).DType}, y)
	if len(n.out) > 1 {
		to := n.fact(0).DType
		if n.has(3) {
			to = n.fact(3).DType
		}
		n.out[1] = n.b.Add(&op.Cast{To: to}, out[0])
	}
	return n.b.Err()
}

// stateBefore returns the state that the node is given, or zeros.
func (n *node) stateBefore(z *linearAttention) graph.Value {
	if n.has(3) {
		return n.b.Add(&op.Cast{To: z.real}, n.arg(3))
	}
	sizes := n.b.Add(&op.Concat{}, n.size(n.arg(0), 0), n.b.Int64s(z.heads, z.keys, z.values))
	zero := n.b.Const("", tensor.T(z.real), make([]byte, z.real.Bits()/8))
	return n.b.Add(&op.Fill{}, sizes, zero)
}

// token returns the body for one token. Its inputs are the state, q, k, v, and where the rule has them decay and beta,
// those of all tokens being values of around.
func (z *linearAttention) token(around *graph.Builder, all []graph.Value) (*graph.Graph, error) {
	b := graph.NewBuilder("token")
	var in []graph.Value
	for i, v := range all {
		t := around.Fact(v).Type
		if i > 0 && t.Shape.Ranked {
			t.Shape = tensor.OfDims(append([]tensor.Dim{t.Shape.Dims[0]}, t.Shape.Dims[2:]...)...)
		}
		in = append(in, b.Input("", t))
	}
	s, q, k, v, more := in[0], in[1], in[2], in[3], in[4:]
	if z.decays {
		s = b.Add(&op.Mul{}, s, more[0])
		more = more[1:]
	}
	if z.deltas {
		v = b.Add(&op.Mul{}, b.Add(&op.Sub{}, v, b.Add(&op.MatMul{}, k, s)), more[0])
	}
	s = b.Add(&op.Add{}, s, b.Add(&op.MatMul{TransposeA: true}, k, v))
	b.Output(s, b.Add(&op.MatMul{}, q, s))
	return b.Graph()
}

// linearAttention reads the attributes and sizes.
func (n *node) linearAttention() (*linearAttention, error) {
	rules := map[string]linearAttention{"linear": {}, "gated": {decays: true}, "delta": {deltas: true},
		"gated_delta": {decays: true, deltas: true}}
	rule := n.string("update_rule", "gated_delta")
	z, ok := rules[rule]
	if !ok {
		return nil, fault.New(fault.File, "attribute update_rule: %q", rule)
	}
	if n.has(4) != z.decays || n.has(5) != z.deltas {
		return nil, fault.New(fault.File, "update_rule %q with decay %t and beta %t; want %t and %t", rule, n.has(4),
			n.has(5), z.decays, z.deltas)
	}
	queries := n.int("q_num_heads", 0)
	if z.heads = n.int("kv_num_heads", 0); z.heads < 1 || queries < 1 || queries%z.heads != 0 {
		return nil, fault.New(fault.File, "%d query heads and %d heads of keys", queries, z.heads)
	}
	z.group = queries / z.heads
	widths := map[int]int64{}
	for i := range n.p.Node.In {
		if i == 3 || !n.has(i) {
			continue
		}
		s := n.fact(i).Shape
		if s.Rank() != 3 || !s.Dims[2].Known() {
			return nil, fault.New(fault.Unsupported, "input %d: want rank 3 with a known last size, got %v", i, s)
		}
		widths[i] = s.Dims[2].N
	}
	z.keys, z.values = widths[0]/queries, widths[2]/z.heads
	if z.keys < 1 || widths[0] != z.keys*queries || widths[1] != z.keys*z.heads || widths[2] != z.values*z.heads {
		return nil, fault.New(fault.Shape, "%d, %d and %d elements do not divide into %d query heads and %d heads of "+
			"keys and values", widths[0], widths[1], widths[2], queries, z.heads)
	}
	if w := widths[4]; z.decays && w != z.heads && w != z.heads*z.keys {
		return nil, fault.New(fault.Shape, "input 4: %d decays; want %d or %d", w, z.heads, z.heads*z.keys)
	}
	if w := widths[5]; z.deltas && w != z.heads && w != 1 {
		return nil, fault.New(fault.Shape, "input 5: %d rates; want %d or 1", w, z.heads)
	}
	z.real = tensor.Float32
	if n.fact(0).DType == tensor.Float64 {
		z.real = tensor.Float64
	}
	return &z, nil
}
