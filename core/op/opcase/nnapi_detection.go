package opcase

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// nnapiDetection are cases of regions and keys.
func nnapiDetection() []Case {
	none := Absent
	regions := Given(Real(3, 4), 0, 0, 2, 3, 1, 1, 4, 2, 0.5, 0, 3, 4)
	batches := Given(Integers(3), 0, 1, 1)
	corners := Given(Real(2, 4), 0, 0, 4, 3, 1, 0, 3, 5)
	anchors := Given(Real(3, 4), 0.5, 0.5, 1, 1, 0.25, 0.5, 0.5, 1, 0.75, 0.5, 1, 0.5)
	hits := QuantizedAt(tensor.Uint8, 1, 0, 4)
	return []Case{
		One(&op.AxisAlignedBoxTransform{}, corners, Real(2, 8), Given(Integers(2), 0, 0), Given(Real(1, 2), 6, 7)),
		One(&op.HeatmapMaxKeypoint{}, Real(2, 3, 4, 4), corners).Gives(2),
		One(&op.HeatmapMaxKeypoint{ChannelsLast: true}, Real(2, 5, 5, 3), corners).Gives(2),
		One(&op.RoiAlign{Height: 2, Width: 3, SamplesHeight: 2, SamplesWidth: 1, Inside: true, ScaleHeight: 0.5,
			ScaleWidth: 1}, Real(2, 2, 6, 5), regions, batches),
		One(&op.RoiAlign{Height: 2, Width: 2, Inside: true, ChannelsLast: true}, Real(2, 6, 5, 2), regions, batches),
		One(&op.MaxRoiPool{Height: 2, Width: 2, Inside: true, ChannelsLast: true}, Real(2, 6, 5, 2), regions, batches),
		One(&op.MaxRoiPool{Height: 2, Width: 3, Inside: true}, Real(2, 2, 6, 5),
			Given(Real(2, 5), 1, 0, 0, 2, 3, 0, 1, 1, 4, 2)),
		One(&op.DetectionPostProcess{MaxDetections: 3, MaxClasses: 2, IoU: 0.5, Score: 0.1, Scale: []float32{10, 10, 5, 5}},
			Real(1, 3, 4), Real(1, 3, 3), anchors).Gives(4),
		One(&op.DetectionPostProcess{MaxDetections: 2, DetectionsPerClass: 2, Classes: 2, IoU: 0.5, Score: 0.1,
			Scale: []float32{10, 10, 5, 5}, Regular: true}, Real(1, 3, 4), Real(1, 3, 3), anchors).Gives(4),
		One(&op.HashtableLookup{}, Integers(4), Given(Integers(2), 0, 2), Real(2, 3)).To(Real(4, 3), hits),
		One(&op.LSHProjection{Form: op.LSHDense}, Fixed(Real(2, 3)), Real(4, 2), Fixed(Real(4))),
		One(&op.LSHProjection{Form: op.LSHSparse}, Fixed(Real(2, 3)), Integers(4), none),
	}
}

// nnapiFound are cases whose results have sizes that a run finds, and one whose numbers it draws.
func nnapiFound() []Case {
	boxes := func(o Operand) Operand {
		return Given(o, 0, 0, 8, 8, 0, 1, 8, 9, 0, 0, 4, 4, 1, 0, 9, 8, 0, 1, 8, 10, 8, 8, 16, 16, 0, 8, 8, 16, 4, 4, 8, 8)
	}
	rows, one := Given(Integers(4), 0, 0, 1, 1), Given(Integers(4), 0, 0, 0, 0)
	limits := func(kernel op.NMSKernel, most int64, score float32) graph.Op {
		return &op.BoxWithNMSLimit{Kernel: kernel, Score: score, IoU: 0.3, Sigma: 0.5, Keep: 0.1, Max: most}
	}
	anchors := func(o Operand) Operand { return Given(o, 0, 0, 8, 8, 2, 1, 4, 12) }
	sizes := Given(Real(1, 2), 32, 24)
	proposals := func(last bool, before, after int64) graph.Op {
		return &op.GenerateProposals{StrideHeight: 4, StrideWidth: 6, Before: before, After: after, IoU: 0.4, MinSize: 1,
			ChannelsLast: last}
	}
	words := func(dims ...int64) Operand { return QuantizedAt(tensor.Uint16, 0.125, 0, dims...) }
	return []Case{
		One(limits(op.NMSHard, -1, -3), Real(4, 2), boxes(Real(4, 8)), rows).Gives(4),
		One(limits(op.NMSHard, 1, -3), Real(4, 2), boxes(Real(4, 8)), rows).Gives(4),
		One(limits(op.NMSHard, -1, 100), Real(4, 2), boxes(Real(4, 8)), one).Gives(4),
		One(limits(op.NMSHard, 0, -3), Real(4, 2), boxes(Real(4, 8)), one).Gives(4),
		One(limits(op.NMSLinear, 5, 0), Real(4, 2), boxes(Real(4, 8)), one).Gives(4),
		One(limits(op.NMSGaussian, 5, 0), Of(tensor.Float16, 4, 2), boxes(Of(tensor.Float16, 4, 8)), one).Gives(4),
		One(limits(op.NMSHard, 2, 0), QuantizedAt(tensor.Uint8, 0.25, 1, 4, 2), boxes(words(4, 8)), one).Gives(4),
		One(proposals(true, -1, -1), Real(1, 3, 4, 2), Real(1, 3, 4, 8), anchors(Real(2, 4)), sizes).Gives(3),
		One(proposals(false, 9, 3), Real(1, 2, 3, 4), Real(1, 8, 3, 4), anchors(Real(2, 4)), sizes).Gives(3),
		One(&op.Multinomial{To: tensor.Int32}, Real(2, 5), Numbers(6), Given(Integers(2), 3, 4)),
	}
}
