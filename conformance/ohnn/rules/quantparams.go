package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

func (t *T) quant() uintptr { return t.object("QuantParam_Destroy", t.Ptr("QuantParam_Create")) }

// quant8 has n entries of scale 0.5, zero point 0, 8 bits.
func (t *T) quantOf(scales []float64, zeros []int32, bits []uint32) uintptr {
	q := t.quant()
	if len(scales) > 0 {
		t.OK("QuantParam_SetScales", q, scales, len(scales))
	}
	if len(zeros) > 0 {
		t.OK("QuantParam_SetZeroPoints", q, zeros, len(zeros))
	}
	if len(bits) > 0 {
		t.OK("QuantParam_SetNumBits", q, bits, len(bits))
	}
	return q
}

// lists refuses NULLs and count 0; v is a good list of one.
func lists(r *Rule, setter string, v any) *Rule {
	return r.No("NULL_object", func(t *T) { t.Bad(setter, nil, v, 1) }).
		No("NULL_list", func(t *T) { t.Bad(setter, t.quant(), nil, 1) }).
		No("count_0", func(t *T) { t.Bad(setter, t.quant(), v, 0) })
}

// attaches tells which code a tensor gives for the parameters.
func (t *T) attach(want int, q uintptr) {
	m := t.emptyModel()
	t.OK("Model_AddTensorToModel", m, t.desc(int8T, 2))
	t.Is(want, "Model_SetTensorQuantParams", m, 0, q)
}

var quantParams = []*Rule{
	rule("s5_QuantParam_Create", "makes an object with empty lists, which a tensor takes as they are").
		OK("empty", func(t *T) { t.attach(success, t.quant()) }).
		No("ended", func(t *T) {
			q := t.Ptr("QuantParam_Create")
			stale := q
			t.OK("QuantParam_Destroy", &q)
			t.attach(invalid, stale)
			t.Bad("QuantParam_SetScales", stale, []float64{1}, 1)
		}),
	lists(rule("s5_QuantParam_SetScales", "copies a list and replaces the former one; NULLs and count 0 are INVALID").
		OK("replaces", func(t *T) {
			q := t.quantOf([]float64{1, 2, 3}, []int32{0}, []uint32{8})
			t.attach(invalid, q)
			t.OK("QuantParam_SetScales", q, []float64{0.5}, 1)
			t.attach(success, q)
		}), "QuantParam_SetScales", []float64{1}),
	lists(rule("s5_QuantParam_SetZeroPoints", "copies a list and replaces the former one; NULLs and count 0 are INVALID").
		OK("replaces", func(t *T) {
			q := t.quantOf([]float64{1}, []int32{0, 1}, []uint32{8})
			t.OK("QuantParam_SetZeroPoints", q, []int32{-3}, 1)
			t.attach(success, q)
		}), "QuantParam_SetZeroPoints", []int32{1}),
	lists(rule("s5_QuantParam_SetNumBits", "copies a list and replaces the former one, whatever its values; NULLs and "+
		"count 0 are INVALID").
		OK("any_value", func(t *T) {
			q := t.quantOf([]float64{1}, []int32{0}, []uint32{77, 0, 1 << 31})
			t.OK("QuantParam_SetNumBits", q, []uint32{8}, 1)
			t.attach(success, q)
		}), "QuantParam_SetNumBits", []uint32{8}),
	rule("s5_QuantParam_lengths", "lists of different lengths are accepted by the setters and refused by the tensor").
		OK("equal", func(t *T) { t.attach(success, t.quantOf([]float64{1, 2}, []int32{0, 0}, []uint32{8, 8})) }).
		No("scales", func(t *T) { t.attach(invalid, t.quantOf([]float64{1}, []int32{0, 0}, []uint32{8, 8})) }).
		No("zero_points", func(t *T) { t.attach(invalid, t.quantOf([]float64{1, 2}, []int32{0}, []uint32{8, 8})) }).
		No("bits", func(t *T) { t.attach(invalid, t.quantOf([]float64{1, 2}, []int32{0, 0}, []uint32{8})) }),
	rule("s5_QuantParam_Destroy", "ends the object and clears the variable; NULL and a variable with NULL are INVALID").
		OK("clears", func(t *T) {
			q := t.Ptr("QuantParam_Create")
			t.OK("QuantParam_Destroy", &q)
			t.Check(q == 0, "the variable holds %#x", q)
		}).
		No("NULL", func(t *T) { t.Bad("QuantParam_Destroy", nil) }).
		No("NULL_value", func(t *T) { t.Bad("QuantParam_Destroy", new(uintptr)) }),
	rule("s5_QuantParam_moved", "a tensor with a scale for each index of a dimension can be moved into one without "+
		"parameters; one scale more than indices is refused").
		OK("transposed", func(t *T) {
			for _, scales := range [][]float64{{0.5, 0.25, 2}, {0.5, 0.25}} { // of rows, of columns
				n := len(scales)
				m := t.moving(t.quantOf(scales, make([]int32, n), slices.Repeat([]uint32{8}, n)))
				t.OK("Model_Finish", m)
				c := t.compilation(m)
				t.OK("Compilation_Build", c)
				x, y := t.newTensor("Create", 0, t.desc(int8T, 3, 2)), t.newTensor("Create", 0, t.desc(int8T, 2, 3))
				copy(cmem.Span[int8](t.Ptr("Tensor_GetDataBuffer", x), 6), []int8{1, 2, 3, 4, 5, 6})
				t.OK("Executor_RunSync", t.executorOf(c), []uintptr{x}, 1, []uintptr{y}, 1)
				got := cmem.Copy[int8](t.Ptr("Tensor_GetDataBuffer", y), 6)
				t.Check(slices.Equal(got, []int8{1, 3, 5, 2, 4, 6}), "%d scales: got %v", n, got)
			}
		}).
		No("more_than_indices", func(t *T) {
			m := t.moving(t.quantOf([]float64{1, 2, 3, 4}, make([]int32, 4), slices.Repeat([]uint32{8}, 4)))
			if t.Code("Model_Finish", m) == success {
				if c := t.compilation(m); t.Code("Compilation_Build", c) == success {
					x, y := t.newTensor("Create", 0, t.desc(int8T, 3, 2)), t.newTensor("Create", 0, t.desc(int8T, 2, 3))
					code := t.Code("Executor_RunSync", t.executorOf(c), []uintptr{x}, 1, []uintptr{y}, 1)
					t.Check(code != success, "it is computed")
				}
			}
			t.Judged(false)
		}),
}

// moving is an open model of TRANSPOSE for int8 [3,2] with quantization parameters.
func (t *T) moving(q uintptr) uintptr {
	m := t.emptyModel()
	t.OK("Model_AddTensorToModel", m, t.desc(int8T, 3, 2))
	t.OK("Model_AddTensorToModel", m, t.desc(int32T, 2))
	t.OK("Model_AddTensorToModel", m, t.desc(int8T, 2, 3))
	t.OK("Model_SetTensorQuantParams", m, 0, q)
	t.OK("Model_SetTensorData", m, 1, []int32{1, 0}, 8)
	t.OK("Model_AddOperation", m, opTranspose, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
	t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0), ohnn.List(2))
	return m
}
