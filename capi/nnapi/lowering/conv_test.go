package lowering

import (
	"fmt"
	"math"
	"testing"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// geometry is how a filter of one dimension lies over an image.
type geometry struct{ in, kernel, stride, dilation, head, out int }

// explicit and implicit give the geometry of one dimension by the API's formulas.
func explicit(in, kernel, stride, dilation, head, tail int) geometry {
	eff := (kernel-1)*dilation + 1
	return geometry{in, kernel, stride, dilation, head, (in - eff + stride + head + tail) / stride}
}

func implicit(in, kernel, stride, dilation int, same bool) geometry {
	eff := (kernel-1)*dilation + 1
	if !same {
		return explicit(in, kernel, stride, dilation, 0, 0)
	}
	out := (in + stride - 1) / stride
	total := max(0, (out-1)*stride+eff-in)
	return geometry{in, kernel, stride, dilation, total / 2, out}
}

// convolve computes any of the convolutions: filter(o, y, x, k) is the weight for channel input(o, k) of depth inputs.
func convolve(x, w, bias []float64, h, v geometry, channels, outs, depth int, input func(o, k int) int,
	weight func(o, y, x, k int) float64) []float64 {
	var out []float64
	for i := range h.out {
		for j := range v.out {
			for o := range outs {
				sum := bias[o]
				for y := range h.kernel {
					for z := range v.kernel {
						a, b := i*h.stride+y*h.dilation-h.head, j*v.stride+z*v.dilation-v.head
						if a < 0 || b < 0 || a >= h.in || b >= v.in {
							continue
						}
						for k := range depth {
							sum += x[(a*v.in+b)*channels+input(o, k)] * weight(o, y, z, k)
						}
					}
				}
				out = append(out, sum)
			}
		}
	}
	return out
}

// weighted are the operand types of a convolution with filter values v, whose dimension dim holds channels.
type weighted struct {
	name         string
	in, out      form
	filter, bias func(v []float64, dims ...uint32) arg
}

// filters are the choices of types that convolutions have.
func filters(dim uint32, channelScales []float32) []weighted {
	var all []weighted
	for _, f := range forms {
		out := f
		w := weighted{f.name, f, f, f.put, f.put}
		if f.quantized() {
			out.scale = 1. / 8
			w.out = out
			weights := form{"", f.code, 1. / 64, 5}
			w.filter = weights.put
			w.bias = func(v []float64, dims ...uint32) arg {
				s := f.scale * weights.scale
				a := i32(make([]float64, len(v)), dims...)
				a.Scale = s
				for i, x := range v {
					a.values[i] = math.Round(x / float64(s))
				}
				return a
			}
			all = append(all, w)
			w.name += ", scales per channel"
			w.filter = func(v []float64, dims ...uint32) arg {
				a := quant(nnapi.TensorQuant8SymmPerChannel, 0, 0, make([]float64, len(v)), dims...)
				a.Channel = &nnapi.PerChannel{Dim: dim, Scales: channelScales}
				for i, x := range v {
					a.values[i] = math.Round(x / float64(channelScales[channelOf(i, dim, dims)]))
				}
				return a
			}
			w.bias = func(v []float64, dims ...uint32) arg {
				a := i32(make([]float64, len(v)), dims...)
				for i, x := range v {
					a.values[i] = math.Round(x / float64(f.scale*channelScales[i]))
				}
				return a
			}
		}
		all = append(all, w)
	}
	return all
}

// channelOf returns the index on a dimension of element i.
func channelOf(i int, dim uint32, dims []uint32) int {
	inner := 1
	for _, d := range dims[dim+1:] {
		inner *= int(d)
	}
	return i / inner % int(dims[dim])
}

// meaning are the real numbers in a filter or bias.
func meaning(a, in arg, channels []float32) []float64 {
	out := reals(a)
	for i, q := range a.values {
		switch {
		case a.Channel != nil:
			out[i] = q * float64(a.Channel.Scales[channelOf(i, a.Channel.Dim, a.Dims)])
		case a.Type == nnapi.TensorInt32 && a.Scale == 0:
			out[i] = q * float64(in.Scale) * float64(channels[i])
		}
	}
	return out
}

// places are arguments for the ways to pad, with the geometry that they make.
type place struct {
	name       string
	pads       []arg
	height     func(in, kernel, stride, dilation int) geometry
	width      func(in, kernel, stride, dilation int) geometry
	isExplicit bool
}

var places = []place{
	{"explicit", []arg{num(1), num(0), num(2), num(1)},
		func(in, k, s, d int) geometry { return explicit(in, k, s, d, 2, 1) },
		func(in, k, s, d int) geometry { return explicit(in, k, s, d, 1, 0) }, true},
	{"same", []arg{num(1)},
		func(in, k, s, d int) geometry { return implicit(in, k, s, d, true) },
		func(in, k, s, d int) geometry { return implicit(in, k, s, d, true) }, false},
	{"valid", []arg{num(2)},
		func(in, k, s, d int) geometry { return implicit(in, k, s, d, false) },
		func(in, k, s, d int) geometry { return implicit(in, k, s, d, false) }, false},
}

var channelScales = []float32{1. / 64, 1. / 100, 1. / 50, 1. / 80}

func args(lists ...[]arg) []arg {
	var out []arg
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func TestConv(t *testing.T) {
	const high, wide, depth, outs, kh, kw = 6, 5, 2, 4, 3, 2
	x, w, b := noise(1, high*wide*depth, -2, 2), noise(2, outs*kh*kw*depth, -1, 1), noise(3, outs, -1, 1)
	for _, c := range filters(0, channelScales) {
		for act, p := range []int{0, 1, 2, 0} {
			place := places[p]
			for _, d := range []int{1, 2} {
				in, f, bias := c.in.put(x, 1, high, wide, depth), c.filter(w, outs, kh, kw, depth), c.bias(b, outs)
				h, v := place.height(high, kh, 1+d%2, d), place.width(wide, kw, 2, d)
				fr := meaning(f, in, channelScales)
				y := mapped(convolve(reals(in), fr, meaning(bias, in, channelScales), h, v, depth, outs, depth,
					func(_, k int) int { return k },
					func(o, y, x, k int) float64 { return fr[((o*kh+y)*kw+x)*depth+k] }), activations[act])
				out := c.out.want(y, 1, uint32(h.out), uint32(v.out), outs)
				tail := []arg{num(2), num(float64(1 + d%2)), num(float64(act))}
				nhwc, first := []arg{flag(false), num(float64(d)), num(float64(d))}, []arg{flag(true), num(float64(d)),
					num(float64(d))}
				name := fmt.Sprintf("%s %s %d", c.name, place.name, d)
				if d == 1 {
					check{name + " short", nnapi.Conv2D, args([]arg{in, f, bias}, place.pads, tail), []arg{out}, 0}.run(t)
				}
				check{name, nnapi.Conv2D, args([]arg{in, f, bias}, place.pads, tail, nhwc), []arg{out}, 0}.run(t)
				check{name + " NCHW", nnapi.Conv2D, args([]arg{nchw(in), f, bias}, place.pads, tail, first), []arg{nchw(out)},
					0}.run(t)
			}
		}
	}
	in, f, bias := f32(nil, 1, 4, 4, 2), f32(nil, 3, 2, 2, 2), f32(nil, 3)
	wrong := func(more []arg, want string) {
		t.Helper()
		refused(t, check{"", nnapi.Conv2D, args([]arg{in, f, bias}, more), []arg{f32(nil)}, 0}, want)
	}
	wrong([]arg{num(3), num(1), num(1), num(0)}, "input 3 (padding scheme): want 1 (SAME) or 2 (VALID), got 3")
	wrong([]arg{num(1), num(0), num(1), num(0)}, "input 4 (stride width): want 1 to")
	wrong([]arg{num(1), num(1), num(1), num(5)}, "input 6 (activation): want 0 to 3, got 5")
	wrong([]arg{num(2), num(0), num(0), num(0), num(1), num(1), num(0)},
		"padding left: want less than the filter's 2 cells, got 2")
	wrong([]arg{num(0), num(0), num(-1), num(0), num(1), num(1), num(0)}, "padding top: want 0 or more, got -1")
	f = f32(nil, 3, 2, 2, 4)
	wrong([]arg{num(1), num(1), num(1), num(0)}, "operation 0 (CONV_2D)")
}

func TestDepthwise(t *testing.T) {
	const high, wide, depth, mult, kh, kw = 5, 4, 2, 2, 2, 3
	const outs = depth * mult
	x, w, b := noise(4, high*wide*depth, -2, 2), noise(5, kh*kw*outs, -1, 1), noise(6, outs, -1, 1)
	for _, c := range filters(3, channelScales) {
		for act, p := range []int{0, 1, 2, 1} {
			place := places[p]
			in, f, bias := c.in.put(x, 1, high, wide, depth), c.filter(w, 1, kh, kw, outs), c.bias(b, outs)
			h, v := place.height(high, kh, 1, 1), place.width(wide, kw, 2, 1)
			if place.isExplicit {
				place.pads = []arg{num(1), num(0), num(1), num(1)}
				h = explicit(high, kh, 1, 1, 1, 1)
			}
			fr := meaning(f, in, channelScales)
			y := mapped(convolve(reals(in), fr, meaning(bias, in, channelScales), h, v, depth, outs, 1,
				func(o, _ int) int { return o / mult },
				func(o, y, x, _ int) float64 { return fr[(y*kw+x)*outs+o] }), activations[act])
			out := c.out.want(y, 1, uint32(h.out), uint32(v.out), outs)
			tail := []arg{num(2), num(1), num(mult), num(float64(act))}
			name := c.name + " " + place.name
			check{name, nnapi.DepthwiseConv2D, args([]arg{in, f, bias}, place.pads, tail), []arg{out}, 0}.run(t)
			check{name + " NCHW", nnapi.DepthwiseConv2D, args([]arg{nchw(in), f, bias}, place.pads, tail,
				[]arg{flag(true), num(1),
					num(1)}), []arg{nchw(out)}, 0}.run(t)
		}
	}
	refused(t, check{"", nnapi.DepthwiseConv2D, []arg{f32(nil, 1, 4, 4, 2), f32(nil, 1, 2, 2, 6), f32(nil, 6), num(1),
		num(1),
		num(1), num(2), num(0)}, []arg{f32(nil)}, 0}, "input 1 (filter): want 4 channels, 2 for each of input 0 (input), "+
		"got 6")
}

func TestGrouped(t *testing.T) {
	const high, wide, depth, outs, kh, kw, groups = 4, 4, 4, 4, 2, 2, 2
	x, w, b := noise(7, high*wide*depth, -2, 2), noise(8, outs*kh*kw*2, -1, 1), noise(9, outs, -1, 1)
	for _, c := range filters(0, channelScales) {
		for act, p := range []int{0, 1, 2, 1} {
			place := places[p]
			in, f, bias := c.in.put(x, 1, high, wide, depth), c.filter(w, outs, kh, kw, 2), c.bias(b, outs)
			h, v := place.height(high, kh, 2, 1), place.width(wide, kw, 1, 1)
			if place.isExplicit {
				place.pads = []arg{num(1), num(0), num(1), num(1)}
				h = explicit(high, kh, 2, 1, 1, 1)
			}
			fr := meaning(f, in, channelScales)
			y := mapped(convolve(reals(in), fr, meaning(bias, in, channelScales), h, v, depth, outs, 2,
				func(o, k int) int { return o/2*2 + k },
				func(o, y, x, k int) float64 { return fr[((o*kh+y)*kw+x)*2+k] }), activations[act])
			out := c.out.want(y, 1, uint32(h.out), uint32(v.out), outs)
			for _, first := range []bool{false, true} {
				a, o := in, out
				if first {
					a, o = nchw(in), nchw(out)
				}
				check{fmt.Sprint(c.name, place.name, first), nnapi.GroupedConv2D, args([]arg{a, f, bias}, place.pads,
					[]arg{num(1), num(2),
						num(groups), num(float64(act)), flag(first)}), []arg{o}, 0}.run(t)
			}
		}
	}
}

// scatter is transposed convolution: each cell of the image adds the filter, times its value, to the result.
func scatter(x, w, bias []float64, h, v geometry, depth, outs int) []float64 {
	out := make([]float64, h.out*v.out*outs)
	for i := range out {
		out[i] = bias[i%outs]
	}
	for i := range h.in {
		for j := range v.in {
			for y := range h.kernel {
				for z := range v.kernel {
					a, b := i*h.stride+y-h.head, j*v.stride+z-v.head
					if a < 0 || b < 0 || a >= h.out || b >= v.out {
						continue
					}
					for o := range outs {
						for k := range depth {
							out[(a*v.out+b)*outs+o] += x[(i*v.in+j)*depth+k] * w[((o*h.kernel+y)*v.kernel+z)*depth+k]
						}
					}
				}
			}
		}
	}
	return out
}

func TestTransposeConv(t *testing.T) {
	const high, wide, depth, outs, kh, kw = 3, 2, 2, 4, 3, 2
	x, w, b := noise(10, high*wide*depth, -2, 2), noise(11, outs*kh*kw*depth, -1, 1), noise(12, outs, -1, 1)
	for _, c := range filters(0, channelScales) {
		for act, s := range []struct {
			name string
			h, v geometry
			args func(first bool) []arg
		}{
			{"explicit", geometry{high, kh, 2, 1, 1, high*2 + kh - 2 - 1 - 0}, geometry{wide, kw, 3, 1, 0, wide*3 + kw - 3 + 1},
				func(bool) []arg { return []arg{num(0), num(-1), num(1), num(0), num(3), num(2)} }},
			{"same", geometry{high, kh, 2, 1, 0, 6}, geometry{wide, kw, 3, 1, 0, 5}, func(first bool) []arg {
				if first {
					return []arg{list(1, outs, 6, 5), num(1), num(3), num(2)}
				}
				return []arg{list(1, 6, 5, outs), num(1), num(3), num(2)}
			}},
			{"same, odd", geometry{high, kh, 2, 1, 1, 5}, geometry{wide, kw, 2, 1, 0, 4}, func(first bool) []arg {
				if first {
					return []arg{list(1, outs, 5, 4), num(1), num(2), num(2)}
				}
				return []arg{list(1, 5, 4, outs), num(1), num(2), num(2)}
			}},
			{"valid", geometry{high, kh, 2, 1, 0, 7}, geometry{wide, kw, 3, 1, 0, 5}, func(bool) []arg {
				return []arg{list(1, 7, 5, outs), num(2), num(3), num(2)}
			}},
		} {
			in, f, bias := c.in.put(x, 1, high, wide, depth), c.filter(w, outs, kh, kw, depth), c.bias(b, outs)
			y := mapped(scatter(reals(in), meaning(f, in, channelScales), meaning(bias, in, channelScales), s.h, s.v, depth,
				outs),
				activations[act])
			out := c.out.want(y, 1, uint32(s.h.out), uint32(s.v.out), outs)
			for _, first := range []bool{false, true} {
				a, o := in, out
				if first {
					a, o = nchw(in), nchw(out)
				}
				check{fmt.Sprint(c.name, " ", s.name, first), nnapi.TransposeConv2D, args([]arg{a, f, bias}, s.args(first),
					[]arg{num(
						float64(act)), flag(first)}), []arg{o}, 0}.run(t)
			}
		}
	}
}

func TestFullyConnected(t *testing.T) {
	x, w, b := noise(13, 12, -2, 2), noise(14, 4*3, -1, 1), noise(15, 4, -1, 1)
	for i, c := range filters(0, channelScales) {
		if i == 3 || i == 5 {
			continue // the operation takes no scales per channel
		}
		for act, dims := range [][]uint32{{4, 3}, {2, 6}, {2, 2, 3}, {1, 2, 2, 3}} {
			in, f, bias := c.in.put(x, dims...), c.filter(w, 4, 3), c.bias(b, 4)
			fr, br, xr := meaning(f, in, channelScales), meaning(bias, in, channelScales), reals(in)
			var y []float64
			for r := range 4 {
				for o := range 4 {
					sum := br[o]
					for k := range 3 {
						sum += xr[r*3+k] * fr[o*3+k]
					}
					y = append(y, activations[act](sum))
				}
			}
			if f.Channel != nil {
				continue
			}
			check{fmt.Sprint(c.name, dims), nnapi.FullyConnected, []arg{in, f, bias, num(float64(act))},
				[]arg{c.out.want(y, 4, 4)},
				0}.run(t)
		}
	}
	refused(t, check{"", nnapi.FullyConnected, []arg{f32(nil, 2, 5), f32(nil, 4, 3), f32(nil, 4), num(0)}, []arg{f32(nil)},
		0},
		"operation 0 (FULLY_CONNECTED)")
}

func TestBatchMatMul(t *testing.T) {
	product := func(a, b []float64) []float64 { // [2,2,3] x [2,3,2]
		var out []float64
		for n := range 2 {
			for i := range 2 {
				for j := range 2 {
					sum := 0.
					for k := range 3 {
						sum += a[n*6+i*3+k] * b[n*6+k*2+j]
					}
					out = append(out, sum)
				}
			}
		}
		return out
	}
	turned := func(a arg, r, c int) arg {
		out := a
		out.Dims = []uint32{2, uint32(c), uint32(r)}
		out.values = make([]float64, len(a.values))
		for n := range 2 {
			for i := range r {
				for j := range c {
					out.values[n*6+j*r+i] = a.values[n*6+i*c+j]
				}
			}
		}
		return out
	}
	for _, f := range []form{forms[0], forms[1], forms[3], {"int32", nnapi.TensorInt32, 0, 0}} {
		v, u := noise(16, 12, -2, 2), noise(17, 12, -2, 2)
		out := f
		if f.quantized() {
			out.scale = 1. / 8
		}
		put := func(v []float64) arg {
			if f.code == nnapi.TensorInt32 {
				return i32(ints(mapped(v, func(x float64) float64 { return x * 10 })), 2, 2, 3)
			}
			return f.put(v, 2, 2, 3)
		}
		a, b := put(v), put(u)
		b.Dims = []uint32{2, 3, 2}
		y := i32(product(a.values, b.values), 2, 2, 2)
		if f.code != nnapi.TensorInt32 {
			y = out.want(product(reals(a), reals(b)), 2, 2, 2)
		}
		for k := range 4 {
			l, r := a, b
			if k&1 != 0 {
				l = turned(a, 2, 3)
			}
			if k&2 != 0 {
				r = turned(b, 3, 2)
			}
			check{fmt.Sprint(f.name, k), nnapi.BatchMatMul, []arg{l, r, flag(k&1 != 0), flag(k&2 != 0)}, []arg{y}, 0}.run(t)
		}
	}
	refused(t, check{"", nnapi.BatchMatMul, []arg{f32(nil, 2, 2, 3), f32(nil, 1, 3, 2), flag(false), flag(false)},
		[]arg{f32(nil)},
		0}, "input 0 (input0) and input 1 (input1)")
}

// pooled computes a pool with one number for each window, of the cells that lie inside the image.
func pooled(x []float64, h, v geometry, depth int, f func(cells []float64) float64) []float64 {
	var out []float64
	for i := range h.out {
		for j := range v.out {
			for k := range depth {
				var cells []float64
				for y := range h.kernel {
					for z := range v.kernel {
						if a, b := i*h.stride+y-h.head, j*v.stride+z-v.head; a >= 0 && b >= 0 && a < h.in && b < v.in {
							cells = append(cells, x[(a*v.in+b)*depth+k])
						}
					}
				}
				out = append(out, f(cells))
			}
		}
	}
	return out
}

func TestPools(t *testing.T) {
	const high, wide, depth, kh, kw = 6, 5, 2, 3, 2
	x := noise(18, high*wide*depth, -3.9, 3.9)
	for _, f := range forms {
		for _, c := range []struct {
			code nnapi.OperationCode
			f    func(cells []float64) float64
		}{
			{nnapi.AveragePool2D, func(c []float64) float64 {
				sum := 0.
				for _, x := range c {
					sum += x
				}
				return sum / float64(len(c))
			}},
			{nnapi.MaxPool2D, func(c []float64) float64 {
				m := c[0]
				for _, x := range c {
					m = max(m, x)
				}
				return m
			}},
			{nnapi.L2Pool2D, func(c []float64) float64 {
				sum := 0.
				for _, x := range c {
					sum += x * x
				}
				return math.Sqrt(sum / float64(len(c)))
			}},
		} {
			if c.code == nnapi.L2Pool2D && f.quantized() {
				continue
			}
			for act, p := range []int{0, 1, 2, 0} {
				place := places[p]
				in := f.put(x, 1, high, wide, depth)
				h, v := place.height(high, kh, 1, 1), place.width(wide, kw, 2, 1)
				out := f.want(mapped(pooled(reals(in), h, v, depth, c.f), activations[act]), 1, uint32(h.out), uint32(v.out), depth)
				tail := []arg{num(2), num(1), num(kw), num(kh), num(float64(act))}
				name := f.name + " " + place.name
				check{name, c.code, args([]arg{in}, place.pads, tail), []arg{out}, 0}.run(t)
				check{name + " NCHW", c.code, args([]arg{nchw(in)}, place.pads, tail, []arg{flag(true)}), []arg{nchw(out)},
					0}.run(t)
			}
		}
	}
	in, out := f32(nil, 1, 4, 4, 2), []arg{f32(nil)}
	refused(t, check{"", nnapi.MaxPool2D, []arg{in, num(1), num(1), num(1), num(0), num(2), num(0)}, out, 0},
		"input 4 (filter width): want 1 to")
	refused(t, check{"", nnapi.MaxPool2D, []arg{in, num(0), num(0), num(0), num(2), num(1), num(1), num(2), num(2),
		num(0)}, out,
		0}, "padding bottom: want less than the filter's 2 cells")
}
