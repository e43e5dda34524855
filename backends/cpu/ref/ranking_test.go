package ref

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// numbers makes a tensor of any type from small integers.
func numbers(d tensor.DType, v []int64, dims ...int64) tensor.Tensor {
	if !d.IsFloat() {
		return ints(d, v, dims...)
	}
	f := make([]float64, len(v))
	for i, x := range v {
		f[i] = float64(x)
	}
	return floats(d, f, dims...)
}

func plainTypes() []tensor.DType {
	return append([]tensor.DType{tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16,
		tensor.Uint32, tensor.Uint64}, floatTypes...)
}

func TestArgExtreme_tiesAxesAndTypes(t *testing.T) {
	v := []int64{3, 9, 9, 1, 5, 1}
	for _, d := range plainTypes() {
		x := numbers(d, v, 2, 3)
		for _, c := range []struct {
			op   graph.Op
			dims []int64
			want []int64
		}{
			{&op.ArgMax{Axis: 1}, []int64{2}, []int64{1, 1}},
			{&op.ArgMax{Axis: -1, SelectLast: true}, []int64{2}, []int64{2, 1}},
			{&op.ArgMin{Axis: 1, KeepDims: true}, []int64{2, 1}, []int64{0, 0}},
			{&op.ArgMin{Axis: 1, SelectLast: true}, []int64{2}, []int64{0, 2}},
			{&op.ArgMax{Axis: 0}, []int64{3}, []int64{0, 0, 0}},
			{&op.ArgMin{Axis: -2, KeepDims: true}, []int64{1, 3}, []int64{1, 1, 1}},
		} {
			y := run(t, c.op, x)
			assert.Equal(t, tensor.Int64, y.DType)
			assert.Equal(t, c.dims, y.Dims)
			assert.Equal(t, c.want, intValues(t, y), "%s %+v %v", graph.NameOf(c.op), c.op, d)
		}
	}
	y := run(t, &op.ArgMax{To: tensor.Int32}, ints(tensor.Uint64, []int64{math.MaxInt64, -1, 5}))
	assert.Equal(t, tensor.Int32, y.DType)
	assert.Equal(t, []int64{1}, intValues(t, y))
	assert.Equal(t, []int64{0}, intValues(t, run(t, &op.ArgMax{}, ints(tensor.Int64, []int64{1<<53 + 1, 1 << 53}))),
		"beyond float64")
	q := ints(tensor.Int8, []int64{10, 20}, 2)
	q.Quant = &tensor.Quant{Scale: []float32{4, 1}}
	assert.Equal(t, []int64{0}, intValues(t, run(t, &op.ArgMax{}, q)), "by the reals 40 and 20")
}

func TestArgExtreme_nanAndErrors(t *testing.T) {
	x := floats(tensor.Float32, []float64{1, nan, 7, nan, -inf})
	assert.Equal(t, []int64{1}, intValues(t, run(t, &op.ArgMax{}, x)))
	assert.Equal(t, []int64{1}, intValues(t, run(t, &op.ArgMin{}, x)))
	assert.Equal(t, []int64{3}, intValues(t, run(t, &op.ArgMax{SelectLast: true}, x)))
	assert.Equal(t, []int64{0}, run(t, &op.ArgMax{Axis: 1}, f32(nil, 0, 3)).Dims)
	for _, c := range []struct {
		op   graph.Op
		x    tensor.Tensor
		kind fault.Kind
	}{
		{&op.ArgMax{Axis: 1}, f32(nil, 3, 0), fault.Shape}, {&op.ArgMax{Axis: 1}, x, fault.Argument},
		{&op.ArgMin{Axis: -2}, x, fault.Argument},
		{&op.ArgMin{To: tensor.Float32}, x, fault.Type}, {&op.ArgMin{}, f32([]float32{1}), fault.Argument},
		{&op.ArgMin{}, tensor.New(tensor.Int4, 1), fault.Type},
	} {
		_, err := Compute(c.op, []tensor.Tensor{c.x}, make([]tensor.Type, 1))
		assert.Equal(t, c.kind, fault.KindOf(err), "%v", err)
	}
}

func TestTopK_ordersTiesAndAxes(t *testing.T) {
	top := func(o *op.TopK, x tensor.Tensor, k int64) (v tensor.Tensor, i []int64) {
		y, err := Compute(o, []tensor.Tensor{x, ints(tensor.Int32, []int64{k})}, make([]tensor.Type, 2))
		require.NoError(t, err)
		return y[0], intValues(t, y[1])
	}
	for _, d := range plainTypes() {
		x := numbers(d, []int64{4, 7, 4, 1, 7, 9, 2, 9, 9, 0}, 2, 5)
		v, i := top(&op.TopK{Axis: -1}, x, 3)
		assert.Equal(t, []int64{2, 3}, v.Dims)
		assert.Equal(t, numbers(d, []int64{7, 7, 4, 9, 9, 9}).Data, v.Data, "%v", d)
		assert.Equal(t, []int64{1, 4, 0, 0, 2, 3}, i)
		v, i = top(&op.TopK{Axis: 1, Smallest: true}, x, 2)
		assert.Equal(t, numbers(d, []int64{1, 4, 0, 2}).Data, v.Data, "%v", d)
		assert.Equal(t, []int64{3, 0, 4, 1}, i)
		v, i = top(&op.TopK{Axis: 1, Order: op.TopKByIndex}, x, 3)
		assert.Equal(t, numbers(d, []int64{4, 7, 7, 9, 9, 9}).Data, v.Data, "%v", d)
		assert.Equal(t, []int64{0, 1, 4, 0, 2, 3}, i)
		v, i = top(&op.TopK{Axis: 0}, x, 1)
		assert.Equal(t, []int64{1, 5}, v.Dims)
		assert.Equal(t, numbers(d, []int64{9, 7, 9, 9, 7}).Data, v.Data, "%v", d)
		assert.Equal(t, []int64{1, 0, 1, 1, 0}, i)
	}
	for _, d := range plainTypes() {
		x := numbers(d, []int64{4, 7, 4, 1, 7, 9, 2, 9, 9, 0}, 2, 5)
		_, i := top(&op.TopK{Axis: 1, SelectLast: true}, x, 3)
		assert.Equal(t, []int64{4, 1, 2, 3, 2, 0}, i, "%v: the higher index first", d)
		_, i = top(&op.TopK{Axis: 1, Smallest: true, SelectLast: true}, x, 2)
		assert.Equal(t, []int64{3, 2, 4, 1}, i, "%v", d)
		_, i = top(&op.TopK{Axis: 1, Order: op.TopKByIndex, SelectLast: true}, x, 2)
		assert.Equal(t, []int64{1, 4, 2, 3}, i, "%v: the higher of equal ones is kept", d)
	}
	_, last := top(&op.TopK{SelectLast: true}, floats(tensor.Float32, []float64{nan, 1, nan, 1}), 4)
	assert.Equal(t, []int64{2, 0, 3, 1}, last)
	// A middle axis: lines are strided and the output's stride differs from the input's.
	x := numbers(tensor.Float32, []int64{1, 6, 5, 2, 3, 4, 8, 7, 9, 0, 2, 1}, 2, 3, 2)
	v, i := top(&op.TopK{Axis: 1}, x, 2)
	assert.Equal(t, []float64{5, 6, 3, 4, 9, 7, 8, 1}, values(t, v))
	assert.Equal(t, []int64{1, 0, 2, 2, 1, 0, 0, 2}, i)
	v, i = top(&op.TopK{}, floats(tensor.Float32, []float64{1, nan, inf, -inf}), 4)
	assertReals(t, []float64{nan, inf, 1, -inf}, values(t, v), 0, "NaN is the largest")
	assert.Equal(t, []int64{1, 2, 0, 3}, i)
	v, _ = top(&op.TopK{Smallest: true}, floats(tensor.Float32, []float64{nan, 1, inf}), 3)
	assertReals(t, []float64{1, inf, nan}, values(t, v), 0, "NaN is the largest")
	v, i = top(&op.TopK{}, x, 0)
	assert.Equal(t, []int64{0, 3, 2}, v.Dims)
	assert.Empty(t, i)
	q, i := top(&op.TopK{}, quant(ints(tensor.Uint8, []int64{5, 200, 90}), 0.1, 100), 2)
	assert.Equal(t, []int64{200, 90}, intValues(t, q))
	assert.Equal(t, []int64{1, 2}, i)
}

func TestTopK_errors(t *testing.T) {
	x := f32(seq32(3), 3)
	for _, c := range []struct {
		op   *op.TopK
		k    tensor.Tensor
		kind fault.Kind
		msg  string
	}{
		{&op.TopK{}, ints(tensor.Int64, []int64{4}), fault.Argument,
			"k is 4: want at most 3, the size of dimension 0 of [3]"},
		{&op.TopK{}, ints(tensor.Int64, []int64{-1}), fault.Argument, "k is -1"},
		{&op.TopK{Axis: 1}, ints(tensor.Int64, []int64{1}), fault.Argument, "axis 1 is outside"},
		{&op.TopK{}, f32([]float32{1}), fault.Type, "input 1: want an integer type"},
		{&op.TopK{}, ints(tensor.Int64, []int64{1, 1}), fault.Shape, "input 1: want one element"},
		{&op.TopK{Order: 2}, ints(tensor.Int64, []int64{1}), fault.Argument, "order: 2"},
		{&op.TopK{To: tensor.Int8}, ints(tensor.Int64, []int64{1}), fault.Type, "indices of type int8"},
	} {
		_, err := Compute(c.op, []tensor.Tensor{x, c.k}, make([]tensor.Type, 2))
		assert.Equal(t, c.kind, fault.KindOf(err), "%v", err)
		assert.ErrorContains(t, err, c.msg)
	}
}

func TestCumulative_directions(t *testing.T) {
	v := []int64{1, 2, 3, 4, 5, 6}
	axis := func(a int64) tensor.Tensor { return ints(tensor.Int32, []int64{a}, []int64{}...) }
	for _, d := range plainTypes() {
		x := numbers(d, v, 2, 3)
		for _, c := range []struct {
			op   graph.Op
			axis int64
			want []int64
		}{
			{&op.CumSum{}, 1, []int64{1, 3, 6, 4, 9, 15}}, {&op.CumSum{}, 0, []int64{1, 2, 3, 5, 7, 9}},
			{&op.CumSum{Exclusive: true}, -1, []int64{0, 1, 3, 0, 4, 9}}, {&op.CumSum{Reverse: true}, 1,
				[]int64{6, 5, 3, 15, 11, 6}},
			{&op.CumSum{Exclusive: true, Reverse: true}, 1, []int64{5, 3, 0, 11, 6, 0}},
			{&op.CumProd{}, 1, []int64{1, 2, 6, 4, 20, 120}}, {&op.CumProd{Exclusive: true}, 0, []int64{1, 1, 1, 1, 2, 3}},
			{&op.CumProd{Reverse: true}, -2, []int64{4, 10, 18, 4, 5, 6}}, {&op.CumProd{Exclusive: true, Reverse: true}, 1,
				[]int64{6, 3, 1, 30, 6, 1}},
		} {
			y := run(t, c.op, x, axis(c.axis))
			assert.Equal(t, numbers(d, c.want).Data, y.Data, "%s %+v %v", graph.NameOf(c.op), c.op, d)
		}
	}
	assert.Equal(t, []int64{100, -56}, intValues(t, run(t, &op.CumSum{}, ints(tensor.Int8, []int64{100, 100}), axis(0))),
		"wraps")
	assertReals(t, []float64{1, nan, nan}, values(t, run(t, &op.CumSum{}, floats(tensor.Float32, []float64{1, nan, 2}),
		axis(0))), 0, "")
	q, err := Compute(&op.CumSum{}, []tensor.Tensor{quant(ints(tensor.Int8, []int64{2, 4}), 0.5, 0), axis(0)},
		[]tensor.Type{{DType: tensor.Int8, Quant: tensor.PerTensor(1, 0)}})
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 3}, intValues(t, q[0]))
	assert.Equal(t, []int64{2, 0}, run(t, &op.CumProd{}, f32(nil, 2, 0), axis(1)).Dims)
	_, err = Compute(&op.CumSum{}, []tensor.Tensor{f32(seq32(2), 2), axis(1)}, make([]tensor.Type, 1))
	assert.ErrorContains(t, err, "input 1: axis 1 is outside a tensor of rank 1")
	_, err = Compute(&op.CumSum{}, []tensor.Tensor{f32(seq32(2), 2), f32(seq32(1), 1)}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Type, fault.KindOf(err))
	_, err = Compute(&op.CumProd{}, []tensor.Tensor{ints(tensor.Bool, []int64{1}), axis(0)}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Type, fault.KindOf(err))
}

// Lines without elements may be more than a loop over them could visit.
func TestLines_empty(t *testing.T) {
	dims := []int64{1 << 50, 0}
	for _, o := range []graph.Op{&op.CumSum{}, &op.CumProd{}, &op.Softmax{Axis: 1}, &op.LogSoftmax{Axis: 1},
		&op.LpNorm{Axis: 1, P: 2}, &op.LRN{Axis: 1, After: 1}, &op.TopK{Axis: 1}} {
		in := []tensor.Tensor{f32(nil, dims...)}
		switch o.(type) {
		case *op.CumSum, *op.CumProd:
			in = append(in, ints(tensor.Int32, []int64{1}, []int64{}...))
		case *op.TopK:
			in = append(in, ints(tensor.Int64, []int64{0}, 1))
		}
		y, err := Compute(o, in, make([]tensor.Type, 1))
		require.NoError(t, err, graph.NameOf(o))
		assert.Equal(t, dims, y[0].Dims, graph.NameOf(o))
	}
}
