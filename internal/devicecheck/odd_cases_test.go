package devicecheck

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/op/opcase"
	"github.com/anynpu/anynpu/core/tensor"
)

// oddity changes cases by chance: sizes, attributes, numbers of constant lists and element types. Inference and the
// reference say which of what comes out are cases.
type oddity struct{ *rand.Rand }

func (r oddity) chance(percent int) bool { return r.IntN(100) < percent }

// of is a changed case in one of the types that it has, ok: it is no more than oddWork.
func (r oddity) of(c opcase.Case) (odd opcase.Case, ok bool) {
	c.Op = r.attributes(c)
	for i := range c.Out {
		c.Out = slices.Clone(c.Out)
		c.Out[i].Shape = tensor.Shape{}
	}
	c = r.sized(c)
	c = r.listed(c)
	if work(c) > oddWork {
		return c, false
	}
	if r.chance(60) {
		list := c.Typed()
		c = list[r.IntN(len(list))]
	}
	return c, true
}

// attributes are those of an operator, about a third of them changed, of windows more.
func (r oddity) attributes(c opcase.Case) graph.Op {
	copied := reflect.New(reflect.TypeOf(c.Op).Elem())
	copied.Elem().Set(reflect.ValueOf(c.Op).Elem())
	rank := len(c.In[0].Type.Shape.Dims)
	kept := 65
	if windowed(c.Op) {
		kept = 30
	}
	for i := range copied.Elem().NumField() {
		f, name := copied.Elem().Field(i), copied.Elem().Type().Field(i).Name
		if !f.CanSet() || name == "Seeded" || r.chance(kept) { // without a seed no two runs agree
			continue
		}
		switch v := f.Interface().(type) {
		case tensor.DType:
			if v != tensor.Invalid {
				kinds := []tensor.DType{tensor.Float32, tensor.Float16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Int16,
					tensor.Float64, tensor.Bool}
				f.Set(reflect.ValueOf(kinds[r.IntN(len(kinds))]))
			}
		case []int64:
			f.Set(reflect.ValueOf(r.list(name, len(v), rank)))
		case bool:
			f.SetBool(!v)
		case int64:
			f.SetInt(int64(r.IntN(2*rank+3) - rank))
		default:
			if f.Kind() == reflect.Uint8 {
				f.SetUint(uint64(r.IntN(5)))
			}
		}
	}
	return copied.Interface().(graph.Op)
}

// list is a list of an attribute, of as many numbers as it has or as windows over the images of a rank have.
func (r oddity) list(name string, n, rank int) []int64 {
	least, most := 1, 3
	switch name {
	case "Pads", "OutputPads":
		least, most = 0, 2
	case "Kernel":
		most = 6
	case "Dilations":
		most = 1 + r.IntN(2)*r.IntN(3)
	case "Strides":
		most = 2 + r.IntN(2)
	case "Axes":
		least, most = -rank, rank-1
	}
	if n == 0 && name != "Axes" {
		n = max(0, rank-2)
		if name == "Pads" {
			n *= 2
		}
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(least + r.IntN(most-least+1))
	}
	return out
}

// sized is a case with other sizes: those that were equal stay so, but for a few.
func (r oddity) sized(c opcase.Case) opcase.Case {
	if r.chance(20) {
		return c
	}
	few := 40 // percent of small sizes
	if windowed(c.Op) {
		few = 15
	}
	others := map[int64]int64{}
	other := func(n int64) int64 {
		if _, ok := others[n]; !ok {
			others[n] = n
			switch {
			case r.chance(3):
				others[n] = 0
			case r.chance(few):
				others[n] = int64(1 + r.IntN(7))
			case r.chance(70 - few):
				others[n] = int64(8 + r.IntN(31))
			case r.chance(30):
				others[n] = n * int64(1+r.IntN(5))
			}
		}
		return others[n]
	}
	c.In = slices.Clone(c.In)
	for i, o := range c.In {
		dims, ok := o.Type.Shape.Ints()
		if !ok || o.Type.DType == tensor.Invalid || o.Constant != nil && o.Type.DType == tensor.Int64 {
			continue
		}
		dims = slices.Clone(dims)
		for k, n := range dims {
			dims[k] = other(n)
			if r.chance(4) {
				dims[k] = 1
			}
		}
		if q := o.Type.Quant; q != nil && len(q.Scale) > 1 {
			continue
		}
		c.In[i].Type.Shape = tensor.Of(dims...)
	}
	for i, o := range c.In {
		size, ok := o.Type.ByteSize()
		if ok && len(o.Constant) > 0 && int(size) != len(o.Constant) {
			c.In[i].Constant = slices.Repeat(o.Constant, int(size)/len(o.Constant)+1)[:size]
		}
	}
	return c
}

// listed is a case with other numbers in short constant lists of integers.
func (r oddity) listed(c opcase.Case) opcase.Case {
	c.In = slices.Clone(c.In)
	for i, o := range c.In {
		n, _ := o.Type.Shape.Count()
		if o.Constant == nil || o.Type.DType != tensor.Int64 || n > 8 || int(n)*8 != len(o.Constant) || r.chance(40) {
			continue
		}
		data := slices.Clone(o.Constant)
		for k := range int(n) {
			if v := tensor.IntAt(tensor.Int64, data, k); r.chance(50) {
				tensor.PutInt(tensor.Int64, data, k, []int64{-v, v + 1, v - 1, 2 * v, -1, 1, 0}[r.IntN(7)])
			}
		}
		c.In[i].Constant = data
	}
	return c
}

// filled gives half of the cases other operands: floats with all their digits, at times, where that is allowed,
// special ones, and integers of their whole range.
func (r oddity) filled(in []tensor.Tensor, allow bool) {
	if r.chance(50) {
		return
	}
	special := allow && r.chance(15)
	for _, x := range in {
		for i := range x.Count() {
			switch d := x.DType; {
			case d.IsFloat() && special && r.chance(5):
				numbers := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1e-42, 9}
				tensor.PutFloat(d, x.Data, i, numbers[r.IntN(len(numbers))], false)
			case d.IsFloat():
				tensor.PutFloat(d, x.Data, i, r.NormFloat64(), false)
			case d.IsInt() && d.Bits() >= 8:
				tensor.PutInt(d, x.Data, i, int64(r.Uint64())>>r.IntN(64))
			}
		}
	}
}

// graph is the graph of a case, at times with a node in front of it and one behind it.
func (r oddity) graph(c opcase.Case) (g *graph.Graph, given []tensor.Tensor, err error) {
	g, given, err = c.Graph()
	if err != nil || !r.chance(40) {
		return g, given, err
	}
	b := graph.NewBuilder(g.Name)
	values := make([]graph.Value, len(g.Values))
	for i, v := range g.In {
		t := g.Values[v].Fact.Type
		values[v] = b.Input("", t)
		if i > 0 || t.Quant != nil || t.Shape.Rank() == 0 {
			continue
		}
		switch rank := int64(t.Shape.Rank()); {
		case r.chance(40):
			values[v] = b.Add(&op.Slice{}, values[v], b.Int64s(-1), b.Int64s(-1<<40), b.Int64s(rank-1), b.Int64s(-1))
		case r.chance(50) && rank > 1: // there and back, by way of another order
			order := make([]int64, rank)
			for k := range order {
				order[k] = (int64(k) + 1) % rank
			}
			back := make([]int64, rank)
			for k := range back {
				back[order[k]] = int64(k)
			}
			turned := b.Add(&op.Transpose{}, values[v], b.Int64s(order...))
			if t.DType.IsFloat() {
				turned = b.Add(&op.Neg{}, turned)
			}
			values[v] = b.Add(&op.Transpose{}, turned, b.Int64s(back...))
		}
	}
	for v, info := range g.Values {
		if c := info.Fact.Const; c != nil {
			values[v] = b.ConstOf("", info.Fact.Type, c)
		}
	}
	n := &g.Nodes[0]
	in := make([]graph.Value, len(n.In))
	for k, v := range n.In {
		in[k] = graph.None
		if v != graph.None {
			in[k] = values[v]
		}
	}
	declared := make([]tensor.Type, len(n.Out))
	copy(declared, c.Out)
	for _, v := range b.AddTyped(n.Op, "", declared, in...) {
		b.Output(v)
		if b.Err() != nil {
			continue
		}
		if f := b.Fact(v); f.DType.IsFloat() && f.Quant == nil && r.chance(60) {
			after := []graph.Op{&op.Relu{}, &op.Neg{}, &op.HardSwish{}, &op.LeakyRelu{Alpha: 0.5}, &op.Transpose{}}
			b.Output(b.Add(after[r.IntN(len(after))], v))
		}
	}
	g, err = b.Graph()
	return g, given, err
}
