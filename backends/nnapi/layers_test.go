package nnapi

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	dt "github.com/anynpu/anynpu/internal/drivertest"
)

// numbers is a constant of given numbers.
func numbers(o dt.Operand, v ...float64) dt.Operand {
	data := tensor.New(o.Type.DType, int64(len(v)))
	for i, x := range v {
		tensor.PutFloat(o.Type.DType, data.Data, i, x, false)
		tensor.PutInt(o.Type.DType, data.Data, i, int64(x))
	}
	o.Constant = data.Data
	return o
}

// around are codes with a zero point.
func around(d tensor.DType, scale float32, zero int32, dims ...int64) dt.Operand {
	o := dt.Of(d, dims...)
	o.Type.Quant = tensor.PerTensor(scale, zero)
	return o
}

// small is a constant of numbers below 1, as weights of layers are that walk many steps.
func small(dims ...int64) dt.Operand {
	o := dt.Real(dims...)
	n, _ := o.Type.Shape.Count()
	v := make([]float64, n)
	for i := range v {
		v[i] = float64((i*5)%13-6) / 16
	}
	return numbers(o, v...)
}

// recurrentOperators are nodes that walk through sequences.
func recurrentOperators() []dt.Node {
	none := dt.Absent
	relu := []string{"relu"}
	return []dt.Node{
		dt.One(&op.RNN{Activations: relu}, dt.Real(1, 2, 3), small(1, 4, 3), small(1, 4, 4), small(1, 8), none,
			dt.Real(1, 2, 4)).Gives(2),
		dt.One(&op.RNN{Activations: []string{"Affine"}, BatchFirst: true}, dt.Real(2, 3, 3), small(1, 4, 3), small(1, 4, 4),
			none, none, dt.Real(2, 1, 4)).Gives(2),
		dt.One(&op.RNN{Activations: []string{"relu1", "relu6"}, Direction: op.Bidirectional}, dt.Real(3, 2, 3),
			small(2, 4, 3), small(2, 4, 4), small(2, 8)).Gives(2),
		dt.One(&op.RNN{Activations: relu, Direction: op.Reverse}, dt.Real(3, 2, 3), dt.Real(1, 4, 3), small(1, 4, 4),
			dt.Real(1, 8), dt.Numbers(3, 3)),
		dt.One(&op.LSTM{}, dt.Real(1, 2, 3), small(1, 16, 3), small(1, 16, 4)).Gives(3),
		dt.One(&op.LSTM{}, dt.Real(5, 2, 3), small(1, 16, 3), small(1, 16, 4), small(1, 32)),
		dt.One(&op.LSTM{Direction: op.Bidirectional}, dt.Real(3, 2, 3), small(2, 16, 3), small(2, 16, 4), small(2, 32),
			dt.Numbers(3, 3), dt.Real(2, 2, 4), dt.Real(2, 2, 4), small(2, 12)).Gives(3),
		dt.One(&op.LSTM{Direction: op.Bidirectional, BatchFirst: true, Gates: op.GatesIFCO}, dt.Real(2, 3, 3),
			small(2, 16, 3), dt.Real(2, 16, 4), small(2, 32), none, dt.Real(2, 2, 4), dt.Real(2, 2, 4)).Gives(3),
		dt.One(&op.LSTM{BatchFirst: true, Coupled: true, Gates: op.GatesIFCO, ClipCell: 0.5, ClipProjection: 0.25,
			Activations: []string{"sigmoid", "relu6", "relu6"}}, dt.Real(2, 3, 3), small(1, 12, 3), small(1, 12, 2),
			small(1, 24), none, none, none, small(1, 8), small(1, 2, 4), small(1, 2), small(1, 12)).Gives(3),
		dt.One(&op.LSTM{Coupled: true, Direction: op.Reverse}, dt.Real(1, 2, 3), small(1, 12, 3), small(1, 12, 4), none, none,
			none, none, none, none, none, small(1, 12)).Gives(3),
		dt.One(&op.SVDF{Rank: 2}, dt.Real(2, 3), dt.Fixed(dt.Real(6, 3)), dt.Fixed(dt.Real(6, 4)), dt.Fixed(dt.Real(3)),
			dt.Real(2, 24)).Gives(2),
		dt.One(&op.SVDF{Rank: 1}, dt.Real(2, 3), dt.Fixed(dt.Real(2, 3)), dt.Real(2, 4), none, dt.Real(2, 8)).Gives(2),
		quantized16(), quantized8(false), quantized8(true),
	}
}

// quantized16 is a step of the LSTM whose cell has 16 bits.
func quantized16() dt.Node {
	x := around(tensor.Uint8, 1./128, 128, 2, 3)
	state, cell := around(tensor.Uint8, 1./128, 128, 2, 2), around(tensor.Int16, 1./2048, 0, 2, 2)
	in := []dt.Operand{x}
	for _, columns := range []int64{3, 2} {
		for range 4 {
			in = append(in, dt.Fixed(around(tensor.Uint8, 0.25, 1, 2, columns)))
		}
	}
	for range 4 {
		in = append(in, numbers(around(tensor.Int32, 0.25/128, 0, 2), 500, -300))
	}
	return dt.One(&op.Quantized16BitLSTM{}, append(in, cell, state)...).To(cell, state)
}

// quantized8 is a step of the LSTM whose sums have scales, with all that it may have or as little as it must.
func quantized8(full bool) dt.Node {
	const units, features = 2, 3
	x, h := around(tensor.Int8, 0.25, 3, 2, features), around(tensor.Int8, 0.125, -2, 2, units)
	cell := around(tensor.Int16, 1./2048, 0, 2, units)
	weights := func(rows, columns int64) dt.Operand {
		v := slices.Repeat([]float64{9, -5, 3, 7, -2, 1}, 2)
		return numbers(around(tensor.Int8, 0.125, 0, rows, columns), v[:rows*columns]...)
	}
	words := func() dt.Operand { return numbers(around(tensor.Int16, 1./1024, 0, units), 700, 1200) }
	bias := func() dt.Operand { return numbers(dt.Integers(units), 40, -30) }
	in := make([]dt.Operand, 24)
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
		in[1], in[5], in[12] = dt.Absent, dt.Absent, dt.Absent
	}
	o := &op.QuantizedLSTM{ClipCell: 4, Intermediate: []float32{1. / 1024, 1. / 1024, 1. / 1024, 1. / 1024}, HiddenZero: 1,
		HiddenScale: 1. / 128}
	return dt.One(o, in...).To(h, cell)
}

// detectionOperators are nodes of regions and keys.
func detectionOperators() []dt.Node {
	none := dt.Absent
	regions := numbers(dt.Real(3, 4), 0, 0, 2, 3, 1, 1, 4, 2, 0.5, 0, 3, 4)
	batches := numbers(dt.Integers(3), 0, 1, 1)
	corners := numbers(dt.Real(2, 4), 0, 0, 4, 3, 1, 0, 3, 5)
	anchors := numbers(dt.Real(3, 4), 0.5, 0.5, 1, 1, 0.25, 0.5, 0.5, 1, 0.75, 0.5, 1, 0.5)
	hits := around(tensor.Uint8, 1, 0, 4)
	return []dt.Node{
		dt.One(&op.AxisAlignedBoxTransform{}, corners, dt.Real(2, 8), numbers(dt.Integers(2), 0, 0), numbers(dt.Real(1, 2), 6, 7)),
		dt.One(&op.HeatmapMaxKeypoint{}, dt.Real(2, 3, 4, 5), corners).Gives(2),
		dt.One(&op.HeatmapMaxKeypoint{ChannelsLast: true}, dt.Real(2, 4, 5, 3), corners).Gives(2),
		dt.One(&op.RoiAlign{Height: 2, Width: 3, SamplesHeight: 2, SamplesWidth: 1, Inside: true, ScaleHeight: 0.5,
			ScaleWidth: 1}, dt.Real(2, 2, 6, 5), regions, batches),
		dt.One(&op.RoiAlign{Height: 2, Width: 2, Inside: true, ChannelsLast: true}, dt.Real(2, 6, 5, 2), regions, batches),
		dt.One(&op.MaxRoiPool{Height: 2, Width: 2, Inside: true, ChannelsLast: true}, dt.Real(2, 6, 5, 2), regions, batches),
		dt.One(&op.MaxRoiPool{Height: 2, Width: 3, Inside: true}, dt.Real(2, 2, 6, 5),
			numbers(dt.Real(2, 5), 1, 0, 0, 2, 3, 0, 1, 1, 4, 2)),
		dt.One(&op.DetectionPostProcess{MaxDetections: 3, MaxClasses: 2, IoU: 0.5, Score: 0.1, Scale: []float32{10, 10, 5, 5}},
			dt.Real(1, 3, 4), dt.Real(1, 3, 3), anchors).Gives(4),
		dt.One(&op.DetectionPostProcess{MaxDetections: 2, DetectionsPerClass: 2, Classes: 2, IoU: 0.5, Score: 0.1,
			Scale: []float32{10, 10, 5, 5}, Regular: true}, dt.Real(1, 3, 4), dt.Real(1, 3, 3), anchors).Gives(4),
		dt.One(&op.HashtableLookup{}, dt.Integers(4), numbers(dt.Integers(2), 0, 2), dt.Real(2, 3)).To(dt.Real(4, 3), hits),
		dt.One(&op.LSHProjection{Form: op.LSHDense}, dt.Fixed(dt.Real(2, 3)), dt.Real(4, 2), dt.Fixed(dt.Real(4))),
		dt.One(&op.LSHProjection{Form: op.LSHSparse}, dt.Fixed(dt.Real(2, 3)), dt.Integers(4), none),
	}
}

// controlOperators are nodes with graphs inside.
func controlOperators() []dt.Node {
	x := tensor.T(tensor.Float32, 2, 3)
	graphOf := func(add func(b *graph.Builder)) *graph.Graph {
		b := graph.NewBuilder("body")
		add(b)
		g, err := b.Graph()
		if err != nil {
			panic(err)
		}
		return g
	}
	twice := graphOf(func(b *graph.Builder) {
		p, q := b.Input("p", x), b.Input("q", x)
		b.Output(b.Add(&op.Relu{}, b.Add(&op.Add{}, p, q)), p)
	})
	swapped := graphOf(func(b *graph.Builder) {
		p, q := b.Input("p", x), b.Input("q", x)
		b.Output(q, p)
	})
	// trips doubles p, and counts down n until it is 1; the limit of the loop may come first.
	trips := graphOf(func(b *graph.Builder) {
		b.Input("trip", tensor.T(tensor.Int64))
		b.Input("condition", tensor.T(tensor.Bool, 1))
		p, n, q := b.Input("p", x), b.Input("n", tensor.T(tensor.Int32, 1)), b.Input("q", x)
		one := b.Const("", tensor.T(tensor.Int32, 1), tensor.Int32s(1))
		left := b.Add(&op.Sub{}, n, one)
		b.Output(b.Add(&op.Greater{}, left, one), b.Add(&op.Add{}, p, q), left)
	})
	truth := func(v byte) dt.Operand { return dt.Operand{Type: tensor.T(tensor.Bool, 1), Constant: []byte{v}} }
	start := numbers(dt.Integers(1), 5)
	return []dt.Node{
		dt.One(&op.If{Then: twice, Else: swapped}, dt.Bools(1), dt.Real(2, 3), dt.Real(2, 3)).Gives(2),
		dt.One(&op.If{Then: swapped, Else: twice}, dt.Bools(1), dt.Real(2, 3), dt.Real(2, 3)).Gives(2),
		dt.One(&op.Loop{Body: trips, Carried: 2}, dt.Absent, dt.Absent, dt.Real(2, 3), start, dt.Real(2, 3)).Gives(2),
		dt.One(&op.Loop{Body: trips, Carried: 2}, dt.Numbers(3), truth(1), dt.Real(2, 3), start, dt.Real(2, 3)).Gives(2),
		dt.One(&op.Loop{Body: trips, Carried: 2}, dt.Absent, truth(0), dt.Real(2, 3), start, dt.Real(2, 3)).Gives(2),
	}
}
