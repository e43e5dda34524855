package ref

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func i64s(v ...int64) tensor.Tensor { return ints(tensor.Int64, v, int64(len(v))) }

func i64scalar(v int64) tensor.Tensor {
	return tensor.Tensor{DType: tensor.Int64, Data: tensor.Int64s(v)}
}

func boolScalar(v int64) tensor.Tensor { return ints(tensor.Bool, []int64{v}) }

var (
	anyInt64  = tensor.Type{DType: tensor.Int64}
	boolType  = tensor.T(tensor.Bool)
	countType = tensor.T(tensor.Int64)
)

// fibonacci is a body with carried a, b and the limit as a capture: (a, b) -> (b, a+b), going on while a+b < limit;
// each a is stacked.
func fibonacci(t *testing.T) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder("fibonacci")
	b.Input("trip", countType)
	b.Input("cond", boolType)
	x, y, limit := b.Input("a", countType), b.Input("b", countType), b.Input("limit", countType)
	sum := b.Add(&op.Add{}, x, y)
	b.Output(b.Add(&op.Less{}, sum, limit), y, sum, x)
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

func TestLoop_stopsOnConditionOrTrips(t *testing.T) {
	o := &op.Loop{Body: fibonacci(t), Carried: 2}
	absent := tensor.Tensor{}
	start := []tensor.Tensor{i64scalar(0), i64scalar(1), i64scalar(50)}
	for _, c := range []struct {
		trip, cond tensor.Tensor
		a, b       int64
		stack      []int64
	}{
		{absent, absent, 34, 55, []int64{0, 1, 1, 2, 3, 5, 8, 13, 21}},
		{i64scalar(3), absent, 2, 3, []int64{0, 1, 1}},
		{ints(tensor.Int32, []int64{100}, 1), boolScalar(1), 34, 55, []int64{0, 1, 1, 2, 3, 5, 8, 13, 21}},
		{absent, boolScalar(0), 0, 1, []int64{}},
		{i64scalar(-1), absent, 0, 1, []int64{}},
	} {
		y, err := Compute(o, slices.Concat([]tensor.Tensor{c.trip, c.cond}, start), make([]tensor.Type, 3))
		require.NoError(t, err)
		assert.Equal(t, []int64{c.a}, intValues(t, y[0]))
		assert.Equal(t, []int64{c.b}, intValues(t, y[1]))
		assert.Equal(t, []int64{int64(len(c.stack))}, y[2].Dims)
		assert.Equal(t, c.stack, append([]int64{}, intValues(t, y[2])...))
	}
}

// A loop that would never end gives up when its context ends.
func TestLoop_isCancelled(t *testing.T) {
	b := graph.NewBuilder("forever")
	b.Input("trip", countType)
	b.Output(b.Input("cond", boolType))
	g, err := b.Graph()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = ComputeContext(ctx, &op.Loop{Body: g}, make([]tensor.Tensor, 2), nil)
	assert.Equal(t, fault.Canceled, fault.KindOf(err))
}

// The carried value doubles in length each trip: 1, 2, 4, 8 elements.
func TestLoop_carriedShapeChanges(t *testing.T) {
	b := graph.NewBuilder("double")
	b.Input("trip", countType)
	cond, x := b.Input("cond", boolType), b.Input("x", anyInt64)
	b.Output(cond, b.Add(&op.Concat{}, x, x))
	g, err := b.Graph()
	require.NoError(t, err)
	o := &op.Loop{Body: g, Carried: 1}
	y, err := Compute(o, []tensor.Tensor{i64scalar(3), {}, i64s(7)}, make([]tensor.Type, 1))
	require.NoError(t, err)
	assert.Equal(t, []int64{7, 7, 7, 7, 7, 7, 7, 7}, intValues(t, y[0]))
	facts, err := o.Infer([]tensor.Fact{{Type: countType}, {}, {Type: tensor.T(tensor.Int64, 1)}}, make([]tensor.Type, 1))
	require.NoError(t, err)
	assert.Equal(t, tensor.AnyOfRank(1), facts[0].Shape)
}

func TestLoop_rejects(t *testing.T) {
	g := fibonacci(t)
	full := []tensor.Fact{{}, {}, {Type: countType}, {Type: countType}, {Type: countType}}
	floatState := slices.Clone(full)
	floatState[2] = tensor.Fact{Type: tensor.T(tensor.Float32)}
	badTrip := slices.Clone(full)
	badTrip[0] = tensor.Fact{Type: tensor.T(tensor.Int64, 2)}
	badCond := slices.Clone(full)
	badCond[1] = tensor.Fact{Type: tensor.T(tensor.Int32)}
	for _, c := range []struct {
		o       *op.Loop
		in      []tensor.Fact
		outputs int
		kind    fault.Kind
	}{
		{&op.Loop{Body: g, Carried: 4}, full, 3, fault.Argument},
		{&op.Loop{Body: g, Carried: -1}, full, 3, fault.Argument},
		{&op.Loop{Carried: 2}, full, 3, fault.Argument},
		{&op.Loop{Body: g, Carried: 2}, full[:4], 3, fault.Argument},
		{&op.Loop{Body: g, Carried: 2}, full, 2, fault.Argument},
		{&op.Loop{Body: g, Carried: 2}, floatState, 3, fault.Type},
		{&op.Loop{Body: g, Carried: 2}, badTrip, 3, fault.Shape},
		{&op.Loop{Body: g, Carried: 2}, badCond, 3, fault.Type},
	} {
		_, err := c.o.Infer(c.in, make([]tensor.Type, c.outputs))
		assert.Equal(t, c.kind, fault.KindOf(err), "%v", err)
	}
}

// branch returns a body over x whose result f makes.
func branch(t *testing.T, x tensor.Type, f func(b *graph.Builder, x graph.Value) graph.Value) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder("branch")
	b.Output(f(b, b.Input("x", x)))
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

func TestIf_runsOneBranch(t *testing.T) {
	batch := tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(tensor.Dim{Sym: 9}, tensor.D(2))}
	o := &op.If{
		Then: branch(t, batch, func(b *graph.Builder, x graph.Value) graph.Value { return b.Add(&op.Add{}, x, x) }),
		Else: branch(t, batch, func(b *graph.Builder, x graph.Value) graph.Value {
			return b.Add(&op.Slice{}, x, b.Int64s(0), b.Int64s(1), b.Int64s(1))
		}),
	}
	x := f32([]float32{1, 2, 3, 4}, 2, 2)
	for cond, want := range map[int64]tensor.Tensor{1: f32([]float32{2, 4, 6, 8}, 2, 2), 0: f32([]float32{1, 3}, 2, 1)} {
		y, err := Compute(o, []tensor.Tensor{boolScalar(cond), x}, make([]tensor.Type, 1))
		require.NoError(t, err)
		assert.Equal(t, want, y[0])
	}
	outer := tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(tensor.Dim{Sym: 3}, tensor.D(2))}
	facts, err := o.Infer([]tensor.Fact{{Type: boolType}, {Type: outer}}, make([]tensor.Type, 1))
	require.NoError(t, err)
	assert.Equal(t, tensor.OfDims(tensor.Dim{Sym: 3}, tensor.AnyDim()), facts[0].Shape,
		"the outer graph's symbol, and what both branches agree on")
	yes := tensor.Fact{Type: boolType, Const: tensor.NewConst([]byte{1})}
	facts, err = o.Infer([]tensor.Fact{yes, {Type: outer}}, make([]tensor.Type, 1))
	require.NoError(t, err)
	assert.Equal(t, outer.Shape, facts[0].Shape)
	_, err = Compute(o, []tensor.Tensor{boolScalar(1), f32([]float32{1, 2, 3}, 1, 3)}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Shape, fault.KindOf(err))
	o.Else = branch(t, batch, func(b *graph.Builder, x graph.Value) graph.Value { return b.Add(&op.Shape{}, x) })
	_, err = o.Infer([]tensor.Fact{{Type: boolType}, {Type: outer}}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Type, fault.KindOf(err))
	_, err = Compute(&op.If{Then: o.Then}, []tensor.Tensor{boolScalar(1), x}, make([]tensor.Type, 1))
	assert.NoError(t, err, "the branch that runs is enough")
	_, err = Compute(&op.If{Then: o.Then}, []tensor.Tensor{boolScalar(0), x}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Argument, fault.KindOf(err))
}

// What a branch hands through is not the caller's memory.
func TestIf_resultsAreNew(t *testing.T) {
	id := branch(t, tensor.Type{DType: tensor.Float32}, func(_ *graph.Builder, x graph.Value) graph.Value { return x })
	x := f32([]float32{1}, 1)
	y, err := Compute(&op.If{Then: id, Else: id}, []tensor.Tensor{boolScalar(1), x}, make([]tensor.Type, 1))
	require.NoError(t, err)
	x.Data[0] = 9
	assert.Equal(t, []float32{1}, view[float32](y[0]))
}

func TestIf_traitsComeFromTheBodies(t *testing.T) {
	failing := branch(t, boolType, func(b *graph.Builder, x graph.Value) graph.Value { return b.Add(&op.Assert{}, x) })
	plain := branch(t, boolType, func(b *graph.Builder, x graph.Value) graph.Value { return b.Add(&op.Not{}, x) })
	assert.True(t, graph.TraitsOf((&op.If{Then: plain, Else: failing})).Effect)
	assert.False(t, graph.TraitsOf((&op.If{Then: plain, Else: plain})).Effect)
}

// The running sum of the columns of x, from the last to the first, scaled by a capture; stacked in front along axis 1.
func TestScan_axesAndDirections(t *testing.T) {
	b := graph.NewBuilder("sum")
	s, x, k := b.Input("s", tensor.T(tensor.Float32, 2)), b.Input("x", tensor.T(tensor.Float32, 2)),
		b.Input("k", tensor.T(tensor.Float32))
	sum := b.Add(&op.Add{}, s, x)
	b.Output(sum, b.Add(&op.Mul{}, sum, k), x)
	g, err := b.Graph()
	require.NoError(t, err)
	o := &op.Scan{Body: g, States: 1, Sequences: 1, InAxes: []int64{-1}, InReverse: []bool{true}, OutAxes: []int64{1, 0},
		OutReverse: []bool{true, false}}
	in := []tensor.Tensor{f32([]float32{100, 200}, 2), f32([]float32{1, 2, 3, 4, 5, 6}, 2, 3), f32([]float32{10})}
	y, err := Compute(o, in, make([]tensor.Type, 3))
	require.NoError(t, err)
	assert.Equal(t, f32([]float32{106, 215}, 2), y[0])
	assert.Equal(t, f32([]float32{1060, 1050, 1030, 2150, 2110, 2060}, 2, 3), y[1])
	assert.Equal(t, f32([]float32{3, 6, 2, 5, 1, 4}, 3, 2), y[2])
	in[1] = f32(nil, 2, 0)
	y, err = Compute(o, in, make([]tensor.Type, 3))
	require.NoError(t, err)
	assert.Equal(t, f32([]float32{100, 200}, 2), y[0])
	assert.Equal(t, []int64{2, 0}, y[1].Dims)
	assert.Equal(t, []int64{0, 2}, y[2].Dims)
	length := tensor.Dim{Sym: 5}
	facts, err := o.Infer([]tensor.Fact{{Type: tensor.T(tensor.Float32, 2)},
		{Type: tensor.Type{DType: tensor.Float32, Shape: tensor.OfDims(tensor.D(2), length)}},
		{Type: tensor.T(tensor.Float32)}}, make([]tensor.Type, 3))
	require.NoError(t, err)
	assert.Equal(t, tensor.OfDims(tensor.D(2), length), facts[1].Shape)
	for _, bad := range []*op.Scan{
		{Body: g, States: 3, Sequences: 1}, {Body: g, States: 1}, {States: 1, Sequences: 1},
		{Body: g, States: 1, Sequences: 1, InAxes: []int64{2}}, {Body: g, States: 1, Sequences: 1, OutAxes: []int64{0, 0, 0}},
		{Body: g, States: 1, Sequences: 1, InAxes: []int64{1}, OutAxes: []int64{2, 0}},
	} {
		_, err := Compute(bad, in, make([]tensor.Type, 3))
		assert.Equal(t, fault.Argument, fault.KindOf(err), "%v", err)
	}
}

func TestAssert_failsTheRun(t *testing.T) {
	cond := ints(tensor.Bool, []int64{1, 0}, 2)
	_, err := Compute(&op.Assert{}, []tensor.Tensor{cond, f32([]float32{1.5, 2}, 2)}, make([]tensor.Type, 1))
	assert.Equal(t, fault.Data, fault.KindOf(err))
	assert.ErrorContains(t, err, "element 1 of bool[2] is false; float32[2] [1.5 2]")
	y := run(t, &op.Assert{}, ints(tensor.Bool, []int64{1, 1}, 2))
	assert.Equal(t, []int64{1, 1}, intValues(t, y))
}

// A quantized element counts as zero at the zero point.
func TestNonZero_quantized(t *testing.T) {
	y := run(t, &op.NonZero{}, q8(0.5, 3, 0, 3, 4))
	assert.Equal(t, []int64{0, 2}, intValues(t, y))
}

// endless is a body that carries x and goes on for ever.
func endless(t *testing.T) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder("endless")
	b.Input("trip", countType)
	b.Output(b.Input("cond", boolType), b.Input("x", countType))
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

func TestLoop_timeLimit(t *testing.T) {
	limited := func(d time.Duration) context.Context {
		return context.WithValue(context.Background(), device.RequestKey{}, &device.RunRequest{LoopLimit: d})
	}
	loop := &op.Loop{Body: endless(t), Carried: 1}
	one := make([]tensor.Type, 1)
	_, err := ComputeContext(limited(10*time.Millisecond), loop, []tensor.Tensor{{}, {}, i64scalar(7)}, one)
	assert.Equal(t, fault.Timeout, fault.KindOf(err))
	assert.ErrorContains(t, err, "the loop has taken longer than 10ms")
	y, err := ComputeContext(limited(time.Hour), loop, []tensor.Tensor{i64scalar(1000), {}, i64scalar(7)}, one)
	require.NoError(t, err)
	assert.Equal(t, []int64{7}, intValues(t, y[0]))
	// The condition is looked at first: a loop without a trip takes no time.
	for range 100 {
		_, err = ComputeContext(limited(1), loop, []tensor.Tensor{{}, boolScalar(0), i64scalar(7)}, one)
		require.NoError(t, err)
		_, err = ComputeContext(limited(1), loop, []tensor.Tensor{i64scalar(0), {}, i64scalar(7)}, one)
		require.NoError(t, err)
	}
	// A loop inside another ends by its own limit, and the error keeps its kind.
	b := graph.NewBuilder("outer")
	b.Input("trip", countType)
	cond, x := b.Input("cond", boolType), b.Input("x", countType)
	b.Output(cond, b.AddN(&op.Loop{Body: endless(t), Carried: 1}, 1, graph.None, graph.None, x)[0])
	body, err := b.Graph()
	require.NoError(t, err)
	outer := &op.Loop{Body: body, Carried: 1}
	_, err = ComputeContext(limited(10*time.Millisecond), outer, []tensor.Tensor{i64scalar(1), {}, i64scalar(7)}, one)
	assert.Equal(t, fault.Timeout, fault.KindOf(err))
	assert.ErrorContains(t, err, `body "outer"`)
}
