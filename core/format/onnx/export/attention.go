package export

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func attentionRules() []rule {
	return []rule{on(exportAttention), on(exportRotary)}
}

func exportAttention(n *node, o *op.Attention) error {
	n.needs(23)
	d := n.dtype(0)
	attrs := []attr{flag("is_causal", o.Causal)}
	if o.Heads > 0 {
		attrs = append(attrs, number("q_num_heads", o.Heads), number("kv_num_heads", o.KVHeads))
	}
	if o.Scale != 0 {
		attrs = append(attrs, real("scale", o.Scale))
	}
	if o.Softcap != 0 {
		attrs = append(attrs, real("softcap", o.Softcap))
	}
	for i, w := range [][]int64{o.Before, o.After} {
		if len(w) > 0 {
			n.needs(25)
			attrs = append(attrs, number([]string{"left_window_size", "right_window_size"}[i], w[0]))
		}
	}
	if n.wants(3) {
		attrs = append(attrs, number("qk_matmul_output_mode", int64(o.Scores)))
	}
	in := []string{n.x(0), n.as(1, d), n.as(2, d), n.x(3), n.as(4, d), n.as(5, d), ""}
	if n.dtype(3) != tensor.Bool {
		in[3] = n.as(3, d)
	}
	if n.has(6) {
		n.needs(24)
		in[6] = n.long(6)
	}
	outs := 1
	for k := range n.n.Out {
		if n.wants(k) {
			outs = k + 1
		}
	}
	for k, v := range n.emit("Attention", outs, in, attrs...) {
		if err := n.set(k, v, d); err != nil {
			return err
		}
	}
	return nil
}

func exportRotary(n *node, o *op.RotaryEmbedding) error {
	n.needs(23)
	d := n.dtype(0)
	if d == tensor.Float64 {
		return refuse("RotaryEmbedding has no numbers of float64")
	}
	attrs := []attr{flag("interleaved", o.Interleaved)}
	if o.Dim > 0 {
		attrs = append(attrs, number("rotary_embedding_dim", o.Dim))
	}
	if o.Heads > 0 {
		attrs = append(attrs, number("num_heads", o.Heads))
	}
	in := []string{n.x(0), n.as(1, d), n.as(2, d), ""}
	if n.has(3) {
		in[3] = n.long(3)
	}
	return n.plain("RotaryEmbedding", in, attrs...)
}
