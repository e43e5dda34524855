package rules

import (
	"math"
	"slices"
	"time"

	"github.com/anynpu/anynpu/conformance/nnapi"
)

// one is a tensor of one INT32.
func one(m *nnapi.Model) uint32 { return m.Operand(nnapi.TensorInt32, 1) }

// adding is a finished model y = x + k of one INT32.
func (t *T) adding(k int32) uintptr {
	m := t.Model()
	x, y := one(m), one(m)
	m.Operation("ADD", []uint32{x, nnapi.Value(m, one(m), k), m.Scalar(0)}, []uint32{y})
	m.Identify(nnapi.NoError, []uint32{x}, []uint32{y})
	return m.Finish()
}

// below is a finished model y = x < k.
func (t *T) below(k int32) uintptr {
	m := t.Model()
	x, y := one(m), m.Operand(nnapi.TensorBool8, 1)
	m.Operation("LESS", []uint32{x, nnapi.Value(m, one(m), k)}, []uint32{y})
	m.Identify(nnapi.NoError, []uint32{x}, []uint32{y})
	return m.Finish()
}

// loop is a compilation of WHILE (x < n) x = x + k.
func (t *T) loop(n, k int32) uintptr {
	m := t.Model()
	cond, body, x, y := m.Sub(t.below(n)), m.Sub(t.adding(k)), one(m), one(m)
	m.Operation("WHILE", []uint32{cond, body, x}, []uint32{y})
	m.Identify(nnapi.NoError, []uint32{x}, []uint32{y})
	return t.Compiled(m.Finish())
}

// started is an execution of a loop from x on, and where the result will be.
func (t *T) started(c uintptr, x int32) (e uintptr, y []int32) {
	y = make([]int32, 1)
	e = t.Execution(c)
	t.counts(e, []int32{x}, y)
	return e, y
}

// counts gives an execution of a loop its input and its output.
func (t *T) counts(e uintptr, x, y []int32) {
	t.Keep(x)
	t.Keep(y)
	t.OK("Execution_setInput", e, 0, nil, x, 4)
	t.OK("Execution_setOutput", e, 0, nil, y, 4)
}

// limited is a reusable execution, with a time limit, of a loop that counts from x[0] to 7, into y[0].
func (t *T) limited(limit time.Duration) (e uintptr, x, y []int32) {
	x, y = []int32{0}, []int32{0}
	e = t.Execution(t.loop(7, 1))
	t.OK("Execution_setReusable", e, true)
	t.OK("Execution_setTimeout", e, uint64(limit))
	t.OK("Execution_setLoopTimeout", e, uint64(15*time.Second))
	t.counts(e, x, y)
	return e, x, y
}

// inTime computes, again where a busy machine does not compute within the limit.
func (t *T) inTime(e uintptr) {
	const tries = 20
	for range tries {
		if code := t.Code("Execution_compute", e); code == nnapi.NoError {
			return
		} else if code != nnapi.MissedTransient && code != nnapi.MissedPersistent {
			t.Failf("Execution_compute: %s", t.API.CodeName(code))
		}
	}
	t.Failf("Execution_compute misses its deadline %d times", tries)
}

// choice is an open model IF c then x + 1 else x + 2, with the operands c, then, else, x and y.
func (t *T) choice() (m *nnapi.Model, operands []uint32) {
	m = t.Model()
	operands = []uint32{m.Operand(nnapi.TensorBool8, 1), m.Sub(t.adding(1)), m.Sub(t.adding(2)), one(m), one(m)}
	return m, operands
}

var control = []*Rule{
	rule("8.a_if", "IF computes the model that its condition chooses").
		OK("both", func(t *T) {
			m, o := t.choice()
			m.Operation("IF", o[:4], o[4:])
			m.Identify(nnapi.NoError, []uint32{o[0], o[3]}, o[4:])
			c := t.Compiled(m.Finish())
			for _, cond := range []uint8{0, 1} {
				e, x, y := t.Execution(c), []int32{10}, []int32{0}
				t.Keep(y)
				t.OK("Execution_setInput", e, 0, nil, []uint8{cond}, 1)
				t.OK("Execution_setInput", e, 1, nil, x, 4)
				t.OK("Execution_setOutput", e, 0, nil, y, 4)
				t.OK("Execution_compute", e)
				t.Check(y[0] == 12-int32(cond), "condition %d gives %d", cond, y[0])
			}
		}).
		No("condition", func(t *T) {
			m, o := t.choice()
			m.Operates(nnapi.BadData, "IF", []uint32{o[3], o[1], o[2], o[3]}, o[4:])
			two := m.Operand(nnapi.TensorBool8, 2)
			m.Operates(nnapi.BadData, "IF", []uint32{two, o[1], o[2], o[3]}, o[4:])
		}),
	rule("8.b_if_signature", "the models of IF take and give what IF does").
		OK("same", func(t *T) {
			m, o := t.choice()
			m.Operation("IF", o[:4], o[4:])
		}).
		No("counts", func(t *T) {
			m, o := t.choice()
			m.Operates(nnapi.BadData, "IF", o[:3], o[4:])
			m.Operates(nnapi.BadData, "IF", append(slices.Clone(o[:4]), o[3]), o[4:])
			m.Operates(nnapi.BadData, "IF", o[:4], []uint32{o[4], one(m)})
		}).
		No("types", func(t *T) {
			m, o := t.choice()
			k := m.Operand(nnapi.TensorFloat32, 1)
			m.Operates(nnapi.BadData, "IF", []uint32{o[0], o[1], o[2], k}, o[4:])
			m.Operates(nnapi.BadData, "IF", o[:4], []uint32{k})
		}).
		No("dimensions", func(t *T) {
			m, o := t.choice()
			m.Operates(nnapi.BadData, "IF", []uint32{o[0], o[1], o[2], m.Operand(nnapi.TensorInt32, 2)}, o[4:])
		}),
	rule("8.ba_if_left_out", "an optional input that IF leaves out is left out in its models there, and only there").
		OK("one_of_two", func(t *T) {
			turn := t.Model()
			x, perm := turn.Operand(nnapi.TensorFloat32, 2, 2), turn.Operand(nnapi.TensorInt32, 2)
			y := turn.Operand(nnapi.TensorFloat32, 2, 2)
			turn.Operation("TRANSPOSE", []uint32{x, perm}, []uint32{y})
			turn.Identify(nnapi.NoError, []uint32{x, perm}, []uint32{y})
			model := turn.Finish()
			for _, order := range [][]bool{{true, false}, {false, true}} { // which of two leaves it out
				m := t.Model()
				c, x := m.Operand(nnapi.TensorBool8, 1), m.Operand(nnapi.TensorFloat32, 2, 2)
				var outs []uint32
				for _, none := range order {
					perm, y := m.Operand(nnapi.TensorInt32, 2), m.Operand(nnapi.TensorFloat32, 2, 2)
					if none {
						t.OK("Model_setOperandValue", m.Handle, perm, nil, 0)
					} else {
						nnapi.Value(m, perm, [2]int32{0, 1})
					}
					m.Operation("IF", []uint32{c, m.Sub(model), m.Sub(model), x, perm}, []uint32{y})
					outs = append(outs, y)
				}
				m.Identify(nnapi.NoError, []uint32{c, x}, outs)
				e := t.Execution(t.Compiled(m.Finish()))
				t.OK("Execution_setInput", e, 0, nil, []uint8{1}, 1)
				t.OK("Execution_setInput", e, 1, nil, []float32{1, 2, 3, 4}, 16)
				got := [][]float32{make([]float32, 4), make([]float32, 4)}
				for i := range got {
					t.Keep(got[i])
					t.OK("Execution_setOutput", e, i, nil, got[i], 16)
				}
				t.OK("Execution_compute", e)
				for i, none := range order {
					want := []float32{1, 2, 3, 4}
					if none {
						want = []float32{1, 3, 2, 4}
					}
					t.Check(slices.Equal(got[i], want), "%v: result %d is %v, want %v", order, i, got[i], want)
				}
			}
		}).
		No("of_another_type", func(t *T) {
			m, o := t.choice()
			none := m.Operand(nnapi.TensorFloat32, 1)
			t.OK("Model_setOperandValue", m.Handle, none, nil, 0)
			m.Operates(nnapi.BadData, "IF", []uint32{o[0], o[1], o[2], none}, o[4:])
		}),
	rule("8.c_set_before", "models are set on their operands before IF and WHILE are added").
		OK("set", func(t *T) {
			m, o := t.choice()
			m.Operation("IF", o[:4], o[4:])
		}).
		No("not_set", func(t *T) {
			m, o := t.choice()
			m.Operates(nnapi.BadData, "IF", []uint32{o[0], o[1], m.Operand(nnapi.ModelOperand), o[3]}, o[4:])
			m.Operates(nnapi.BadData, "WHILE", []uint32{m.Operand(nnapi.ModelOperand), o[1], o[3]}, o[4:])
		}),
	rule("8.d_while", "WHILE computes its body while its condition is true").
		OK("trips", func(t *T) {
			c := t.loop(7, 3)
			for x, want := range map[int32]int32{0: 9, 1: 7, 6: 9} {
				e, y := t.started(c, x)
				t.OK("Execution_compute", e)
				t.Check(y[0] == want, "from %d: %d, want %d", x, y[0], want)
			}
		}).
		No("condition", func(t *T) {
			m := t.Model()
			cond, body, x, y := m.Sub(t.adding(1)), m.Sub(t.adding(1)), one(m), one(m)
			m.Operates(nnapi.BadData, "WHILE", []uint32{cond, body, x}, []uint32{y})
		}),
	rule("8.e_no_trip", "without a trip the outputs of WHILE are the initial values").
		OK("initial", func(t *T) {
			e, y := t.started(t.loop(7, 3), 70)
			t.OK("Execution_compute", e)
			t.Check(y[0] == 70, "got %d", y[0])
		}).
		No("inputs", func(t *T) {
			m := t.Model()
			cond, body, y := m.Sub(t.below(7)), m.Sub(t.adding(3)), one(m)
			m.Operates(nnapi.BadData, "WHILE", []uint32{cond, body}, []uint32{y})
		}),
	rule("8.f_loop_limit", "a loop that exceeds its limit has missed its deadline").
		OK("in_time", func(t *T) {
			e, y := t.started(t.loop(1000, 1), 0)
			t.OK("Execution_setLoopTimeout", e, uint64(15e9))
			t.OK("Execution_compute", e)
			t.Check(y[0] == 1000, "got %d", y[0])
		}).
		No("at_once", func(t *T) {
			e, _ := t.started(t.loop(math.MaxInt32, 1), 0)
			t.OK("Execution_setLoopTimeout", e, 0)
			t.missed("Execution_compute", e)
		}).
		No("endless", func(t *T) {
			e, _ := t.started(t.loop(math.MaxInt32, 0), 0)
			t.OK("Execution_setLoopTimeout", e, uint64(2e7))
			t.missed("Execution_compute", e)
		}),
	rule("8.g_shared", "a model may be the value of several operands, of several models").
		OK("twice", func(t *T) {
			sub := t.adding(1)
			m := t.Model()
			cond, a, b := m.Operand(nnapi.TensorBool8, 1), m.Sub(sub), m.Sub(sub)
			x, y := one(m), one(m)
			m.Operation("IF", []uint32{cond, a, b, x}, []uint32{y})
			m.Identify(nnapi.NoError, []uint32{cond, x}, []uint32{y})
			t.Compiled(m.Finish())
			t.Model().Sub(sub)
		}).
		No("itself", func(t *T) {
			m := t.Model()
			t.WrongState("Model_setOperandValueFromModel", m.Handle, m.Operand(nnapi.ModelOperand), m.Handle)
		}),
	rule("8.h_model_operands", "only MODEL operands take models, and they take nothing else").
		OK("model", func(t *T) { t.Model().Sub(t.adding(1)) }).
		No("tensor", func(t *T) { t.Bad("Model_setOperandValueFromModel", rich(t), spare, finished(t)) }).
		No("value", func(t *T) {
			t.Bad("Model_setOperandValue", rich(t), nested, value, 8)
			t.Bad("Model_setOperandValueFromMemory", rich(t), nested, pool(t), 0, 8)
		}),
	rule("8.i_finished_values", "the value of a MODEL operand is a finished and valid model").
		OK("finished", func(t *T) { t.OK("Model_setOperandValueFromModel", rich(t), nested, finished(t)) }).
		No("open", func(t *T) { t.WrongState("Model_setOperandValueFromModel", rich(t), nested, sum(t)) }).
		No("invalid", func(t *T) { t.WrongState("Model_setOperandValueFromModel", rich(t), nested, invalid(t)) }),
}

// zeros: tensors of size zero inside a model (section 9).
var zeros = []*Rule{
	rule("9.a_zero_output", "a result without elements is one of size zero").
		OK("slice", func(t *T) {
			m := t.Model()
			x, y := m.Operand(nnapi.TensorFloat32, 2), m.Operand(nnapi.TensorFloat32, 0)
			begin := nnapi.Value[int32](m, one(m), 0)
			size := one(m)
			m.Operation("SLICE", []uint32{x, begin, size}, []uint32{y})
			m.Identify(nnapi.NoError, []uint32{x, size}, []uint32{y})
			e, out, sizes := t.Execution(t.Compiled(m.Finish())), []float32{9}, []uint32{77}
			t.Keep(out)
			t.OK("Execution_setInput", e, 0, nil, value, 8)
			t.OK("Execution_setInput", e, 1, nil, []int32{0}, 4)
			t.OK("Execution_setOutput", e, 0, nil, out, 4)
			t.OK("Execution_compute", e)
			t.OK("Execution_getOutputOperandDimensions", e, 0, sizes)
			t.Check(sizes[0] == 0 && out[0] == 9, "dimensions %v, memory %v", sizes, out)
		}).
		No("input", func(t *T) {
			e := t.Execution(t.Compiled(t.Sum(0).Finish()))
			t.Bad("Execution_setInput", e, 0, t.Type(nnapi.TensorFloat32, 0), value, 8)
		}),
}
