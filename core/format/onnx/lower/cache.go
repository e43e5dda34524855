package lower

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// cacheOperators keep a state from call to call, or activate: what opsets 24 to 28 brought for language models.
var cacheOperators = []Operator{
	{"", "BitCast", 26, lowerBitCast},
	{"", "CausalConvWithState", 27, lowerCausalConv},
	{"", "LinearAttention", 27, lowerLinearAttention},
	{"", "SwiGLU", 28, lowerSwiGLU},
	{"", "TensorScatter", 24, lowerTensorScatter},
}

func lowerBitCast(n *node) error {
	if err := n.want(1, 1); err != nil {
		return err
	}
	d, err := n.dtype("to")
	if err != nil {
		return err
	}
	if d == 0 {
		return fault.New(fault.File, "attribute to is missing")
	}
	return n.emit(&op.BitCast{To: d}, n.arg(0))
}

// lowerSwiGLU is Swish(a) * b. The inputs are of one shape: nothing is broadcast.
func lowerSwiGLU(n *node) error {
	if err := n.want(2, 2); err != nil {
		return err
	}
	a, b := n.fact(0).Shape, n.fact(1).Shape
	if x, ok := a.Ints(); ok {
		if y, ok := b.Ints(); ok && !equalSizes(x, y) {
			return fault.New(fault.Shape, "inputs of shapes %v and %v; want one shape", a, b)
		}
	}
	if x, y := a.Rank(), b.Rank(); x >= 0 && y >= 0 && x != y {
		return fault.New(fault.Shape, "inputs of ranks %d and %d; want one shape", x, y)
	}
	y, err := n.swish()
	if err != nil {
		return err
	}
	return n.emit(&op.Mul{}, y, n.arg(1))
}

func equalSizes(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// lowerTensorScatter writes the update at places that begin, in each batch, at its write index: of axis a element s
// of the update goes to write index + s, in the mode circular modulo the size of the cache.
func lowerTensorScatter(n *node) error {
	if err := n.want(2, 3); err != nil {
		return err
	}
	rank, err := n.rank(0)
	if err != nil {
		return err
	}
	axis := n.int("axis", -2)
	if axis < 0 {
		axis += int64(rank)
	}
	if axis < 1 || axis >= int64(rank) {
		return fault.New(fault.File, "attribute axis: %d of a cache of rank %d; want an axis but the first",
			n.int("axis", -2), rank)
	}
	places := n.b.Add(&op.Range{}, n.b.Const("", tensor.T(tensor.Int64), tensor.Int64s(0)),
		n.b.Add(&op.Reshape{}, n.size(n.arg(1), axis), n.b.Int64s()), n.b.Const("", tensor.T(tensor.Int64),
			tensor.Int64s(1)))
	along := make([]int64, rank)
	for i := range along {
		along[i] = 1
	}
	along[axis] = -1
	at := n.b.Add(&op.Reshape{}, places, n.b.Int64s(along...))
	if n.has(2) {
		along[axis], along[0] = 1, -1
		at = n.b.Add(&op.Add{}, at, n.b.Add(&op.Reshape{}, n.arg(2), n.b.Int64s(along...)))
	}
	switch m := n.string("mode", "linear"); m {
	case "linear":
	case "circular":
		at = n.b.Add(&op.Mod{Sign: op.ModDivisor}, at, n.size(n.arg(0), axis))
	default:
		return fault.New(fault.File, "attribute mode: %q", m)
	}
	at = n.b.Add(&op.Expand{}, at, n.b.Add(&op.Shape{}, n.arg(1)))
	return n.emit(&op.ScatterElements{Axis: axis}, n.arg(0), at, n.arg(1))
}

// lowerCausalConv puts the state, or zeros, before the input and convolves each channel by itself; the new state is
// the end of that.
func lowerCausalConv(n *node) error {
	if err := n.want(2, 4); err != nil {
		return err
	}
	w := n.fact(1).Shape
	if w.Rank() != 3 || !w.Dims[0].Known() || !w.Dims[2].Known() || w.Dims[2].N < 1 {
		return fault.New(fault.Unsupported, "input 1: want known sizes [channels, 1, k], got %v", w)
	}
	channels, before := w.Dims[0].N, w.Dims[2].N-1
	all := graph.None
	if n.has(3) {
		all = n.b.Add(&op.Concat{Axis: 2}, n.arg(3), n.arg(0))
	} else {
		all = n.b.Add(&op.Pad{}, n.arg(0), n.b.Int64s(0, 0, before, 0, 0, 0))
	}
	filter, err := n.movedFilter(n.arg(1), false, channels)
	if err != nil {
		return err
	}
	in := []graph.Value{all, filter}
	if n.has(2) {
		in = append(in, n.arg(2))
	}
	y := n.b.Add(&op.Conv{Groups: channels}, in...)
	switch a := n.string("activation", "none"); a {
	case "none":
	case "silu", "swish":
		y = n.b.Add(&op.Swish{Alpha: 1}, y)
	default:
		return fault.New(fault.File, "attribute activation: %q", a)
	}
	n.out[0] = y
	if len(n.out) > 1 {
		from := n.b.Add(&op.Sub{}, n.size(all, 2), n.b.Int64s(before))
		n.out[1] = n.b.Add(&op.Slice{}, all, from, n.size(all, 2), n.b.Int64s(2))
	}
	return n.b.Err()
}
