package rules

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/conformance/nnapi"
)

// turned is a compilation of TRANSPOSE for [2,3] whose permutation is an input, declared with dimensions [0].
func (t *T) turned() uintptr {
	m := t.Model()
	x, perm := m.Operand(nnapi.TensorFloat32, 2, 3), m.Operand(nnapi.TensorInt32, 0)
	y := m.Operand(nnapi.TensorFloat32, 0, 0)
	m.Operation("TRANSPOSE", []uint32{x, perm}, []uint32{y})
	m.Identify(nnapi.NoError, []uint32{x, perm}, []uint32{y})
	return t.Compiled(m.Finish())
}

// turn computes turned's compilation, with the permutation [0,1] or without one.
func (t *T) turn(compilation uintptr, given bool) []float32 {
	e, out := t.Execution(compilation), make([]float32, 6)
	t.Keep(out)
	t.OK("Execution_setInput", e, 0, nil, []float32{1, 2, 3, 4, 5, 6}, 24)
	if given {
		t.OK("Execution_setInput", e, 1, t.Type(nnapi.TensorInt32, 2), []int32{0, 1}, 8)
	} else {
		t.OK("Execution_setInput", e, 1, nil, nil, 0)
	}
	t.OK("Execution_setOutput", e, 0, nil, out, 24)
	t.OK("Execution_compute", e)
	return out
}

// softened is a compilation of SOFTMAX for [1,2] whose beta is an input.
func (t *T) softened() uintptr {
	m := t.Model()
	x, beta, y := m.Operand(nnapi.TensorFloat32, 1, 2), m.Operand(nnapi.Float32), m.Operand(nnapi.TensorFloat32, 1, 2)
	m.Operation("SOFTMAX", []uint32{x, beta}, []uint32{y})
	m.Identify(nnapi.NoError, []uint32{x, beta}, []uint32{y})
	return t.Compiled(m.Finish())
}

// soften binds a reusable execution of softened's compilation for [0,1]; its beta can be changed.
func (t *T) soften(compilation uintptr) (e uintptr, beta, out []float32) {
	e, beta, out = t.Execution(compilation), make([]float32, 1), make([]float32, 2)
	t.Keep(beta)
	t.Keep(out)
	t.OK("Execution_setReusable", e, true)
	t.OK("Execution_setInput", e, 0, nil, []float32{0, 1}, 8)
	t.OK("Execution_setInput", e, 1, nil, beta, 4)
	t.OK("Execution_setOutput", e, 0, nil, out, 8)
	return e, beta, out
}

// threefold is a compilation of SOFTMAX, FILL and PAD_V2, which have one scalar, an input: what the first multiplies
// with and the others put in.
func (t *T) threefold() uintptr {
	m := t.Model()
	x, dims, v := m.Operand(nnapi.TensorFloat32, 1, 2), m.Operand(nnapi.TensorInt32, 1), m.Operand(nnapi.Float32)
	around := nnapi.Value(m, m.Operand(nnapi.TensorInt32, 2, 2), [4]int32{0, 0, 1, 1})
	y := []uint32{m.Operand(nnapi.TensorFloat32, 1, 2), m.Operand(nnapi.TensorFloat32, 0),
		m.Operand(nnapi.TensorFloat32, 1, 4)}
	m.Operation("SOFTMAX", []uint32{x, v}, y[:1])
	m.Operation("FILL", []uint32{dims, v}, y[1:2])
	m.Operation("PAD_V2", []uint32{x, around, v}, y[2:])
	m.Identify(nnapi.NoError, []uint32{x, dims, v}, y)
	return t.Compiled(m.Finish())
}

// putIn binds a reusable execution of threefold's compilation for [0,1], whose scalar can be changed.
func (t *T) putIn(compilation uintptr) (e uintptr, value []float32, outs [3][]float32) {
	e, value = t.Execution(compilation), make([]float32, 1)
	t.Keep(value)
	t.OK("Execution_setReusable", e, true)
	t.OK("Execution_setInput", e, 0, nil, []float32{0, 1}, 8)
	t.OK("Execution_setInput", e, 1, nil, []int32{3}, 4)
	t.OK("Execution_setInput", e, 2, nil, value, 4)
	for k, n := range []int{2, 3, 4} {
		outs[k] = make([]float32, n)
		t.Keep(outs[k])
		t.OK("Execution_setOutput", e, k, nil, outs[k], 4*n)
	}
	return e, value, outs
}

// oemScalar is the type of vendors' scalars in NeuralNetworksOEM.h.
const oemScalar = 10000

// sized are n dimensions of size 2.
func sized(n int) []uint32 { return slices.Repeat([]uint32{2}, n) }

// pack adds PACK of a tensor [2] with scale 0.5 and zero point 1 and one with the scale, zero point and rank given,
// with those of the output.
func (t *T) pack(want int, scale float32, zero int32, outScale float32, outZero int32, rank, outRank int) {
	m := t.Model()
	x := m.Add(t.Quantized(nnapi.TensorQuant8Asymm, 0.5, 1, 2))
	y := m.Add(t.Quantized(nnapi.TensorQuant8Asymm, scale, zero, sized(rank)...))
	out := m.Add(t.Quantized(nnapi.TensorQuant8Asymm, outScale, outZero, sized(outRank)...))
	m.Operates(want, "PACK", []uint32{m.Scalar(0), x, y}, []uint32{out})
}

// reverse adds REVERSE of a tensor [2,2] with scale 0.5 and zero point 1.
func (t *T) reverse(want int, scale float32, zero int32, rank int) {
	m := t.Model()
	x := m.Add(t.Quantized(nnapi.TensorQuant8Asymm, 0.5, 1, 2, 2))
	axis := nnapi.Value(m, m.Operand(nnapi.TensorInt32, 1), int32(0))
	out := m.Add(t.Quantized(nnapi.TensorQuant8Asymm, scale, zero, sized(rank)...))
	m.Operates(want, "REVERSE", []uint32{x, axis}, []uint32{out})
}

// divided is a model of DIV of TENSOR_INT32 [2] by another.
func (t *T) divided() uintptr {
	m := t.Model()
	a, b, y := m.Operand(nnapi.TensorInt32, 2), m.Operand(nnapi.TensorInt32, 2), m.Operand(nnapi.TensorInt32, 2)
	m.Operation("DIV", []uint32{a, b, m.Scalar(0)}, []uint32{y})
	m.Identify(nnapi.NoError, []uint32{a, b}, []uint32{y})
	return m.Finish()
}

// shrunk is a compilation of STRIDED_SLICE of [3,2] from row 1 to an end, whose rows are dropped.
func (t *T) shrunk(end int32) uintptr {
	m := t.Model()
	list := func(v ...int32) uint32 { return nnapi.Value(m, m.Operand(nnapi.TensorInt32, 2), v...) }
	x, y := m.Operand(nnapi.TensorFloat32, 3, 2), m.Operand(nnapi.TensorFloat32, 2)
	m.Operation("STRIDED_SLICE", []uint32{x, list(1, 0), list(end, 2), list(1, 1), m.Scalar(0), m.Scalar(0), m.Scalar(1)},
		[]uint32{y})
	m.Identify(nnapi.NoError, []uint32{x}, []uint32{y})
	return t.Alone(m.Finish())
}

// planRules are about what each execution decides for itself, which inputs there are and what scalars say, and about
// values and operations that are judged before.
var planRules = []*Rule{
	rule("5.x_left_out", "NULL with length 0 leaves an optional input out of one execution").
		OK("alternating", func(t *T) {
			c := t.turned()
			for i := range 6 {
				want := []float32{1, 4, 2, 5, 3, 6}
				if i%2 == 1 {
					want = []float32{1, 2, 3, 4, 5, 6}
				}
				got := t.turn(c, i%2 == 1)
				for k := range want {
					t.Check(got[k] == want[k], "execution %d: got %v, want %v", i, got, want)
				}
			}
		}).
		OK("alternating_beside_a_scalar", func(t *T) {
			m := t.Model()
			x, perm := m.Operand(nnapi.TensorFloat32, 2, 3), m.Operand(nnapi.TensorInt32, 2)
			beta, y, z := m.Operand(nnapi.Float32), m.Operand(nnapi.TensorFloat32, 0, 0), m.Operand(nnapi.TensorFloat32, 2, 3)
			m.Operation("TRANSPOSE", []uint32{x, perm}, []uint32{y})
			m.Operation("SOFTMAX", []uint32{x, beta}, []uint32{z})
			m.Identify(nnapi.NoError, []uint32{x, perm, beta}, []uint32{y, z})
			c := t.Compiled(m.Finish())
			for i := range 8 {
				e, got, soft := t.Execution(c), make([]float32, 6), make([]float32, 6)
				t.Keep(got)
				t.Keep(soft)
				want := []float32{1, 4, 2, 5, 3, 6}
				t.OK("Execution_setInput", e, 0, nil, []float32{1, 2, 3, 4, 5, 6}, 24)
				if i%2 == 1 {
					want = []float32{1, 2, 3, 4, 5, 6}
					t.OK("Execution_setInput", e, 1, nil, []int32{0, 1}, 8)
				} else {
					t.OK("Execution_setInput", e, 1, nil, nil, 0)
				}
				t.OK("Execution_setInput", e, 2, nil, []float32{float32(i/3 + 1)}, 4)
				t.OK("Execution_setOutput", e, 0, nil, got, 24)
				t.OK("Execution_setOutput", e, 1, nil, soft, 24)
				t.OK("Execution_compute", e)
				t.Check(slices.Equal(got, want), "execution %d: got %v, want %v", i, got, want)
				b := float64(i/3 + 1)
				first := 1 / (1 + math.Exp(b) + math.Exp(2*b))
				t.Check(math.Abs(float64(soft[0])-first) < 1e-5, "execution %d: got %v, want %v", i, soft[0], first)
			}
		}).
		No("required", func(t *T) {
			e := t.Execution(t.turned())
			out := make([]float32, 6)
			t.Keep(out)
			t.OK("Execution_setInput", e, 0, nil, nil, 0)
			t.OK("Execution_setInput", e, 1, nil, nil, 0)
			t.OK("Execution_setOutput", e, 0, nil, out, 24)
			t.Is(nnapi.OpFailed, "Execution_compute", e)
		}).
		No("open_type", func(t *T) {
			m := t.Model()
			x, perm, y := m.Operand(nnapi.TensorFloat32, 2, 3), m.Operand(nnapi.TensorInt32, 2),
				m.Operand(nnapi.TensorFloat32, 3, 2)
			m.Operation("TRANSPOSE", []uint32{x, perm}, []uint32{y})
			m.Identify(nnapi.NoError, []uint32{x, perm}, []uint32{y})
			t.Bad("Execution_setInput", t.Execution(t.Compiled(m.Finish())), 1, t.Type(nnapi.TensorInt32, 0), nil, 0)
		}),
	rule("3.ac_vendors_scalars", "the value of an OEM_SCALAR has any size").
		OK("sizes", func(t *T) {
			for _, n := range []int{1, 3, 8, 128, 129, 1000} {
				m := t.Sum(2)
				v := make([]byte, n)
				t.Keep(v)
				t.OK("Model_setOperandValue", m.Handle, m.Operand(oemScalar), v, n)
				r := t.Bound(t.Compiled(m.Finish()), 2)
				t.OK("Execution_compute", r.Handle)
				t.Right(r)
			}
		}).
		No("null", func(t *T) {
			m := t.Sum(2)
			t.NullPointer("Model_setOperandValue", m.Handle, m.Operand(oemScalar), nil, 4)
		}).
		No("nothing", func(t *T) {
			m := t.Sum(2)
			t.Bad("Model_setOperandValue", m.Handle, m.Operand(oemScalar), []byte{1}, 0)
		}),
	rule("3.ad_alike", "PACK and REVERSE keep scale, zero point and rank").
		OK("alike", func(t *T) {
			t.pack(nnapi.NoError, 0.5, 1, 0.5, 1, 1, 2)
			t.reverse(nnapi.NoError, 0.5, 1, 2)
		}).
		No("pack", func(t *T) {
			t.pack(nnapi.BadData, 0.25, 1, 0.5, 1, 1, 2)
			t.pack(nnapi.BadData, 0.5, 2, 0.5, 1, 1, 2)
			t.pack(nnapi.BadData, 0.5, 1, 0.25, 1, 1, 2)
			t.pack(nnapi.BadData, 0.5, 1, 0.5, 0, 1, 2)
			t.pack(nnapi.BadData, 0.5, 1, 0.5, 1, 2, 2)
			t.pack(nnapi.BadData, 0.5, 1, 0.5, 1, 1, 1)
		}).
		No("reverse", func(t *T) {
			t.reverse(nnapi.BadData, 0.25, 1, 2)
			t.reverse(nnapi.BadData, 0.5, 0, 2)
			t.reverse(nnapi.BadData, 0.5, 1, 1)
		}),
	rule("5.ya_division_by_zero", "DIV of TENSOR_INT32 by 0 is no error of the computation").
		OK("computed", func(t *T) {
			e, y := t.Execution(t.Compiled(t.divided())), make([]int32, 2)
			t.Keep(y)
			t.OK("Execution_setInput", e, 0, nil, []int32{7, -7}, 8)
			t.OK("Execution_setInput", e, 1, nil, []int32{0, 2}, 8)
			t.OK("Execution_setOutput", e, 0, nil, y, 8)
			t.OK("Execution_compute", e)
			t.Check(y[1] == -4, "-7 by 2 is %d, want -4: quotients are rounded down", y[1])
		}).
		No("other_types", func(t *T) {
			m := t.Model()
			a, y := m.Operand(nnapi.TensorInt32, 2), m.Operand(nnapi.TensorFloat32, 2)
			m.Operates(nnapi.BadData, "DIV", []uint32{a, a, m.Scalar(0)}, []uint32{y})
		}),
	rule("5.yb_dropped_sizes", "STRIDED_SLICE drops dimensions of size 1 alone").
		OK("one", func(t *T) {
			c := t.shrunk(2)
			t.OK("Compilation_finish", c)
			e, y := t.Execution(c), make([]float32, 2)
			t.Keep(y)
			t.OK("Execution_setInput", e, 0, nil, []float32{1, 2, 3, 4, 5, 6}, 24)
			t.OK("Execution_setOutput", e, 0, nil, y, 8)
			t.OK("Execution_compute", e)
			t.Check(slices.Equal(y, []float32{3, 4}), "got %v, want [3 4]", y)
		}).
		No("two", func(t *T) {
			c := t.shrunk(3)
			if code := t.Code("Compilation_finish", c); code != nnapi.NoError {
				t.Check(code == nnapi.OpFailed, "ANeuralNetworksCompilation_finish returns %d, want OP_FAILED", code)
				t.Judged(false)
				return
			}
			e, y := t.Execution(c), make([]float32, 2)
			t.Keep(y)
			t.OK("Execution_setInput", e, 0, nil, []float32{1, 2, 3, 4, 5, 6}, 24)
			t.OK("Execution_setOutput", e, 0, nil, y, 8)
			t.Is(nnapi.OpFailed, "Execution_compute", e)
		}),
	rule("3.ae_floor_division", "DIV of TENSOR_INT32 rounds down, whether a model or an execution gives the divisors").
		OK("divisors", func(t *T) {
			for _, divisors := range [][]int32{{3, -3, 7, -1}, {1 << 30, -2, 5, 256}} {
				for _, given := range []bool{false, true} {
					m := t.Model()
					x, by := m.Operand(nnapi.TensorInt32, 4), m.Operand(nnapi.TensorInt32, 4)
					y, inputs := m.Operand(nnapi.TensorInt32, 4), []uint32{x}
					if given {
						inputs = append(inputs, by)
					} else {
						nnapi.Value(m, by, [4]int32(divisors))
					}
					m.Operation("DIV", []uint32{x, by, m.Scalar(0)}, []uint32{y})
					m.Identify(nnapi.NoError, inputs, []uint32{y})
					e, got := t.Execution(t.Compiled(m.Finish())), make([]int32, 4)
					t.Keep(got)
					values := []int32{-7, 7, 100, -65536}
					t.OK("Execution_setInput", e, 0, nil, values, 16)
					if given {
						t.OK("Execution_setInput", e, 1, nil, divisors, 16)
					}
					t.OK("Execution_setOutput", e, 0, nil, got, 16)
					t.OK("Execution_compute", e)
					for i, v := range values {
						want := int32(math.Floor(float64(v) / float64(divisors[i])))
						t.Check(got[i] == want, "%d by %d: got %d, want %d", v, divisors[i], got[i], want)
					}
				}
			}
		}).
		No("of_reals", func(t *T) {
			m := t.Model()
			x, by, y := m.Operand(nnapi.TensorInt32, 4), m.Operand(nnapi.TensorFloat32, 4), m.Operand(nnapi.TensorInt32, 4)
			m.Operates(nnapi.BadData, "DIV", []uint32{x, by, m.Scalar(0)}, []uint32{y})
		}),
	rule("5.y_scalars_anew", "each computation reads its scalars anew").
		OK("two_values", func(t *T) {
			e, beta, out := t.soften(t.softened())
			for _, b := range []float32{1, 2, 0.5, 2, 1} {
				beta[0] = b
				t.OK("Execution_compute", e)
				want := 1 / (1 + math.Exp(-float64(b)))
				t.Check(math.Abs(float64(out[1])-want) < 1e-5, "beta %v: got %v, want %v", b, out[1], want)
			}
		}).
		OK("many_values", func(t *T) {
			e, beta, out := t.soften(t.softened())
			for i := range 100 {
				beta[0] = float32(i+1) / 50
				t.OK("Execution_compute", e)
				want := 1 / (1 + math.Exp(-float64(beta[0])))
				t.Check(math.Abs(float64(out[1])-want) < 1e-5, "beta %v: got %v, want %v", beta[0], out[1], want)
			}
		}).
		OK("executions_in_turns", func(t *T) {
			c := t.threefold()
			var executions [3]uintptr
			var values [3][]float32
			var outs [3][3][]float32
			for k := range executions {
				executions[k], values[k], outs[k] = t.putIn(c)
			}
			for i, v := range []float32{3, 5, 3, 5, 5, 7, 3, 3} {
				for k := range executions {
					v := v + float32(2*(i*k%3)) // they have the same ones, at other times
					values[k][0] = v
					t.OK("Execution_compute", executions[k])
					t.Check(slices.Equal(outs[k][1], []float32{v, v, v}) && slices.Equal(outs[k][2], []float32{v, 0, 1, v}),
						"turn %d, execution %d, scalar %g: got %v and %v", i, k, v, outs[k][1], outs[k][2])
					soft := 1 / (1 + math.Exp(-float64(v)))
					t.Check(math.Abs(float64(outs[k][0][1])-soft) < 1e-5, "turn %d, execution %d, scalar %g: got %v, want %v",
						i, k, v, outs[k][0][1], soft)
				}
			}
		}).
		No("wrong_value", func(t *T) {
			e, beta, _ := t.soften(t.softened())
			beta[0] = -1
			t.Is(nnapi.OpFailed, "Execution_compute", e)
			beta[0] = 1
			t.OK("Execution_compute", e)
		}),
}
