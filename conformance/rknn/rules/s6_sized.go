package rules

import (
	"encoding/binary"
	"slices"

	"github.com/anynpu/anynpu/conformance/rknn"
)

const sizedWidth = 9

// sized is a model of x [1, c, n, 9] for several n with the value n, a real number.
func sized(c int) *model {
	two := binary.LittleEndian.AppendUint64(nil, 2)
	m := (&model{}).Constant("two", onnxInt64, two).Node("Shape", "s", "x").Node("Gather", "i", "s", "two")
	m.Op("Cast", []string{"n"}, []string{"i"}, rknn.Attrs{"to": onnxFloat})
	var shapes [][]int
	for _, n := range []int{9, 4, 6} {
		shapes = append(shapes, []int{1, c, n, sizedWidth})
	}
	return m.Input("x", onnxFloat, 1, int64(c), -1, sizedWidth).Meta("anynpu.input.x.shapes", shapes)
}

// counting are the numbers from 1.
func counting(n int) []byte {
	var b []byte
	for i := range n {
		b = append(b, rknn.RealBytes(float32(i+1))...)
	}
	return b
}

// ones are n ones.
func ones(n int) []byte {
	var b []byte
	for range n {
		b = append(b, rknn.RealBytes(1)...)
	}
	return b
}

// result says what y[channel, row, column] is for n rows of x.
type result func(x []float32, n, ch, row, col int) float32

// sizedFilter is y = f(x) times n times 1, 2, 3 and so on by channel, where f sums windows of size x size over the
// channels of a group. The factors are those of a product, or of a normalization.
func sizedFilter(op string, c, group, size int, normalized bool) (m *model, channels int, want result) {
	m, channels = sized(c), 6
	dims := []int64{6, int64(c / group), int64(size), int64(size)}
	if op == "ConvTranspose" {
		dims[0], dims[1] = int64(c), int64(6/group)
	}
	if group == c {
		channels, dims[0], dims[1] = c, int64(c), 1
	}
	m.Constant("w", onnxFloat, ones(int(dims[0]*dims[1]*dims[2]*dims[3])), dims...)
	pad, steps := size/2, []int64{1, int64(channels), 1, 1}
	m.Op(op, []string{"f"}, []string{"x", "w"}, rknn.Attrs{"group": group, "pads": []int{pad, pad, pad, pad}})
	if normalized {
		steps = steps[1:2]
	}
	m.Constant("k", onnxFloat, counting(channels), steps...).Node("Mul", "g", "k", "n")
	if normalized {
		m.Constant("o", onnxFloat, make([]byte, 4*channels), steps...).Constant("v", onnxFloat, ones(channels), steps...)
		m.Op("BatchNormalization", []string{"y"}, []string{"f", "g", "o", "o", "v"}, rknn.Attrs{"epsilon": float32(0)})
	} else {
		m.Node("Mul", "y", "f", "g")
	}
	m.Output("y", onnxFloat, 1, int64(channels), -1, sizedWidth)
	return m, channels, func(x []float32, n, ch, row, col int) float32 {
		sum, per := float32(0), c/group
		for in := ch * group / channels * per; in < (ch*group/channels+1)*per; in++ {
			for r := max(0, row-pad); r <= min(n-1, row+pad); r++ {
				for k := max(0, col-pad); k <= min(sizedWidth-1, col+pad); k++ {
					sum += x[(in*n+r)*sizedWidth+k]
				}
			}
		}
		return sum * float32(n*(ch+1))
	}
}

// inTurns computes x of several n one after the other, in one context, and demands y[channel, row, column].
func (t *T) inTurns(m *model, c, channels, width int, want result) {
	ctx := t.Open(m, 0)
	for _, n := range []int{9, 4, 6, 9, 4} {
		t.OK("set_input_shapes", ctx, 1, shapeAttr(0, nhwc, 1, uint32(n), sizedWidth, uint32(c)))
		x, pixels := make([]float32, c*n*sizedWidth), make([]float32, c*n*sizedWidth)
		for i := range x {
			x[i] = float32(i*7%11 - 5)
			pixels[i%(n*sizedWidth)*c+i/(n*sizedWidth)] = x[i]
		}
		t.Set(ctx, float32T, nhwc, pixels)
		t.Run(ctx)
		got := t.Floats(ctx)
		t.Check(len(got) == channels*n*width, "%d rows: %d elements", n, len(got))
		for i, v := range got {
			w := want(x, n, i/(n*width), i/width%n, i%width)
			t.Check(v == w, "%d rows: element %d is %g, want %g", n, i, v, w)
		}
	}
}

// squeezed is y = x [n, 2] without dimensions of size 1, for several n.
func squeezed(sizes ...int) *model {
	var shapes [][]int
	for _, n := range sizes {
		shapes = append(shapes, []int{n, 2})
	}
	m := (&model{}).Node("Squeeze", "y", "x").Input("x", onnxFloat, -1, 2).Unshaped("y", onnxFloat)
	return m.Meta("anynpu.input.x.shapes", shapes)
}

var sizedOperands = []*Rule{
	rule("6.eb_numbers_of_sizes", "numbers that a model computes of the sizes of its inputs are those of the shape that "+
		"is set, whatever was computed for others: second operands, and factors of filters").
		OK("products", func(t *T) {
			for _, columns := range []int{1, 7, 40} {
				m := sized(2).Constant("k", onnxFloat, counting(sizedWidth*columns), sizedWidth, int64(columns))
				m.Node("Mul", "p", "k", "n").Node("MatMul", "y", "x", "p").Output("y", onnxFloat, 1, 2, -1, int64(columns))
				t.inTurns(m, 2, 2, columns, func(x []float32, n, ch, row, col int) float32 {
					sum := float32(0)
					for k := range sizedWidth {
						sum += x[(ch*n+row)*sizedWidth+k] * float32(n*(k*columns+col+1))
					}
					return sum
				})
			}
		}).
		OK("filters", func(t *T) {
			for _, f := range []struct {
				op             string
				c, group, size int
			}{{"Conv", 2, 1, 1}, {"Conv", 2, 1, 3}, {"Conv", 16, 1, 3}, {"Conv", 4, 2, 1}, {"Conv", 6, 6, 3}, {"Conv", 6, 6, 1},
				{"ConvTranspose", 2, 1, 1}, {"ConvTranspose", 2, 1, 3}, {"ConvTranspose", 4, 2, 1}, {"ConvTranspose", 6, 6, 3}} {
				for _, normalized := range []bool{false, true} {
					m, channels, want := sizedFilter(f.op, f.c, f.group, f.size, normalized)
					t.inTurns(m, f.c, channels, sizedWidth, want)
				}
			}
		}).
		No("of_no_shape", func(t *T) {
			m, _, _ := sizedFilter("Conv", 2, 1, 1, false)
			t.Is(failed, "set_input_shapes", t.Open(m, 0), 1, shapeAttr(0, nhwc, 1, 5, sizedWidth, 2))
		}),
	rule("6.ec_rank_of_results", "an output whose number of dimensions follows from the sizes of inputs has that of the "+
		"listed shapes, which must be the same for all").
		OK("of_all_shapes", func(t *T) {
			for _, sizes := range [][]int{{2, 3}, {3, 2}, {1, 1}, {4}} {
				ctx := t.Open(squeezed(sizes...), 0)
				for _, n := range sizes {
					if len(sizes) > 1 {
						t.OK("set_input_shapes", ctx, 1, shapeAttr(0, undefined, uint32(n), 2))
					}
					want := []uint32{uint32(n), 2}
					if n == 1 {
						want = want[1:]
					}
					got := t.Attr(ctx, queryCurrentOutput, 0).Shape()
					t.Check(slices.Equal(got, want), "%v: dims %v for %d rows, want %v", sizes, got, n, want)
					x := slices.Repeat([]float32{5, -7}, n)
					t.Set(ctx, float32T, undefined, x)
					t.Computes(ctx, x...)
				}
			}
		}).
		No("of_some", func(t *T) {
			for _, sizes := range [][]int{{1, 3}, {3, 1}, {2, 1, 3}} {
				t.refusedModel(squeezed(sizes...).Bytes())
			}
		}),
}
