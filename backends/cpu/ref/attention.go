package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() { register(Real, attention) }

func attention(o *op.Attention, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	res := newResults(out)
	if allEmpty(out) {
		return res.tensors, nil
	}
	given := func(i int) tensor.Tensor {
		if i < len(in) {
			return in[i]
		}
		return tensor.Tensor{}
	}
	q, qz := reals(in[0]), newHeads(in[0].Dims, o.Heads)
	keys, kz := withPast(in[1], given(4), o.KVHeads, res.put[1])
	values, vz := withPast(in[2], given(5), o.KVHeads, res.put[2])
	yz := heads{qz.batch, qz.heads, qz.length, vz.features, qz.packed}
	mask := newMask(given(3), []int64{int64(qz.batch), int64(qz.heads), int64(qz.length)}, kz.length)
	lengths := reals(given(6))
	past := 0
	if p := given(4); !p.Absent() {
		past = int(p.Dims[2])
	}
	scale := float64(o.Scale)
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(qz.features))
	}
	row, bias := alloc[float64](kz.length), alloc[float64](kz.length)
	var stages [4][]float64
	for i := range stages {
		stages[i] = alloc[float64](kz.length)
	}
	for b := range qz.batch {
		allowed, offset := float64(kz.length), past
		if lengths != nil {
			allowed = lengths[b]
			if past == 0 {
				offset = int(min(max(allowed, -1<<40), 1<<40)) - qz.length
			}
		}
		for h := range qz.heads {
			kh := h / (qz.heads / kz.heads)
			for i := range qz.length {
				for j := range row {
					tick()
					row[j] = scale * inner[float64, float64](q[qz.at(b, h, i):][:qz.features], keys[kz.at(b, kh, j):])
					bias[j] = mask(b, h, i, j)
					if o.Causal && j > i+offset || float64(j) >= allowed || !inWindow(o, j-i-offset) {
						bias[j] = math.Inf(-1)
					}
				}
				scoreRow(o, row, bias, &stages)
				at := ((b*qz.heads+h)*qz.length + i) * kz.length
				for j, v := range stages[o.Scores] {
					res.put[3](at+j, v)
				}
				to := yz.at(b, h, i)
				for e := range vz.features {
					tick()
					var sum float64
					for j, p := range stages[op.ScoresSoftmax] {
						tick()
						if p != 0 {
							sum += p * values[vz.at(b, kh, j)+e]
						}
					}
					res.put[0](to+e, sum)
				}
			}
		}
	}
	return res.tensors, nil
}

// inWindow reports whether a query sees the key that stands by places after its own.
func inWindow(o *op.Attention, by int) bool {
	return (len(o.Before) == 0 || int64(by) >= -o.Before[0]) && (len(o.After) == 0 || int64(by) <= o.After[0])
}

// scoreRow computes the stages of one row from the scaled products and the bias.
func scoreRow(o *op.Attention, row, bias []float64, stages *[4][]float64) {
	top, scores := math.Inf(-1), alloc[float64](len(row))
	for j, s := range row {
		tick()
		stages[op.ScoresRaw][j] = s
		stages[op.ScoresCapped][j] = capped(o, s)
		s = biased(stages[op.ScoresCapped][j], bias[j])
		stages[op.ScoresBiased][j] = s
		scores[j] = s
		top = max(top, s)
	}
	weights := stages[op.ScoresSoftmax]
	var sum float64
	for j, s := range scores {
		tick()
		weights[j] = 0
		if !math.IsInf(s, -1) {
			weights[j] = math.Exp(s - top)
		}
		sum += weights[j]
	}
	for j := range weights {
		tick()
		if sum != 0 {
			weights[j] /= sum
		}
	}
}

func capped(o *op.Attention, s float64) float64 {
	if c := float64(o.Softcap); c > 0 {
		return c * math.Tanh(s/c)
	}
	return s
}

func biased(s, bias float64) float64 {
	if math.IsInf(bias, -1) {
		return math.Inf(-1)
	}
	return s + bias
}

// withPast returns past and new keys (or values) as [batch, heads, length, features] and stores each element with put.
func withPast(x, past tensor.Tensor, n int64, put func(i int, r float64)) ([]float64, heads) {
	xz, v := newHeads(x.Dims, n), reals(x)
	z := heads{xz.batch, xz.heads, xz.length, xz.features, false}
	var old []float64
	var oz heads
	if !past.Absent() {
		old, oz = reals(past), newHeads(past.Dims, n)
		z.length += oz.length
	}
	all := alloc[float64](z.batch * z.heads * z.length * z.features)[:0]
	for b := range z.batch {
		for h := range z.heads {
			for t := range oz.length {
				tick()
				all = append(all, old[oz.at(b, h, t):][:z.features]...)
			}
			for t := range xz.length {
				tick()
				all = append(all, v[xz.at(b, h, t):][:z.features]...)
			}
		}
	}
	for i, r := range all {
		tick()
		put(i, r)
	}
	return all, z
}

// newMask returns the value that the mask adds to the score of head h, query i, key j of batch b.
func newMask(m tensor.Tensor, lead []int64, keys int) func(b, h, i, j int) float64 {
	if m.Absent() {
		return func(_, _, _, _ int) float64 { return 0 }
	}
	v, width := reals(m), 1
	var dims []int64
	if r := len(m.Dims); r > 0 {
		width, dims = int(m.Dims[r-1]), m.Dims[:r-1]
	}
	index := broadcastIndex(dims, lead)
	return func(b, h, i, j int) float64 {
		if len(m.Dims) == 0 {
			j = 0
		}
		if j >= width {
			return math.Inf(-1)
		}
		x := v[index((b*int(lead[1])+h)*int(lead[2])+i)*width+j]
		switch {
		case m.DType != tensor.Bool:
			return x
		case x == 0:
			return math.Inf(-1)
		}
		return 0
	}
}
