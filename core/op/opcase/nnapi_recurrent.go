package opcase

import (
	"slices"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Small is a constant of numbers below 1, as weights of layers are that walk many steps.
func Small(dims ...int64) Operand {
	o := Real(dims...)
	n, _ := o.Type.Shape.Count()
	v := make([]float64, n)
	for i := range v {
		v[i] = float64((i*5)%13-6) / 16
	}
	return Given(o, v...)
}

// nnapiRecurrent are cases that go through sequences.
func nnapiRecurrent() []Case {
	none := Absent
	relu := []string{"relu"}
	return []Case{
		One(&op.RNN{Activations: relu}, Real(1, 2, 3), Small(1, 4, 3), Small(1, 4, 4), Small(1, 8), none,
			Real(1, 2, 4)).Gives(2),
		One(&op.RNN{Activations: []string{"Affine"}, BatchFirst: true}, Real(2, 3, 3), Small(1, 4, 3), Small(1, 4, 4),
			none, none, Real(2, 1, 4)).Gives(2),
		One(&op.RNN{Activations: []string{"relu1", "relu6"}, Direction: op.Bidirectional}, Real(3, 2, 3),
			Small(2, 4, 3), Small(2, 4, 4), Small(2, 8)).Gives(2),
		One(&op.RNN{Activations: relu, Direction: op.Reverse}, Real(3, 2, 3), Real(1, 4, 3), Small(1, 4, 4),
			Real(1, 8), Numbers(3, 3)),
		One(&op.LSTM{}, Real(1, 2, 3), Small(1, 16, 3), Small(1, 16, 4)).Gives(3),
		One(&op.LSTM{}, Real(5, 2, 3), Small(1, 16, 3), Small(1, 16, 4), Small(1, 32)),
		One(&op.LSTM{Direction: op.Bidirectional}, Real(3, 2, 3), Small(2, 16, 3), Small(2, 16, 4), Small(2, 32),
			Numbers(3, 3), Real(2, 2, 4), Real(2, 2, 4), Small(2, 12)).Gives(3),
		One(&op.LSTM{Direction: op.Bidirectional, BatchFirst: true, Gates: op.GatesIFCO}, Real(2, 3, 3),
			Small(2, 16, 3), Real(2, 16, 4), Small(2, 32), none, Real(2, 2, 4), Real(2, 2, 4)).Gives(3),
		One(&op.LSTM{BatchFirst: true, Coupled: true, Gates: op.GatesIFCO, ClipCell: 0.5, ClipProjection: 0.25,
			Activations: []string{"sigmoid", "relu6", "relu6"}}, Real(2, 3, 3), Small(1, 12, 3), Small(1, 12, 2),
			Small(1, 24), none, none, none, Small(1, 8), Small(1, 2, 4), Small(1, 2), Small(1, 12)).Gives(3),
		One(&op.LSTM{Coupled: true, Direction: op.Reverse}, Real(1, 2, 3), Small(1, 12, 3), Small(1, 12, 4), none, none,
			none, none, none, none, none, Small(1, 12)).Gives(3),
		One(&op.SVDF{Rank: 2}, Real(2, 3), Fixed(Real(6, 3)), Fixed(Real(6, 4)), Fixed(Real(3)),
			Real(2, 24)).Gives(2),
		One(&op.SVDF{Rank: 1}, Real(2, 3), Fixed(Real(2, 3)), Real(2, 4), none, Real(2, 8)).Gives(2),
		quantized16(), quantized8(false), quantized8(true),
	}
}

// quantized16 is a step of the LSTM whose cell has 16 bits.
func quantized16() Case {
	x := QuantizedAt(tensor.Uint8, 1./128, 128, 2, 3)
	state, cell := QuantizedAt(tensor.Uint8, 1./128, 128, 2, 2), QuantizedAt(tensor.Int16, 1./2048, 0, 2, 2)
	in := []Operand{x}
	for _, columns := range []int64{3, 2} {
		for range 4 {
			in = append(in, Fixed(QuantizedAt(tensor.Uint8, 0.25, 1, 2, columns)))
		}
	}
	for range 4 {
		in = append(in, Given(QuantizedAt(tensor.Int32, 0.25/128, 0, 2), 500, -300))
	}
	return One(&op.Quantized16BitLSTM{}, append(in, cell, state)...).To(cell, state)
}

// quantized8 is a step of the LSTM whose sums have scales, with all that it may have or as little as it must.
func quantized8(full bool) Case {
	const units, features = 2, 3
	x, h := QuantizedAt(tensor.Int8, 0.25, 3, 2, features), QuantizedAt(tensor.Int8, 0.125, -2, 2, units)
	cell := QuantizedAt(tensor.Int16, 1./2048, 0, 2, units)
	weights := func(rows, columns int64) Operand {
		v := slices.Repeat([]float64{9, -5, 3, 7, -2, 1}, 2)
		return Given(QuantizedAt(tensor.Int8, 0.125, 0, rows, columns), v[:rows*columns]...)
	}
	words := func() Operand { return Given(QuantizedAt(tensor.Int16, 1./1024, 0, units), 700, 1200) }
	bias := func() Operand { return Given(Integers(units), 40, -30) }
	in := make([]Operand, 24)
	in[0], in[18], in[19] = x, h, cell
	for g := range 4 {
		in[1+g], in[5+g], in[12+g] = weights(units, features), weights(units, units), bias()
		if full {
			in[20+g] = words()
		}
	}
	if full {
		in[9], in[10], in[11] = words(), words(), words()
		in[16], in[17] = weights(units, units), bias()
	} else {
		in[1], in[5], in[12] = Absent, Absent, Absent
	}
	o := &op.QuantizedLSTM{ClipCell: 4, Intermediate: []float32{1. / 1024, 1. / 1024, 1. / 1024, 1. / 1024}, HiddenZero: 1,
		HiddenScale: 1. / 128}
	return One(o, in...).To(h, cell)
}
