package ref

import (
	"cmp"
	"slices"

	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Bits, func(o *op.Unique, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		x := in[0]
		dims, a := x.Dims, 0
		if o.Flatten {
			dims = []int64{int64(x.Count())}
		} else {
			var err error
			if a, err = op.Axis(o.Axis, len(dims)); err != nil {
				return nil, err
			}
		}
		outer, size, inner := around(dims, a)
		if outer == 1 && inner == 1 {
			return uniqueElements(x, out, dims, a, !o.Unsorted)
		}
		compareSteps := func(s, t int) int {
			for i := range outer {
				for k := range inner {
					tick()
					if c := scalarAt(x, (i*size+s)*inner+k).order(scalarAt(x, (i*size+t)*inner+k)); c != 0 {
						return c
					}
				}
			}
			return 0
		}
		admit(64 * size) // the lists of equal steps
		order := alloc[int](size)
		for i := range order {
			tick()
			order[i] = i
		}
		slices.SortStableFunc(order, compareSteps)
		var groups [][]int // of equal steps, each in ascending order
		for i, s := range order {
			tick()
			if i == 0 || compareSteps(order[i-1], s) != 0 {
				groups = append(groups, nil)
			}
			groups[len(groups)-1] = append(groups[len(groups)-1], s)
		}
		if o.Unsorted {
			slices.SortFunc(groups, func(g, h []int) int { return cmp.Compare(g[0], h[0]) })
		}
		return uniqueOf(x, out, dims, a, outer, size, inner, groups)
	})
}

// uniqueElements returns the results for single elements.
func uniqueElements(x tensor.Tensor, out []tensor.Type, dims []int64, axis int, sorted bool) ([]tensor.Tensor, error) {
	size := x.Count()
	inverse := newTensor(tensor.Int64, int64(size))
	of := mem.Elements[int64](inverse.Data)
	d := distinctOf(keysOf(x), of)
	n := int64(len(d.keys))
	first, counts := newTensor(tensor.Int64, n), newTensor(tensor.Int64, n)
	places, often := mem.Elements[int64](first.Data), mem.Elements[int64](counts.Data)
	order, rank := alloc[int](n), alloc[int64](n)
	for k := range order {
		tick()
		order[k] = k
	}
	if sorted {
		slices.SortFunc(order, func(g, h int) int {
			tick()
			return cmp.Compare(d.keys[g], d.keys[h])
		})
	}
	for i, k := range order {
		tick()
		rank[k], places[i], often[i] = int64(i), int64(d.first[k]), d.counts[k]
	}
	if sorted {
		inStretches(len(of), func(from, to int) {
			for i, k := range of[from:to] {
				of[from+i] = rank[k]
			}
		})
	}
	for i, k := range order {
		order[i] = d.first[k]
	}
	y, err := pick(x, out[0], dims, axis, 1, size, 1, order)
	if err != nil {
		return nil, err
	}
	return append(y, []tensor.Tensor{first, inverse, counts}[:len(out)-1]...), nil
}

// uniqueOf returns the results for the lists of equal steps.
func uniqueOf(x tensor.Tensor, out []tensor.Type, dims []int64, a, outer, size, inner int, groups [][]int) (
	[]tensor.Tensor, error) {
	first := alloc[int](len(groups))
	n := int64(len(groups))
	lists := []tensor.Tensor{newTensor(tensor.Int64, n), newTensor(tensor.Int64, int64(size)), newTensor(tensor.Int64, n)}
	for i, g := range groups {
		tick()
		first[i] = g[0]
		storeInt(lists[0], i, int64(g[0]))
		for _, s := range g {
			tick()
			storeInt(lists[1], s, int64(i))
		}
		storeInt(lists[2], i, int64(len(g)))
	}
	y, err := pick(x, out[0], dims, a, outer, size, inner, first)
	if err != nil {
		return nil, err
	}
	return append(y, lists[:len(out)-1]...), nil
}

// order compares two elements of one type; NaN is equal to NaN and larger than every number.
func (s scalar) order(t scalar) int {
	switch s.kind {
	case intKind:
		return cmp.Compare(s.i, t.i)
	case uintKind:
		return cmp.Compare(s.u, t.u)
	}
	switch a, b := s.f != s.f, t.f != t.f; {
	case a && b:
		return 0
	case a:
		return 1
	case b:
		return -1
	}
	return cmp.Compare(s.f, t.f)
}
