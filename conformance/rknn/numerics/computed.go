package numerics

import (
	"math"

	"github.com/anynpu/anynpu/conformance/rknn"
)

// computedSizes are networks whose sizes, pads and bounds are computed from constants and shapes in the model, with
// tensors of several axes in between, as exporters write them.
func computedSizes() map[string]*net {
	x := []port{image("x", 2, 3, 5, 4)}
	return map[string]*net{
		"pads_of_an_exporter": integral(9, x, func(b *build, in []value) []value {
			// The last axis first, in pairs; zeros for the axes in front.
			zeros := b.op("Expand", nil, newTensor(4), b.integers(0), b.integers(4))
			pairs := b.reshape(b.concat(0, b.integers(1, 2, 3, 0), zeros), -1, 2)
			pads := b.reshape(b.transpose(b.box(pairs, []int{3, 0}, []int{4, 2}, []int{-1, 1}), 1, 0), -1)
			return []value{b.padBy(in[0], 0, b.cast(pads)), b.relu(b.padBy(in[0], -3, pads))}
		}),
		"pads_of_a_box": integral(9, x, func(b *build, in []value) []value {
			all := b.constant(rknn.ONNXInt64, b.noise.integers(0, 3, 4, 3, 6))
			box := b.box(all, []int{3, 0, 5}, []int{2, 2, 2}, []int{-3, 2, -4})
			return []value{b.padBy(in[0], 1, b.reshape(b.transpose(box, 2, 0, 1), -1))}
		}),
		"sizes_of_a_matrix": integral(9, x, func(b *build, in []value) []value {
			sizes := b.reshape(b.sizes(in[0]), 2, 2)
			turned := b.reshape(b.transpose(b.slice(sizes, 1, 1, -1, -1), 1, 0), 4)
			y := b.op("Reshape", nil, tensor{[]int{3, 4, 2, 5}, in[0].v}, in[0], turned)
			return []value{b.transpose(y, 1, 3, 0, 2), b.relu(y)}
		}),
		"sizes_in_columns": integral(9, x, func(b *build, in []value) []value {
			column := b.reshape(b.integers(2, 15), 2, 1)
			both := b.concat(1, column, b.reshape(b.integers(7, 4), 2, 1)) // 2 7, 15 4
			y := b.op("Reshape", nil, tensor{[]int{4, 15, 2}, in[0].v}, in[0],
				b.reshape(b.concat(1, b.slice(b.slice(both, 1, 1, -1, -1), 0, 1, 2, 1), b.slice(column, 0, 0, 1, 1)), 3))
			return []value{b.neg(y)}
		}),
	}
}

// cast is Cast to int64 of integers.
func (b *build) cast(x value) value {
	y := b.op("Cast", rknn.Attrs{"to": rknn.ONNXInt64}, x.tensor, x)
	y.elem = rknn.ONNXInt64
	return y
}

// sizes is Shape.
func (b *build) sizes(x value) value {
	s := newTensor(len(x.dims))
	for i, d := range x.dims {
		s.v[i] = float64(d)
	}
	y := b.op("Shape", nil, s, x)
	y.elem = rknn.ONNXInt64
	return y
}

// box is Slice of every axis: counts[a] elements from starts[a] on, steps[a] apart.
func (b *build) box(x value, starts, counts, steps []int) value {
	y, s := newTensor(counts...), strides(x.dims)
	each(counts, func(at []int, i int) {
		o := 0
		for a, k := range at {
			o += (starts[a] + k*steps[a]) * s[a]
		}
		y.v[i] = x.v[o]
	})
	ends, axes := make([]int, len(starts)), make([]int, len(starts))
	for a := range ends {
		axes[a] = a
		if ends[a] = starts[a] + counts[a]*steps[a]; ends[a] < 0 {
			ends[a] = math.MinInt64
		}
	}
	return b.op("Slice", nil, y, x, b.integers(starts...), b.integers(ends...), b.integers(axes...), b.integers(steps...))
}

// padBy is Pad with a value by computed amounts: those in front of each axis, then those behind.
func (b *build) padBy(x value, with float64, by value) value {
	dims := append([]int(nil), x.dims...)
	for i := range by.v {
		dims[i%len(dims)] += int(by.v[i])
	}
	y := newTensor(dims...)
	for i := range y.v {
		y.v[i] = with
	}
	s := strides(dims)
	each(x.dims, func(at []int, i int) {
		o := 0
		for a, k := range at {
			o += (k + int(by.v[a])) * s[a]
		}
		y.v[o] = x.v[i]
	})
	return b.op("Pad", nil, y, x, by, b.scalar(x.elem, with))
}

// kept are networks with values that the metadata tell a board to store as codes. Values and filters are multiples of
// their scales within the range of codes, so that results are those of the real numbers.
func kept() map[string]*net {
	x := []port{image("x", 2, 6, 5, 7)}
	return nearly(map[string]*net{
		"kept_conv1x1": integral(2, x, func(b *build, in []value) []value {
			return []value{b.conv(b.stored(b.neg(in[0])), b.filters(0, 9, 6, 1, 1), absent, window{})}
		}),
		"kept_conv3x3": integral(2, x, func(b *build, in []value) []value {
			return []value{b.relu(b.conv(b.stored(b.neg(in[0])), b.filters(0, 7, 6, 3, 3), absent, same(1)))}
		}),
		"kept_groups": integral(2, x, func(b *build, in []value) []value {
			a := b.stored(b.relu(in[0]))
			return []value{b.conv(a, b.filters(0, 6, 1, 3, 3), absent, window{group: 6}),
				b.conv(a, b.filters(0, 8, 3, 1, 3), absent, window{group: 2})}
		}),
		"kept_product": integral(2, []port{{name: "x", elem: rknn.ONNXFloat, dims: []int{5, 13}}},
			func(b *build, in []value) []value {
				return []value{b.product(b.stored(b.neg(in[0])), b.filters(1, 13, 10))}
			}),
	})
}

// stored is x, which the metadata say is stored in codes of one unit.
func (b *build) stored(x value) value {
	b.m.Meta("anynpu.value."+x.name+".stored", map[string]any{"type": "int8", "scale": 1, "zero": 3})
	return x
}

// filters are a constant whose outputs, along an axis, have scales of their own. Each output has the least and the
// largest of 256 codes, so that these stand for its numbers exactly.
func (b *build) filters(axis int, dims ...int) value {
	x := b.noise.integers(-128, 127, dims...)
	seen := make([]int, dims[axis])
	each(dims, func(at []int, i int) {
		c := at[axis]
		if ends := []float64{127, -128}; seen[c] < len(ends) {
			x.v[i] = ends[seen[c]]
			seen[c]++
		}
		x.v[i] *= float64(int(1) << (c % 3))
	})
	return b.reals(x)
}
