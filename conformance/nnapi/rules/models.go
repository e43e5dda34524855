package rules

import (
	"fmt"
	"math"

	"github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/suite"
)

// suiteT is what threads of a case run with.
type suiteT = suite.T

// scalars and tensors are the types of the API.
var (
	scalars = []int32{nnapi.Float32, nnapi.Int32, nnapi.Uint32, nnapi.Bool, nnapi.Float16, nnapi.ModelOperand}
	plain   = []int32{nnapi.TensorFloat32, nnapi.TensorInt32, nnapi.TensorFloat16, nnapi.TensorBool8}
)

// A quantized type and its zero points.
type quantized struct {
	name     string
	code     int32
	min, max int32
}

var quantizedTypes = []quantized{
	{"QUANT8_ASYMM", nnapi.TensorQuant8Asymm, 0, 255},
	{"QUANT16_SYMM", nnapi.TensorQuant16Symm, 0, 0},
	{"QUANT16_ASYMM", nnapi.TensorQuant16Asymm, 0, 65535},
	{"QUANT8_SYMM", nnapi.TensorQuant8Symm, 0, 0},
	{"QUANT8_ASYMM_SIGNED", nnapi.TensorQuant8AsymmSigned, -128, 127},
}

// quantization: what scale and zero point of each quantized type may be (section 3, and the types notes).
func quantization() (list []*Rule) {
	for i, q := range quantizedTypes {
		list = append(list, rule(letters("3.q", i)+"_"+q.name, fmt.Sprintf("TENSOR_%s has a scale above 0 and a zero point "+
			"from %d to %d", q.name, q.min, q.max)).
			OK("ends", func(t *T) {
				m := t.Model()
				m.Add(t.Quantized(q.code, 0.5, q.min, 2))
				m.Add(t.Quantized(q.code, 1e-6, q.max, 2))
			}).
			No("scale", func(t *T) {
				m := t.Model()
				for _, scale := range []float32{0, -1, float32(math.NaN()), float32(math.Inf(-1))} {
					t.Bad("Model_addOperand", m.Handle, t.Quantized(q.code, scale, q.min, 2))
				}
			}).
			No("zero_point", func(t *T) {
				m := t.Model()
				t.Bad("Model_addOperand", m.Handle, t.Quantized(q.code, 1, q.min-1, 2))
				t.Bad("Model_addOperand", m.Handle, t.Quantized(q.code, 1, q.max+1, 2))
			}))
	}
	return list
}

// dims is a type whose list of dimensions and count do not fit.
func dims(t *T, count uint32, at []uint32) *nnapi.OperandType {
	o := t.Type(nnapi.TensorFloat32, at...)
	o.Rank = count
	return o
}

// chain is an open model y = RELU(x) of a type.
func (t *T) relu(code int32, sizes ...uint32) *nnapi.Model {
	m := t.Model()
	x, y := m.Operand(code, sizes...), m.Operand(code, sizes...)
	m.Operation("RELU", []uint32{x}, []uint32{y})
	m.Identify(nnapi.NoError, []uint32{x}, []uint32{y})
	return m
}

var models = []*Rule{
	rule("3.a_create", "models are made one by one").
		OK("two", func(t *T) {
			a, b := t.Model(), t.Model()
			t.Check(a.Handle != b.Handle, "one handle for two models")
		}).
		No("null", func(t *T) { t.NullPointer("Model_create", nil) }),
	rule("3.b_types", "operands have a type of the API").
		OK("all", func(t *T) {
			m := t.Model()
			for _, code := range scalars {
				m.Operand(code)
			}
			for _, code := range plain {
				m.Operand(code, 2)
			}
			m.Operand(nnapi.TensorQuant8SymmPerChannel, 2, 2)
		}).
		No("unknown", func(t *T) {
			m := t.Model()
			for _, code := range []int32{-1, 16, 99, 9999, 10002, -1 << 31} {
				t.Bad("Model_addOperand", m.Handle, t.Type(code, 2))
			}
		}),
	rule("3.c_scalars", "scalars have no dimensions").
		OK("none", func(t *T) { t.Model().Operand(nnapi.Float32) }).
		No("dimensions", func(t *T) {
			m := t.Model()
			for _, code := range scalars {
				t.Bad("Model_addOperand", m.Handle, t.Type(code, 1))
			}
		}),
	rule("3.d_list", "the list of dimensions is NULL exactly when their number is 0").
		OK("rank", func(t *T) {
			t.OK("Model_addOperand", t.Model().Handle, t.Type(nnapi.TensorFloat32))
		}).
		No("no_list", func(t *T) { t.Bad("Model_addOperand", t.Model().Handle, dims(t, 2, nil)) }).
		No("no_count", func(t *T) { t.Bad("Model_addOperand", t.Model().Handle, dims(t, 0, []uint32{1})) }),
	rule("3.e_parameters", "types that are not quantized have scale 0 and zero point 0").
		OK("zeros", func(t *T) { t.Model().Operand(nnapi.TensorFloat32, 1) }).
		No("others", func(t *T) {
			m := t.Model()
			for _, code := range []int32{nnapi.TensorFloat32, nnapi.TensorFloat16, nnapi.TensorBool8,
				nnapi.TensorQuant8SymmPerChannel} {
				t.Bad("Model_addOperand", m.Handle, t.Quantized(code, 1, 0, 2))
				t.Bad("Model_addOperand", m.Handle, t.Quantized(code, 0, 1, 2))
			}
			t.Bad("Model_addOperand", m.Handle, t.Quantized(nnapi.Int32, 1, 0))
			t.Bad("Model_addOperand", m.Handle, t.Quantized(nnapi.Float32, 0, 1))
		}),
	rule("3.f_sizes", "an operand has at most 2^32 - 1 bytes").
		OK("large", func(t *T) { t.Model().Operand(nnapi.TensorFloat32, 1<<14, 1<<15) }).
		No("larger", func(t *T) {
			m := t.Model()
			t.Bad("Model_addOperand", m.Handle, t.Type(nnapi.TensorFloat32, 1<<15, 1<<15))
			t.Bad("Model_addOperand", m.Handle, t.Type(nnapi.TensorFloat32, 1<<31, 1<<31, 1<<31, 1<<31))
			t.Bad("Model_addOperand", m.Handle, t.Type(nnapi.TensorBool8, 1<<31, 2))
		}),
	rule("3.g_bias", "an INT32 tensor may have a scale, which is not negative, but no zero point").
		OK("scale", func(t *T) {
			t.Model().Add(t.Quantized(nnapi.TensorInt32, 0.5, 0, 2))
		}).
		No("negative", func(t *T) {
			m := t.Sum(2)
			nnapi.Value(m, m.Add(t.Quantized(nnapi.TensorInt32, -1, 0, 1)), int32(0))
			m.Fails()
		}).
		No("zero_point", func(t *T) {
			m := t.Sum(2)
			nnapi.Value(m, m.Add(t.Quantized(nnapi.TensorInt32, 1, 1, 1)), int32(0))
			m.Fails()
		}),
	rule("3.o_operations", "operations have a code of the API, and at least one input and output").
		OK("add", func(t *T) { t.Sum(2) }).
		No("code", func(t *T) {
			h := t.Sum(2).Handle
			for _, code := range []int32{-1, 106, 9999, 10001, 20000, -1 << 31} {
				t.Bad("Model_addOperation", h, code, 3, []uint32{0, 1, 3}, 1, []uint32{2})
			}
		}).
		No("counts", func(t *T) {
			h := t.Sum(2).Handle
			t.Bad("Model_addOperation", h, 0, 0, []uint32{0}, 1, []uint32{2})
			t.Bad("Model_addOperation", h, 0, 3, []uint32{0, 1, 3}, 0, []uint32{2})
		}).
		No("operands", func(t *T) {
			h := t.Sum(2).Handle
			t.Bad("Model_addOperation", h, 0, 3, []uint32{0, 99, 3}, 1, []uint32{2})
			t.Bad("Model_addOperation", h, 0, 3, []uint32{0, 1, 3}, 1, []uint32{1<<32 - 1})
		}),
	rule("3.p_signatures", "operations are judged by their signature when they are added").
		OK("fits", func(t *T) { t.relu(nnapi.TensorFloat32, 2).Finish() }).
		No("inputs", func(t *T) {
			m := t.Sum(2)
			m.Operates(nnapi.BadData, "ADD", []uint32{nnapi.A, nnapi.B}, []uint32{nnapi.Y})
			t.Says("ADD")
			m.Operates(nnapi.BadData, "RELU", []uint32{nnapi.A, nnapi.B}, []uint32{nnapi.Y})
		}).
		No("types", func(t *T) {
			m := t.Sum(2)
			m.Operates(nnapi.BadData, "ADD", []uint32{nnapi.A, nnapi.B, nnapi.A}, []uint32{nnapi.Y})
			k := m.Operand(nnapi.TensorFloat16, 2)
			m.Operates(nnapi.BadData, "ADD", []uint32{nnapi.A, k, nnapi.None}, []uint32{nnapi.Y})
			m.Operates(nnapi.BadData, "RELU", []uint32{nnapi.A}, []uint32{k})
		}),
	rule("3.r_identify", "an operand is once an input or an output, and no constant is either").
		OK("once", func(t *T) {
			t.OK("Model_identifyInputsAndOutputs", unidentified(t), 2, []uint32{0, 1}, 1, []uint32{2})
		}).
		No("twice", func(t *T) {
			h := unidentified(t)
			t.Bad("Model_identifyInputsAndOutputs", h, 2, []uint32{0, 0}, 1, []uint32{2})
		}).
		No("both", func(t *T) {
			t.Bad("Model_identifyInputsAndOutputs", unidentified(t), 2, []uint32{0, 2}, 1, []uint32{2})
		}).
		No("again", func(t *T) { t.Sum(2).Identify(nnapi.BadData, []uint32{0, 1}, []uint32{2}) }).
		No("constant", func(t *T) {
			t.Bad("Model_identifyInputsAndOutputs", unidentified(t), 3, []uint32{0, 1, 3}, 1, []uint32{2})
		}).
		No("counts", func(t *T) {
			h := unidentified(t)
			t.Bad("Model_identifyInputsAndOutputs", h, 0, []uint32{0}, 1, []uint32{2})
			t.Bad("Model_identifyInputsAndOutputs", h, 2, []uint32{0, 1}, 0, []uint32{2})
		}).
		No("index", func(t *T) {
			t.Bad("Model_identifyInputsAndOutputs", unidentified(t), 2, []uint32{0, 4}, 1, []uint32{2})
		}),
	rule("3.t_failed_setters", "a setter that fails changes nothing").
		OK("still_good", func(t *T) {
			m := t.Sum(2)
			t.Bad("Model_addOperand", m.Handle, t.Type(99))
			m.Operates(nnapi.BadData, "ADD", []uint32{0}, []uint32{2})
			t.Bad("Model_setOperandValue", m.Handle, nnapi.None, value, 8)
			r := t.Bound(t.Compiled(m.Finish()), 2)
			t.OK("Execution_compute", r.Handle)
			t.Right(r)
		}).
		No("next_index", func(t *T) {
			m := t.Sum(2)
			t.Bad("Model_addOperand", m.Handle, t.Type(99))
			t.Bad("Model_setOperandValue", m.Handle, nnapi.Spare, value, 8)
		}),
	rule("3.u_any_order", "operations may be added before those that compute their inputs").
		OK("reversed", func(t *T) {
			m := t.Model()
			x, mid, y := m.Operand(nnapi.TensorFloat32, 2), m.Operand(nnapi.TensorFloat32, 2), m.Operand(nnapi.TensorFloat32, 2)
			m.Operation("RELU", []uint32{mid}, []uint32{y})
			m.Operation("NEG", []uint32{x}, []uint32{mid})
			m.Identify(0, []uint32{x}, []uint32{y})
			m.Finish()
		}).
		No("circle", func(t *T) {
			m := t.Model()
			x, a, b := m.Operand(nnapi.TensorFloat32, 2), m.Operand(nnapi.TensorFloat32, 2), m.Operand(nnapi.TensorFloat32, 2)
			none := m.Scalar(0)
			m.Operation("ADD", []uint32{x, b, none}, []uint32{a})
			m.Operation("RELU", []uint32{a}, []uint32{b})
			m.Identify(0, []uint32{x}, []uint32{b})
			m.Fails()
		}).
		No("itself", func(t *T) {
			m := t.Model()
			x, y := m.Operand(nnapi.TensorFloat32, 2), m.Operand(nnapi.TensorFloat32, 2)
			none := m.Scalar(0)
			m.Operation("ADD", []uint32{x, y, none}, []uint32{y})
			m.Identify(0, []uint32{x}, []uint32{y})
			m.Fails()
		}),
	rule("3.v_written_once", "every operand that is no input and no constant is written once").
		OK("once", func(t *T) { finished(t) }).
		No("never", func(t *T) { t.Bad("Model_finish", rich(t)) }).
		No("unused", func(t *T) {
			m := t.Sum(2)
			m.Operand(nnapi.TensorFloat32, 2)
			m.Fails()
		}).
		No("twice", func(t *T) {
			m := t.Sum(2)
			m.Operation("MUL", []uint32{nnapi.A, nnapi.B, nnapi.None}, []uint32{nnapi.Y})
			m.Fails()
		}).
		No("input", func(t *T) {
			m := t.Sum(2)
			m.Operation("RELU", []uint32{nnapi.A}, []uint32{nnapi.B})
			m.Fails()
		}).
		No("constant", func(t *T) {
			m := t.Sum(2)
			k := nnapi.Value(m, m.Operand(nnapi.TensorFloat32, 2), value...)
			m.Operation("RELU", []uint32{nnapi.A}, []uint32{k})
			m.Fails()
		}),
	rule("3.w_something", "a model has operands, operations, and outputs").
		OK("smallest", func(t *T) { t.relu(nnapi.TensorFloat32, 1).Finish() }).
		No("nothing", func(t *T) { t.Model().Fails() }).
		No("no_operation", func(t *T) {
			m := t.Model()
			m.Operand(nnapi.TensorFloat32, 1)
			m.Fails()
		}).
		No("not_identified", func(t *T) { t.Bad("Model_finish", unidentified(t)) }),
	rule("3.x_unused_inputs", "an input need not be used, and an output may be read by operations").
		OK("both", func(t *T) {
			m := t.Model()
			x, y, z := m.Operand(nnapi.TensorFloat32, 2), m.Operand(nnapi.TensorFloat32, 2), m.Operand(nnapi.TensorFloat32, 2)
			unused := m.Operand(nnapi.TensorFloat32, 3)
			m.Operation("RELU", []uint32{x}, []uint32{y})
			m.Operation("TANH", []uint32{y}, []uint32{z})
			m.Identify(0, []uint32{unused, x}, []uint32{z, y})
			t.Compiled(m.Finish())
		}).
		No("passed_through", func(t *T) {
			m := t.relu(nnapi.TensorFloat32, 2)
			m.Identify(nnapi.BadData, []uint32{0}, []uint32{0})
		}),
	rule("3.y_shared_constants", "several operations may read one constant").
		OK("shared", func(t *T) {
			m := t.Model()
			x, y, z := m.Operand(nnapi.TensorFloat32, 2), m.Operand(nnapi.TensorFloat32, 2), m.Operand(nnapi.TensorFloat32, 2)
			k := nnapi.Value[float32](m, m.Operand(nnapi.TensorFloat32, 2), 1, 2)
			none := m.Scalar(0)
			m.Operation("ADD", []uint32{x, k, none}, []uint32{y})
			m.Operation("ADD", []uint32{y, k, none}, []uint32{z})
			m.Identify(0, []uint32{x}, []uint32{z})
			t.computes(m.Finish(), 2, func(i int) float32 { return float32(2 * (i + 1)) })
		}).
		No("as_input", func(t *T) {
			m := t.Model()
			k := nnapi.Value[float32](m, m.Operand(nnapi.TensorFloat32, 2), 1, 2)
			y := m.Operand(nnapi.TensorFloat32, 2)
			m.Operation("RELU", []uint32{k}, []uint32{y})
			m.Identify(nnapi.BadData, []uint32{k}, []uint32{y})
		}),
	rule("3.z_relaxed", "float32 may be computed as float16 where the program allows it, until the finish").
		OK("both", func(t *T) {
			h := sum(t)
			t.OK("Model_relaxComputationFloat32toFloat16", h, true)
			t.OK("Model_relaxComputationFloat32toFloat16", h, false)
			t.OK("Model_finish", h)
		}).
		No("late", func(t *T) { t.WrongState("Model_relaxComputationFloat32toFloat16", finished(t), true) }),
	rule("3.aa_lives_on", "the lists and structs of a call need not outlive it").
		OK("overwritten", func(t *T) {
			m, sizes := t.Model(), []uint32{2}
			t.Keep(sizes)
			o := &nnapi.OperandType{Type: nnapi.TensorFloat32, Rank: 1, Dimensions: first(sizes)}
			for range 3 {
				m.Add(o)
			}
			none := m.Scalar(0)
			sizes[0], o.Type = 77, 99
			in, out := []uint32{0, 1, none}, []uint32{2}
			m.Operation("ADD", in, out)
			clear(in)
			clear(out)
			m.Identify(0, []uint32{0, 1}, []uint32{2})
			r := t.Bound(t.Compiled(m.Finish()), 2)
			t.OK("Execution_compute", r.Handle)
			t.Right(r)
		}).
		No("now", func(t *T) {
			t.Bad("Model_addOperand", t.Model().Handle, t.Type(99))
		}),
	rule("3.ab_no_value", "NULL with length 0 leaves an optional operand out").
		OK("omitted", func(t *T) {
			m := t.Model()
			x := m.Operand(nnapi.TensorFloat32, 2, 3)
			perm, y := m.Operand(nnapi.TensorInt32, 0), m.Operand(nnapi.TensorFloat32, 3, 2)
			t.OK("Model_setOperandValue", m.Handle, perm, nil, 0)
			m.Operation("TRANSPOSE", []uint32{x, perm}, []uint32{y})
			m.Identify(0, []uint32{x}, []uint32{y})
			t.Compiled(m.Finish())
		}).
		No("required", func(t *T) {
			m := t.Model()
			x, y := m.Operand(nnapi.TensorFloat32, 2), m.Operand(nnapi.TensorFloat32, 2)
			t.OK("Model_setOperandValue", m.Handle, x, nil, 0)
			m.Operates(nnapi.BadData, "RELU", []uint32{x}, []uint32{y})
		}),
}
