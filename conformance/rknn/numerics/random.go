package numerics

import (
	"math"

	"github.com/anynpu/anynpu/conformance/rknn"
)

// grower makes a network of random operators on integers.
type grower struct {
	*build
	noise  noise
	values []value
	scale  map[string]float64 // about how large the elements of a value are
	read   map[string]bool
	coded  map[string]*codes // values that a DequantizeLinear makes
}

// random is a network of a seed: 4 to 24 operators on images, with branches, values that are read again later or are
// also outputs, and parts in codes. A seed decides everything but the elements of the input.
func random(seed int) *net {
	pick := noise(seed)
	dims := []int{pick.between(1, 3), pick.between(3, 20), pick.between(5, 13), pick.between(5, 13)}
	n := &net{in: []port{image("x", dims...)}, span: 9, tol: 1e-4}
	n.build = func(b *build, in []value) []result {
		g := &grower{build: b, noise: noise(seed + 1000), values: in, scale: map[string]float64{"x": 5},
			read: map[string]bool{}, coded: map[string]*codes{}}
		for range g.noise.between(4, 24) {
			g.grow()
		}
		return g.results()
	}
	return n
}

// results are the values that nobody reads, but for one now and then, and some that are read.
func (g *grower) results() []result {
	var out []result
	for i, v := range g.values[1:] {
		last := i == len(g.values)-2
		if last || !g.read[v.name] && g.noise.below(8) > 0 || g.noise.below(9) == 0 {
			out = append(out, result{value: v, quant: g.coded[v.name], made: true})
		}
	}
	return out
}

// some is a value, newer ones more often; it counts as read.
func (g *grower) some() value {
	n := len(g.values)
	v := g.values[max(g.noise.below(n), g.noise.below(n))]
	g.read[v.name] = true
	return v
}

// alike is another value of these sizes, but for an axis; the value itself if there is none.
func (g *grower) alike(x value, but int) value {
	first := g.noise.below(len(g.values))
	for i := range g.values {
		v := g.values[(first+i)%len(g.values)]
		ok := v.name != x.name
		for d := range x.dims {
			ok = ok && (d == but || v.dims[d] == x.dims[d])
		}
		if ok {
			g.read[v.name] = true
			return v
		}
	}
	return x
}

// keep adds a value whose elements are about that large; very large ones are made smaller first.
func (g *grower) keep(v value, scale float64) value {
	if scale > 3000 {
		by := math.Ldexp(1, int(math.Log2(scale))-4)
		v, scale = g.rescaled(v, by), scale/by
	}
	g.values, g.scale[v.name] = append(g.values, v), scale
	return v
}

// grow adds an operator, or a few that belong together.
func (g *grower) grow() {
	x := g.some()
	s := g.scale[x.name]
	c, h, w := x.dims[1], x.dims[2], x.dims[3]
	switch g.noise.below(17) {
	case 0, 1, 2:
		g.convolve(x)
	case 3:
		g.keep(g.relu(x), s)
	case 4:
		g.keep(g.neg(x), s)
	case 5:
		g.keep(g.clip(x, float64(-g.noise.below(4)), float64(g.noise.between(3, 40))), min(s, 30))
	case 6, 7:
		z := g.alike(x, -1)
		g.keep(g.add(x, z), s+g.scale[z.name])
	case 8:
		if s < 100 {
			g.keep(g.mul(x, g.weights(5, 1, c, 1, 1)), 3*s)
		}
	case 9:
		g.keep(g.normalized(x, g.weights(2, c), g.weights(9, c), g.weights(3, c)), 2*s+9)
	case 10:
		p := window{kernel: [2]int{2 + g.noise.below(2), 2 + g.noise.below(2)},
			strides: [2]int{1 + g.noise.below(2), 1 + g.noise.below(2)}}
		if g.noise.below(2) == 0 {
			p.pads = [4]int{g.noise.below(2), g.noise.below(2), g.noise.below(2), g.noise.below(2)}
		}
		if h > 3 && w > 3 {
			g.keep(g.pool(x, false, p), s)
		}
	case 11:
		if h > 3 && w > 3 {
			y := g.pool(x, true, window{kernel: [2]int{2, 4}, strides: [2]int{2, 1 + g.noise.below(3)}})
			g.keep(g.rescaled(g.mul(y, g.scalar(rknn.ONNXFloat, 8)), 8), s)
		}
	case 12:
		if h < 20 && w < 20 {
			p := [4]int{g.noise.below(3), g.noise.below(3), g.noise.below(3), g.noise.below(2)}
			g.keep(g.pad(x, float64(g.noise.below(2)*-7), p), s)
		}
	case 13:
		if z := g.alike(x, 1); c+z.dims[1] < 70 {
			g.keep(g.concat(1, x, z), max(s, g.scale[z.name]))
		}
	case 14:
		from := g.noise.below(c)
		g.keep(g.slice(x, 1, from, from+g.noise.between(1, c-from), 1), s)
	case 15:
		y := g.transpose(x, 0, 1, 3, 2)
		if g.noise.below(2) == 0 {
			y = g.transpose(g.relu(x), 0, 3, 1, 2)
		}
		g.keep(y, s)
	case 16:
		g.island(x)
	}
}

// convolve adds a convolution, plain, by groups or depthwise, often with what is fused with one.
func (g *grower) convolve(x value) {
	c, h, w := x.dims[1], x.dims[2], x.dims[3]
	size := []int{1, 3, 3, 5}[g.noise.below(4)]
	if h < size || w < size {
		size = 1
	}
	p := window{strides: [2]int{1, 1}}
	if size > 1 {
		p.pads = [4]int{g.noise.below(3), g.noise.below(3), g.noise.below(3), g.noise.below(3)}
		if g.noise.below(2) == 0 {
			p.pads = same(size / 2).pads
		}
	}
	channels := g.noise.between(1, 40)
	switch g.noise.below(4) {
	case 0:
		p.strides = [2]int{1 + g.noise.below(2), 1 + g.noise.below(2)}
	case 1:
		p.group, channels = c, c*(1+g.noise.below(2))
	}
	y := g.biased(x, 2, channels, size, p)
	scale := g.scale[x.name]*math.Sqrt(float64(c/max(p.group, 1)*size*size))*1.4 + 5
	if g.noise.below(2) == 0 {
		y = g.normalized(y, g.weights(2, channels), g.weights(99, channels), g.weights(9, channels))
		scale *= 2
	}
	if g.noise.below(2) == 0 {
		z := g.alike(y, -1)
		if z.name != y.name {
			scale += g.scale[z.name]
			y = g.add(z, y)
		}
	}
	if g.noise.below(2) == 0 {
		y = g.relu(y)
	}
	g.keep(y, scale)
}

// island adds a part in codes: a value quantized, and often a convolution whose result is quantized again.
func (g *grower) island(x value) {
	step := func(scale float64) *codes {
		elem := []int64{rknn.ONNXInt8, rknn.ONNXUint8}[g.noise.below(2)]
		zero := g.noise.between(-9, 9)
		if elem == rknn.ONNXUint8 {
			zero += 120
		}
		return &codes{elem, float32(math.Ldexp(1, max(int(math.Log2(scale))-5, 0))), zero}
	}
	q := step(g.scale[x.name])
	whole := g.rescaled(g.mul(x, g.scalar(rknn.ONNXFloat, 2)), 2) // exact whatever came before
	y, scale := g.quantized(whole, q), g.scale[x.name]
	if g.noise.below(3) > 0 {
		size := []int{1, 3}[g.noise.below(2)]
		if x.dims[2] < 3 || x.dims[3] < 3 {
			size = 1
		}
		out := g.noise.between(1, 33)
		ones := tensor{[]int{out}, onesOf(out)}
		f := g.dequantized(g.build.noise.integers(-3, 3, out, x.dims[1], size, size), ones)
		scale *= math.Sqrt(float64(x.dims[1]*size*size)) * 2
		y = g.conv(y, f, absent, same(size/2))
		if g.noise.below(2) == 0 {
			y = g.relu(y)
		}
		q = step(scale)
		y = g.quantized(y, q)
	}
	g.coded[y.name] = q
	g.values, g.scale[y.name] = append(g.values, y), scale
}

// randomNetworks computes networks of many seeds.
func randomNetworks() *group {
	g := newGroup("random", "networks of random operators on integers and codes")
	for seed := range 120 {
		n := random(seed)
		on(g, "rk3588", "seed"+shapeName([]int{seed}), func(t *T) { t.everyWay(n, seed) })
	}
	return g
}
