package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// afterFinish is a finished model, for what must be forbidden then.
func afterFinish(t *T) uintptr { return t.model(2) }

// legacyQuantOf is the struct with n entries of the given bits.
func legacyQuantOf(n int, bits uint32) *legacyQuant {
	b, s, z := slices.Repeat([]uint32{bits}, n+1), slices.Repeat([]float64{0.5}, n+1), make([]int32, n+1)
	return &legacyQuant{uint32(n), cmem.Pointer(b), cmem.Pointer(s), cmem.Pointer(z)}
}

// adds tells which code AddTensor gives on an empty model.
func (t *T) adds(want int, x *legacyTensor) { t.Is(want, "Model_AddTensor", t.emptyModel(), x) }

// quantized8 has int8 tensors 0, 1 and 2 of one element, of scales 0.2, 0.2 and 0.4 and zero points 0, 0 and 4, and no
// operation yet.
func (t *T) quantized8() uintptr {
	m := t.emptyModel()
	for range 3 {
		t.OK("Model_AddTensorToModel", m, t.desc(int8T, 1))
	}
	for i, p := range []struct {
		scale float64
		zero  int32
	}{{0.2, 0}, {0.2, 0}, {0.4, 4}} {
		q := t.Ptr("QuantParam_Create")
		t.OK("QuantParam_SetScales", q, []float64{p.scale}, 1)
		t.OK("QuantParam_SetZeroPoints", q, []int32{p.zero}, 1)
		t.OK("QuantParam_SetNumBits", q, []uint32{8}, 1)
		t.OK("Model_SetTensorQuantParams", m, i, q)
		t.OK("QuantParam_Destroy", &q)
	}
	return m
}

// addsBytes finishes a model of three int8 tensors and adds two numbers with it. It is compiled with a cache in a
// directory, "" for none.
func (t *T) addsBytes(m uintptr, dir string, a, b int8) int8 {
	t.OK("Model_AddOperation", m, opAdd, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
	c := t.withCache(t.compilation(t.closed(m, ohnn.List(0, 1), ohnn.List(2))), dir, 1)
	t.OK("Compilation_Build", c)
	in := []uintptr{t.newTensor("Create", 0, t.desc(int8T, 1)), t.newTensor("Create", 0, t.desc(int8T, 1))}
	out := t.newTensor("Create", 0, t.desc(int8T, 1))
	*cmem.At[int8](t.Ptr("Tensor_GetDataBuffer", in[0])) = a
	*cmem.At[int8](t.Ptr("Tensor_GetDataBuffer", in[1])) = b
	p := t.Ptr("Tensor_GetDataBuffer", out)
	t.OK("Executor_RunSync", t.executorOf(c), in, 2, []uintptr{out}, 1)
	return *cmem.At[int8](p)
}

var models = []*Rule{
	rule("s6_Model_Construct", "makes an empty model").
		OK("empty", func(t *T) { t.emptyModel() }).
		No("nothing_in_it", func(t *T) {
			m := t.emptyModel()
			t.Bad("Model_SetTensorType", m, 0, 0)
			t.Bad("Model_SpecifyInputsAndOutputs", m, ohnn.List(0), ohnn.List(1))
			t.Is(forbid, "Model_GetAvailableOperations", m, 0, new(uintptr), new(uint32))
		}),
	rule("s6_Model_Destroy", "ends a model and clears the variable; NULL and a variable with NULL are ignored").
		OK("clears", func(t *T) {
			m := t.Ptr("Model_Construct")
			t.Call("Model_Destroy", &m)
			t.Check(m == 0, "the variable holds %#x", m)
		}).
		No("NULLs_ignored", func(t *T) {
			v := uintptr(0)
			t.Call("Model_Destroy", nil)
			t.Call("Model_Destroy", &v)
			t.NoEffect(v != 0, "the variable holds %#x", v)
		}).
		No("other_kind", func(t *T) { t.destroysNoOther("Model_Destroy") }),
	rule("s6_AddTensor", "adds a tensor described by the struct of API 9; NULLs are INVALID").
		OK("adds", func(t *T) { t.adds(success, legacy(float32T, 1, 2)) }).
		OK("scalar", func(t *T) { t.adds(success, legacy(float32T)) }).
		OK("dynamic", func(t *T) { t.adds(success, legacy(float32T, -1, 2)) }).
		OK("unknown_type", func(t *T) { t.adds(success, legacy(0, 2)) }).
		No("NULL_model", func(t *T) { t.Bad("Model_AddTensor", nil, legacy(float32T, 2)) }).
		No("NULL_tensor", func(t *T) { t.Bad("Model_AddTensor", t.emptyModel(), nil) }),
	rule("s6_AddTensor_types", "a data type outside 0 to 12 and a tensor type outside 0 to 162 are INVALID").
		OK("largest", func(t *T) {
			x := legacy(12, 2)
			x.tensorType = 162
			t.adds(success, x)
		}).
		No("data_type", func(t *T) { t.adds(invalid, legacy(13, 2)) }).
		No("negative_data_type", func(t *T) { t.adds(invalid, legacy(-1, 2)) }).
		No("tensor_type", func(t *T) {
			x := legacy(float32T, 2)
			x.tensorType = 163
			t.adds(invalid, x)
		}),
	rule("s6_AddTensor_dimensions", "dimensions are NULL exactly when the count is 0, at most 200, and each is -1 or "+
		"positive; else INVALID").
		OK("200", func(t *T) { t.adds(success, legacy(float32T, slices.Repeat([]int32{1}, 200)...)) }).
		No("201", func(t *T) { t.adds(invalid, legacy(float32T, slices.Repeat([]int32{1}, 201)...)) }).
		No("NULL_with_count", func(t *T) { t.adds(invalid, &legacyTensor{dataType: float32T, rank: 1}) }).
		No("no_count", func(t *T) { t.adds(invalid, &legacyTensor{dataType: float32T, dims: &[]int32{1}[0]}) }).
		No("0", func(t *T) { t.adds(invalid, legacy(float32T, 2, 0)) }).
		No("minus_2", func(t *T) { t.adds(invalid, legacy(float32T, -2)) }),
	rule("s6_AddTensor_size", "more than 4294967295 bytes, unknown dimensions counted as 1, are INVALID").
		OK("4_GiB_less_1", func(t *T) { t.adds(success, legacy(int8T, 65535, 65537)) }).
		OK("dynamic_counts_as_1", func(t *T) { t.adds(success, legacy(int8T, 65535, -1, 65537)) }).
		No("4_GiB", func(t *T) { t.adds(invalid, legacy(int8T, 65536, 65536)) }).
		No("overflow", func(t *T) { t.adds(invalid, legacy(int64T, 2147483647, 2147483647, 2147483647)) }),
	rule("s6_AddTensor_quant", "quantization parameters with a NULL array or other than 8 bits are INVALID").
		OK("8_bits", func(t *T) {
			x := legacy(int8T, 2)
			x.quant = legacyQuantOf(2, 8)
			t.adds(success, x)
		}).
		OK("count_0", func(t *T) {
			x := legacy(int8T, 2)
			x.quant = legacyQuantOf(0, 8)
			t.adds(success, x)
		}).
		No("7_bits", func(t *T) {
			x := legacy(int8T, 2)
			x.quant = legacyQuantOf(1, 7)
			t.adds(invalid, x)
		}).
		No("NULL_arrays", func(t *T) {
			for i := range 3 {
				x := legacy(int8T, 2)
				x.quant = legacyQuantOf(1, 8)
				switch i {
				case 0:
					x.quant.bits = nil
				case 1:
					x.quant.scales = nil
				default:
					x.quant.zeros = nil
				}
				t.adds(invalid, x)
			}
		}),
	rule("s6_AddTensor_finished", "after Finish it is FORBIDDEN, before the struct is looked at").
		OK("open", func(t *T) { t.OK("Model_AddTensor", t.unfinished(2), legacy(float32T, 2)) }).
		No("finished", func(t *T) { t.Is(forbid, "Model_AddTensor", afterFinish(t), legacy(99, 0)) }),
	rule("s6_AddTensorToModel", "adds a tensor of a descriptor; no shape is a scalar; NULLs are INVALID").
		OK("scalar", func(t *T) { t.OK("Model_AddTensorToModel", t.emptyModel(), t.desc(float32T)) }).
		OK("dynamic", func(t *T) { t.OK("Model_AddTensorToModel", t.emptyModel(), t.desc(float32T, -1)) }).
		No("NULL_model", func(t *T) { t.Bad("Model_AddTensorToModel", nil, floatDesc(t)) }).
		No("NULL_desc", func(t *T) { t.Bad("Model_AddTensorToModel", t.emptyModel(), nil) }),
	rule("s6_AddTensorToModel_dimensions", "a dimension of 0 or below -1 and more than 4294967295 bytes are INVALID").
		OK("10", func(t *T) {
			t.OK("Model_AddTensorToModel", t.emptyModel(), t.desc(int8T, slices.Repeat([]int32{2}, 10)...))
		}).
		No("0", func(t *T) { t.Bad("Model_AddTensorToModel", t.emptyModel(), t.desc(int8T, 2, 0)) }).
		No("minus_2", func(t *T) { t.Bad("Model_AddTensorToModel", t.emptyModel(), t.desc(int8T, -2)) }).
		No("4_GiB", func(t *T) { t.Bad("Model_AddTensorToModel", t.emptyModel(), t.desc(int8T, 65536, 65536)) }),
	rule("s6_AddTensorToModel_name", "the descriptor's name and format are dropped: executors name tensors \"Tensor: "+
		"<index>\", format NHWC").
		OK("renamed", func(t *T) {
			m := t.emptyModel()
			for range 3 {
				d := t.desc(float32T, 2)
				t.OK("TensorDesc_SetName", d, "mine")
				t.OK("TensorDesc_SetFormat", d, 1)
				t.OK("Model_AddTensorToModel", m, d)
			}
			t.OK("Model_AddOperation", m, opAdd, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1), ohnn.List(2))
			t.OK("Model_Finish", m)
			c := t.compilation(m)
			t.OK("Compilation_Build", c)
			d := t.object("TensorDesc_Destroy", t.Ptr("Executor_CreateInputTensorDesc", t.executorOf(c), 1))
			t.Check(t.name(d) == "Tensor: 1", "name %q", t.name(d))
			t.Check(t.enum("TensorDesc_GetFormat", d) == 2, "format %d", t.enum("TensorDesc_GetFormat", d))
		}).
		No("refused_without_trace", func(t *T) {
			m, d := t.emptyModel(), t.desc(float32T, 0)
			t.OK("TensorDesc_SetName", d, "mine")
			t.Bad("Model_AddTensorToModel", m, d)
			t.Bad("Model_SetTensorType", m, 0, 0)
		}),
	rule("s6_SetTensorData", "copies the data of a constant; a NULL model, a NULL buffer and length 0 are INVALID").
		OK("copies", func(t *T) {
			m, data := t.openModel(2), []float32{5, 6}
			t.OK("Model_SetTensorData", m, 1, data, 8)
			data[0] = 99
			t.OK("Model_AddOperation", m, opAdd, ohnn.List(3), ohnn.List(0, 1), ohnn.List(2))
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0), ohnn.List(2))
			t.OK("Model_Finish", m)
			c := t.compilation(m)
			t.OK("Compilation_Build", c)
			out := t.tensor(nil, 2)
			t.OK("Executor_RunSync", t.executorOf(c), []uintptr{t.tensor([]float32{1, 1}, 2)}, 1, []uintptr{out}, 1)
			got := t.floats(out, 2)
			t.Check(got[0] == 6 && got[1] == 7, "got %v, want [6 7]", got)
		}).
		No("NULL_model", func(t *T) { t.Bad("Model_SetTensorData", nil, 0, []byte{1}, 1) }).
		No("NULL_buffer", func(t *T) { t.Bad("Model_SetTensorData", t.openModel(2), 0, nil, 8) }).
		No("length_0", func(t *T) { t.Bad("Model_SetTensorData", t.openModel(2), 0, []byte{1}, 0) }),
	rule("s6_SetTensorData_finished", "after Finish it is FORBIDDEN, after the arguments and before the index is judged").
		OK("open", func(t *T) { t.OK("Model_SetTensorData", t.openModel(2), 0, []float32{1, 2}, 8) }).
		No("index", func(t *T) { t.Is(forbid, "Model_SetTensorData", afterFinish(t), 99, []byte{1}, 1) }).
		No("length_0_first", func(t *T) { t.Bad("Model_SetTensorData", afterFinish(t), 0, []byte{1}, 0) }),
	rule("s6_SetTensorData_index", "an index that no tensor has is INVALID").
		OK("last", func(t *T) { t.OK("Model_SetTensorData", t.openModel(2), 2, []float32{1, 2}, 8) }).
		No("after_last", func(t *T) { t.Bad("Model_SetTensorData", t.openModel(2), 4, []float32{1, 2}, 8) }),
	rule("s6_SetTensorData_twice", "a value that is set already is INVALID").
		OK("once", func(t *T) { t.OK("Model_SetTensorData", t.openModel(2), 0, []float32{1, 2}, 8) }).
		No("twice", func(t *T) { t.Bad("Model_SetTensorData", t.openModel(2), 3, []byte{0}, 1) }),
	rule("s6_SetTensorData_dynamic", "a dynamic shape is FORBIDDEN, before the length is judged").
		OK("fixed", func(t *T) { t.OK("Model_SetTensorData", t.openModel(1), 0, []float32{1}, 4) }).
		No("dynamic", func(t *T) { t.Is(forbid, "Model_SetTensorData", t.openModel(-1), 0, []byte{1}, 1) }),
	rule("s6_SetTensorData_length", "a length other than the tensor's is INVALID; a scalar has one element").
		OK("scalar", func(t *T) {
			m := t.emptyModel()
			t.OK("Model_AddTensorToModel", m, t.desc(int64T))
			t.OK("Model_SetTensorData", m, 0, make([]byte, 8), 8)
		}).
		No("less", func(t *T) { t.Bad("Model_SetTensorData", t.openModel(2), 0, []float32{1, 2}, 7) }).
		No("more", func(t *T) { t.Bad("Model_SetTensorData", t.openModel(2), 0, make([]byte, 9), 9) }).
		No("unknown_type", func(t *T) {
			m := t.emptyModel()
			t.OK("Model_AddTensorToModel", m, t.desc(0, 2))
			t.Bad("Model_SetTensorData", m, 0, make([]byte, 2), 2)
		}),
	rule("s6_SetTensorQuantParams", "copies the parameters; NULLs are INVALID").
		OK("object_may_end", func(t *T) {
			t.Check(t.addsBytes(t.quantized8(), "", 4, 8) == 10, "4 x 0.2 + 8 x 0.2 as steps of 0.4 from 4: want 10")
		}).
		No("NULL_model", func(t *T) { t.Bad("Model_SetTensorQuantParams", nil, 0, t.quant()) }).
		No("NULL_params", func(t *T) { t.Bad("Model_SetTensorQuantParams", t.openModel(2), 0, nil) }),
	rule("s6_SetTensorQuantParams_lost", "parameters that are refused for their values lose the tensor's earlier ones").
		OK("replaced", func(t *T) {
			m := t.quantized8()
			t.OK("Model_SetTensorQuantParams", m, 2, t.quantOf([]float64{0.2}, []int32{1}, []uint32{8}))
			got := t.addsBytes(m, "", 4, 8)
			t.Check(got == 13, "4 x 0.2 + 8 x 0.2 as steps of 0.2 from 1: got %d, want 13", got)
		}).
		No("refused", func(t *T) {
			m := t.quantized8()
			for i := range 3 {
				t.Bad("Model_SetTensorQuantParams", m, i, t.quantOf([]float64{1}, []int32{0}, []uint32{16}))
			}
			got := t.addsBytes(m, "", 4, 8)
			t.Check(got == 12, "4 + 8 without parameters: got %d, want 12", got)
		}),
	rule("s6_SetTensorQuantParams_finished", "after Finish it is FORBIDDEN, before the index is judged").
		OK("open", func(t *T) { t.OK("Model_SetTensorQuantParams", t.openModel(2), 0, t.quant()) }).
		No("finished", func(t *T) { t.Is(forbid, "Model_SetTensorQuantParams", afterFinish(t), 99, t.quant()) }),
	rule("s6_SetTensorQuantParams_values", "an index that no tensor has, lists of different lengths and other than 8 "+
		"bits are INVALID").
		OK("8_bits", func(t *T) { t.attach(success, t.quantOf([]float64{1}, []int32{0}, []uint32{8})) }).
		No("index", func(t *T) { t.Bad("Model_SetTensorQuantParams", t.openModel(2), 4, t.quant()) }).
		No("lengths", func(t *T) { t.attach(invalid, t.quantOf([]float64{1}, nil, []uint32{8})) }).
		No("bits", func(t *T) { t.attach(invalid, t.quantOf([]float64{1}, []int32{0}, []uint32{16})) }),
	rule("s6_SetTensorType", "marks a tensor as a parameter; a NULL model and a type outside 0 to 162 are INVALID, "+
		"before anything else").
		OK("edges", func(t *T) {
			m := t.openModel(2)
			t.OK("Model_SetTensorType", m, 0, 162)
			t.OK("Model_SetTensorType", m, 0, 0)
		}).
		No("NULL_model", func(t *T) { t.Bad("Model_SetTensorType", nil, 0, 0) }).
		No("163", func(t *T) { t.Bad("Model_SetTensorType", t.openModel(2), 0, 163) }).
		No("minus_1", func(t *T) { t.Bad("Model_SetTensorType", t.openModel(2), 0, int32(-1)) }).
		No("range_before_state", func(t *T) { t.Bad("Model_SetTensorType", afterFinish(t), 0, 163) }),
	rule("s6_SetTensorType_finished", "after Finish it is FORBIDDEN, before the index is judged").
		OK("open", func(t *T) { t.OK("Model_SetTensorType", t.openModel(2), 3, addActivation) }).
		No("finished", func(t *T) { t.Is(forbid, "Model_SetTensorType", afterFinish(t), 99, 0) }),
	rule("s6_SetTensorType_index", "an index that no tensor has is INVALID").
		OK("last", func(t *T) { t.OK("Model_SetTensorType", t.openModel(2), 3, 1) }).
		No("after_last", func(t *T) { t.Bad("Model_SetTensorType", t.openModel(2), 4, 1) }),
	rule("s6_tensor_indices", "AddTensor and AddTensorToModel number tensors together, from 0").
		OK("shared_counter", func(t *T) {
			m := t.emptyModel()
			t.OK("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.OK("Model_AddTensor", m, legacy(float32T, 2))
			t.OK("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.OK("Model_AddOperation", m, opAdd, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
		}).
		No("beyond", func(t *T) {
			m := t.emptyModel()
			t.OK("Model_AddTensor", m, legacy(float32T, 2))
			t.Bad("Model_SetTensorType", m, 1, 0)
		}),
}
