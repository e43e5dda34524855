package opcase

import (
	"slices"

	"github.com/anynpu/anynpu/core/tensor"
)

// Way is one way in which a case can grow: it gives the inputs of the case with something times a factor.
type Way func(factor int64) []Operand

// Ways are the ways in which c can grow: in a size of an input, alone or with those of the same size of the others, or
// in a number of a constant list. Inference need not take what they give.
func (c Case) Ways() (ways []Way) {
	add := func(which func(input, dim int, size int64) bool) {
		ways = append(ways, func(factor int64) []Operand { return c.resized(factor, which) })
	}
	var sizes []int64
	for i, o := range c.In {
		dims, _ := o.Type.Shape.Ints()
		for k, n := range dims {
			if !slices.Contains(sizes, n) {
				sizes = append(sizes, n)
				add(func(_, _ int, size int64) bool { return size == n })
			}
			add(func(j, l int, _ int64) bool { return j == i && l == k })
			add(func(_, l int, size int64) bool { return l == k && size == n })
		}
		if n, _ := o.Type.Shape.Count(); n <= 8 && o.Constant != nil && o.Type.DType.IsInt() && o.Type.DType.Bits() >= 32 {
			for k := range int(n) {
				ways = append(ways, func(factor int64) []Operand {
					in := slices.Clone(c.In)
					in[i].Constant = slices.Clone(o.Constant)
					tensor.PutInt(o.Type.DType, in[i].Constant, k, factor*tensor.IntAt(o.Type.DType, o.Constant, k))
					return in
				})
			}
		}
	}
	return ways
}

// By is the case that c becomes when it grows in a way by a factor, ok: inference takes it, and it has more elements
// than c. Constants that have grown want Filled.
func (c Case) By(w Way, factor int64) (grown Case, ok bool) {
	before, ok := c.elements()
	if !ok {
		return Case{}, false
	}
	grown = Case{Op: c.Op, In: w(factor), Results: c.Results}
	for _, t := range c.Out {
		t.Shape = tensor.Shape{}
		grown.Out = append(grown.Out, t)
	}
	n, ok := grown.elements()
	return grown, ok && n > before
}

// Grown are the cases that c becomes when it grows by a factor in each of its ways.
func (c Case) Grown(factor int64) (out []Case) {
	for _, w := range c.Ways() {
		if d, ok := c.By(w, factor); ok {
			out = append(out, d)
		}
	}
	return out
}

// resized are the inputs with sizes that which names times a factor.
func (c Case) resized(factor int64, which func(input, dim int, size int64) bool) []Operand {
	in := slices.Clone(c.In)
	for i, o := range c.In {
		dims, ok := o.Type.Shape.Ints()
		if !ok || o.Type.DType == tensor.Invalid {
			continue
		}
		dims = slices.Clone(dims)
		q := o.Type.Quant
		for k, n := range dims {
			if !which(i, k, n) {
				continue
			}
			dims[k] = n * factor
			if q != nil && len(q.Scale) > 1 && q.Axis == k && q.Block == 0 {
				more := *q
				more.Scale = slices.Repeat(q.Scale, int(factor))
				more.Zero = slices.Repeat(q.Zero, int(factor))
				q = &more
			}
		}
		in[i].Type = tensor.Type{DType: o.Type.DType, Shape: tensor.Of(dims...), Quant: q}
		size, ok := in[i].Type.ByteSize()
		if !ok || size > maxGrown {
			return c.In
		}
		if n := len(o.Constant); n > 0 && int(size) != n && size <= maxListed {
			in[i].Constant = slices.Repeat(o.Constant, int(size)/n+1)[:size]
		}
	}
	return in
}

// Filled is the case with constants that repeat what they have until they are as large as their types.
func (c Case) Filled() Case {
	c.In = slices.Clone(c.In)
	for i, o := range c.In {
		if size, ok := o.Type.ByteSize(); ok && o.Constant != nil && int(size) != len(o.Constant) {
			c.In[i].Constant = slices.Repeat(o.Constant, int(size)/max(len(o.Constant), 1)+1)[:size]
		}
	}
	return c
}

// Facts are the facts that inference has of the inputs.
func (c Case) Facts() []tensor.Fact {
	facts := make([]tensor.Fact, len(c.In))
	for i, o := range c.In {
		if o.Type.DType == tensor.Invalid {
			continue
		}
		facts[i].Type = o.Type
		if size, ok := o.Type.ByteSize(); ok && o.Constant != nil && int(size) == len(o.Constant) {
			facts[i].Const = tensor.NewConst(o.Constant)
		}
	}
	return facts
}

const (
	maxGrown  = 1 << 30 // bytes of a grown tensor
	maxListed = 1 << 10 // bytes of a constant that inference may look at
)

// Inferred are the types of the results as inference finds them, ok: it takes the case.
func (c Case) Inferred() (out []tensor.Type, ok bool) {
	declared := make([]tensor.Type, max(1, c.Results))
	copy(declared, c.Out)
	results, err := c.Op.Infer(c.Facts(), declared)
	if err != nil {
		return nil, false
	}
	for _, f := range results {
		out = append(out, f.Type)
	}
	return out, true
}

// elements counts those of inputs and results, ok: inference takes the case.
func (c Case) elements() (total int64, ok bool) {
	facts := c.Facts()
	for _, f := range facts {
		if f.DType != tensor.Invalid {
			n, _ := f.Shape.Count()
			total += n
		}
	}
	results, ok := c.Inferred()
	if !ok {
		return 0, false
	}
	for _, t := range results {
		n, _ := t.Shape.Count()
		size, known := t.ByteSize()
		if known && size > maxGrown {
			return 0, false
		}
		total += n
	}
	return total, true
}
