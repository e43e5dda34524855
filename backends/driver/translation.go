package driver

import (
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// Operand is a pointer to an operand of a model of an API.
type Operand[X any] interface {
	comparable
	Dims() []int64
	Between(dims ...int64) X // an operand of the same type in sizes of its own
}

// Translation lowers nodes of a graph into operations O of an API, whose operands are X. A device's own embeds it.
type Translation[X Operand[X], O Operation[X]] struct {
	Constants     // of the node that is being lowered
	Ops       []O // so far
	hooks     Hooks[X]
	values    map[graph.Value]X
	images    map[X]X // in [N,H,W,C], of those in [N,C,H,W]
}

// Hooks are the questions that a Translation has for the device.
type Hooks[X any] struct {
	// Operand makes the operand of a value.
	Operand func(v graph.Value) X
	// Permuted is an operand with its dimensions in another order, and Permute makes y of x so.
	Permuted func(x X, order ...int64) X
	Permute  func(x, y X, order ...int64)
}

// NewTranslation is a translation of a graph.
func NewTranslation[X Operand[X], O Operation[X]](g *graph.Graph, hooks Hooks[X]) Translation[X, O] {
	return Translation[X, O]{Constants: Constants{G: g}, hooks: hooks, values: map[graph.Value]X{}, images: map[X]X{}}
}

// Lower lowers node i. lower says what stands against it, takes and makes what stands against a value: then nothing is
// added.
func (t *Translation[X, O]) Lower(i int, takes, makes Takes, lower func() (err error)) (err error) {
	t.N = &t.G.Nodes[i]
	if err := Values(t.G, t.N, takes, makes); err != nil {
		return err
	}
	before := len(t.Ops)
	if err = lower(); err != nil {
		t.Ops = t.Ops[:before]
	}
	return err
}

// Value is the operand of a value.
func (t *Translation[X, O]) Value(v graph.Value) X {
	x, known := t.values[v]
	if !known {
		x = t.hooks.Operand(v)
		t.values[v] = x
	}
	return x
}

// Operands has the operand of each value.
func (t *Translation[X, O]) Operands(values []graph.Value) []X {
	out := make([]X, len(values))
	for i, v := range values {
		out[i] = t.Value(v)
	}
	return out
}

// In is the operand of input k of the node, nil if it is not given.
func (t *Translation[X, O]) In(k int) (x X) {
	if t.Given(k) {
		x = t.Value(t.N.In[k])
	}
	return x
}

// Ins are the operands of all inputs of the node.
func (t *Translation[X, O]) Ins() []X {
	out := make([]X, len(t.N.In))
	for k := range out {
		out[k] = t.In(k)
	}
	return out
}

// Out is the operand of output k of the node, and Outs has one for each output, none of which is left out.
func (t *Translation[X, O]) Out(k int) X { return t.Value(t.N.Out[k]) }
func (t *Translation[X, O]) Outs() []X   { return t.Operands(t.N.Out) }

// Ports are the operands of the operations that come from elsewhere, but for those that are fixed, and those of the
// node's results that are made: an unread one may not be.
func (t *Translation[X, O]) Ports(fixed func(X) bool) (in, out []X) {
	in = slices.DeleteFunc(Outside[X](t.Ops), fixed)
	for _, v := range t.N.Out {
		makes := func(o O) bool { return slices.Contains(o.Makes(), t.values[v]) }
		if v != graph.None && slices.ContainsFunc(t.Ops, makes) {
			out = append(out, t.values[v])
		}
	}
	return in, out
}

// Simplify fuses the operations that fuse accepts into those that make their operands, and leaves out operations whose
// results are not read. The outputs stay.
func (t *Translation[X, O]) Simplify(outputs []X, fuse func(maker, o O) bool) {
	t.Ops = Used(t.Ops, outputs)
	Fuse(t.Ops, outputs, fuse)
	t.Ops = Used(t.Ops, outputs)
}

// Images of these APIs have their channels last, [N,H,W,C]. Those with channels first are transposed before and after;
// Simplify leaves out what then cancels out.
var toLast, toFirst = []int64{0, 2, 3, 1}, []int64{0, 3, 1, 2}

// Image is the operand x as an image; last says whether it has its channels last.
func (t *Translation[X, O]) Image(x X, last bool) X {
	if last {
		return x
	}
	image, known := t.images[x]
	if !known {
		image = t.hooks.Permuted(x, toLast...)
		t.images[x] = image
	}
	return image
}

// Result is where an operation writes the image that operand y is; done is called behind the operation.
func (t *Translation[X, O]) Result(y X, last bool) (image X, done func()) {
	if last {
		return y, func() {}
	}
	d := y.Dims()
	image = y.Between(d[0], d[2], d[3], d[1])
	return image, func() { t.fromImage(image, y) }
}

// fromImage makes an operand with its channels first of an image.
func (t *Translation[X, O]) fromImage(image, y X) {
	t.hooks.Permute(image, y, toFirst...)
	t.images[y] = image
}

// Each adds operations that make y of x element by element. An operand that is an image is computed as one.
func (t *Translation[X, O]) Each(x, y X, add func(x, y X)) {
	last, known := t.images[x]
	if !known {
		add(x, y)
		return
	}
	image := y.Between(last.Dims()...)
	add(last, image)
	t.fromImage(image, y)
}

// Spatial are the two sizes of an image between batch and channels; last says whether it has its channels last.
func Spatial(dims []int64, last bool) []int64 {
	if last {
		return dims[1:3]
	}
	return dims[2:4]
}

// CountsPads reports whether the averages of a node include the padding.
func CountsPads(o *op.AveragePool) bool {
	return o.CountPads && (o.AutoPad != op.PadExplicit && o.AutoPad != op.PadValid ||
		slices.ContainsFunc(o.Pads, func(p int64) bool { return p != 0 }))
}
