package rules

import (
	"fmt"
	"os"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/rknn"
)

// onnxSum is an ONNX model of y = a + b of two floats, or what f makes of it.
func onnxSum(op, a, b string) []byte {
	m := (&rknn.Model{}).Input("a", rknn.ONNXFloat, 2).Input("b", rknn.ONNXFloat, 2).Output("y", rknn.ONNXFloat, 2)
	return m.Node(op, "y", a, b).Bytes()
}

// foreignSum is onnxSum with a node of a domain that is nobody's.
func foreignSum() []byte {
	m := (&rknn.Model{}).Input("a", rknn.ONNXFloat, 2).Input("b", rknn.ONNXFloat, 2).Output("y", rknn.ONNXFloat, 2)
	return m.Custom("Sum", "y", 1, 1, "a", "b").Bytes()
}

// offlineModels: what offline models hold (section 7). The reference implementation reads none.
func offlineModels() *Rule {
	r := rule("s7_offline_ONNX",
		"an ONNX model is an offline model, from a buffer and from a file; one that is damaged, or "+
			"that the device does not compute, is FAILED at Build")
	both := func(t *T, b []byte, f func(c uintptr)) {
		f(t.offlineBuffer(b))
		path := t.Dir + "/model.onnx"
		t.Check(os.WriteFile(path, b, 0o600) == nil, "write the model")
		f(t.offlineFile(path))
	}
	r.OK("computes", func(t *T) { both(t, onnxSum("Add", "a", "b"), t.builds) }).In(ohnn.Manual)
	r.OK("online", func(t *T) { t.builds(t.unbuilt()) }).In(ohnn.Reference)
	for name, b := range map[string][]byte{"cut_off": onnxSum("Add", "a", "b")[:60],
		"value_without_source": onnxSum("Add", "a", "c"),
		"unknown_operator":     onnxSum("Adding", "a", "b"), "foreign_operator": foreignSum(),
		"too_many_inputs_of_Neg": onnxSum("Neg", "a", "b")} {
		r.No(name, func(t *T) { both(t, b, func(c uintptr) { t.Is(failed, "Compilation_Build", c) }) })
	}
	return sortedCases(r)
}

// beside are operators of two operands whose element types may differ.
var beside = map[string]int{"ADD": opAdd, "DIV": 11, "MUL": opMul, "SUB": opSub, "MAXIMUM": 20}

// quantizedBeside: an operand of codes wants codes beside it.
func quantizedBeside() *Rule {
	r := rule("s6_quantized_beside_real",
		"a quantized operand wants one beside it that is quantized too, whichever comes first")
	model := func(t *T, op int, quantized ...bool) uintptr {
		m := t.emptyModel()
		for i, q := range append(quantized, quantized[0]) {
			kind := int32(float32T)
			if q {
				kind = int8T
			}
			t.OK("Model_AddTensorToModel", m, t.desc(kind, 2))
			if q {
				t.OK("Model_SetTensorQuantParams", m, i, t.quantOf([]float64{0.5}, []int32{1}, []uint32{8}))
			}
		}
		t.OK("Model_AddOperation", m, op, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
		return t.compilation(t.closed(m, ohnn.List(0, 1), ohnn.List(2)))
	}
	for name, op := range beside {
		r.OK(name+"_both", func(t *T) { t.OK("Compilation_Build", model(t, op, true, true)) })
		r.No(name, func(t *T) {
			for _, first := range []bool{true, false} {
				c := model(t, op, first, !first)
				if t.Mode == ohnn.Reference { // which refuses the run
					t.Call("Compilation_Build", c)
					t.Judged(false)
					continue
				}
				t.Is(failed, "Compilation_Build", c)
			}
		})
	}
	return sortedCases(r)
}

// asked: descriptors of tensors that runs have used.
func usedTensors() *Rule {
	wants := [][]float32{{1, 2}, {10, 20}, {11, 22}}
	look := func(t *T, x uintptr, want []float32) {
		fd, offset := int32(-1), uintptr(0)
		t.OK("Tensor_GetFd", x, &fd)
		t.OK("Tensor_GetOffset", x, &offset)
		t.in(int(fd), int(offset), want...)
	}
	r := rule("s4_GetFd_after_runs", "GetFd gives descriptors of inputs and outputs after runs, however many there were")
	for i, what := range []string{"first_input", "second_input", "output"} {
		r.OK(what, func(t *T) {
			for _, times := range []int{1, 3} {
				e := twoFloats(t)
				in, out := t.pair()
				for range times {
					t.OK("Executor_RunSync", e, in, 2, out, 1)
				}
				look(t, append(in, out...)[i], wants[i])
				t.OK("Executor_RunSync", e, in, 2, out, 1)
			}
		})
	}
	r.OK("after_a_refused_run", func(t *T) {
		e := twoFloats(t)
		in, out := t.pair()
		t.Check(t.Code("Executor_RunSync", e, in, 1, out, 1) != success, "one input is enough")
		for i, x := range append(in, out...)[:2] {
			look(t, x, wants[i])
		}
	})
	return r.No("NULL", func(t *T) { t.Bad("Tensor_GetFd", nil, new(int32)) })
}

// unknownTypes: what a CAST becomes when nothing says so.
var unknownTypes = rule("s6_cast_to_nothing", "CAST takes its type from the second input or else from the output").
	OK("output", func(t *T) { t.OK("Compilation_Build", t.cast(0, int32T)) }).
	OK("input", func(t *T) { t.OK("Compilation_Build", t.cast(3+1, 0)) }).
	No("neither", func(t *T) {
		c := t.cast(0, 0)
		if t.Mode == ohnn.Reference {
			t.Call("Compilation_Build", c)
			t.Judged(false)
			return
		}
		t.Is(failed, "Compilation_Build", c)
	})

// cast is a compilation of a CAST of two floats to a type, with an output of a data type.
func (t *T) cast(to, declared int32) uintptr {
	m := t.emptyModel()
	t.open(m, float32T, []int32{2})
	t.open(m, int32T, []int32{1})
	t.open(m, declared, []int32{2})
	t.OK("Model_SetTensorData", m, 1, []int32{to}, 4)
	t.OK("Model_AddOperation", m, opCast, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
	return t.compilation(t.closed(m, ohnn.List(0), ohnn.List(2)))
}

// sortedCases are a rule's in the order of their names.
func sortedCases(r *Rule) *Rule {
	for i := range r.Cases {
		for k := i; k > 0 && fmt.Sprint(r.Cases[k].Refused, r.Cases[k].Name) < fmt.Sprint(r.Cases[k-1].Refused,
			r.Cases[k-1].Name); k-- {
			r.Cases[k], r.Cases[k-1] = r.Cases[k-1], r.Cases[k]
		}
	}
	return r
}

var contents = []*Rule{offlineModels(), quantizedBeside(), usedTensors(), unknownTypes}
