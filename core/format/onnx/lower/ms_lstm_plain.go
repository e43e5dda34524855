package lower

import (
	"strings"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// plainCells reports whether the cells have the usual functions, and neither lengths, peepholes nor limits: then the
// products of x are made of all steps at once, and those of the state of integers.
func (n *node) plainCells() bool {
	usual := []string{"sigmoid", "tanh", "tanh"}
	all := n.activations()
	for i, name := range all {
		if strings.ToLower(name) != usual[i%3] {
			return false
		}
	}
	return !n.has(4) && !n.has(7) && n.float("clip", 0) == 0 && n.int("input_forget", 0) == 0 &&
		(all == nil || len(all)%3 == 0)
}

// centredValues quantizes v and returns the quantized values less their zero point, and the scale.
func centredValues(b *graph.Builder, v graph.Value) (centred, scale graph.Value) {
	q := b.AddN(&op.DynamicQuantize{}, 3, v)
	wide := func(v graph.Value) graph.Value { return b.Add(&op.Cast{To: tensor.Int32}, v) }
	return b.Add(&op.Sub{}, wide(q[0]), wide(q[2])), q[1]
}

// scaledProduct is a times w, both less their zero points, in real numbers.
func scaledProduct(b *graph.Builder, a, w, scaleA, scaleW graph.Value) graph.Value {
	sums := b.Add(&op.Cast{To: tensor.Float32}, b.Add(&op.MatMul{}, a, w))
	return b.Add(&op.Mul{}, sums, b.Add(&op.Mul{}, scaleA, scaleW))
}

// ofLayer is the part of v of direction i.
func (n *node) ofLayer(v graph.Value, i int64) graph.Value {
	return n.b.Add(&op.Slice{}, v, n.b.Int64s(i), n.b.Int64s(i+1), n.b.Int64s(0))
}

// state returns the first state [1,batch,hidden] of direction i: zeros where input k is missing. shape is x's.
func (n *node) state(k int, shape graph.Value, hidden, i int64) graph.Value {
	if n.has(k) {
		return n.ofLayer(n.arg(k), i)
	}
	count := n.b.Add(&op.Slice{}, shape, n.b.Int64s(1), n.b.Int64s(2), n.b.Int64s(0))
	return n.b.Add(&op.Expand{}, n.b.Const("", tensor.T(tensor.Float32, 1), make([]byte, 4)),
		n.b.Add(&op.Concat{}, n.b.Int64s(1), count, n.b.Int64s(hidden)))
}

// plainWeights returns, of direction i, the codes [features,4*hidden] less their zero point, and the scale [1,1,1] or
// [1,1,4*hidden]. v is the input of codes, scale that of scales; the one after it has zero points.
func (n *node) plainWeights(v, scale int, i int64) (codes, factor graph.Value) {
	wide := func(v graph.Value) graph.Value { return n.b.Add(&op.Cast{To: tensor.Int32}, v) }
	each := func(k int) graph.Value {
		return n.b.Add(&op.Reshape{}, n.ofLayer(n.arg(k), i), n.b.Int64s(1, -1))
	}
	own := n.b.Add(&op.Squeeze{}, n.ofLayer(n.arg(v), i), n.b.Int64s(0))
	codes = n.b.Add(&op.Sub{}, wide(own), wide(each(scale+1)))
	return codes, n.b.Add(&op.Unsqueeze{}, each(scale), n.b.Int64s(0))
}

// plainSteps runs the layer of direction i as a Scan over the products of x, whose values less their zero point have a
// scale. Its results are as those of steps.
func (n *node) plainSteps(x, scale graph.Value, hidden, i int64, reverse bool) ([3]graph.Value, error) {
	w, scaleW := n.plainWeights(1, 8, i)
	r, scaleR := n.plainWeights(2, 10, i)
	products := scaledProduct(n.b, x, w, scale, scaleW)
	shape := n.b.Add(&op.Shape{}, x)
	in := []graph.Value{n.state(5, shape, hidden, i), n.state(6, shape, hidden, i), products, r, scaleR}
	if n.has(3) {
		half := n.b.AddN(&op.Split{Axis: 1}, 2, n.ofLayer(n.arg(3), i))
		in = append(in, n.b.Add(&op.Add{}, half[0], half[1]))
	}
	body, err := n.plainStep()
	if err != nil {
		return [3]graph.Value{}, err
	}
	scan := &op.Scan{Body: body, States: 2, Sequences: 1, InReverse: []bool{reverse}, OutReverse: []bool{reverse}}
	out := n.b.AddN(scan, 3, in...)
	return [3]graph.Value{out[2], out[0], out[1]}, n.b.Err()
}

// plainStep is the body of the Scan: the states [1,batch,hidden], the products of x [batch,4*hidden], the codes and
// scale of the recurrent weights, and the bias where the node has one. The gates are input, output, forget, cell.
func (n *node) plainStep() (*graph.Graph, error) {
	b := graph.NewBuilder("step")
	input := func(name string, d tensor.DType, rank int) graph.Value {
		return b.Input(name, tensor.Type{DType: d, Shape: tensor.AnyOfRank(rank)})
	}
	h, c := input("h", tensor.Float32, 3), input("c", tensor.Float32, 3)
	x := input("x", tensor.Float32, 2)
	r, scale := input("r", tensor.Int32, 2), input("scale", tensor.Float32, 3)
	codes, own := centredValues(b, h)
	z := b.Add(&op.Add{}, x, scaledProduct(b, codes, r, own, scale))
	if n.has(3) {
		z = b.Add(&op.Add{}, z, input("b", tensor.Float32, 2))
	}
	gates := b.AddN(&op.Split{Axis: 2}, 4, z)
	sigmoid := func(v graph.Value) graph.Value { return b.Add(&op.Sigmoid{}, v) }
	c = b.Add(&op.Add{}, b.Add(&op.Mul{}, sigmoid(gates[2]), c),
		b.Add(&op.Mul{}, sigmoid(gates[0]), b.Add(&op.Tanh{}, gates[3])))
	h = b.Add(&op.Mul{}, sigmoid(gates[1]), b.Add(&op.Tanh{}, c))
	b.Output(h, c, b.Add(&op.Identity{}, h))
	if err := b.Err(); err != nil {
		return nil, err
	}
	return b.Graph()
}
