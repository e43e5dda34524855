package rknn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/onnxtest"
	"github.com/anynpu/anynpu/core/format/rknn"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/core/tensor"
)

// plane is an image in real numbers, [C,H,W].
type plane struct {
	c, h, w int
	v       []float64
}

func (p *plane) at(c, y, x int) float64 {
	if y < 0 || y >= p.h || x < 0 || x >= p.w {
		return 0
	}
	return p.v[(c*p.h+y)*p.w+x]
}

// meaning is scale and zero point of codes.
type meaning struct {
	scale float32
	zero  int64
	limit float64 // 128 or 32768
}

// computed is a network as an ONNX model, as an .rknn file, and as what it computes by the rules of docs/rknn.md, in
// float64 and without any part of the library.
type computed struct {
	random *rand.Rand
	model  *onnxtest.Model
	values map[string]*plane
	codes  map[string]meaning
	steps  []func()
	real   bool // nothing is rounded
	layer  bool // filters have one range
	wide   bool // codes of 16 bits
	near   []string
	called map[string][]string // what the file calls tensors, where that is not their name here
}

// step adds the computation of a tensor; with coded it has codes in the file.
func (n *computed) step(name string, coded bool, f func() *plane) string {
	n.steps = append(n.steps, func() {
		p := f()
		if coded {
			n.round(name, p)
		}
		n.values[name] = p
	})
	return name
}

// round makes codes of values; the first time it finds which.
func (n *computed) round(name string, p *plane) {
	if n.real {
		lo, hi := 0.0, 0.0
		for _, v := range p.v {
			lo, hi = min(lo, v), max(hi, v)
		}
		m := meaning{scale: float32((hi - lo) / 255), limit: 128}
		m.zero = int64(math.RoundToEven(-128 - lo/((hi-lo)/255)))
		if n.wide {
			m = meaning{scale: 1 / float32(int(1)<<12-1), limit: 32768}
		}
		n.codes[name] = m
		return
	}
	m := n.codes[name]
	for i, v := range p.v {
		q := v / float64(m.scale)
		close := 1e-4
		if n.wide { // float32 has fewer bits below a code
			close = 1e-2
		}
		if d := math.Abs(math.Abs(q-math.Floor(q)) - 0.5); d < close {
			n.near = append(n.near, fmt.Sprintf("%s %d", name, i))
		}
		q = max(-m.limit, min(m.limit-1, math.RoundToEven(q)+float64(m.zero)))
		p.v[i] = (q - float64(m.zero)) * float64(m.scale)
	}
}

// coded makes of a filter, [O,rest], what its codes mean, and returns the scale of each output.
func (n *computed) coded(w []float64, outputs int) (out, scale []float64) {
	out, scale = make([]float64, len(w)), make([]float64, outputs)
	size := len(w) / outputs
	for o := range outputs {
		lo, hi := 0.0, 0.0
		for i, v := range w {
			if n.layer || i/size == o {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		scale[o] = (hi - lo) / 255
		zero := math.RoundToEven(-128 - lo/scale[o])
		for i := o * size; i < (o+1)*size; i++ {
			out[i] = (max(-128, min(127, math.RoundToEven(w[i]/scale[o])+zero)) - zero) * scale[o]
		}
	}
	return out, scale
}

func (n *computed) constant(name string, v []float64, dims ...int64) string {
	f := make([]float32, len(v))
	for i := range v {
		f[i] = float32(v[i])
		v[i] = float64(f[i])
	}
	n.model.Constant(name, onnxtest.Float, tensor.Float32s(f...), dims...)
	return name
}

func (n *computed) numbers(count int, size, shift float64) []float64 {
	v := make([]float64, count)
	for i := range v {
		v[i] = size * (n.random.NormFloat64() + shift)
	}
	return v
}

// sums is a convolution of kernel k, in steps of stride; [O,I/groups,k,k].
func sums(x *plane, w []float64, outputs, k, stride, groups int) *plane {
	y := &plane{c: outputs, h: (x.h+2*(k/2)-k)/stride + 1, w: (x.w+2*(k/2)-k)/stride + 1}
	per := x.c / groups
	for o := range outputs {
		for r := range y.h {
			for c := range y.w {
				sum := 0.0
				for i := range per {
					for ky := range k {
						for kx := range k {
							sum += w[((o*per+i)*k+ky)*k+kx] * x.at(o/(outputs/groups)*per+i, r*stride+ky-k/2, c*stride+kx-k/2)
						}
					}
				}
				y.v = append(y.v, sum)
			}
		}
	}
	return y
}

// conv adds a convolution with a bias; normalized ones are followed by a BatchNormalization.
func (n *computed) conv(x, name string, in, out, k, stride, groups int, coded, normalized bool) string {
	w := n.numbers(out*in/groups*k*k, 1/math.Sqrt(float64(in/groups*k*k)), n.random.Float64()*1.5-0.5)
	b := n.numbers(out, 0.2, 0)
	n.constant(name+".w", w, int64(out), int64(in/groups), int64(k), int64(k))
	n.constant(name+".b", b, int64(out))
	made := name
	if normalized {
		made += ".conv"
	}
	pad, side, by := int64(k/2), int64(k), int64(stride)
	n.model.With("Conv", made, map[string][]int64{"kernel_shape": {side, side}, "strides": {by, by},
		"pads": {pad, pad, pad, pad}, "group": {int64(groups)}}, x, name+".w", name+".b")
	f, added := w, b
	if normalized {
		var part [4][]float64
		for i, what := range []string{"scale", "offset", "mean", "variance"} {
			part[i] = n.numbers(out, 0.1, []float64{10, 0, 0, 12}[i])
			n.constant(name+"."+what, part[i], int64(out))
		}
		n.model.Node("BatchNormalization", name, made, name+".scale", name+".offset", name+".mean", name+".variance")
		f, added = make([]float64, len(w)), make([]float64, out)
		for o := range out {
			by := part[0][o] / math.Sqrt(part[3][o]+float64(float32(1e-5)))
			for i := o * len(w) / out; i < (o+1)*len(w)/out; i++ {
				f[i] = w[i] * by
			}
			added[o] = (b[o]-part[2][o])*by + part[1][o]
		}
	}
	return n.step(name, coded, func() *plane {
		use, plus := f, added
		if m, ok := n.codes[x]; ok && !n.real && !n.wide {
			var scale []float64
			use, scale = n.coded(f, out)
			plus = n.whole(added, scale, m)
		}
		y := sums(n.values[x], use, out, k, stride, groups)
		for i := range y.v {
			y.v[i] += plus[i/(y.h*y.w)]
		}
		return y
	})
}

// whole makes of what is added whole numbers of what one means.
func (n *computed) whole(b, scale []float64, m meaning) []float64 {
	out := make([]float64, len(b))
	for o := range b {
		unit := float64(m.scale) * scale[o]
		out[o] = math.RoundToEven(b[o]/unit) * unit
	}
	return out
}

// each adds an operator of one value.
func (n *computed) each(op, x, name string, coded bool, f func(float64) float64) string {
	n.model.Node(op, name, x)
	return n.step(name, coded, func() *plane {
		y := *n.values[x]
		y.v = make([]float64, len(y.v))
		for i, v := range n.values[x].v {
			y.v[i] = f(v)
		}
		return &y
	})
}

// pair adds an operator of two.
func (n *computed) pair(op, a, b, name string, coded bool, f func(x, y float64) float64) string {
	n.model.Node(op, name, a, b)
	return n.step(name, coded, func() *plane {
		y := *n.values[a]
		y.v = make([]float64, len(y.v))
		for i, v := range n.values[a].v {
			y.v[i] = f(v, n.values[b].v[i])
		}
		return &y
	})
}

func positive(v float64) float64 { return max(v, 0) }
func sigmoid(v float64) float64  { return 1 / (1 + math.Exp(-v)) }

// joined adds a Concat of a and b and a convolution of it, whose sums over a are rounded.
func (n *computed) joined(a, b, name string, ca, cb, out int) string {
	w := n.numbers(out*(ca+cb)*9, 1/math.Sqrt(float64(9*(ca+cb))), 0.3)
	bias := n.numbers(out, 0.2, 0)
	n.constant(name+".w", w, int64(out), int64(ca+cb), 3, 3)
	n.constant(name+".b", bias, int64(out))
	n.model.With("Concat", name+".both", map[string][]int64{"axis": {1}}, a, b)
	n.model.With("Conv", name, map[string][]int64{"kernel_shape": {3, 3}, "pads": {1, 1, 1, 1}}, name+".both", name+".w",
		name+".b")
	var parts [2][]float64
	for o := range out {
		at := w[o*(ca+cb)*9:][:(ca+cb)*9]
		parts[0], parts[1] = append(parts[0], at[:ca*9]...), append(parts[1], at[ca*9:]...)
	}
	return n.step(name, true, func() *plane {
		fa, _ := n.coded(parts[0], out)
		fb, scale := n.coded(parts[1], out)
		plus := n.whole(bias, scale, n.codes[b])
		if n.real {
			fa, fb, plus = parts[0], parts[1], bias
		}
		x, y := sums(n.values[a], fa, out, 3, 1, 1), sums(n.values[b], fb, out, 3, 1, 1)
		n.round(a+"_conv", x)
		for i := range y.v {
			y.v[i] += x.v[i] + plus[i/(y.h*y.w)]
		}
		return y
	})
}

// mean adds a GlobalAveragePool in two steps.
func (n *computed) mean(x, name string) string {
	n.model.Node("GlobalAveragePool", name, x)
	return n.step(name, true, func() *plane {
		from := n.values[x]
		th, tw, root := (from.h+6)/7, (from.w+6)/7, math.Sqrt(float64(from.h*from.w))
		top, left := (th*7-from.h)/2, (tw*7-from.w)/2
		part := &plane{c: from.c, h: th, w: tw, v: make([]float64, from.c*th*tw)}
		for c := range from.c {
			for y := range from.h {
				for x := range from.w {
					part.v[(c*th+(y+top)/7)*tw+(x+left)/7] += from.at(c, y, x) / root
				}
			}
		}
		n.round("GlobalAveragePool_"+name+"_2conv0", part)
		y := &plane{c: from.c, h: 1, w: 1}
		for c := range from.c {
			sum := 0.0
			for _, v := range part.v[c*th*tw:][:th*tw] {
				sum += v
			}
			y.v = append(y.v, sum/root)
		}
		return y
	})
}

// product adds a MatMul of the last dimension, w numbers, and an Add of a constant, both of k numbers. The board has
// them as one operator: the product is rounded with what is added.
func (n *computed) product(x, name string, w, k int, coded bool) string {
	v, b := n.numbers(w*k, 1/math.Sqrt(float64(w)), 0.3), n.numbers(k, 0.2, 0)
	n.constant(name+".w", v, int64(w), int64(k))
	n.constant(name+".b", b, int64(k))
	n.model.Node("MatMul", name+".t", x, name+".w").Node("Add", name, name+".t", name+".b")
	columns := make([]float64, len(v))
	for i, at := range v {
		columns[i%k*w+i/k] = at
	}
	return n.step(name, coded, func() *plane {
		use, plus := columns, b
		if !n.real {
			var scale []float64
			use, scale = n.coded(columns, k)
			plus = n.whole(b, scale, n.codes[x])
		}
		from := n.values[x]
		y := &plane{c: from.c, h: from.h, w: k}
		for row := range from.c * from.h {
			for o := range k {
				sum := plus[o]
				for i := range w {
					sum += use[o*w+i] * from.v[row*w+i]
				}
				y.v = append(y.v, sum)
			}
		}
		return y
	})
}

// kinds are the networks of the test: each adds to n behind "x", an image of 8 channels, and names its output.
var kinds = map[string]func(n *computed) string{
	"conv":   func(n *computed) string { return n.conv("x", "y", 8, 20, 3, 1, 1, true, false) },
	"stride": func(n *computed) string { return n.conv("x", "y", 8, 17, 5, 2, 1, true, true) },
	"pointwise": func(n *computed) string {
		return n.conv(n.conv("x", "m", 8, 33, 1, 1, 1, true, true), "y", 33, 70, 1, 1, 1, true, false)
	},
	"depthwise": func(n *computed) string {
		m := n.each("Relu", n.conv("x", "m", 8, 8, 3, 1, 8, false, true), "r", true, positive)
		return n.conv(m, "y", 8, 8, 3, 2, 8, true, false)
	},
	"silu": func(n *computed) string {
		c := n.conv("x", "c", 8, 16, 3, 1, 1, true, true)
		s := n.each("Sigmoid", c, "s", true, sigmoid)
		m := n.pair("Mul", c, s, "m", true, func(a, b float64) float64 { return a * b })
		return n.conv(m, "y", 16, 9, 1, 1, 1, true, false)
	},
	"activations": func(n *computed) string {
		l := n.each("LeakyRelu", n.conv("x", "c", 8, 12, 3, 1, 1, false, false), "l", true, func(v float64) float64 {
			return max(v, 0) + float64(float32(0.01))*min(v, 0)
		})
		return n.each("HardSwish", n.conv(l, "d", 12, 10, 3, 1, 1, false, false), "y", true, func(v float64) float64 {
			return v * max(0, min(1, v/6+0.5))
		})
	},
	"residual": func(n *computed) string {
		a := n.each("Relu", n.conv("x", "c", 8, 12, 3, 1, 1, false, true), "a", true, positive)
		b := n.conv(a, "b", 12, 12, 3, 1, 1, true, false)
		s := n.pair("Add", a, b, "s", false, func(x, y float64) float64 { return x + y })
		return n.each("Relu", s, "y", true, positive)
	},
	"concat": func(n *computed) string {
		a := n.each("Relu", n.conv("x", "c", 8, 12, 3, 1, 1, false, false), "a", true, positive)
		b := n.conv("x", "b", 8, 8, 1, 1, 1, true, false)
		return n.joined(a, b, "y", 12, 8, 10)
	},
	"mean": func(n *computed) string {
		return n.mean(n.each("Relu", n.conv("x", "c", 8, 24, 3, 1, 1, false, true), "a", true, positive), "y")
	},
	"layer": func(n *computed) string {
		n.layer = true
		n.model.Meta("anynpu.filters", "layer")
		return n.conv(n.conv("x", "c", 8, 12, 3, 1, 1, true, true), "y", 12, 10, 1, 1, 1, true, false)
	},
	"cut": func(n *computed) string {
		y := n.conv("x", "y", 8, 18, 1, 1, 1, true, false)
		n.model.Node("Sigmoid", "z", y)
		return y
	},
	"product": func(n *computed) string {
		n.called = map[string][]string{"y": {"y.t_mm", "y"}}
		return n.product("x", "y", n.values["x"].w, 12, true)
	},
	"product unnamed": func(n *computed) string {
		n.called = map[string][]string{"s": {"s.t_mm"}}
		return n.each("Neg", n.product("x", "s", n.values["x"].w, 9, true), "y", true, func(v float64) float64 { return -v })
	},
	"int16": func(n *computed) string {
		n.wide = true
		a := n.each("Relu", n.conv("x", "c", 8, 12, 3, 1, 1, false, true), "a", true, positive)
		return n.conv(a, "y", 12, 6, 3, 1, 1, true, false)
	},
}

// Eighty-four networks give, code by code, what the rules say; a code that differs is one beside it, and only where a
// number lies so close to the middle between two codes that the last bits of float32 decide.
func TestDescribed_arithmetic(t *testing.T) {
	if testing.Short() {
		t.Skip("with -short: it is slow under the race detector, and starts no goroutines of its own")
	}
	codes, ties, seeds := 0, 0, 6
	if filesFor >= 0 {
		seeds = 1
	}
	for kind, build := range kinds {
		for seed := range seeds {
			n := &computed{random: rand.New(rand.NewPCG(uint64(seed), 7)), model: &onnxtest.Model{},
				values: map[string]*plane{}, codes: map[string]meaning{}}
			h, w := 9+seed, 16-seed
			image := &plane{c: 8, h: h, w: w, v: n.numbers(8*h*w, 1, 0.2)}
			n.values["x"] = image
			n.step("x", true, func() *plane { own := *image; own.v = append([]float64{}, image.v...); return &own })
			y := build(n)
			for _, n.real = range []bool{true, false} {
				for _, f := range n.steps {
					f()
				}
			}
			dims := func(name string) []int64 {
				p := n.values[name]
				if p == nil {
					return nil
				}
				return []int64{1, int64(p.c), int64(p.h), int64(p.w)}
			}
			last := y
			if kind == "cut" {
				last = "z"
			}
			n.model.Input("x", onnxtest.Float, dims("x")...).Output(last, onnxtest.Float, dims(y)...)
			var tensors []rknn.Tensor
			for _, name := range []string{"x", y} {
				tensors = append(tensors, n.tensor(name, dims(name)))
			}
			f := fileOf(tensors...)
			for name := range n.codes {
				names := n.called[name]
				if names == nil {
					names = []string{name}
				}
				for _, called := range names {
					if called != "x" && called != y {
						inner := n.tensor(name, dims(name))
						inner.Name = called
						f.Graphs[0].Tensors = append(f.Graphs[0].Tensors, inner)
					}
				}
			}
			c := openFile(t, f, n.model)
			// The codes of x, as the program would hand them over, in NHWC.
			x := n.values["x"]
			given := make([]float32, len(x.v))
			for i := range given {
				given[i] = float32(x.v[i%8*h*w+i/8])
			}
			require.NoError(t, inputsSet(c, []Input{inputOf(t, spec.Float32, spec.NHWC, given)}))
			require.NoError(t, run(c, nil))
			m, off := n.codes[y], 0
			for i, v := range fetch[float32](t, c, 1) {
				d := math.Abs(float64(v)-n.values[y].v[i]) / float64(m.scale)
				codes++
				if d > 0.5 {
					off++
					require.Less(t, d, 1.5, "%s, seed %d, code %d", kind, seed, i)
				}
			}
			ties += off
			require.LessOrEqual(t, off, len(n.near), "%s, seed %d: %d codes differ, near the middle are %v", kind, seed,
				off, n.near)
		}
	}
	t.Logf("%d of %d codes differ", ties, codes)
	require.Less(t, ties*2000, codes)
}

// tensor is a tensor of the file.
func (n *computed) tensor(name string, dims []int64) rknn.Tensor {
	m := n.codes[name]
	t := portOf(name, rknn.Intermediate, m.scale, m.zero, dims, nil)
	if n.wide {
		t.Type = "int16"
	}
	return t
}
