package lower

import (
	"strings"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// lowerDynamicLSTM: the inputs of LSTM with codes for W and R, whose rows are features and columns gates, and then
// their scales and zero points, per direction or per column. Their factors are quantized as DynamicQuantizeLinear does:
// x as a whole, the state of each step by itself.
func lowerDynamicLSTM(n *node) error {
	if err := n.want(3, 12); err != nil {
		return err
	}
	for i := 8; i < 12; i++ {
		if !n.has(i) {
			return fault.New(fault.File, "input %d is missing", i)
		}
	}
	d, err := n.recurrent()
	if err != nil {
		return err
	}
	hidden, directions := n.int("hidden_size", 0), []op.Direction{d}
	if d == op.Bidirectional {
		directions = []op.Direction{op.Forward, op.Reverse}
	}
	if hidden < 1 || hidden > 1<<24 {
		return fault.New(fault.File, "attribute hidden_size: %d", hidden)
	}
	layer := n.layer(hidden)
	var all [3][]graph.Value
	for i, d := range directions {
		y, err := layer(int64(i), d == op.Reverse)
		if err != nil {
			return err
		}
		for k := range all {
			all[k] = append(all[k], y[k])
		}
	}
	for k := range min(3, len(n.out)) {
		axis := int64(0)
		if k == 0 {
			axis = 1
		}
		n.out[k] = n.b.Add(&op.Concat{Axis: axis}, all[k]...)
	}
	return n.b.Err()
}

// layer quantizes x and returns how the layer of a direction is made: the sequence and the last states.
func (n *node) layer(hidden int64) func(i int64, reverse bool) ([3]graph.Value, error) {
	if n.plainCells() {
		x, scale := centredValues(n.b, n.arg(0))
		return func(i int64, reverse bool) ([3]graph.Value, error) { return n.plainSteps(x, scale, hidden, i, reverse) }
	}
	x, w, r := n.rounded(n.b, n.arg(0)), n.gates(1, 8), n.gates(2, 10)
	return func(i int64, reverse bool) ([3]graph.Value, error) { return n.steps(x, w, r, hidden, i, reverse) }
}

// rounded returns v as the codes that DynamicQuantizeLinear makes of it have it.
func (n *node) rounded(b *graph.Builder, v graph.Value) graph.Value {
	q := b.AddN(&op.DynamicQuantize{}, 3, v)
	return b.Add(&op.Dequantize{To: tensor.Float32}, q[0], q[1], q[2])
}

// gates returns the real weights of codes [D,features,4*hidden] as LSTM has them, [D,4*hidden,features].
func (n *node) gates(i, scale int) graph.Value {
	real := func(v graph.Value) graph.Value { return n.b.Add(&op.Cast{To: tensor.Float32}, v) }
	wide := func(i int) graph.Value { // [D] or [D,4*hidden] as [D,1,1] or [D,1,4*hidden]
		v := n.b.Add(&op.Unsqueeze{}, n.arg(i), n.b.Int64s(1))
		if n.fact(i).Shape.Rank() == 1 {
			v = n.b.Add(&op.Unsqueeze{}, v, n.b.Int64s(2))
		}
		return v
	}
	v := n.b.Add(&op.Sub{}, real(n.arg(i)), real(wide(scale+1)))
	return n.b.Add(&op.Transpose{}, n.b.Add(&op.Mul{}, v, wide(scale)), n.b.Int64s(0, 2, 1))
}

// steps runs the layer of direction i: a Scan of an LSTM of one step. It returns the sequence and the last states. The
// states of all sequences are quantized together, as in ONNX Runtime, with zeros for those that have ended, and a
// reverse layer begins with the last step of each sequence.
func (n *node) steps(x, w, r graph.Value, hidden, i int64, reverse bool) ([3]graph.Value, error) {
	lengths := n.has(4)
	if lengths && reverse {
		x = n.b.Add(&op.ReverseSequence{BatchAxis: 1}, x, n.arg(4))
	}
	shape := n.b.Add(&op.Shape{}, x)
	h := n.state(5, shape, hidden, i)
	in := []graph.Value{h, n.state(6, shape, hidden, i), h, x}
	if lengths {
		at := n.b.Add(&op.Range{}, n.scalar(0), n.b.Add(&op.Gather{}, shape, n.scalar(0)), n.scalar(1))
		at = n.b.Add(&op.Unsqueeze{}, n.b.Add(&op.Cast{To: tensor.Int32}, at), n.b.Int64s(1))
		in = append(in, n.b.Add(&op.Cast{To: tensor.Int32}, n.b.Add(&op.Less{}, at, n.arg(4))))
	}
	in = append(in, n.ofLayer(w, i), n.ofLayer(r, i))
	for _, k := range []int{3, 7} {
		if n.has(k) {
			in = append(in, n.ofLayer(n.arg(k), i))
		}
	}
	body, err := n.step(hidden, i)
	if err != nil {
		return [3]graph.Value{}, err
	}
	scan := &op.Scan{Body: body, States: 3, Sequences: 1}
	if lengths {
		scan.Sequences = 2
	} else {
		scan.InReverse, scan.OutReverse = []bool{reverse}, []bool{reverse}
	}
	out := n.b.AddN(scan, 4, in...)
	if err := n.b.Err(); err != nil {
		return [3]graph.Value{}, err
	}
	y := out[3]
	if lengths && reverse {
		y = n.b.Add(&op.ReverseSequence{BatchAxis: 2}, y, n.arg(4))
	}
	return [3]graph.Value{y, out[2], out[1]}, n.b.Err()
}

// step is the body of the Scan: the states, that of each sequence's end, x, with lengths 1 for a sequence that has the
// step and 0 for one that has ended, the weights, and the bias and peepholes where the node has them.
func (n *node) step(hidden, i int64) (*graph.Graph, error) {
	b := graph.NewBuilder("step")
	input := func(name string, d tensor.DType, rank int) graph.Value {
		return b.Input(name, tensor.Type{DType: d, Shape: tensor.AnyOfRank(rank)})
	}
	h, c := input("h", tensor.Float32, 3), input("c", tensor.Float32, 3)
	last, x := input("last", tensor.Float32, 3), input("x", tensor.Float32, 2)
	left, bias := graph.None, graph.None
	if n.has(4) {
		left = input("left", tensor.Int32, 1)
	}
	w, r := input("w", tensor.Float32, 3), input("r", tensor.Float32, 3)
	if n.has(3) {
		bias = input("b", tensor.Float32, 2)
	}
	args := []graph.Value{b.Add(&op.Unsqueeze{}, x, b.Int64s(0)), w, r, bias, left, n.rounded(b, h), c}
	if n.has(7) {
		args = append(args, input("p", tensor.Float32, 2))
	}
	o := &op.LSTM{Hidden: hidden, Clip: n.float("clip", 0), InputForget: n.int("input_forget", 0) != 0}
	o.Activations, o.ActAlpha, o.ActBeta = n.ofDirection(i)
	y := b.AddN(o, 3, args...)
	if err := b.Err(); err != nil {
		return nil, err
	}
	end := y[1]
	if left != graph.None {
		on := b.Add(&op.Unsqueeze{}, b.Add(&op.Cast{To: tensor.Bool}, left), b.Int64s(1))
		end = b.Add(&op.Where{}, on, end, last)
	}
	sequence := b.Add(&op.Squeeze{}, y[0], b.Int64s(0))
	b.Output(b.Add(&op.Identity{}, sequence), y[2], b.Add(&op.Identity{}, end), sequence)
	return b.Graph()
}

// ofDirection returns the activations of direction i, nil for the operator's own, and the numbers that are theirs:
// activations take them in order.
func (n *node) ofDirection(i int64) (own []string, alpha, beta []float32) {
	all := n.activations()
	alpha, beta = n.floats("activation_alpha"), n.floats("activation_beta")
	if int64(len(all)) < 3*i+3 {
		return all, alpha, beta
	}
	for _, name := range all[:3*i] {
		switch strings.ToLower(name) {
		case "affine", "scaledtanh", "hardsigmoid":
			alpha, beta = alpha[min(1, len(alpha)):], beta[min(1, len(beta)):]
		case "leakyrelu", "thresholdedrelu", "elu":
			alpha = alpha[min(1, len(alpha)):]
		}
	}
	return all[3*i : 3*i+3], alpha, beta
}
