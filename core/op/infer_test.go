package op

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

var (
	any1 = tensor.AnyDim()
	n    = tensor.Dim{Sym: 1}
	m    = tensor.Dim{Sym: 2}
)

// fact is a float32 fact of the given dimensions.
func fact(d ...tensor.Dim) tensor.Fact { return typed(tensor.Float32, d...) }

func typed(t tensor.DType, d ...tensor.Dim) tensor.Fact {
	return tensor.Fact{Type: tensor.Type{DType: t, Shape: tensor.OfDims(d...)}}
}

// open is a fact of unknown rank.
func open(t tensor.DType) tensor.Fact { return tensor.Fact{Type: tensor.Type{DType: t}} }

// consts is a constant int64 list.
func consts(v ...int64) tensor.Fact {
	return tensor.Fact{Type: tensor.T(tensor.Int64, int64(len(v))), Const: tensor.NewConst(tensor.Int64s(v...))}
}

// partly is an int64 list with partly known values.
func partly(v ...tensor.Dim) tensor.Fact {
	return tensor.Fact{Type: tensor.T(tensor.Int64, int64(len(v))), Ints: v}
}

func infer(t *testing.T, o graph.Op, in ...tensor.Fact) tensor.Fact {
	t.Helper()
	out, err := o.Infer(in, make([]tensor.Type, 1))
	require.NoError(t, err, "%s", graph.NameOf(o))
	require.Len(t, out, 1)
	return out[0]
}

func TestInfer_shapesAsFarAsKnown(t *testing.T) {
	d := tensor.D
	for _, c := range []struct {
		op   graph.Op
		in   []tensor.Fact
		want string
	}{
		{&Relu{}, []tensor.Fact{fact(n, d(3), d(0))}, "float32[?1,3,0]"},
		{&Relu{}, []tensor.Fact{open(tensor.Float16)}, "float16[...]"},
		{&IsNaN{}, []tensor.Fact{fact(n)}, "bool[?1]"},
		{&Add{}, []tensor.Fact{fact(n, d(1)), fact(d(4))}, "float32[?1,4]"},
		{&Add{}, []tensor.Fact{fact(n), fact(n)}, "float32[?1]"},
		{&Add{}, []tensor.Fact{fact(n), fact(m)}, "float32[?]"},
		{&Add{}, []tensor.Fact{fact(any1), fact(d(7))}, "float32[7]"},
		{&Add{}, []tensor.Fact{open(tensor.Float32), fact(d(7))}, "float32[...]"},
		{&Add{}, []tensor.Fact{{Type: tensor.Type{Shape: tensor.Of(2)}}, fact(d(2))}, "float32[2]"},
		{&Less{}, []tensor.Fact{fact(d(0), d(3)), fact(d(3))}, "bool[0,3]"},
		{&Where{}, []tensor.Fact{typed(tensor.Bool, n, d(1)), fact(d(3)), fact()}, "float32[?1,3]"},
		{&Where{SameShape: true}, []tensor.Fact{typed(tensor.Bool, n, d(1)), fact(d(3), any1), fact(any1, m)},
			"float32[3,1]"},
		{&Cast{To: tensor.Int8}, []tensor.Fact{fact(n)}, "int8[?1]"},
		{&PRelu{}, []tensor.Fact{fact(n, any1), fact(d(4))}, "float32[?1,4]"},
		{&PRelu{}, []tensor.Fact{fact(n, d(4)), fact(d(1))}, "float32[?1,4]"},
		{&ReduceSum{}, []tensor.Fact{fact(n, d(3), m), consts(1)}, "float32[?1,?2]"},
		{&ReduceSum{KeepDims: true}, []tensor.Fact{fact(n, d(3), m), consts(-1, 0)}, "float32[1,3,1]"},
		{&ReduceSum{}, []tensor.Fact{open(tensor.Int32)}, "int32[]"},
		{&ReduceSum{KeepDims: true}, []tensor.Fact{open(tensor.Int32)}, "int32[...]"},
		{&ReduceSum{EmptyAxesKeep: true}, []tensor.Fact{fact(n, d(2)), typed(tensor.Int64, d(0))}, "float32[?1,2]"},
		{&ReduceSum{}, []tensor.Fact{fact(n, d(2)), typed(tensor.Int64, d(0))}, "float32[]"},
		{&ReduceSum{KeepDims: true}, []tensor.Fact{fact(n, d(2)), typed(tensor.Int64, d(0))}, "float32[1,1]"},
		{&ReduceSum{}, []tensor.Fact{fact(n, d(2)), typed(tensor.Int64, d(1))}, "float32[?]"},
		{&ReduceSum{}, []tensor.Fact{fact(n, d(2)), typed(tensor.Int64, d(2))}, "float32[...]"},
		{&ReduceSum{KeepDims: true}, []tensor.Fact{fact(n, d(2)), typed(tensor.Int64, any1)}, "float32[?,?]"},
		{&ReduceAll{}, []tensor.Fact{typed(tensor.Bool, n, d(2)), consts(0)}, "bool[2]"},
		{&ArgMax{Axis: 1, KeepDims: true}, []tensor.Fact{fact(n, m)}, "int64[?1,1]"},
		{&ArgMax{Axis: 1, To: tensor.Int32}, []tensor.Fact{fact(n, m)}, "int32[?1]"},
		{&ArgMax{}, []tensor.Fact{open(tensor.Float32)}, "int64[...]"},
		{&TopK{Axis: 1}, []tensor.Fact{fact(n, d(9)), consts(4)}, "float32[?1,4]"},
		{&TopK{Axis: 1}, []tensor.Fact{fact(n, d(9)), partly(m)}, "float32[?1,?2]"},
		{&TopK{Axis: 1}, []tensor.Fact{fact(n, d(9)), typed(tensor.Int32)}, "float32[?1,?]"},
		{&CumSum{}, []tensor.Fact{fact(n, d(9)), typed(tensor.Int32)}, "float32[?1,9]"},
		{&Softmax{Axis: -1}, []tensor.Fact{fact(n, d(9))}, "float32[?1,9]"},
		{&Det{}, []tensor.Fact{fact(n, any1, d(3))}, "float32[?1]"},
		{&Det{}, []tensor.Fact{open(tensor.Float32)}, "float32[...]"},
		{&Quantize{Axis: 1}, []tensor.Fact{fact(n, d(3)), fact(any1), typed(tensor.Int8, d(3))}, "int8[?1,3]"},
		{&Dequantize{}, []tensor.Fact{typed(tensor.Int8, n), typed(tensor.BFloat16)}, "bfloat16[?1]"},
		{&Clip{}, []tensor.Fact{fact(n), {}, fact()}, "float32[?1]"},
		{&Pow{}, []tensor.Fact{fact(n), typed(tensor.Int64, d(1))}, "float32[?1]"},
	} {
		out, err := c.op.Infer(c.in, make([]tensor.Type, 1))
		require.NoError(t, err, "%s %v", graph.NameOf(c.op), c.in)
		assert.Equal(t, c.want, out[0].Type.String(), "%s %+v of %v", graph.NameOf(c.op), c.op, c.in)
	}
}

func TestInfer_declaredQuantizationDecides(t *testing.T) {
	q := tensor.Type{DType: tensor.Uint8, Quant: tensor.PerTensor(1.0/256, 0)}
	in := typed(tensor.Uint8, n)
	in.Quant = tensor.PerTensor(0.5, 3)
	out, err := (&Sigmoid{}).Infer([]tensor.Fact{in}, []tensor.Type{q})
	require.NoError(t, err)
	assert.Equal(t, q.Quant, out[0].Quant)
	assert.Equal(t, in.Quant, infer(t, &Sigmoid{}, in).Quant)
	assert.Nil(t, infer(t, &Less{}, in, in).Quant)
	assert.Nil(t, infer(t, &ArgMax{}, in).Quant)
}

func TestInfer_smallIntegers(t *testing.T) {
	d := tensor.D
	boolList := func(v ...byte) tensor.Fact {
		return tensor.Fact{Type: tensor.T(tensor.Bool, int64(len(v))), Const: tensor.NewConst(v)}
	}
	for _, c := range []struct {
		op   graph.Op
		in   []tensor.Fact
		want []tensor.Dim
	}{
		{&Add{}, []tensor.Fact{consts(1, 2), consts(10)}, []tensor.Dim{d(11), d(12)}},
		{&Add{}, []tensor.Fact{partly(n, d(2)), consts(0, 5)}, []tensor.Dim{n, d(7)}},
		{&Sub{}, []tensor.Fact{consts(0), partly(n)}, nil},
		{&Sub{}, []tensor.Fact{partly(n, m), consts(0, 1)}, []tensor.Dim{n, any1}},
		{&Mul{}, []tensor.Fact{partly(n, d(3)), consts(1, -2)}, []tensor.Dim{n, d(-6)}},
		{&Div{}, []tensor.Fact{consts(-7, 7, 8), consts(2, 0, 3)}, []tensor.Dim{d(-3), any1, d(2)}},
		{&Div{Rounding: DivFloor}, []tensor.Fact{consts(-7, -6), consts(2)}, []tensor.Dim{d(-4), d(-3)}},
		{&Div{}, []tensor.Fact{partly(n), consts(1)}, []tensor.Dim{n}},
		{&Mod{}, []tensor.Fact{consts(-7, 7), consts(4, -4)}, []tensor.Dim{d(-3), d(3)}},
		{&Mod{Sign: ModDivisor}, []tensor.Fact{consts(-7, 7), consts(4, -4)}, []tensor.Dim{d(1), d(-1)}},
		{&Neg{}, []tensor.Fact{partly(d(4), n)}, []tensor.Dim{d(-4), any1}},
		{&Min{}, []tensor.Fact{consts(4, 1), consts(2)}, []tensor.Dim{d(2), d(1)}},
		{&Max{}, []tensor.Fact{consts(4, 1), consts(2)}, []tensor.Dim{d(4), d(2)}},
		{&Floor{}, []tensor.Fact{partly(n, d(3))}, []tensor.Dim{n, d(3)}},
		{&Identity{}, []tensor.Fact{partly(n)}, []tensor.Dim{n}},
		{&Cast{To: tensor.Int32}, []tensor.Fact{partly(n, d(1<<32+5))}, []tensor.Dim{n, d(5)}},
		{&Cast{To: tensor.Int32, OutOfRange: CastSaturate}, []tensor.Fact{consts(1 << 40)}, []tensor.Dim{d(1<<31 - 1)}},
		{&Cast{To: tensor.Bool}, []tensor.Fact{partly(n, d(-3), d(0))}, []tensor.Dim{any1, d(1), d(0)}},
		{&Equal{}, []tensor.Fact{partly(n, d(3)), consts(3)}, []tensor.Dim{any1, d(1)}},
		{&Less{}, []tensor.Fact{consts(1, 3), consts(3)}, []tensor.Dim{d(1), d(0)}},
		{&GreaterEqual{}, []tensor.Fact{consts(1, 3), consts(3)}, []tensor.Dim{d(0), d(1)}},
		{&Not{}, []tensor.Fact{boolList(0, 1)}, []tensor.Dim{d(1), d(0)}},
		{&And{}, []tensor.Fact{boolList(0, 1), boolList(1)}, []tensor.Dim{d(0), d(1)}},
		{&Where{}, []tensor.Fact{boolList(1, 0), partly(n, m), consts(5)}, []tensor.Dim{n, d(5)}},
		{&Where{}, []tensor.Fact{typed(tensor.Bool, d(2)), partly(n, m), partly(n, d(1))}, nil},
		{&Clip{}, []tensor.Fact{consts(-5, 5, 50), consts(0), consts(9)}, []tensor.Dim{d(0), d(5), d(9)}},
		{&ReduceProd{KeepDims: true}, []tensor.Fact{consts(2, 3, 4)}, []tensor.Dim{d(24)}},
		{&ReduceSum{}, []tensor.Fact{consts(2, 3, 4), consts(0)}, []tensor.Dim{d(9)}},
		{&ReduceMin{}, []tensor.Fact{consts(2, 3, -4)}, []tensor.Dim{d(-4)}},
		{&ReduceMax{}, []tensor.Fact{partly(d(2), n)}, nil},
	} {
		assert.Equal(t, c.want, infer(t, c.op, c.in...).Ints, "%s %+v", graph.NameOf(c.op), c.op)
	}
	wrap := tensor.Fact{Type: tensor.T(tensor.Int32, 1), Const: tensor.NewConst(tensor.Int32s(1<<31 - 1))}
	assert.Equal(t, []tensor.Dim{d(-1 << 31)}, infer(t, &Add{}, wrap, tensor.Fact{Type: tensor.T(tensor.Int32, 1),
		Const: tensor.NewConst(tensor.Int32s(1))}).Ints)
	assert.Nil(t, infer(t, &Add{}, fact(d(2)), fact(d(2))).Ints, "floats carry no values")
}

func TestInfer_kindsOfErrors(t *testing.T) {
	d := tensor.D
	for _, c := range []struct {
		op   graph.Op
		in   []tensor.Fact
		outs int
		kind fault.Kind
	}{
		{&Relu{}, nil, 1, fault.Argument},
		{&Relu{}, []tensor.Fact{{}}, 1, fault.Argument},
		{&Relu{}, []tensor.Fact{fact()}, 2, fault.Argument},
		{&Relu{}, []tensor.Fact{fact()}, 0, fault.Argument},
		{&Relu{}, []tensor.Fact{typed(tensor.Bool)}, 1, fault.Type},
		{&Add{}, []tensor.Fact{fact(d(2)), fact(d(3))}, 1, fault.Shape},
		{&Add{}, []tensor.Fact{fact(d(2)), typed(tensor.Int32, d(2))}, 1, fault.Type},
		{&Add{}, []tensor.Fact{fact(d(2)), {}}, 1, fault.Argument},
		{&Where{}, []tensor.Fact{fact(), fact(), fact()}, 1, fault.Type},
		{&Where{SameShape: true}, []tensor.Fact{typed(tensor.Bool, d(2)), fact(d(2)), fact(d(1))}, 1, fault.Shape},
		{&Where{SameShape: true}, []tensor.Fact{typed(tensor.Bool), fact(), fact(d(2))}, 1, fault.Shape},
		{&Softmax{Axis: 2}, []tensor.Fact{fact(n, m)}, 1, fault.Argument},
		{&Softmax{Axis: -3}, []tensor.Fact{fact(n, m)}, 1, fault.Argument},
		{&ReduceMean{}, []tensor.Fact{fact(n), consts(1)}, 1, fault.Argument},
		{&TopK{}, []tensor.Fact{fact(d(3)), consts(4)}, 2, fault.Argument},
		{&TopK{}, []tensor.Fact{fact(d(3)), consts(4)}, 3, fault.Argument},
		{&Det{}, []tensor.Fact{fact(d(3), d(4))}, 1, fault.Shape},
		{&DynamicQuantize{}, []tensor.Fact{fact()}, 4, fault.Argument},
	} {
		_, err := c.op.Infer(c.in, make([]tensor.Type, c.outs))
		assert.Equal(t, c.kind, fault.KindOf(err), "%s: %v", graph.NameOf(c.op), err)
	}
}

func TestInfer_quantizationAxisOutside(t *testing.T) {
	for _, axis := range []int{-1, 1, -1 << 31} {
		x := typed(tensor.Int8, tensor.D(1))
		x.Quant = &tensor.Quant{Scale: []float32{1, 2}, Axis: axis}
		for _, c := range []struct {
			op graph.Op
			in []tensor.Fact
		}{{&Expand{}, []tensor.Fact{x, consts(3, 2)}}, {&Transpose{}, []tensor.Fact{x}},
			{&Tile{}, []tensor.Fact{x, consts(2)}}} {
			_, err := c.op.Infer(c.in, make([]tensor.Type, 1))
			assert.Equal(t, fault.Argument, fault.KindOf(err), "%s axis %d: %v", graph.NameOf(c.op), axis, err)
		}
	}
}

func TestInfer_negativeSizeOfIndexVectors(t *testing.T) {
	idx := typed(tensor.Int64, tensor.D(2), tensor.D(-5))
	for _, in := range [][]tensor.Fact{{fact(tensor.D(1)), idx}, {fact(tensor.D(1)), idx, fact(tensor.D(2))}} {
		for _, o := range []graph.Op{&GatherND{}, &ScatterND{}} {
			_, err := o.Infer(in, make([]tensor.Type, 1))
			assert.Error(t, err, graph.NameOf(o))
		}
	}
}
