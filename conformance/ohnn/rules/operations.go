package rules

import (
	"slices"

	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

// operation tells which code AddOperation gives for an ADD on an open model of four tensors.
func (t *T) operation(want int, params, inputs, outputs *ohnn.Array) {
	t.Is(want, "Model_AddOperation", t.openModel(2), opAdd, params, inputs, outputs)
}

// many lists n indices that are in range.
func many(n int) *ohnn.Array { return ohnn.List(make([]uint32, n)...) }

// lopsided is a list whose pointer and size contradict each other.
func lopsided(size uint32) *ohnn.Array {
	if size > 0 {
		return &ohnn.Array{Size: size}
	}
	return &ohnn.Array{Data: new(uint32)}
}

func (t *T) specify(want int, inputs, outputs *ohnn.Array) {
	t.Is(want, "Model_SpecifyInputsAndOutputs", t.unspecified(2), inputs, outputs)
}

// additionOf is a finished model that adds vectors of a and b elements to one of y.
func (t *T) additionOf(a, b, y int32) uintptr {
	m := t.emptyModel()
	for _, n := range []int32{a, b, y} {
		t.OK("Model_AddTensorToModel", m, t.desc(float32T, n))
	}
	t.OK("Model_AddOperation", m, opAdd, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
	t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1), ohnn.List(2))
	t.OK("Model_Finish", m)
	return m
}

// wantFlags demands the flags of a model's operations on a device, and gives their address.
func (t *T) wantFlags(m uintptr, device string, want ...bool) uintptr {
	var p uintptr
	n := uint32(9)
	t.OK("Model_GetAvailableOperations", m, t.named(device), &p, &n)
	t.Check(slices.Equal(cmem.Copy[bool](p, int(n)), want), "%d flags %v, want %v", n, cmem.Copy[bool](p, int(n)), want)
	return p
}

var modelOperations = []*Rule{
	rule("s6_AddOperation", "adds an operation; the model and all three lists are required, an empty parameter list is "+
		"{NULL, 0}: else INVALID").
		OK("with_parameter", func(t *T) { t.operation(success, ohnn.List(3), ohnn.List(0, 1), ohnn.List(2)) }).
		OK("empty_parameters", func(t *T) { t.operation(success, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2)) }).
		No("NULL_model", func(t *T) {
			t.Bad("Model_AddOperation", nil, opAdd, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
		}).
		No("NULL_params", func(t *T) {
			t.Bad("Model_AddOperation", t.openModel(2), opAdd, nil, ohnn.List(0, 1), ohnn.List(2))
		}).
		No("NULL_inputs", func(t *T) {
			t.Bad("Model_AddOperation", t.openModel(2), opAdd, &ohnn.Array{}, nil, ohnn.List(2))
		}).
		No("NULL_outputs", func(t *T) {
			t.Bad("Model_AddOperation", t.openModel(2), opAdd, &ohnn.Array{}, ohnn.List(0, 1), nil)
		}),
	rule("s6_AddOperation_finished", "after Finish it is FORBIDDEN, before the lists are judged").
		OK("open", func(t *T) { t.operation(success, ohnn.List(3), ohnn.List(0, 1), ohnn.List(2)) }).
		No("finished", func(t *T) {
			t.Is(forbid, "Model_AddOperation", afterFinish(t), 999, many(1), many(300), &ohnn.Array{})
		}),
	rule("s6_AddOperation_counts", "0 or more than 200 inputs or outputs are INVALID").
		OK("concat_of_199", func(t *T) {
			m := t.emptyModel()
			for range 200 {
				t.OK("Model_AddTensorToModel", m, t.desc(float32T, 1))
			}
			in := make([]uint32, 199)
			for i := range in {
				in[i] = uint32(i)
			}
			t.OK("Model_AddOperation", m, 7, &ohnn.Array{}, ohnn.List(in...), ohnn.List(199))
		}).
		No("no_inputs", func(t *T) { t.operation(invalid, &ohnn.Array{}, &ohnn.Array{}, ohnn.List(2)) }).
		No("no_outputs", func(t *T) { t.operation(invalid, &ohnn.Array{}, ohnn.List(0, 1), &ohnn.Array{}) }).
		No("201_inputs", func(t *T) { t.operation(invalid, &ohnn.Array{}, many(201), ohnn.List(2)) }).
		No("201_outputs", func(t *T) { t.operation(invalid, &ohnn.Array{}, ohnn.List(0, 1), many(201)) }),
	rule("s6_AddOperation_indices", "a list whose pointer and size contradict each other and an index that no tensor "+
		"has are INVALID").
		OK("in_range", func(t *T) { t.operation(success, ohnn.List(3), ohnn.List(1, 0), ohnn.List(2)) }).
		No("NULL_inputs", func(t *T) { t.operation(invalid, &ohnn.Array{}, lopsided(2), ohnn.List(2)) }).
		No("NULL_outputs", func(t *T) { t.operation(invalid, &ohnn.Array{}, ohnn.List(0, 1), lopsided(1)) }).
		No("NULL_params", func(t *T) { t.operation(invalid, lopsided(1), ohnn.List(0, 1), ohnn.List(2)) }).
		No("params_without_size", func(t *T) { t.operation(invalid, lopsided(0), ohnn.List(0, 1), ohnn.List(2)) }).
		No("input", func(t *T) { t.operation(invalid, &ohnn.Array{}, ohnn.List(0, 4), ohnn.List(2)) }).
		No("output", func(t *T) { t.operation(invalid, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(4)) }).
		No("param", func(t *T) { t.operation(invalid, ohnn.List(4), ohnn.List(0, 1), ohnn.List(2)) }),
	rule("s6_AddOperation_roles", "inputs and outputs must be of type OH_NN_TENSOR, else INVALID").
		OK("tensors", func(t *T) { t.operation(success, ohnn.List(3), ohnn.List(0, 1), ohnn.List(2)) }).
		No("parameter_as_input", func(t *T) { t.operation(invalid, &ohnn.Array{}, ohnn.List(0, 3), ohnn.List(2)) }).
		No("parameter_as_output", func(t *T) { t.operation(invalid, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(3)) }),
	rule("s6_AddOperation_overlap", "an index that is input and output is INVALID; one twice among the inputs is not").
		OK("twice_an_input", func(t *T) { t.operation(success, ohnn.List(3), ohnn.List(0, 0), ohnn.List(2)) }).
		No("input_and_output", func(t *T) { t.operation(invalid, ohnn.List(3), ohnn.List(0, 1), ohnn.List(1)) }),
	rule("s6_AddOperation_number", "0 and numbers above 108 are no operations: INVALID").
		OK("known", func(t *T) {
			t.OK("Model_AddOperation", t.openModel(2), opRelu, &ohnn.Array{}, ohnn.List(0), ohnn.List(2))
		}).
		No("0", func(t *T) {
			t.Bad("Model_AddOperation", t.openModel(2), 0, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
		}).
		No("109", func(t *T) {
			t.Bad("Model_AddOperation", t.openModel(2), 109, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
		}).
		No("minus_1", func(t *T) {
			t.Bad("Model_AddOperation", t.openModel(2), int32(-1), &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
		}),
	rule("s6_AddOperation_operator", "the operator's own checks are INVALID: numbers of inputs and outputs, parameters "+
		"that are not its own or have no data").
		OK("good", func(t *T) { t.operation(success, ohnn.List(3), ohnn.List(0, 1), ohnn.List(2)) }).
		No("one_input", func(t *T) { t.operation(invalid, ohnn.List(3), ohnn.List(0), ohnn.List(2)) }).
		No("two_outputs", func(t *T) { t.operation(invalid, ohnn.List(3), ohnn.List(0), ohnn.List(1, 2)) }).
		No("foreign_parameter", func(t *T) {
			m := t.openModel(2)
			t.OK("Model_SetTensorType", m, 3, 46) // SOFTMAX_AXIS
			t.Bad("Model_AddOperation", m, opAdd, ohnn.List(3), ohnn.List(0, 1), ohnn.List(2))
		}).
		No("data_as_parameter", func(t *T) { t.operation(invalid, ohnn.List(1), ohnn.List(0, 1), ohnn.List(2)) }).
		No("parameter_without_data", func(t *T) {
			m := t.openModel(2)
			t.OK("Model_AddTensorToModel", m, t.desc(int8T))
			t.OK("Model_SetTensorType", m, 4, addActivation)
			t.Bad("Model_AddOperation", m, opAdd, ohnn.List(4), ohnn.List(0, 1), ohnn.List(2))
		}),
	rule("s6_AddOperation_failure", "a failed call adds no operation").
		OK("good_call", func(t *T) { t.model(2) }).
		No("nothing_added", func(t *T) {
			m := t.openModel(2)
			t.Bad("Model_AddOperation", m, opAdd, ohnn.List(3), ohnn.List(0), ohnn.List(2))
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1), ohnn.List(2))
			t.Is(forbid, "Model_Finish", m)
		}),
	rule("s6_parameter_shared", "one parameter tensor may serve several operations").
		OK("two_additions", func(t *T) {
			m := t.openModel(2)
			t.OK("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.OK("Model_AddOperation", m, opAdd, ohnn.List(3), ohnn.List(0, 1), ohnn.List(2))
			t.OK("Model_AddOperation", m, opAdd, ohnn.List(3), ohnn.List(2, 1), ohnn.List(4))
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1), ohnn.List(4))
			t.OK("Model_Finish", m)
			t.OK("Compilation_Build", t.compilation(m))
		}).
		No("foreign_to_one", func(t *T) {
			m := t.openModel(2)
			t.OK("Model_AddOperation", m, opAdd, ohnn.List(3), ohnn.List(0, 1), ohnn.List(2))
			t.Bad("Model_AddOperation", m, opRelu, ohnn.List(3), ohnn.List(0), ohnn.List(1))
		}),
	rule("s6_Specify", "names the model's inputs and outputs; NULLs are INVALID").
		OK("specifies", func(t *T) { t.specify(success, ohnn.List(0, 1), ohnn.List(2)) }).
		No("NULL_model", func(t *T) { t.Bad("Model_SpecifyInputsAndOutputs", nil, ohnn.List(0), ohnn.List(2)) }).
		No("NULL_inputs", func(t *T) { t.Bad("Model_SpecifyInputsAndOutputs", t.unspecified(2), nil, ohnn.List(2)) }).
		No("NULL_outputs", func(t *T) { t.Bad("Model_SpecifyInputsAndOutputs", t.unspecified(2), ohnn.List(0), nil) }),
	rule("s6_Specify_finished", "after Finish it is FORBIDDEN, before the lists are judged").
		OK("open", func(t *T) { t.specify(success, ohnn.List(0, 1), ohnn.List(2)) }).
		No("finished", func(t *T) {
			t.Is(forbid, "Model_SpecifyInputsAndOutputs", afterFinish(t), many(300), &ohnn.Array{})
		}),
	rule("s6_Specify_twice", "a second successful call is FORBIDDEN; a failed one does not count").
		OK("after_failure", func(t *T) {
			m := t.unspecified(2)
			t.Bad("Model_SpecifyInputsAndOutputs", m, ohnn.List(9), ohnn.List(2))
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1), ohnn.List(2))
		}).
		No("twice", func(t *T) {
			t.Is(forbid, "Model_SpecifyInputsAndOutputs", t.unfinished(2), ohnn.List(9), ohnn.List(2))
		}),
	rule("s6_Specify_lists", "the lists are judged as AddOperation's: counts, pointers, range, roles, overlap are "+
		"INVALID").
		OK("good", func(t *T) { t.specify(success, ohnn.List(1, 0), ohnn.List(2)) }).
		No("no_inputs", func(t *T) { t.specify(invalid, &ohnn.Array{}, ohnn.List(2)) }).
		No("no_outputs", func(t *T) { t.specify(invalid, ohnn.List(0, 1), &ohnn.Array{}) }).
		No("201", func(t *T) { t.specify(invalid, many(201), ohnn.List(2)) }).
		No("NULL_with_size", func(t *T) { t.specify(invalid, lopsided(1), ohnn.List(2)) }).
		No("range", func(t *T) { t.specify(invalid, ohnn.List(0, 1), ohnn.List(4)) }).
		No("parameter", func(t *T) { t.specify(invalid, ohnn.List(0, 3), ohnn.List(2)) }).
		No("overlap", func(t *T) { t.specify(invalid, ohnn.List(0, 1), ohnn.List(1)) }),
	rule("s6_Specify_tolerance", "an index twice in one list and inputs that no operation uses are let through").
		OK("twice_and_unused", func(t *T) {
			m := t.unspecified(2)
			t.OK("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 0, 1, 4), ohnn.List(2))
		}).
		No("twice_and_in_both", func(t *T) { t.specify(invalid, ohnn.List(0, 0, 2), ohnn.List(2)) }).
		No("twice_and_out_of_range", func(t *T) { t.specify(invalid, ohnn.List(0, 0, 9, 9), ohnn.List(2)) }),
	rule("s6_Finish", "closes a model; NULL is INVALID").
		OK("finishes", func(t *T) { t.model(2) }).
		No("NULL", func(t *T) { t.Bad("Model_Finish", nil) }),
	rule("s6_Finish_incomplete", "it is FORBIDDEN twice, without tensors, without operations, and without inputs and "+
		"outputs").
		OK("complete", func(t *T) { t.OK("Model_Finish", t.unfinished(2)) }).
		No("twice", func(t *T) { t.Is(forbid, "Model_Finish", t.model(2)) }).
		No("no_tensor", func(t *T) { t.Is(forbid, "Model_Finish", t.emptyModel()) }).
		No("no_operation", func(t *T) { t.Is(forbid, "Model_Finish", t.openModel(2)) }).
		No("unspecified", func(t *T) { t.Is(forbid, "Model_Finish", t.unspecified(2)) }),
	rule("s6_Finish_parameters", "QUANT_DTYPE_CAST without its types and SCALE without its axis are FAILED, and the "+
		"model is half built: again is FORBIDDEN").
		OK("with_types", func(t *T) {
			m := t.emptyModel()
			t.OK("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.OK("Model_AddTensorToModel", m, t.desc(int8T, 2))
			t.OK("Model_SetTensorQuantParams", m, 1, t.quantOf([]float64{1}, []int32{0}, []uint32{8}))
			for i, dataType := range []byte{43, 32} { // MindSpore's numbers of float32 and int8
				t.OK("Model_AddTensorToModel", m, t.desc(int64T))
				t.OK("Model_SetTensorType", m, i+2, 72+i)
				t.OK("Model_SetTensorData", m, i+2, []byte{dataType, 0, 0, 0, 0, 0, 0, 0}, 8)
			}
			t.OK("Model_AddOperation", m, 52, ohnn.List(2, 3), ohnn.List(0), ohnn.List(1))
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0), ohnn.List(1))
			t.OK("Model_Finish", m)
		}).
		No("without_types", func(t *T) {
			m := t.openModel(2)
			t.OK("Model_AddOperation", m, 52, &ohnn.Array{}, ohnn.List(0), ohnn.List(2))
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0), ohnn.List(2))
			t.Is(failed, "Model_Finish", m)
			t.Is(forbid, "Model_Finish", m)
		}).
		No("SCALE_without_axis", func(t *T) {
			m := t.openModel(2)
			t.OK("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.OK("Model_AddOperation", m, 26, &ohnn.Array{}, ohnn.List(0, 1, 4), ohnn.List(2))
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1, 4), ohnn.List(2))
			t.Is(failed, "Model_Finish", m)
		}),
	rule("s6_Finish_topology", "neither topology nor shapes are judged").
		OK("shapes_that_contradict", func(t *T) { t.additionOf(2, 3, 4) }).
		No("judged_later", func(t *T) {
			c := t.compilation(t.additionOf(2, 3, 4))
			if t.Mode == ohnn.Manual {
				t.Is(failed, "Compilation_Build", c)
				return
			}
			t.OK("Compilation_Build", c)
			in, out := []uintptr{t.tensor(nil, 2), t.tensor(nil, 3)}, []uintptr{t.tensor(nil, 4)}
			t.Is(unavail, "Executor_RunSync", t.executorOf(c), in, 2, out, 1)
		}),
	rule("s6_GetAvailableOperations", "gives one flag per operation in their order; NULLs and a variable that holds no "+
		"NULL are INVALID").
		OK("flags", func(t *T) {
			var p uintptr
			n := uint32(9)
			t.OK("Model_GetAvailableOperations", t.model(2), 0, &p, &n)
			t.Check(slices.Equal(cmem.Copy[bool](p, int(n)), []bool{true}), "got %d flags %v, want [true]", n,
				cmem.Copy[bool](p, int(n)))
		}).
		No("NULL_model", func(t *T) { t.Bad("Model_GetAvailableOperations", nil, 0, new(uintptr), new(uint32)) }).
		No("NULL_flags", func(t *T) { t.Bad("Model_GetAvailableOperations", t.model(2), 0, nil, new(uint32)) }).
		No("NULL_count", func(t *T) { t.Bad("Model_GetAvailableOperations", t.model(2), 0, new(uintptr), nil) }).
		No("flags_not_NULL", func(t *T) {
			t.Bad("Model_GetAvailableOperations", t.model(2), 0, &[]uintptr{1}[0], new(uint32))
		}),
	rule("s6_GetAvailableOperations_flags", "a flag is false for an operation that the device does not compute; flags "+
		"have the order of AddOperation").
		OK("all", func(t *T) {
			t.wantFlags(t.additionAndRelu(), fullDevice, true, true)
		}).
		No("one_lacking", func(t *T) {
			t.wantFlags(t.additionAndRelu(), plainDevice, true, false)
			t.Judged(false)
		}),
	rule("s6_GetAvailableOperations_lifetime", "the array is the model's and valid until the next call").
		OK("own", func(t *T) {
			a, b := t.additionAndRelu(), t.additionAndRelu()
			flags := t.wantFlags(a, fullDevice, true, true)
			t.wantFlags(b, plainDevice, true, false)
			t.Check(slices.Equal(cmem.Copy[bool](flags, 2), []bool{true, true}),
				"a call for another model has changed the flags")
		}).
		No("after_a_refused_call", func(t *T) {
			m := t.additionAndRelu()
			flags := t.wantFlags(m, fullDevice, true, true)
			t.Is(failed, "Model_GetAvailableOperations", m, t.unknownDevice(), new(uintptr), new(uint32))
			t.Check(slices.Equal(cmem.Copy[bool](flags, 2), []bool{true, true}), "a refused call has changed the flags")
		}),
	rule("s6_GetAvailableOperations_state", "before Finish it is FORBIDDEN").
		OK("finished", func(t *T) { t.OK("Model_GetAvailableOperations", t.model(2), 0, new(uintptr), new(uint32)) }).
		No("open", func(t *T) {
			t.Is(forbid, "Model_GetAvailableOperations", t.unfinished(2), t.unknownDevice(), new(uintptr), new(uint32))
		}),
	rule("s6_GetAvailableOperations_device", "an unknown device is FAILED").
		OK("by_id", func(t *T) {
			t.OK("Model_GetAvailableOperations", t.model(2), t.deviceIDs()[0], new(uintptr), new(uint32))
		}).
		No("unknown", func(t *T) {
			t.Is(failed, "Model_GetAvailableOperations", t.model(2), t.unknownDevice(), new(uintptr), new(uint32))
		}),
}
