package opcase

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// movement are cases that select, place and count elements.
func movement() []Case {
	list := []Case{
		One(&op.Compress{Axis: 1}, X, Given(Bools(3), 1, 0, 1)),
		One(&op.Compress{Flatten: true}, X, Bools(5)),
		One(&op.GatherElements{Axis: 1}, X, Given(Of(tensor.Int64, 2, 1, 4), 0, 1, 2, 0, 1, 2, 0, 1)),
		One(&op.GatherElements{NegativeWraps: true}, Real(3, 2), Given(Integers(2, 2), -1, 0, 1, -3)),
		One(&op.GatherND{}, X, Given(Of(tensor.Int64, 2, 2), 0, 2, 1, 0)),
		One(&op.GatherND{BatchDims: 1}, X, Given(Of(tensor.Int64, 2, 1), 2, 1)),
		One(&op.ScatterElements{Axis: 1}, Real(2, 4), Given(Of(tensor.Int64, 2, 2), 3, 0, 1, 2), Real(2, 2)),
		One(&op.ScatterElements{Axis: 1, Reduction: op.ScatterAdd}, Real(2, 4), Given(Of(tensor.Int64, 2, 2), 3, 3, 1, 2),
			Real(2, 2)),
		One(&op.ScatterElements{Axis: 1, Reduction: op.ScatterMax}, Real(2, 4), Given(Of(tensor.Int64, 2, 2), 3, 3, 1, 2),
			Real(2, 2)),
		One(&op.ScatterND{}, Real(4, 2), Given(Of(tensor.Int64, 2, 1), 3, 0), Real(2, 2)),
		One(&op.ScatterND{Reduction: op.ScatterMul}, Real(4, 2), Given(Of(tensor.Int64, 2, 1), 3, 3), Real(2, 2)),
		One(&op.TensorScatter{Axis: 1}, Real(2, 4, 3), Real(2, 2, 3), Given(Of(tensor.Int64, 2), 1, 2)),
		One(&op.TensorScatter{Axis: 1, Circular: true}, Real(2, 4, 3), Real(2, 2, 3), Given(Of(tensor.Int64, 2), 3, 0)),
		One(&op.ReverseSequence{TimeAxis: 1}, X, Given(Of(tensor.Int64, 2), 2, 3)),
		One(&op.CenterCropPad{}, X, Numbers(3, 1, 4)),
		One(&op.CenterCropPad{Axes: []int64{-1}}, X, Numbers(7)),
		One(&op.Trilu{}, X),
		One(&op.Trilu{Upper: true}, X, Given(Of(tensor.Int64), 1)),
		One(&op.OneHot{Axis: -1}, Integers(3), Given(Of(tensor.Int64), 4), Bound(1.5), Bound(-1)),
		One(&op.OneHot{Outside: op.OneHotWraps}, Given(Integers(3), -1, 0, 9), Given(Of(tensor.Int64), 4), Bound(1.5),
			Bound(-1)),
		One(&op.EyeLike{K: 1, To: tensor.Float32}, Real(3, 4)),
		One(&op.Fill{}, Numbers(2, 3), Bound(1.5)),
		One(&op.Range{}, Bound(-1), Bound(2), Bound(0.5)),
		One(&op.Range{}, Given(Integers(), 9), Given(Integers(), 0), Given(Integers(), -2)),
		One(&op.Shape{}, X),
		One(&op.Shape{Start: -2, End: 3, HasEnd: true, To: tensor.Int32}, X),
		One(&op.Rank{}, X),
		One(&op.Size{To: tensor.Int32}, X),
		One(&op.NonZero{}, X),
		One(&op.NonZero{}, Bools(2, 3)),
		One(&op.Unique{Flatten: true}, X).Gives(4),
		One(&op.Unique{Axis: 1, Unsorted: true}, Integers(2, 5)).Gives(2),
		One(&op.StridedSlice{}, X, Numbers(1), Numbers(2), Numbers(1)),
		One(&op.Expand{}, Real(3, 1), Numbers(2, 3, 4)),
	}
	return list
}

// draws are cases of random numbers whose seeds are fixed, so that every run gives the same.
func draws() []Case {
	return []Case{
		One(&op.RandomNormal{Mean: 1, Scale: 2, Seed: 7, Seeded: true}, Numbers(3, 4)),
		One(&op.RandomNormalLike{Scale: 1, Seed: 7, Seeded: true}, X),
		One(&op.RandomUniform{Low: -1, High: 2, Seed: 7, Seeded: true}, Numbers(3, 4)),
		One(&op.RandomUniformLike{High: 1, Seed: 7, Seeded: true, To: tensor.Float32}, Integers(3, 4)),
		One(&op.Bernoulli{Seed: 7, Seeded: true}, Given(Real(5), 0, 0.25, 0.5, 0.75, 1)),
		One(&op.Multinomial{Seed: 7, Seeded: true}, Real(2, 5), Numbers(6)),
	}
}
