package rules

import (
	"math"

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

// planRules are about what each execution decides for itself: which inputs there are, and what scalars say.
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
			t.Bad("Execution_setInput", t.Execution(t.turned()), 1, t.Type(nnapi.TensorInt32, 0), nil, 0)
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
		No("wrong_value", func(t *T) {
			e, beta, _ := t.soften(t.softened())
			beta[0] = -1
			t.Is(nnapi.OpFailed, "Execution_compute", e)
			beta[0] = 1
			t.OK("Execution_compute", e)
		}),
}
