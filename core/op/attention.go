package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// ScoresMode says what the fourth output of Attention holds.
type ScoresMode uint8

// The stages of the scores.
const (
	ScoresRaw     ScoresMode = iota // scale * q k
	ScoresCapped                    // after the soft cap
	ScoresBiased                    // after mask and causality
	ScoresSoftmax                   // after softmax
)

// Attention is scaled dot-product attention. Per batch and head, with K and V the past followed by the new keys and
// values:
//
//	s = Scale * q K;  with Softcap > 0  s = Softcap * tanh(s / Softcap)
//	s += mask;  with Causal  s = -inf for key j > i + number of past keys
//	with Before = [n]  s = -inf for key j < i + number of past keys - n, with After = [n] for one > that + n
//	y = softmax(s) V
//
// A row in which no key is allowed gives 0. Query head h uses key head h / (Hq/Hkv). A bool mask forbids where false; a
// mask shorter than the keys forbids the rest.
//
// Inputs: q [B,Hq,S,D], k [B,Hkv,T,D], v [B,Hkv,T,E], or rank 3 [B,S,Hq*D] etc. with Heads and KVHeads; mask? bool
// or float, broadcast to [B,Hq,S,P+T] but for a shorter last dimension; past_key? [B,Hkv,P,D], past_value?
// [B,Hkv,P,E]; lengths? [B] integers, the keys of each batch that count: the rest is forbidden, and for Causal,
// Before and After the last query stands at the last counting key. Outputs: y [B,Hq,S,E], or [B,S,Hq*E] for rank 3;
// present_key?, present_value? [B,Hkv,P+T,..]; scores? [B,Hq,S,P+T]. Float or quantized; computed in float64.
// Source: ONNX Attention-25, and Attention-23 as it was corrected in place.
type Attention struct {
	Causal         bool
	Before, After  []int64 // how many keys before and after its own place a query sees; nil: all
	Heads, KVHeads int64   // rank 3 only
	Scale          float32 // 0: 1/sqrt(D)
	Softcap        float32
	Scores         ScoresMode
}

func init() { graph.Register[*Attention]("attention", graph.Traits{}) }

// headed returns input i as [B, heads, length, features].
func headed(s tensor.Shape, i int, heads int64) (tensor.Shape, error) {
	switch s.Rank() {
	case -1:
		return tensor.AnyOfRank(4), nil
	case 4:
		return s, nil
	case 3:
		if heads < 1 {
			return s, fault.New(fault.Argument, "the number of heads is missing for input %d of rank 3", i)
		}
		features := tensor.AnyDim()
		if d := s.Dims[2]; d.Known() {
			if d.N%heads != 0 {
				return s, fault.New(fault.Shape, "input %d: %v does not divide into %d heads", i, s, heads)
			}
			features = tensor.D(d.N / heads)
		}
		return tensor.OfDims(s.Dims[0], tensor.D(heads), s.Dims[1], features), nil
	}
	return s, fault.New(fault.Shape, "input %d: want rank 3 or 4, got %v", i, s)
}

// attentionSizes are the dimensions of an Attention.
type attentionSizes struct {
	batch, heads, kvHeads, queries, keys, past, features, values tensor.Dim
}

func (o *Attention) sizes(in []tensor.Fact) (attentionSizes, error) {
	var z attentionSizes
	q, err := headed(in[0].Shape, 0, o.Heads)
	if err != nil {
		return z, err
	}
	k, err := headed(in[1].Shape, 1, o.KVHeads)
	if err != nil {
		return z, err
	}
	v, err := headed(in[2].Shape, 2, o.KVHeads)
	if err != nil {
		return z, err
	}
	z = attentionSizes{batch: q.Dims[0], heads: q.Dims[1], queries: q.Dims[2], features: q.Dims[3], kvHeads: k.Dims[1],
		keys:   k.Dims[2],
		values: v.Dims[3], past: tensor.D(0)}
	shapes := []struct {
		what string
		s    tensor.Shape
		to   []*tensor.Dim
	}{{"input 1", k, []*tensor.Dim{&z.batch, &z.kvHeads, &z.keys, &z.features}},
		{"input 2", v, []*tensor.Dim{&z.batch, &z.kvHeads, &z.keys, &z.values}}}
	if present(in, 4) != present(in, 5) {
		return z, fault.New(fault.Argument, "past keys and past values come together")
	}
	if present(in, 4) {
		z.past = tensor.AnyDim()
		for i, last := range []*tensor.Dim{&z.features, &z.values} {
			if err := wantRank(in, 4+i, 4); err != nil {
				return z, err
			}
			if s := in[4+i].Shape; s.Ranked {
				shapes = append(shapes, struct {
					what string
					s    tensor.Shape
					to   []*tensor.Dim
				}{[]string{"input 4", "input 5"}[i], s, []*tensor.Dim{&z.batch, &z.kvHeads, &z.past, last}})
			}
		}
	}
	for _, c := range shapes {
		for i, to := range c.to {
			if *to, err = agree(*to, c.s.Dims[i], "sizes"); err != nil {
				return z, fault.Wrap(err, "%s: %v", c.what, c.s)
			}
		}
	}
	if h, g := z.heads, z.kvHeads; g.Known() && g.N == 0 && !(h.Known() && h.N == 0) || h.Known() && g.Known() &&
		g.N > 0 && h.N%g.N != 0 {
		return z, fault.New(fault.Shape, "%v query heads do not divide among %v key heads", h, g)
	}
	return z, nil
}

// Infer returns the shapes of y, the extended keys and values, and the scores.
func (o *Attention) Infer(in []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	if err := arity(in, 3, 7, declared, 1, 4); err != nil {
		return nil, err
	}
	for i := range in {
		var err error
		switch {
		case !present(in, i):
		case i == 6:
			err = wantIndex(in, i)
		case i == 3:
			err = wantTensor(in, i, "bool or a float type", func(t tensor.Type) bool {
				return isReal(t) ||
					t.DType == tensor.Bool
			})
		default:
			err = wantTensor(in, i, realWords, isReal)
		}
		if err != nil {
			return nil, err
		}
	}
	if o.Scores > ScoresSoftmax || !(o.Softcap >= 0) || o.Heads < 0 || o.KVHeads < 0 {
		return nil, fault.New(fault.Argument, "stage of scores %d, soft cap %v, %d and %d heads", o.Scores, o.Softcap,
			o.Heads, o.KVHeads)
	}
	for _, w := range [][]int64{o.Before, o.After} {
		if len(w) > 1 || len(w) == 1 && w[0] < 0 {
			return nil, fault.New(fault.Argument, "a window of %v keys", w)
		}
	}
	if a, b := in[0].Shape.Rank(), in[1].Shape.Rank(); a >= 0 && b >= 0 && a != b {
		return nil, fault.New(fault.Shape, "input 1: want rank %d like input 0, got %v", a, in[1].Shape)
	}
	if a, b := in[1].Shape.Rank(), in[2].Shape.Rank(); a >= 0 && b >= 0 && a != b {
		return nil, fault.New(fault.Shape, "input 2: want rank %d like input 1, got %v", a, in[2].Shape)
	}
	z, err := o.sizes(in)
	if err != nil {
		return nil, err
	}
	total := tensor.AnyDim()
	switch {
	case z.past.Known() && z.keys.Known():
		if z.past.N > maxSpatial || z.keys.N > maxSpatial {
			return nil, fault.New(fault.Shape, "%d past and %d new keys", z.past.N, z.keys.N)
		}
		total = tensor.D(z.past.N + z.keys.N)
	case z.past.Known() && z.past.N == 0:
		total = z.keys
	}
	scores := tensor.OfDims(z.batch, z.heads, z.queries, total)
	if err := checkMask(in, scores); err != nil {
		return nil, err
	}
	if err := wantSized(in, 6, z.batch, "one length per batch"); err != nil {
		return nil, err
	}
	if present(in, 6) && present(in, 4) {
		return nil, fault.New(fault.Argument, "input 6: lengths and past keys exclude each other")
	}
	shapes := []tensor.Shape{tensor.OfDims(z.batch, z.heads, z.queries, z.values), tensor.OfDims(z.batch, z.kvHeads, total,
		z.features),
		tensor.OfDims(z.batch, z.kvHeads, total, z.values), scores}
	switch in[0].Shape.Rank() {
	case -1:
		shapes[0] = tensor.AnyShape()
	case 3:
		width := tensor.AnyDim()
		if z.heads.Known() && z.values.Known() {
			width = tensor.D(z.heads.N * z.values.N)
		}
		shapes[0] = tensor.OfDims(z.batch, z.queries, width)
	}
	like := []tensor.Fact{in[0], in[1], in[2], in[0]}
	out := make([]tensor.Fact, len(declared))
	for i := range out {
		out[i] = outType(declared[i], like[i], shapes[i])
	}
	return out, nil
}

// checkMask checks that the mask broadcasts to the scores, but for a shorter last dimension.
func checkMask(in []tensor.Fact, scores tensor.Shape) error {
	if !present(in, 3) || in[3].Shape.Rank() < 1 {
		return nil
	}
	m, s := in[3].Shape.Clone(), scores.Clone()
	last, total := m.Dims[len(m.Dims)-1], s.Dims[3]
	if last.Known() && total.Known() && last.N > total.N {
		return fault.New(fault.Shape, "input 3: a mask %v for %d keys", m, total.N)
	}
	m.Dims[len(m.Dims)-1], s.Dims[3] = tensor.D(1), tensor.D(1)
	b, err := tensor.Broadcast(s, m)
	if err != nil || !compatible(b, s) {
		return fault.New(fault.Shape, "input 3: %v does not broadcast to %v", in[3].Shape, scores)
	}
	return nil
}
