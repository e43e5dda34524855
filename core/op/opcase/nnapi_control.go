package opcase

import (
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// nnapiControl are cases with graphs inside.
func nnapiControl() []Case {
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
	truth := func(v byte) Operand { return Operand{Type: tensor.T(tensor.Bool, 1), Constant: []byte{v}} }
	start := Given(Integers(1), 5)
	return []Case{
		One(&op.If{Then: twice, Else: swapped}, Bools(1), Real(2, 3), Real(2, 3)).Gives(2),
		One(&op.If{Then: swapped, Else: twice}, Bools(1), Real(2, 3), Real(2, 3)).Gives(2),
		One(&op.Loop{Body: trips, Carried: 2}, Absent, Absent, Real(2, 3), start, Real(2, 3)).Gives(2),
		One(&op.Loop{Body: trips, Carried: 2}, Numbers(3), truth(1), Real(2, 3), start, Real(2, 3)).Gives(2),
		One(&op.Loop{Body: trips, Carried: 2}, Absent, truth(0), Real(2, 3), start, Real(2, 3)).Gives(2),
	}
}
