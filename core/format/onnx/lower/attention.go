package lower

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

var attentionOperators = []Operator{
	{"", "Attention", 23, lowerAttention},
	{"", "RotaryEmbedding", 23, lowerRotary},
	{"", "Einsum", 12, withAttrs(func(n *node) graph.Op { return &op.Einsum{Equation: n.string("equation", "")} })},
}

// lowerAttention takes the inputs of op.Attention, lengths from opset 24 on; the soft cap comes before the mask.
// softmax_precision is met by computing in float64.
func lowerAttention(n *node) error {
	o := &op.Attention{Causal: n.int("is_causal", 0) != 0, Heads: n.int("q_num_heads", 0),
		KVHeads: n.int("kv_num_heads", 0), Scale: n.float("scale", 0), Softcap: n.float("softcap", 0)}
	for name, w := range map[string]*[]int64{"left_window_size": &o.Before, "right_window_size": &o.After} {
		switch k := n.int(name, -1); {
		case k < -1:
			return fault.New(fault.File, "attribute %s: %d; want -1 or more", name, k)
		case k >= 0:
			*w = []int64{k}
		}
	}
	var err error
	o.Scores, err = choiceInt(n, "qk_matmul_output_mode", []op.ScoresMode{op.ScoresRaw, op.ScoresCapped, op.ScoresBiased,
		op.ScoresSoftmax})
	if err != nil {
		return err
	}
	return n.emit(o, n.in...)
}

// lowerRotary: with rotary_embedding_dim only the first half as many columns of the caches take part.
func lowerRotary(n *node) error {
	if err := n.want(3, 4); err != nil {
		return err
	}
	o := &op.RotaryEmbedding{Interleaved: n.int("interleaved", 0) != 0, Dim: n.int("rotary_embedding_dim", 0),
		Heads: n.int("num_heads", 0)}
	in := slices.Clone(n.in)
	if o.Dim > 0 {
		for i := 1; i <= 2; i++ {
			in[i] = n.b.Add(&op.Slice{}, in[i], n.b.Int64s(0), n.b.Int64s(o.Dim/2), n.b.Int64s(-1))
		}
	}
	return n.emit(o, in...)
}
