package lowering

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// groups collects the elements of a tensor that fall together when dimensions are reduced, in the order of the result.
func groups(v []float64, dims []uint32, axes ...int) (cells [][]float64, kept, left []uint32) {
	reduced := make([]bool, len(dims))
	for _, a := range axes {
		reduced[(a+len(dims))%len(dims)] = true
	}
	kept = slices.Clone(dims)
	count := 1
	for i, d := range dims {
		if reduced[i] {
			kept[i] = 1
		} else {
			left = append(left, d)
			count *= int(d)
		}
	}
	if len(left) == 0 {
		left = []uint32{1}
	}
	cells = make([][]float64, count)
	for k, x := range v {
		at := broadcastIndex(k, kept, dims)
		cells[at] = append(cells[at], x)
	}
	return cells, kept, left
}

func fold(f func(a, b float64) float64) func(v []float64) float64 {
	return func(v []float64) float64 {
		r := v[0]
		for _, x := range v[1:] {
			r = f(r, x)
		}
		return r
	}
}

func TestReductions(t *testing.T) {
	dims := []uint32{2, 3, 2, 2}
	sum := fold(func(a, b float64) float64 { return a + b })
	for _, f := range append(slices.Clone(forms), form{"bool", nnapi.TensorBool8, 0, 0}) {
		for _, c := range []struct {
			code nnapi.OperationCode
			f    func(v []float64) float64
			bool bool
			real bool
		}{
			{nnapi.Mean, func(v []float64) float64 { return sum(v) / float64(len(v)) }, false, false},
			{nnapi.ReduceMax, fold(math.Max), false, false}, {nnapi.ReduceMin, fold(math.Min), false, false},
			{nnapi.ReduceProd, fold(func(a, b float64) float64 { return a * b }), false, true},
			{nnapi.ReduceSum, sum, false, true},
			{nnapi.ReduceAll, fold(math.Min), true, false}, {nnapi.ReduceAny, fold(math.Max), true, false},
		} {
			if c.bool != (f.code == nnapi.TensorBool8) || c.real && f.quantized() {
				continue
			}
			x := f.put(noise(21, 24, -1.5, 1.5), dims...)
			if c.bool {
				x = b8(ints(noise(22, 24, 0, 1.9)), dims...)
			}
			for _, axes := range [][]int{{1}, {-1, 0, -1}, {3, 2}, {0, 1, 2, 3}} {
				cells, kept, left := groups(reals(x), dims, axes...)
				var y []float64
				for _, v := range cells {
					y = append(y, c.f(v))
				}
				var a []float64
				for _, v := range axes {
					a = append(a, float64(v))
				}
				for keep, sizes := range [][]uint32{left, kept} {
					out := b8(y, sizes...)
					if !c.bool {
						out = f.want(y, sizes...)
					}
					k := flag(keep == 1)
					if c.code == nnapi.Mean {
						k = num(float64(keep))
					}
					check{fmt.Sprint(f.name, axes, keep), c.code, []arg{x, list(a...), k}, []arg{out}, 0}.run(t)
				}
			}
		}
	}
	x := f32(nil, 2, 3)
	refused(t, check{"", nnapi.ReduceSum, []arg{x, list(2), flag(false)}, []arg{f32(nil)}, 0},
		"input 1 (axes): axis 2 is outside")
	refused(t, check{"", nnapi.Mean, []arg{x, list(-3), num(1)}, []arg{f32(nil)}, 0}, "input 1 (axes): axis -3 is outside")
	refused(t, check{"", nnapi.ReduceSum, []arg{x, list(1), flag(false)}, []arg{f32(nil, 3)}, 0}, "[3]")
}

func TestRanking(t *testing.T) {
	v := v1(3, 9, 9, 1, 5, 5, 7, 7, 2, 8, 8, 0)
	for i, x := range likes(v, 3, 4) {
		name := x.Type.String()
		check{name, nnapi.ArgMax, []arg{x, num(1)}, []arg{i32(v1(1, 2, 1), 3)}, 0}.run(t)
		check{name, nnapi.ArgMin, []arg{x, num(-2)}, []arg{i32(v1(2, 1, 1, 2), 4)}, 0}.run(t)
		check{name + " of a list", nnapi.ArgMax, []arg{likes(v1(1, 5, 5), 3)[i], num(0)}, []arg{i32(v1(1), 1)}, 0}.run(t)
		// Of equal elements the larger index comes first.
		check{name, nnapi.TopKV2, []arg{x, num(3)}, []arg{likes(v1(9, 9, 3, 7, 7, 5, 8, 8, 2), 3, 3)[i],
			i32(v1(2, 1, 0, 3, 2, 1, 2, 1, 0), 3, 3)}, 1e-9}.run(t)
		check{name + " one", nnapi.TopKV2, []arg{x, num(1)}, []arg{likes(v1(9, 7, 8), 3, 1)[i], i32(v1(2, 3, 2), 3, 1)},
			1e-9}.run(t)
	}
	refused(t, check{"", nnapi.ArgMax, []arg{f32(nil, 3, 4), num(2)}, []arg{i32(nil)}, 0},
		"input 1 (axis): axis 2 is outside")
	refused(t, check{"", nnapi.TopKV2, []arg{f32(nil, 3, 4), num(5)}, []arg{f32(nil), i32(nil)}, 0}, "input 1 (k)")
}

// along computes one line of a tensor at a time.
func along(v []float64, dims []uint32, axis int, f func(line []float64) []float64) []float64 {
	axis = (axis + len(dims)) % len(dims)
	inner := 1
	for _, d := range dims[axis+1:] {
		inner *= int(d)
	}
	size := int(dims[axis])
	out := make([]float64, len(v))
	for k := range v {
		if k/inner%size != 0 {
			continue
		}
		line := make([]float64, size)
		for i := range line {
			line[i] = v[k+i*inner]
		}
		for i, y := range f(line) {
			out[k+i*inner] = y
		}
	}
	return out
}

func softmax(beta float64, log bool) func(line []float64) []float64 {
	return func(line []float64) []float64 {
		sum := 0.
		for _, x := range line {
			sum += math.Exp(x * beta)
		}
		return mapped(line, func(x float64) float64 {
			if log {
				return x*beta - math.Log(sum)
			}
			return math.Exp(x*beta) / sum
		})
	}
}

func TestNormalizations(t *testing.T) {
	dims := []uint32{2, 2, 3, 2}
	values := noise(23, 24, -2, 2)
	for _, f := range forms {
		unit, signed := f, f
		if f.quantized() {
			unit.scale, signed.scale, unit.zero, signed.zero = 1./256, 1./128, 0, 128
			if f.code == nnapi.TensorQuant8AsymmSigned {
				unit.zero, signed.zero = -128, 0
			}
		}
		x := f.put(values, dims...)
		for _, axis := range []int{-1, 0, 1, 2, 3, -4} {
			for _, beta := range []float64{1, 0.5, 2} {
				y := along(reals(x), dims, axis, softmax(beta, false))
				name := fmt.Sprint(f.name, axis, beta)
				check{name, nnapi.Softmax, []arg{x, f.scalar(beta), num(float64(axis))}, []arg{unit.want(y, dims...)}, 0}.run(t)
				if axis == -1 {
					check{name + " short", nnapi.Softmax, []arg{x, f.scalar(beta)}, []arg{unit.want(y, dims...)}, 0}.run(t)
				}
				if !f.quantized() {
					y = along(reals(x), dims, axis, softmax(beta, true))
					check{name, nnapi.LogSoftmax, []arg{x, f.scalar(beta), num(float64(axis))}, []arg{f.want(y, dims...)}, 0}.run(t)
				}
			}
			y := along(reals(x), dims, axis, func(line []float64) []float64 {
				sum := 0.
				for _, v := range line {
					sum += v * v
				}
				return mapped(line, func(v float64) float64 { return v / max(math.Sqrt(sum), 1e-6) })
			})
			check{fmt.Sprint(f.name, axis), nnapi.L2Normalization, []arg{x, num(float64(axis))}, []arg{signed.want(y, dims...)},
				0}.run(t)
			if axis == -1 {
				check{fmt.Sprint(f.name, " short"), nnapi.L2Normalization, []arg{x}, []arg{signed.want(y, dims...)}, 0}.run(t)
			}
			if f.quantized() {
				continue
			}
			const radius, bias, alpha, beta = 1, 2, 0.5, 0.75
			y = along(reals(x), dims, axis, func(line []float64) []float64 {
				out := make([]float64, len(line))
				for i, v := range line {
					sum := 0.
					for k := max(0, i-radius); k <= min(len(line)-1, i+radius); k++ {
						sum += line[k] * line[k]
					}
					out[i] = v / math.Pow(bias+alpha*sum, beta)
				}
				return out
			})
			more := []arg{num(radius), f.scalar(bias), f.scalar(alpha), f.scalar(beta)}
			check{fmt.Sprint(f.name, axis), nnapi.LocalResponseNormalization, args([]arg{x}, more, []arg{num(float64(axis))}),
				[]arg{f.want(y, dims...)}, 0}.run(t)
			if axis == -1 {
				check{f.name + " short", nnapi.LocalResponseNormalization, args([]arg{x}, more), []arg{f.want(y, dims...)},
					0}.run(t)
			}
		}
		zeros := f.put(make([]float64, 4), 2, 2)
		check{f.name + " zeros", nnapi.L2Normalization, []arg{zeros}, []arg{signed.put(make([]float64, 4), 2, 2)}, 0}.run(t)
		if f.quantized() {
			continue
		}
		const gamma, beta, eps = 1.5, -0.25, 0.125
		y := make([]float64, len(values))
		for b := range 2 {
			for c := range 2 {
				mean, variance := 0., 0.
				at := func(i int) int { return b*12 + i*2 + c }
				for i := range 6 {
					mean += reals(x)[at(i)] / 6
				}
				for i := range 6 {
					variance += math.Pow(reals(x)[at(i)]-mean, 2) / 6
				}
				for i := range 6 {
					y[at(i)] = gamma*(reals(x)[at(i)]-mean)/math.Sqrt(variance+eps) + beta
				}
			}
		}
		out := f.want(y, dims...)
		more := []arg{f.scalar(gamma), f.scalar(beta), f.scalar(eps)}
		check{f.name, nnapi.InstanceNormalization, args([]arg{x}, more, []arg{flag(false)}), []arg{out}, 0}.run(t)
		check{f.name + " NCHW", nnapi.InstanceNormalization, args([]arg{nchw(x)}, more, []arg{flag(true)}), []arg{nchw(out)},
			0}.run(t)
	}
	x, y := f32(nil, 2, 2), []arg{f32(nil)}
	refused(t, check{"", nnapi.Softmax, []arg{x, real(0)}, y, 0}, "input 1 (beta): want a finite number above 0, got 0")
	refused(t, check{"", nnapi.Softmax, []arg{x, real(1), num(2)}, y, 0}, "input 2 (axis): axis 2 is outside")
	refused(t, check{"", nnapi.LocalResponseNormalization, []arg{x, num(-1), real(1), real(1), real(1)}, y, 0},
		"input 1 (radius)")
}

// sampled resizes one channel images [h,w] with a coordinate for each output cell.
func sampled(x []float64, in, out [2]int, nearest bool, align, half bool) []float64 {
	at := func(k, o int) (lo, hi int, weight float64) {
		scale := float64(in[k]) / float64(out[k])
		if align && out[k] > 1 {
			scale = float64(in[k]-1) / float64(out[k]-1)
		}
		v := float64(o) * scale
		if half {
			v = (float64(o) + 0.5) * scale
		}
		if nearest {
			i := int(math.Floor(v))
			if align {
				i = int(math.Round(v))
			}
			i = min(max(i, 0), in[k]-1)
			return i, i, 0
		}
		if half {
			v -= 0.5
		}
		lo = max(0, int(math.Floor(v)))
		return lo, min(int(math.Ceil(v)), in[k]-1), v - float64(lo)
	}
	var y []float64
	for i := range out[0] {
		for j := range out[1] {
			a, b, u := at(0, i)
			c, d, w := at(1, j)
			a, b = min(a, in[0]-1), max(b, 0)
			c, d = min(c, in[1]-1), max(d, 0)
			y = append(y, x[a*in[1]+c]*(1-u)*(1-w)+x[b*in[1]+c]*u*(1-w)+x[a*in[1]+d]*(1-u)*w+x[b*in[1]+d]*u*w)
		}
	}
	return y
}

func TestResize(t *testing.T) {
	x := noise(24, 12, -3, 3)
	for _, f := range forms {
		in := f.put(x, 1, 3, 4, 1)
		for _, size := range [][2]int{{6, 7}, {2, 3}, {3, 4}, {1, 1}} {
			for flags := range 3 {
				align, half := flags == 1, flags == 2
				more := []arg{flag(false), flag(align), flag(half)}
				for _, nearest := range []bool{false, true} {
					code := nnapi.ResizeBilinear
					if nearest {
						code = nnapi.ResizeNearestNeighbor
					}
					y := f.want(sampled(reals(in), [2]int{3, 4}, size, nearest, align, half), 1, uint32(size[0]), uint32(size[1]), 1)
					name := fmt.Sprint(f.name, size, flags)
					sizes := []arg{num(float64(size[1])), num(float64(size[0]))}
					check{name, code, args([]arg{in}, sizes, more), []arg{y}, 0}.run(t)
					// The factors leave a little more than the size.
					scales := []arg{f.scalar((float64(size[1]) + 0.25) / 4), f.scalar((float64(size[0]) + 0.25) / 3)}
					check{name + " by scale", code, args([]arg{in}, scales, more), []arg{y}, 0}.run(t)
					if flags == 0 && !nearest {
						check{name + " short", code, args([]arg{in}, sizes), []arg{y}, 0}.run(t)
					}
					more[0] = flag(true)
					check{name + " NCHW", code, args([]arg{nchw(in)}, sizes, more), []arg{nchw(y)}, 0}.run(t)
					check{name + " NCHW by scale", code, args([]arg{nchw(in)}, scales, more), []arg{nchw(y)}, 0}.run(t)
					more[0] = flag(false)
				}
			}
		}
	}
	in, y := f32(nil, 1, 3, 4, 1), []arg{f32(nil)}
	refused(t, check{"", nnapi.ResizeBilinear, []arg{in, num(0), num(2)}, y, 0}, "input 1 (output width): want 1 to")
	refused(t, check{"", nnapi.ResizeBilinear, []arg{in, real(0.1), real(1)}, y, 0},
		"input 1 (width scale): 0.1 times 4 cells")
	refused(t, check{"", nnapi.ResizeBilinear, []arg{in, num(2), num(2), flag(false), flag(true), flag(true)}, y, 0},
		"want one of them at most")
}
