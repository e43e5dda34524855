package devicecheck

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op/opcase"
	"github.com/anynpu/anynpu/core/tensor"
)

// halfCase is a graph in each of the two half types; ok: there is one.
type halfCase struct {
	name string
	form string
	make func(d tensor.DType) (g *graph.Graph, in []tensor.Tensor, ok bool)
}

// halfCases are the cases of all operators, as they are and grown, and networks.
func halfCases(long bool) (list []halfCase) {
	factors, most := []int64{17}, int64(200_000)
	if long {
		factors, most = []int64{17, 129, 1031}, 2_000_000
	}
	for _, c := range opcase.All() {
		list = append(list, formOf(c))
		if whole, ok := everyNumber(c); ok {
			list = append(list, whole)
		}
		for _, f := range factors {
			for _, w := range c.Ways() {
				if grown, ok := c.By(w, f); ok && work(grown) <= most {
					list = append(list, formOf(grown.Filled()))
				}
			}
		}
	}
	for _, c := range sizedCases(long) {
		list = append(list, formOf(c))
	}
	return append(list, networkCases(long)...)
}

// everyNumber is a function of one number at all numbers that a half can be.
func everyNumber(c opcase.Case) (halfCase, bool) {
	if !graph.TraitsOf(c.Op).Elementwise || c.In[0].Type.DType != tensor.Float32 || c.In[0].Constant != nil ||
		slices.ContainsFunc(c.In[1:], func(o opcase.Operand) bool { return o.Constant == nil }) {
		return halfCase{}, false
	}
	for _, o := range c.In[1:] {
		if n, _ := o.Type.Shape.Count(); n > 1 {
			return halfCase{}, false
		}
	}
	c.In = slices.Clone(c.In)
	c.In[0] = opcase.Real(1 << 16)
	h := formOf(c)
	inner := h.make
	h.form += " every number"
	h.make = func(d tensor.DType) (*graph.Graph, []tensor.Tensor, bool) {
		g, in, ok := inner(d)
		if ok && in[0].DType == d {
			for i := range 1 << 16 {
				binary.LittleEndian.PutUint16(in[0].Data[2*i:], uint16(i))
			}
		}
		return g, in, ok
	}
	return h, true
}

// work estimates what the reference does for a case.
func work(c opcase.Case) int64 {
	in := make([]tensor.Tensor, len(c.In))
	for i, o := range c.In {
		if o.Type.DType != tensor.Invalid {
			dims, _ := o.Type.Shape.Ints()
			in[i] = tensor.Tensor{DType: o.Type.DType, Dims: dims}
		}
	}
	out, ok := c.Inferred()
	if !ok {
		return math.MaxInt64
	}
	return ref.Work(c.Op, in, out)
}

// formOf is a case of an operator with its float32 operands, attributes and results in a half type.
func formOf(c opcase.Case) halfCase {
	return halfCase{graph.NameOf(c.Op), c.Types() + " " + attributes(c.Op),
		func(d tensor.DType) (*graph.Graph, []tensor.Tensor, bool) { return halfForm(c, d) }}
}

func halfForm(c opcase.Case, d tensor.DType) (*graph.Graph, []tensor.Tensor, bool) {
	h, changed := lively(c).Halves(d)
	o, err := widerOp(c.Op, tensor.Float32, d)
	if err != nil {
		return nil, nil, false
	}
	h.Op = o
	for _, t := range h.Out {
		changed = changed || t.DType == d
	}
	v := reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			switch x, ok := v.Field(i).Interface().(tensor.DType); {
			case !ok:
			case x == d:
				changed = true
			case !changed && len(c.Out) == 0 && (x == 0 || x.IsFloat()):
				v.Field(i).Set(reflect.ValueOf(d))
				out, ok := h.Inferred()
				changed = ok && out[0].DType == d
			}
		}
	}
	if !changed {
		return nil, nil, false
	}
	g, in, err := h.Graph()
	if err != nil {
		return nil, nil, false
	}
	r := rand.New(rand.NewPCG(7, uint64(len(in))))
	for i := range in {
		if in[i].DType == d {
			spread(r, d, in[i].Data)
		}
	}
	return g, in, true
}

// lively is a case whose constants of simple numbers, as opcase.Fixed and opcase.Positive make them, are numbers with
// all the digits that a type has.
func lively(c opcase.Case) opcase.Case {
	c.In = slices.Clone(c.In)
	for i, o := range c.In {
		if o.Type.DType != tensor.Float32 || len(o.Constant) < 8 {
			continue
		}
		n := len(o.Constant) / 4
		simple, positive, negative := true, true, false
		for k := range n {
			x := tensor.FloatAt(tensor.Float32, o.Constant, k)
			simple = simple && x*4 == math.Trunc(x*4) && math.Abs(x) <= 2
			positive = positive && x >= 0.5 && x <= 1.5
			negative = negative || x < 0
		}
		if !simple || !positive && !negative {
			continue
		}
		r := rand.New(rand.NewPCG(11, uint64(i)))
		data := tensor.New(tensor.Float32, int64(n)).Data
		for k := range n {
			x := r.NormFloat64()
			if positive {
				x = 0.25 + math.Abs(x)
			}
			tensor.PutFloat(tensor.Float32, data, k, x, false)
		}
		c.In[i].Constant = data
	}
	return c
}

// spread fills data with numbers as networks have them: most near 1, some large, some tiny or subnormal, some zero.
func spread(r *rand.Rand, d tensor.DType, data []byte) {
	least := -24
	if d == tensor.BFloat16 {
		least = -133
	}
	for i := range len(data) / 2 {
		x := r.NormFloat64()
		switch k := r.IntN(100); {
		case k < 5:
			x *= 30
		case k < 15:
			x = math.Ldexp(x, -r.IntN(14))
		case k < 18:
			x = math.Ldexp(math.Round(8*x), least)
		case k < 23:
			x = math.Copysign(0, x)
		}
		tensor.PutFloat(d, data, i, x, false)
	}
}
