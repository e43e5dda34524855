package ref

import (
	"math"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() { register(Native, quantizedLSTM) }

// codedLSTM is one QuantizedLSTM; inputs are numbered as the operator's.
type codedLSTM struct {
	o                                *op.QuantizedLSTM
	in                               []tensor.Tensor
	features, units, outputs         int
	cellBits                         int // the cell's scale is 2^cellBits
	x, h0                            []int8
	c0                               []int16
	xScale, hScale, cScale, hidScale float32
}

func quantizedLSTM(o *op.QuantizedLSTM, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	for len(in) < 24 {
		in = append(in, tensor.Tensor{})
	}
	scale := func(i int) float32 { return in[i].Quant.Scale[0] }
	q := &codedLSTM{o: o, in: in, features: int(in[0].Dims[1]), units: int(in[19].Dims[1]), outputs: int(in[18].Dims[1]),
		x: view[int8](in[0]), h0: view[int8](in[18]), c0: view[int16](in[19]), xScale: scale(0), hScale: scale(18),
		cScale: scale(19), hidScale: o.HiddenScale}
	q.cellBits, _ = o.CellBits(q.cScale)
	ys := zeros(out)
	h, c := view[int8](ys[0]), view[int16](ys[1])
	for b := range int(in[0].Dims[0]) {
		q.step(b, h[b*q.outputs:][:q.outputs], c[b*q.units:][:q.units])
	}
	return ys, nil
}

// step computes the states of one batch.
func (q *codedLSTM) step(b int, h []int8, c []int16) {
	const inputGate, forgetGate, cellGate, outputGate = 0, 1, 2, 3
	past := q.c0[b*q.units:][:q.units]
	forget := q.gate(b, forgetGate, past)
	candidate := q.gate(b, cellGate, nil)
	enter := alloc[int16](q.units)
	if !q.in[1].Absent() {
		enter = q.gate(b, inputGate, past)
	}
	clip := int16(min(q.o.ClipCell/q.cScale, math.MaxInt16))
	for u := range c {
		tick()
		f, g := logisticFixed(forget[u], 3), tanhFixed(candidate[u], 3)
		i := oneQ15 - f
		if !q.in[1].Absent() {
			i = logisticFixed(enter[u], 3)
		}
		kept := int16(shiftRight(int32(f)*int32(past[u]), 15))
		c[u] = clamp16(int32(kept) + int32(int16(shiftRight(int32(i)*int32(g), 30+q.cellBits))))
		if clip > 0 {
			c[u] = min(max(c[u], -clip), clip)
		}
	}
	made := alloc[int8](q.units)
	hidden := newFixedScale(float64(float32(math.Ldexp(math.Ldexp(1, -15)/float64(q.hidScale), -15))))
	for u, v := range q.gate(b, outputGate, c) {
		tick()
		m := hidden.times(int32(logisticFixed(v, 3)) * int32(tanhFixed(c[u], 15+q.cellBits)))
		made[u] = clamp8(m - int32(q.o.HiddenZero))
	}
	if q.in[16].Absent() {
		copy(h, made)
		return
	}
	weights := view[int8](q.in[16])
	scale := newFixedScale(float64(q.in[16].Quant.Scale[0] * q.hidScale / q.hScale))
	limit := int8(min(q.o.ClipProjection/q.hScale, math.MaxInt8))
	for p := range h {
		tick()
		var bias int32
		if !q.in[17].Absent() {
			bias = view[int32](q.in[17])[p]
		}
		v := scale.times(weighed(made, weights[p*q.units:], -int32(q.o.HiddenZero), bias))
		h[p] = clamp8(v + q.in[18].Quant.ZeroAt(0))
		if limit > 0 {
			h[p] = min(max(h[p], -limit), limit)
		}
	}
}

// gate returns the arguments of a gate's function for all units, at 2^-12 if they are normalized, else at the gate's
// intermediate scale. cell holds the values that its peephole reads.
func (q *codedLSTM) gate(b, gate int, cell []int16) []int16 {
	sums := q.o.Intermediate[gate]
	w, r, bias, norm := q.in[1+gate], q.in[5+gate], view[int32](q.in[12+gate]), q.in[20+gate]
	fromX := newFixedScale(float64(w.Quant.Scale[0] * q.xScale / sums))
	fromH := newFixedScale(float64(r.Quant.Scale[0] * q.hScale / sums))
	hole, fromC := []int16(nil), fixedScale{}
	if k := map[int]int{0: 9, 1: 10, 3: 11}[gate]; k != 0 && !q.in[k].Absent() {
		hole = view[int16](q.in[k])
		fromC = newFixedScale(float64(float32(math.Ldexp(float64(q.in[k].Quant.Scale[0]), q.cellBits) / float64(sums))))
	}
	v := alloc[int16](q.units)
	for u := range v {
		tick()
		var first int32
		if norm.Absent() {
			first = bias[u]
		}
		x := weighed(q.x[b*q.features:][:q.features], view[int8](w)[u*q.features:], q.in[0].Quant.ZeroAt(0), first)
		h := weighed(q.h0[b*q.outputs:][:q.outputs], view[int8](r)[u*q.outputs:], q.in[18].Quant.ZeroAt(0), 0)
		v[u] = clamp16(fromX.times(x))
		v[u] = clamp16(fromH.times(h) + int32(v[u]))
		if hole != nil {
			v[u] = clamp16(fromC.times(int32(hole[u])*int32(cell[u])) + int32(v[u]))
		}
	}
	if !norm.Absent() {
		normalizeCodes(v, view[int16](norm), bias, newFixedScale(float64(norm.Quant.Scale[0])))
	}
	return v
}

// weighed is bias plus the sum of x, without its zero point, times w, in 32 bits that wrap.
func weighed(x, w []int8, zero, bias int32) int32 {
	for i, v := range x {
		tick()
		bias += (int32(v) - zero) * int32(w[i])
	}
	return bias
}

// normalizeCodes gives v mean 0 and variance 1, multiplies it by weights and adds bias, both of the given scale; the
// result is at 2^-12. Mean and deviation have ten more bits than v.
func normalizeCodes(v, weights []int16, bias []int32, scale fixedScale) {
	n := int64(len(v))
	var sum, squares int64
	for _, x := range v {
		tick()
		sum += int64(x)
		squares += int64(x) * int64(x)
	}
	if n == 0 {
		return
	}
	mean := int32(sum * 1024 / n)
	variance := int32((squares*((1<<20)/n) - int64(mean)*int64(mean)) / (1 << 20))
	root := inverseRoot(variance)
	scale.shift += 12
	for u, x := range v {
		tick()
		y := int64(root.times(1024*int32(x)-mean))*int64(weights[u]) + int64(bias[u])
		half := int64(512)
		if y <= 0 {
			half = -half
		}
		v[u] = clamp16(scale.times(int32((y + half) / 1024)))
	}
}

func clamp8(x int32) int8 { return int8(min(max(x, math.MinInt8), math.MaxInt8)) }
