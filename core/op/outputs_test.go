package op

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// codes is a fact of quantized values, one scale for all.
func codes(d tensor.DType, scale float32, zero int32, dims ...tensor.Dim) tensor.Fact {
	f := typed(d, dims...)
	f.Quant = tensor.PerTensor(scale, zero)
	return f
}

// outputsCase is an operator with its inputs and the types of its outputs, joined by spaces, or the start of its
// refusal.
type outputsCase struct {
	op   graph.Op
	in   []tensor.Fact
	outs int
	want string
}

func checkOutputs(t *testing.T, cases []outputsCase) {
	for i, c := range cases {
		out, err := c.op.Infer(c.in, make([]tensor.Type, c.outs))
		require.NoError(t, err, "%d: %s %+v", i, graph.NameOf(c.op), c.op)
		var got []string
		for _, f := range out {
			got = append(got, f.Type.String())
		}
		assert.Equal(t, c.want, strings.Join(got, " "), "%d: %s %+v", i, graph.NameOf(c.op), c.op)
	}
}

func checkRefusals(t *testing.T, kind fault.Kind, cases []outputsCase) {
	for i, c := range cases {
		_, err := c.op.Infer(c.in, make([]tensor.Type, c.outs))
		assert.Equal(t, kind, fault.KindOf(err), "%d: %s %+v: %v", i, graph.NameOf(c.op), c.op, err)
		assert.ErrorContains(t, err, c.want, "%d: %s %+v", i, graph.NameOf(c.op), c.op)
	}
}

func TestHashtableLookup_shapes(t *testing.T) {
	d, i32 := tensor.D, tensor.Int32
	o := &HashtableLookup{}
	checkOutputs(t, []outputsCase{
		{o, []tensor.Fact{typed(i32, d(4)), typed(i32, d(9)), fact(d(9), d(2), m)}, 2, "float32[4,2,?2] uint8[4]"},
		{o, []tensor.Fact{typed(i32, n), typed(i32, any1), typed(i32, d(9))}, 2, "int32[?1] uint8[?1]"},
		{o, []tensor.Fact{typed(i32, d(0)), typed(i32, d(0)), fact(d(0), d(3))}, 2, "float32[0,3] uint8[0]"},
		{o, []tensor.Fact{open(i32), open(i32), open(tensor.Float16)}, 2, "float16[...] uint8[?]"},
		{o, []tensor.Fact{open(i32), typed(i32, d(2)), fact(d(2), n)}, 2, "float32[?,?1] uint8[?]"},
	})
	x := codes(tensor.Uint8, 0.5, 9, d(3), d(2))
	out, err := o.Infer([]tensor.Fact{typed(i32, d(4)), typed(i32, d(3)), x},
		[]tensor.Type{x.Type, {DType: tensor.Uint8, Quant: tensor.PerTensor(1, 0)}})
	require.NoError(t, err)
	assert.Equal(t, x.Quant, out[0].Quant)
	assert.Equal(t, tensor.PerTensor(1, 0), out[1].Quant)
	_, err = o.Infer([]tensor.Fact{typed(i32, d(4)), typed(i32, d(3)), x},
		[]tensor.Type{{DType: tensor.Uint8, Quant: tensor.PerTensor(0.5, 8)}, {}})
	assert.Equal(t, fault.Type, fault.KindOf(err))
	perRow := codes(tensor.Int8, 0.5, 0, d(3), d(2))
	perRow.Quant = &tensor.Quant{Scale: []float32{1, 2, 3}, Zero: make([]int32, 3)}
	_, err = o.Infer([]tensor.Fact{typed(i32, d(4)), typed(i32, d(3)), perRow}, make([]tensor.Type, 2))
	assert.Equal(t, fault.Unsupported, fault.KindOf(err))
	checkRefusals(t, fault.Type, []outputsCase{
		{o, []tensor.Fact{fact(n), typed(i32, n), fact(n)}, 2, "input 0: want an integer type"},
		{o, []tensor.Fact{typed(i32, n), codes(tensor.Int8, 1, 0, n), fact(n)}, 2, "input 1: want an integer type without"},
		{o, []tensor.Fact{typed(i32, n), typed(tensor.Int64, n), fact(n)}, 2, "input 1: want int32 like input 0"},
	})
	checkRefusals(t, fault.Shape, []outputsCase{
		{o, []tensor.Fact{typed(i32, d(2), d(2)), typed(i32, n), fact(n)}, 2, "input 0: want rank 1"},
		{o, []tensor.Fact{typed(i32, d(2)), typed(i32, d(4)), fact(d(3), d(2))}, 2,
			"input 1: one key per row: 4 and 3 differ"},
		{o, []tensor.Fact{typed(i32, d(2)), typed(i32, d(4)), fact()}, 2, "input 2: want rows, got a scalar"},
	})
	checkRefusals(t, fault.Argument, []outputsCase{
		{o, []tensor.Fact{typed(i32, n), typed(i32, n)}, 2, "want 3 inputs"},
		{o, []tensor.Fact{typed(i32, n), {}, fact(n)}, 2, "input 1 is missing"},
		{o, []tensor.Fact{typed(i32, n), typed(i32, n), fact(n)}, 1, "want 2 outputs"},
	})
}

func TestSVDF_shapes(t *testing.T) {
	d := tensor.D
	o := &SVDF{Rank: 2}
	checkOutputs(t, []outputsCase{
		{o, []tensor.Fact{fact(n, d(3)), fact(d(8), d(3)), fact(d(8), d(5)), fact(d(4)), fact(n, d(40))}, 2,
			"float32[?1,4] float32[?1,40]"},
		{o, []tensor.Fact{fact(any1, any1), fact(d(8), any1), fact(any1, d(5)), {}, fact(d(2), any1)}, 2,
			"float32[2,4] float32[2,40]"},
		{o, []tensor.Fact{fact(n, m), fact(any1, m), fact(any1, any1), {}, fact(n, d(12))}, 2,
			"float32[?1,?] float32[?1,12]"},
		{o, []tensor.Fact{open(tensor.Float16), open(tensor.Float16), open(tensor.Float16), {}, open(tensor.Float16)}, 2,
			"float16[?,?] float16[?,?]"},
		{o, []tensor.Fact{fact(d(0), d(3)), fact(d(2), d(3)), fact(d(2), d(1)), {}, fact(d(0), d(2))}, 2,
			"float32[0,1] float32[0,2]"},
	})
	whole := func() []tensor.Fact {
		return []tensor.Fact{fact(d(2), d(3)), fact(d(8), d(3)), fact(d(8), d(5)), fact(d(4)), fact(d(2), d(40))}
	}
	with := func(i int, f tensor.Fact) []tensor.Fact {
		in := whole()
		in[i] = f
		return in
	}
	checkRefusals(t, fault.Shape, []outputsCase{
		{o, with(0, fact(d(2))), 2, "input 0: want [?,?], got [2]"},
		{o, with(1, fact(d(8), d(4))), 2, "input 1: want [8,3], got [8,4]"},
		{o, with(2, fact(d(6), d(5))), 2, "input 2: want [8,?], got [6,5]"},
		{o, with(2, fact(d(8), d(0))), 2, "input 2: want 1 step or more"},
		{o, with(3, fact(d(8))), 2, "input 3: want [4], got [8]"},
		{o, with(4, fact(d(2), d(32))), 2, "input 4: want [2,40], got [2,32]"},
		{&SVDF{Rank: 3}, whole(), 2, "input 1: 8 filters are no multiple of the rank 3"},
	})
	checkRefusals(t, fault.Argument, []outputsCase{
		{&SVDF{}, whole(), 2, "rank: want 1 or more, got 0"}, {o, whole(), 1, "want 2 outputs"},
		{o, whole()[:4], 2, "input 4 is missing"}, {o, with(2, tensor.Fact{}), 2, "input 2 is missing"},
	})
	checkRefusals(t, fault.Type, []outputsCase{{o, with(1, typed(tensor.Int8, d(8), d(3))), 2, "input 1: want a float"}})
}

// lstmFacts are the operands of an LSTM of 2 steps, 3 sequences, 4 features, 5 units and 6 outputs.
func lstmFacts(gates int64) []tensor.Fact {
	f := func(v ...int64) tensor.Fact { return tensor.Fact{Type: tensor.T(tensor.Float32, v...)} }
	return []tensor.Fact{f(2, 3, 4), f(1, gates*5, 4), f(1, gates*5, 6), f(1, gates*10), {}, f(1, 3, 6), f(1, 3, 5),
		f(1, (gates-1)*5), f(1, 6, 5), f(1, 6), f(1, gates*5)}
}

func TestLSTM_shapesOfProjections(t *testing.T) {
	d := tensor.D
	with := func(gates int64, i int, f tensor.Fact) []tensor.Fact {
		in := lstmFacts(gates)
		in[i] = f
		return in
	}
	const want = "float32[2,1,3,6] float32[1,3,6] float32[1,3,5]"
	all := func(s ...int64) tensor.Fact { return tensor.Fact{Type: tensor.T(tensor.Float32, s...)} }
	checkOutputs(t, []outputsCase{
		{&LSTM{}, lstmFacts(4), 3, want}, {&LSTM{Coupled: true}, lstmFacts(3), 3, want},
		{&LSTM{ClipCell: 1, ClipProjection: 2}, lstmFacts(4), 1, "float32[2,1,3,6]"},
		{&LSTM{BatchFirst: true}, []tensor.Fact{all(3, 2, 4), all(1, 20, 4), all(1, 20, 6), {}, {}, all(3, 1, 6),
			all(3, 1, 5), {}, all(1, 6, 5)}, 3, "float32[3,2,1,6] float32[3,1,6] float32[3,1,5]"},
		{&LSTM{}, with(4, 8, open(tensor.Float32)), 3, "float32[2,1,3,6] float32[1,3,6] float32[1,3,?]"},
		{&LSTM{Hidden: 5}, with(4, 8, open(tensor.Float32)), 3, want},
		{&LSTM{}, with(4, 2, open(tensor.Float32)), 3, want},
		{&LSTM{}, with(4, 0, fact(n, any1, d(4))), 3, "float32[?1,1,?,6] float32[1,?,6] float32[1,?,5]"},
	})
	checkRefusals(t, fault.Shape, []outputsCase{
		{&LSTM{Coupled: true}, lstmFacts(4), 3, "input 1, the input weights: want [1,15,4], got [1,20,4]"},
		{&LSTM{}, lstmFacts(3), 3, "input 1, the input weights: want [1,20,4], got [1,15,4]"},
		{&LSTM{}, with(4, 5, all(1, 3, 5)), 3, "input 5, the initial hidden state: want [1,3,6], got [1,3,5]"},
		{&LSTM{}, with(4, 6, all(1, 3, 6)), 3, "input 6, the initial cell state: want [1,3,5], got [1,3,6]"},
		{&LSTM{}, with(4, 7, all(1, 20)), 3, "input 7, the peephole weights: want [1,15], got [1,20]"},
		{&LSTM{}, with(4, 8, all(1, 7, 5)), 3, "input 8, the projection weights: want [1,6,5], got [1,7,5]"},
		{&LSTM{}, with(4, 9, all(1, 5)), 3, "input 9, the projection bias: want [1,6], got [1,5]"},
		{&LSTM{}, with(4, 10, all(1, 15)), 3, "input 10, the normalization weights: want [1,20], got [1,15]"},
		{&LSTM{}, with(4, 8, all(6, 5)), 3, "input 8: want rank 3"},
	})
	checkRefusals(t, fault.Argument, []outputsCase{
		{&LSTM{Coupled: true, InputForget: true}, lstmFacts(3), 3, "each to be 1 minus the other"},
		{&LSTM{ClipCell: -1}, lstmFacts(4), 3, "clip of the cell -1, of the projection 0: want 0 (none) or more"},
		{&LSTM{ClipProjection: -1}, lstmFacts(4), 3, "of the projection -1"},
		{&LSTM{}, with(4, 8, tensor.Fact{}), 3, "input 9, the projection bias: there are no projection weights"},
		{&LSTM{Activations: []string{"relu7", "relu", "relu"}}, lstmFacts(4), 3, `unknown activation "relu7"`},
	})
	checkRefusals(t, fault.Type, []outputsCase{{&LSTM{}, with(4, 8, typed(tensor.Int8, d(1), d(6), d(5))), 3,
		"input 8: want a float"}})
}

func TestLSHProjection_shapes(t *testing.T) {
	d, dense, sparse := tensor.D, &LSHProjection{}, &LSHProjection{Form: LSHSparse}
	checkOutputs(t, []outputsCase{
		{dense, []tensor.Fact{fact(d(3), d(4)), typed(tensor.Int32, n, d(5)), fact(n)}, 1, "int32[12]"},
		{sparse, []tensor.Fact{fact(d(3), d(4)), typed(tensor.Uint8, n, d(5))}, 1, "int32[3]"},
		{&LSHProjection{Form: LSHPlain}, []tensor.Fact{fact(n, d(32)), open(tensor.Float16), {}}, 1, "int32[?1]"},
		{dense, []tensor.Fact{open(tensor.Float16), open(tensor.Int64)}, 1, "int32[?]"},
		{dense, []tensor.Fact{fact(d(0), m), open(tensor.Int64)}, 1, "int32[0]"},
	})
	checkRefusals(t, fault.Shape, []outputsCase{
		{sparse, []tensor.Fact{fact(d(3), d(33)), fact(n)}, 1, "input 0: want at most 32 bits per function, got 33"},
		{sparse, []tensor.Fact{fact(d(3)), fact(n)}, 1, "input 0: want [?,?], got [3]"},
		{sparse, []tensor.Fact{fact(d(3), d(3)), fact()}, 1, "input 1: want rows, got a scalar"},
		{dense, []tensor.Fact{fact(d(3), d(3)), fact(d(2), d(2)), fact(d(3))}, 1, "input 2: want [2], got [3]"},
	})
	checkRefusals(t, fault.Type, []outputsCase{
		{dense, []tensor.Fact{typed(tensor.Int32, n, n), fact(n)}, 1, "input 0: want a float type"},
		{dense, []tensor.Fact{fact(n, n), typed(tensor.Int4, n)}, 1, "input 1: want a type of whole bytes"},
		{dense, []tensor.Fact{fact(n, n), fact(n), codes(tensor.Int8, 1, 0, n)}, 1, "input 2: want a float type"},
	})
	checkRefusals(t, fault.Argument, []outputsCase{{&LSHProjection{Form: 3}, []tensor.Fact{fact(n, n), fact(n)}, 1,
		"form: unknown value 3"}, {dense, []tensor.Fact{fact(n, n)}, 1, "want 2 to 3 inputs"}})
}

func TestMultinomial_seeds(t *testing.T) {
	d, i32, o := tensor.D, tensor.Int32, &Multinomial{To: tensor.Int32}
	checkOutputs(t, []outputsCase{
		{o, []tensor.Fact{fact(n, d(3)), consts(7), typed(i32, d(2))}, 1, "int32[?1,7]"},
		{o, []tensor.Fact{fact(n, d(3)), consts(7), open(tensor.Int64)}, 1, "int32[?1,7]"},
		{o, []tensor.Fact{fact(n, d(3)), consts(7), {}}, 1, "int32[?1,7]"},
		{&Multinomial{Seeded: true}, []tensor.Fact{fact(n, d(3)), consts(7), {}}, 1, "int64[?1,7]"},
	})
	checkRefusals(t, fault.Shape, []outputsCase{{o, []tensor.Fact{fact(n, d(3)), consts(7), typed(i32, d(3))}, 1,
		"input 2: want [2], got [3]"}, {o, []tensor.Fact{fact(n, d(3)), consts(7), typed(i32)}, 1, "input 2: want [2]"}})
	checkRefusals(t, fault.Type, []outputsCase{{o, []tensor.Fact{fact(n, d(3)), consts(7), fact(d(2))}, 1,
		"input 2: want an integer type"}})
	checkRefusals(t, fault.Argument, []outputsCase{{&Multinomial{Seed: 4, Seeded: true}, []tensor.Fact{fact(n, d(3)),
		consts(7), typed(i32, d(2))}, 1, "input 2: there is a seed already, 4"}})
}
