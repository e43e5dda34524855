package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// lent is a list whose memory the program uses for other things after the call.
func (t *T) lent(call func(list *ohnn.Array), v ...uint32) {
	call(ohnn.List(v...))
	for i := range v {
		v[i] = 777
	}
	t.Keep(v)
}

// refusals makes calls on an open model of float tensors 0 to 2 and the parameter 3 that must be refused.
func (t *T) refusals(m uintptr) {
	t.Bad("Model_AddTensor", m, legacy(float32T, 0))
	t.Bad("Model_AddTensorToModel", m, t.desc(float32T, 2, 0))
	t.Bad("Model_SetTensorData", m, 0, []byte{1}, 1)
	t.Bad("Model_SetTensorData", m, 77, []byte{1}, 1)
	t.Bad("Model_SetTensorType", m, 0, 163)
	t.Bad("Model_SetTensorType", m, 77, 0)
	t.Bad("Model_SetTensorQuantParams", m, 77, t.quant())
	t.Bad("Model_AddOperation", m, opAdd, ohnn.List(3), ohnn.List(0), ohnn.List(2))
	t.Bad("Model_AddOperation", m, opAdd, ohnn.List(3), ohnn.List(0, 1), ohnn.List(1))
	t.Bad("Model_AddOperation", m, 109, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
	t.Bad("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 77), ohnn.List(2))
	t.Bad("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1), ohnn.List(3))
	t.Is(forbid, "Model_GetAvailableOperations", m, 0, new(uintptr), new(uint32))
}

// modelsAgain are the rules of what a model keeps of its calls.
var modelsAgain = []*Rule{
	rule("s6_copies", "what a call was given is the program's again when it has returned: lists, structs, arrays, "+
		"descriptors").
		OK("lists", func(t *T) {
			m := t.openModel(2)
			t.lent(func(params *ohnn.Array) {
				t.lent(func(in *ohnn.Array) {
					t.lent(func(out *ohnn.Array) { t.OK("Model_AddOperation", m, opSub, params, in, out) }, 2)
				}, 1, 0)
			}, t.subActivation(m))
			t.lent(func(in *ohnn.Array) {
				t.lent(func(out *ohnn.Array) { t.OK("Model_SpecifyInputsAndOutputs", m, in, out) }, 2)
			}, 0, 1)
			t.OK("Model_Finish", m)
			c := t.compilation(m)
			t.OK("Compilation_Build", c)
			in, out := t.pair()
			t.OK("Executor_RunSync", t.executorOf(c), in, 2, out, 1)
			t.Check(slices.Equal(t.floats(out[0], 2), []float32{9, 18}), "10-1, 20-2: got %v", t.floats(out[0], 2))
		}).
		OK("structs", func(t *T) {
			m := t.emptyModel()
			dims, bits := []int32{1}, []uint32{8}
			scales, zeros := []float64{0.2}, []int32{0}
			quant := &legacyQuant{1, &bits[0], &scales[0], &zeros[0]}
			x := &legacyTensor{dataType: int8T, rank: 1, dims: &dims[0], quant: quant}
			for range 2 {
				t.OK("Model_AddTensor", m, x)
			}
			scales[0], zeros[0] = 0.4, 4
			t.OK("Model_AddTensor", m, x)
			dims[0], scales[0], zeros[0], bits[0] = 9, 7, 7, 7
			*x, *quant = legacyTensor{}, legacyQuant{}
			got := t.addsBytes(m, "", 4, 8)
			t.Check(got == 10, "4 x 0.2 + 8 x 0.2 as steps of 0.4 from 4: got %d, want 10", got)
		}).
		OK("quantization_lists", func(t *T) {
			m := t.emptyModel()
			t.open(m, int8T, []int32{1}, []int32{1}, []int32{1})
			q, bits := t.quant(), []uint32{8}
			for i, v := range []struct {
				scale float64
				zero  int32
			}{{0.2, 0}, {0.2, 0}, {0.4, 4}} {
				scales, zeros := []float64{v.scale}, []int32{v.zero}
				t.OK("QuantParam_SetScales", q, scales, 1)
				t.OK("QuantParam_SetZeroPoints", q, zeros, 1)
				t.OK("QuantParam_SetNumBits", q, bits, 1)
				scales[0], zeros[0] = 5, 99
				t.OK("Model_SetTensorQuantParams", m, i, q)
				t.Keep(scales)
				t.Keep(zeros)
			}
			bits[0] = 3
			t.attach(success, q)
			t.OK("QuantParam_SetScales", q, []float64{3}, 1) // the tensors keep what they were given
			got := t.addsBytes(m, "", 4, 8)
			t.Check(got == 10, "4 x 0.2 + 8 x 0.2 as steps of 0.4 from 4: got %d, want 10", got)
		}).
		OK("descriptors", func(t *T) {
			m, d := t.emptyModel(), t.Ptr("TensorDesc_Create")
			for _, dims := range [][]int32{{2, 3}, {1, 3}, {2, 3}} {
				t.OK("TensorDesc_SetDataType", d, float32T)
				t.OK("TensorDesc_SetShape", d, dims, 2)
				t.OK("Model_AddTensorToModel", m, d)
				t.OK("TensorDesc_SetShape", d, []int32{7}, 1)
				t.OK("TensorDesc_SetDataType", d, int8T)
			}
			t.OK("TensorDesc_Destroy", &d)
			t.OK("Model_AddOperation", m, opAdd, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
			e := t.compiled(m, ohnn.List(0, 1), ohnn.List(2))
			for i, dims := range [][]int32{{2, 3}, {1, 3}} {
				port := t.object("TensorDesc_Destroy", t.Ptr("Executor_CreateInputTensorDesc", e, i))
				t.tells(port, told{"Tensor: " + string(compact(i)), float32T, 2, dims})
			}
		}).
		No("corrected_too_late", func(t *T) {
			m := t.openModel(2)
			in := []uint32{0, 77}
			t.Bad("Model_AddOperation", m, opAdd, ohnn.List(3), &ohnn.Array{Data: &in[0], Size: 2}, ohnn.List(2))
			in[1] = 1
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1), ohnn.List(2))
			t.Is(forbid, "Model_Finish", m)
		}),
	rule("s6_refused_between", "refused calls between the others leave no trace in a model").
		No("everywhere", func(t *T) {
			m := t.openModel(2)
			t.refusals(m)
			t.OK("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.refusals(m)
			t.OK("Model_AddOperation", m, opAdd, ohnn.List(3), ohnn.List(0, 1), ohnn.List(2))
			t.refusals(m)
			t.OK("Model_AddOperation", m, opRelu, &ohnn.Array{}, ohnn.List(2), ohnn.List(4))
			t.refusals(m)
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1), ohnn.List(4))
			t.OK("Model_Finish", m)
			t.wantFlags(m, fullDevice, true, true)
			c := t.compilation(m)
			t.OK("Compilation_Build", c)
			t.runs(t.executorOf(c))
			t.Judged(false)
		}).
		OK("none", func(t *T) {
			c := t.compilation(t.additionAndRelu())
			t.OK("Compilation_Build", c)
			t.runs(t.executorOf(c))
		}),
	rule("s6_last_call", "of several types and quantization parameters of a tensor the last ones count").
		OK("type", func(t *T) {
			m := t.openModel(2)
			for _, kind := range []int{46, 0, addActivation} { // SOFTMAX_AXIS, OH_NN_TENSOR
				t.OK("Model_SetTensorType", m, 3, kind)
			}
			t.OK("Model_SetTensorType", m, 1, 46)
			t.OK("Model_SetTensorType", m, 1, 0)
			t.OK("Model_AddOperation", m, opAdd, ohnn.List(3), ohnn.List(0, 1), ohnn.List(2))
			e := t.compiled(m, ohnn.List(0, 1), ohnn.List(2))
			t.runs(e)
		}).
		OK("quantization", func(t *T) {
			m := t.quantized8()
			for _, zero := range []int32{50, -50, 1} {
				t.OK("Model_SetTensorQuantParams", m, 2, t.quantOf([]float64{0.2}, []int32{zero}, []uint32{8}))
			}
			got := t.addsBytes(m, "", 4, 8)
			t.Check(got == 13, "4 x 0.2 + 8 x 0.2 as steps of 0.2 from 1: got %d, want 13", got)
		}).
		No("parameter_that_is_a_tensor_again", func(t *T) {
			m := t.openModel(2)
			t.OK("Model_SetTensorType", m, 3, 0)
			t.Bad("Model_AddOperation", m, opAdd, ohnn.List(3), ohnn.List(0, 1), ohnn.List(2))
		}),
	rule("s7_last_call", "of several settings of a compilation the last one counts, whatever came before").
		OK("good_at_last", func(t *T) {
			c := t.unbuilt()
			t.OK("Compilation_SetDevice", c, t.unknownDevice())
			t.OK("Compilation_SetDevice", c, t.named(noFloat16Device))
			t.OK("Compilation_SetPerformanceMode", c, 77)
			t.OK("Compilation_SetPerformanceMode", c, 2)
			t.OK("Compilation_SetPriority", c, 77)
			t.OK("Compilation_SetPriority", c, 1)
			t.OK("Compilation_EnableFloat16", c, true)
			t.OK("Compilation_EnableFloat16", c, false)
			t.builds(c)
		}).
		OK("none_at_last", func(t *T) {
			c := t.unbuiltOn(plainDevice)
			t.OK("Compilation_SetPerformanceMode", c, 2)
			t.OK("Compilation_SetPerformanceMode", c, 0)
			t.OK("Compilation_SetPriority", c, 2)
			t.OK("Compilation_SetPriority", c, 0)
			t.OK("Compilation_SetCache", c, t.Dir, 1)
			t.OK("Compilation_SetCache", c, "", 1)
			t.builds(c)
		}).
		No("bad_at_last", func(t *T) {
			for _, s := range []struct {
				setter    string
				good, bad any
				want      int
			}{
				{"Compilation_SetDevice", 0, t.unknownDevice(), failed}, {"Compilation_SetPerformanceMode", 4, 5, invalid},
				{"Compilation_SetPriority", 3, int32(-1), invalid},
			} {
				c := t.unbuilt()
				t.OK(s.setter, c, s.good)
				t.OK(s.setter, c, s.bad)
				t.Is(s.want, "Compilation_Build", c)
			}
		}).
		No("float16_at_last", func(t *T) {
			c := t.unbuiltOn(noFloat16Device)
			t.OK("Compilation_EnableFloat16", c, false)
			t.OK("Compilation_EnableFloat16", c, true)
			t.Is(forbid, "Compilation_Build", c)
		}),
}

// subActivation adds the activation parameter of a subtraction, none, to a model and gives its index.
func (t *T) subActivation(m uintptr) uint32 {
	t.OK("Model_AddTensorToModel", m, t.desc(int8T))
	t.OK("Model_SetTensorType", m, 4, subActivation)
	t.OK("Model_SetTensorData", m, 4, cmem.Bytes([]int8{0}), 1)
	return 4
}
