package numerics

import (
	"maps"
	"math"

	"github.com/anynpu/anynpu/conformance/rknn"
)

// Networks whose data are small integers, so that every sum is exact in float32, whatever the order of additions. They
// have the sizes at which implementations change their algorithm, and
// the surroundings in which values are fused, laid out anew, overwritten or kept.

// image is an input of rank 4, of integers.
func image(name string, dims ...int) port { return port{name: name, elem: rknn.ONNXFloat, dims: dims} }

// integral is a net of inputs with integers of at most span.
func integral(span int, in []port, f func(b *build, in []value) []value) *net {
	return &net{in: in, span: span, build: func(b *build, in []value) []result { return outputs(f(b, in)...) }}
}

// biased is a convolution with filters of -most to most and a bias.
func (b *build) biased(x value, most, channels, size int, w window) value {
	per := x.dims[1] / max(w.group, 1)
	return b.conv(x, b.weights(most, channels, per, size, size), b.weights(9, channels), w)
}

func same(pad int) window { return window{pads: [4]int{pad, pad, pad, pad}} }

// rescaled divides integers by a power of two and rounds down, so that numbers stay small integers in a deep network;
// what is added keeps them on their side where a library's sums are not exact.
func (b *build) rescaled(x value, by float64) value {
	y := b.mul(x, b.reals(tensor{[]int{1}, []float64{1 / by}}))
	y = b.add(y, b.reals(tensor{[]int{1}, []float64{0.5 / by}}))
	return b.unary("Floor", nil, y, math.Floor)
}

// nearly allows for convolutions that are not computed by sums of products, such as Winograd's, which are inexact for
// integers too: far less than the 1 by which a wrong sum differs.
func nearly(nets map[string]*net) map[string]*net {
	for _, n := range nets {
		n.tol = max(n.tol, 2e-5)
	}
	return nets
}

func sizes() map[string]*net {
	one := func(f func(b *build, x value) value) func(b *build, in []value) []value {
		return func(b *build, in []value) []value { return []value{f(b, in[0])} }
	}
	conv := func(channels, size int, w window) func(b *build, in []value) []value {
		return one(func(b *build, x value) value { return b.biased(x, 3, channels, size, w) })
	}
	nets := nearly(map[string]*net{
		"conv3x3_wide":  integral(4, []port{image("x", 2, 33, 17, 19)}, conv(37, 3, same(1))),
		"conv3x3_valid": integral(4, []port{image("x", 1, 32, 15, 21)}, conv(48, 3, window{})),
		"conv3x3_stride": integral(4, []port{image("x", 2, 32, 17, 13)},
			conv(35, 3, window{strides: [2]int{2, 1}, pads: [4]int{1, 0, 0, 1}})),
		"conv3x3_dilated": integral(4, []port{image("x", 1, 34, 16, 18)},
			conv(33, 3, window{dilations: [2]int{2, 3}, pads: [4]int{2, 3, 2, 3}})),
		"conv1x1": integral(4, []port{image("x", 2, 67, 9, 11)}, conv(130, 1, window{})),
		"conv5x5_groups": integral(4, []port{image("x", 1, 36, 13, 12)},
			conv(72, 5, window{group: 4, pads: [4]int{2, 2, 2, 2}})),
		"conv7x7_image": integral(9, []port{image("x", 1, 3, 37, 29)},
			conv(17, 7, window{strides: [2]int{2, 2}, pads: [4]int{3, 3, 3, 3}})),
	})
	maps.Copy(nets, map[string]*net{
		"product_deep": integral(3, []port{{name: "x", elem: rknn.ONNXFloat, dims: []int{5, 2049}}},
			one(func(b *build, x value) value { return b.product(x, b.weights(3, 2049, 67)) })),
		"product_wide": integral(5, []port{{name: "x", elem: rknn.ONNXFloat, dims: []int{3, 65}}},
			one(func(b *build, x value) value { return b.product(x, b.weights(9, 65, 1541)) })),
		"product_batches": integral(5, []port{{name: "x", elem: rknn.ONNXFloat, dims: []int{3, 7, 33}},
			{name: "z", elem: rknn.ONNXFloat, dims: []int{3, 33, 18}}},
			func(b *build, in []value) []value { return []value{b.product(in[0], in[1])} }),
		"sum_of_thousands": integral(50, []port{{name: "x", elem: rknn.ONNXFloat, dims: []int{3, 5003}}},
			one(func(b *build, x value) value { return b.reduce("ReduceSum", x, 1) })),
		"maximum_of_thousands": integral(90000, []port{{name: "x", elem: rknn.ONNXFloat, dims: []int{4099, 3}}},
			one(func(b *build, x value) value { return b.reduce("ReduceMax", x, 0) })),
		"softmax_of_thousands": {in: []port{{name: "x", elem: rknn.ONNXFloat, dims: []int{3, 4001}}}, span: 100, tol: 1e-5,
			build: func(b *build, in []value) []result { return outputs(b.softmax(in[0], 1)) }},
		"softmax_of_columns": {in: []port{{name: "x", elem: rknn.ONNXFloat, dims: []int{513, 7}}}, span: 100, tol: 1e-5,
			build: func(b *build, in []value) []result { return outputs(b.softmax(in[0], 0)) }},
	})
	for c := 1; c <= 17; c += 4 {
		w := window{group: c, strides: [2]int{1 + c%3/2, 1 + c%2}, pads: [4]int{1, 1, 1, 0}, dilations: [2]int{1 + c%2, 1}}
		nets["depthwise"+shapeName([]int{c})] = integral(9, []port{image("x", 2, c, 14, 11)}, conv(c, 3, w))
	}
	for i, k := range []int{4097, 8193, 12290, 16390} { // deeper than one or several blocks of a sum
		m, n := []int{3, 5, 1, 17}[i], []int{33, 17, 65, 8}[i]
		nets["product_deeper"+shapeName([]int{m, k, n})] = integral(3, []port{{name: "x", elem: rknn.ONNXFloat,
			dims: []int{m, k}}}, one(func(b *build, x value) value { return b.product(x, b.weights(3, k, n)) }))
	}
	for m := 1; m <= 33; m++ { // every remainder of 16 in the height, and chunks of several threads
		nets["product_rows"+shapeName([]int{m})] = integral(9, []port{{name: "x", elem: rknn.ONNXFloat, dims: []int{m, 37}}},
			one(func(b *build, x value) value { return b.relu(b.product(x, b.weights(9, 37, 19))) }))
	}
	nets["product_small_batches"] = integral(9, []port{{name: "x", elem: rknn.ONNXFloat, dims: []int{61, 2, 5}},
		{name: "z", elem: rknn.ONNXFloat, dims: []int{61, 5, 3}}},
		func(b *build, in []value) []value { return []value{b.product(in[0], in[1])} })
	nets["product_wider"] = integral(5, []port{{name: "x", elem: rknn.ONNXFloat, dims: []int{2, 21}}},
		one(func(b *build, x value) value { return b.product(x, b.weights(9, 21, 5003)) }))
	nets["product_higher"] = integral(5, []port{{name: "x", elem: rknn.ONNXFloat, dims: []int{5003, 9}}},
		one(func(b *build, x value) value { return b.product(x, b.weights(9, 9, 3)) }))
	for n := 1; n < 70; n += 4 { // every remainder of 4, 8 and 16 in the width of a product and the depth
		d := n * 5 % 33
		nets["product_"+shapeName([]int{d + 1, n})] = integral(9, []port{{name: "x", elem: rknn.ONNXFloat,
			dims: []int{n%5 + 1, d + 1}}}, one(func(b *build, x value) value { return b.product(x, b.weights(9, d+1, n)) }))
	}
	return nets
}

// surroundings are networks of several operators.
func surroundings() map[string]*net {
	x := []port{image("x", 2, 16, 9, 11)}
	return nearly(map[string]*net{
		"residual": integral(3, x, func(b *build, in []value) []value {
			y := b.relu(b.biased(in[0], 2, 16, 3, same(1)))
			y = b.rescaled(b.biased(y, 2, 16, 3, same(1)), 8)
			return []value{b.relu(b.add(y, in[0]))}
		}),
		"residual_is_an_output": integral(3, x, func(b *build, in []value) []value {
			y := b.biased(in[0], 2, 16, 3, same(1))
			z := b.relu(y)
			return []value{b.add(b.biased(z, 1, 16, 1, window{}), y), y, z}
		}),
		"normalized_both_sides": integral(3, x, func(b *build, in []value) []value {
			before := b.normalized(in[0], b.weights(3, 16), b.weights(5, 16), b.weights(2, 16))
			y := b.conv(before, b.weights(2, 24, 16, 3, 3), absent, same(1))
			after := b.normalized(y, b.weights(2, 24), b.weights(50, 24), b.weights(9, 24))
			return []value{b.relu(after), before}
		}),
		"padded_then_convolved": integral(3, x, func(b *build, in []value) []value {
			y := b.conv(b.pad(in[0], 0, [4]int{2, 1, 0, 1}), b.weights(2, 20, 16, 3, 3), absent, window{})
			z := b.conv(b.pad(in[0], 5, [4]int{1, 1, 2, 0}), b.weights(2, 20, 16, 3, 3), absent, same(1))
			return []value{y, z}
		}),
		"padded_then_pooled": integral(9, x, func(b *build, in []value) []value {
			low := b.add(in[0], b.scalar(rknn.ONNXFloat, -20))
			zeros := b.pad(low, 0, [4]int{1, 1, 1, 1})
			w := window{kernel: [2]int{3, 3}, strides: [2]int{2, 2}}
			mean := b.pool(zeros, true, window{kernel: [2]int{2, 4}, strides: [2]int{2, 3}})
			most := b.pool(b.pad(low, -3, [4]int{0, 1, 2, 0}), false, w)
			w.pads = [4]int{1, 1, 1, 1}
			return []value{b.pool(zeros, false, w), mean, most, b.pool(low, false, w)}
		}),
		"pools_with_ceil": integral(64, x, func(b *build, in []value) []value {
			w := window{kernel: [2]int{4, 2}, strides: [2]int{3, 2}, pads: [4]int{1, 0, 1, 1}, ceil: true}
			all := w
			all.ceil, all.countPads = false, true
			return []value{b.pool(in[0], false, w), b.pool(in[0], true, all)}
		}),
		"branches": integral(3, x, func(b *build, in []value) []value {
			y := b.relu(in[0])
			p := b.biased(y, 2, 8, 1, window{})
			q := b.biased(y, 2, 12, 3, same(1))
			r := b.pool(y, false, window{kernel: [2]int{3, 3}, pads: [4]int{1, 1, 1, 1}})
			return []value{b.biased(b.relu(b.concat(1, p, q, r, y)), 1, 5, 3, same(1)), b.neg(y)}
		}),
		"concatenated_twice": integral(9, x, func(b *build, in []value) []value {
			y := b.concat(1, in[0], b.neg(in[0]), in[0])
			z := b.concat(3, y, b.slice(y, 3, 10, -1, -2))
			return []value{z, b.slice(z, 1, 3, 40, 5), y}
		}),
		"dead_values": integral(9, x, func(b *build, in []value) []value {
			y := b.relu(in[0])
			b.biased(y, 2, 16, 3, same(1)) // nobody reads it
			b.softmax(y, 1)
			return []value{b.add(y, in[0])}
		}),
		"constants_fold": integral(9, x, func(b *build, in []value) []value {
			w := b.mul(b.weights(2, 8, 16, 3, 3), b.scalar(rknn.ONNXFloat, 3))
			w = b.transpose(b.transpose(w, 1, 0, 3, 2), 1, 0, 2, 3)
			return []value{b.conv(in[0], w, b.relu(b.weights(30, 8)), same(1))}
		}),
		"input_is_an_output": integral(9, x, func(b *build, in []value) []value {
			y := b.unary("Identity", nil, in[0], func(v float64) float64 { return v })
			z := b.unary("Identity", nil, b.relu(y), func(v float64) float64 { return v })
			return []value{y, z, b.unary("Identity", nil, z, func(v float64) float64 { return v })}
		}),
		"upsampled": integral(3, x, func(b *build, in []value) []value {
			down := b.relu(b.biased(in[0], 2, 24, 3, window{strides: [2]int{2, 2}, pads: [4]int{1, 1, 1, 1}}))
			up := b.enlarged(down, 2, 2)
			y := b.concat(1, b.slice(b.slice(up, 2, 0, 9, 1), 3, 0, 11, 1), in[0])
			return []value{b.biased(y, 1, 9, 3, same(1)), up}
		}),
		"heads": integral(3, []port{{name: "x", elem: rknn.ONNXFloat, dims: []int{2, 7, 24}}}, func(b *build,
			in []value) []value {
			split := func(v value) value { return b.transpose(b.reshape(v, 0, 0, 3, 8), 0, 2, 1, 3) }
			q, k := split(b.product(in[0], b.weights(1, 24, 24))), split(b.product(in[0], b.weights(1, 24, 24)))
			scores := b.product(q, b.transpose(k, 0, 1, 3, 2))
			y := b.product(b.rescaled(scores, 64), split(in[0]))
			return []value{b.reshape(b.transpose(y, 0, 2, 1, 3), 2, 7, 24), scores}
		}),
		"classifier": integral(3, x, func(b *build, in []value) []value {
			y := b.clip(b.biased(in[0], 2, 32, 3, same(1)), 0, 6)
			y = b.clip(b.conv(y, b.weights(2, 32, 1, 3, 3), b.weights(9, 32), window{group: 32, strides: [2]int{2, 2},
				pads: [4]int{1, 1, 1, 1}}), 0, 60)
			y = b.relu(b.biased(y, 1, 64, 1, window{}))
			y = b.reshape(b.pool(y, false, window{kernel: [2]int{5, 6}}), 2, 64)
			return []value{b.add(b.product(y, b.weights(3, 64, 21)), b.weights(99, 21))}
		}),
		"squeezed": integral(3, []port{image("x", 2, 16, 8, 16)}, func(b *build, in []value) []value {
			y := b.relu(b.biased(in[0], 2, 24, 3, same(1)))
			s := b.globalAverage(b.rescaled(y, 8)) // of 128 pixels, so that it is exact
			return []value{b.mul(y, s), b.biased(s, 2, 9, 1, window{}), b.globalAverage(in[0])}
		}),
		"gated": integral(9, []port{image("x", 2, 16, 9, 11), image("gate", 2, 16, 1, 1)}, func(b *build,
			in []value) []value {
			y := b.mul(b.biased(in[0], 2, 16, 3, same(1)), in[1])
			return []value{b.add(y, b.mul(in[1], in[1])), b.reduce("ReduceSum", y, 1)}
		}),
	})
}

// coded are networks between QuantizeLinear and DequantizeLinear whose scales are powers of two: every code is exact,
// halves included, which go to the even neighbour.
func coded() map[string]*net {
	in8, mid8, out8 := &codes{rknn.ONNXInt8, 0.25, -7}, &codes{rknn.ONNXInt8, 2, 11}, &codes{rknn.ONNXInt8, 4, -3}
	inU, midU, outU := &codes{rknn.ONNXUint8, 0.25, 121}, &codes{rknn.ONNXUint8, 2, 7}, &codes{rknn.ONNXUint8, 4, 133}
	out := map[string]*net{}
	for name, q := range map[string][3]*codes{"int8": {in8, mid8, out8}, "uint8": {inU, midU, outU}} {
		x := image("x", 2, 16, 9, 11)
		x.quant = q[0]
		filter := func(b *build, out, in, size int) value {
			scales := newTensor(out)
			for i := range scales.v {
				scales.v[i] = math.Ldexp(1, -(i % 3))
			}
			return b.dequantized(b.noise.integers(-9, 9, out, in, size, size), scales)
		}
		add := func(what string, f func(b *build, x value) []result) {
			out[what+"_"+name] = &net{in: []port{x}, build: func(b *build, in []value) []result { return f(b, in[0]) }}
		}
		add("conv", func(b *build, x value) []result {
			return []result{{value: b.conv(x, filter(b, 35, 16, 3), absent, same(1)), quant: q[2]}}
		})
		add("chain", func(b *build, x value) []result {
			y := b.quantized(b.relu(b.conv(x, filter(b, 32, 16, 3), absent, same(1))), q[1])
			y = b.quantized(b.conv(y, filter(b, 32, 1, 3), absent, window{group: 32, strides: [2]int{2, 2},
				pads: [4]int{1, 1, 1, 1}}), q[2])
			return []result{{value: b.conv(y, filter(b, 17, 32, 1), absent, window{}), quant: &codes{q[2].elem, 32, q[2].zero}}}
		})
		add("residual", func(b *build, x value) []result {
			y := b.quantized(b.conv(x, filter(b, 16, 16, 3), absent, same(1)), q[1])
			z := b.quantized(b.add(y, x), q[2])
			return []result{{value: b.relu(z), quant: q[2]}, {value: y, quant: q[1], made: true}}
		})
		add("island", func(b *build, x value) []result {
			y := b.quantized(b.conv(x, filter(b, 16, 16, 1), absent, window{}), q[1])
			f := b.relu(b.biased(b.neg(y), 2, 8, 1, window{})) // of reals
			z := b.quantized(f, q[2])
			return []result{{value: b.conv(z, filter(b, 12, 8, 3), absent, same(1)),
				quant: &codes{q[1].elem, 16, q[1].zero}}, {value: f}}
		})
		add("pools_and_concat", func(b *build, x value) []result {
			w := window{kernel: [2]int{3, 3}, pads: [4]int{1, 1, 1, 1}}
			y := b.quantized(b.pool(x, false, w), q[0])
			z := b.quantized(b.conv(x, filter(b, 5, 16, 1), absent, window{}), q[1])
			c := b.quantized(b.concat(1, y, z, x), q[2])
			return []result{{value: c, quant: q[2], made: true}, {value: b.transpose(c, 0, 2, 3, 1), quant: q[2]}}
		})
		add("product", func(b *build, x value) []result {
			y := b.reshape(x, 2, 16, 99)
			w := b.noise.integers(-9, 9, 99, 21)
			d := b.dequantized(w, tensor{[]int{99}, onesOf(99)})
			return []result{{value: b.product(y, d), quant: &codes{q[1].elem, 4, q[1].zero}}}
		})
	}
	return out
}

// onesOf are n ones.
func onesOf(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// networks computes each network with several inputs, given and taken in ways that follow one another.
func networks() *group {
	g := newGroup("networks", "networks of integers and of codes whose results are exact")
	for _, nets := range []map[string]*net{sizes(), surroundings(), coded(), computedSizes(), kept()} {
		for _, name := range sorted(nets) {
			on(g, "rk3588", name, func(t *T) { t.everyWay(nets[name], len(name)) })
		}
	}
	return g
}
