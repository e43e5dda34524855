package rules

import "slices"

// operation tells which code AddOperation gives for an ADD on an open model of four tensors.
func (t *T) operation(want int, params, inputs, outputs *array) {
	t.is(want, "Model_AddOperation", t.openModel(2), opAdd, params, inputs, outputs)
}

// many lists n indices that are in range.
func many(n int) *array { return list(make([]uint32, n)...) }

// lopsided is a list whose pointer and size contradict each other.
func lopsided(size uint32) *array {
	if size > 0 {
		return &array{nil, size}
	}
	return &array{&[]uint32{0}[0], 0}
}

func (t *T) specify(want int, inputs, outputs *array) {
	t.is(want, "Model_SpecifyInputsAndOutputs", t.unspecified(2), inputs, outputs)
}

// additionOf is a finished model that adds vectors of a and b elements to one of y.
func (t *T) additionOf(a, b, y int32) uintptr {
	m := t.emptyModel()
	for _, n := range []int32{a, b, y} {
		t.ok("Model_AddTensorToModel", m, t.desc(float32T, n))
	}
	t.ok("Model_AddOperation", m, opAdd, &array{}, list(0, 1), list(2))
	t.ok("Model_SpecifyInputsAndOutputs", m, list(0, 1), list(2))
	t.ok("Model_Finish", m)
	return m
}

// wantFlags demands the flags of a model's operations on a device, and gives their address.
func (t *T) wantFlags(m uintptr, device string, want ...bool) uintptr {
	var p uintptr
	n := uint32(9)
	t.ok("Model_GetAvailableOperations", m, t.named(device), &p, &n)
	t.check(slices.Equal(load[bool](p, int(n)), want), "%d flags %v, want %v", n, load[bool](p, int(n)), want)
	return p
}

var modelOperations = []*Rule{
	rule("s6_AddOperation", "adds an operation; the model and all three lists are required, an empty parameter list is "+
		"{NULL, 0}: else INVALID").
		ok("with_parameter", func(t *T) { t.operation(success, list(3), list(0, 1), list(2)) }).
		ok("empty_parameters", func(t *T) { t.operation(success, &array{}, list(0, 1), list(2)) }).
		no("NULL_model", func(t *T) { t.bad("Model_AddOperation", nil, opAdd, &array{}, list(0, 1), list(2)) }).
		no("NULL_params", func(t *T) { t.bad("Model_AddOperation", t.openModel(2), opAdd, nil, list(0, 1), list(2)) }).
		no("NULL_inputs", func(t *T) { t.bad("Model_AddOperation", t.openModel(2), opAdd, &array{}, nil, list(2)) }).
		no("NULL_outputs", func(t *T) { t.bad("Model_AddOperation", t.openModel(2), opAdd, &array{}, list(0, 1), nil) }),
	rule("s6_AddOperation_finished", "after Finish it is FORBIDDEN, before the lists are judged").
		ok("open", func(t *T) { t.operation(success, list(3), list(0, 1), list(2)) }).
		no("finished", func(t *T) { t.is(forbid, "Model_AddOperation", afterFinish(t), 999, many(1), many(300), &array{}) }),
	rule("s6_AddOperation_counts", "0 or more than 200 inputs or outputs are INVALID").
		ok("concat_of_199", func(t *T) {
			m := t.emptyModel()
			for range 200 {
				t.ok("Model_AddTensorToModel", m, t.desc(float32T, 1))
			}
			in := make([]uint32, 199)
			for i := range in {
				in[i] = uint32(i)
			}
			t.ok("Model_AddOperation", m, 7, &array{}, list(in...), list(199))
		}).
		no("no_inputs", func(t *T) { t.operation(invalid, &array{}, &array{}, list(2)) }).
		no("no_outputs", func(t *T) { t.operation(invalid, &array{}, list(0, 1), &array{}) }).
		no("201_inputs", func(t *T) { t.operation(invalid, &array{}, many(201), list(2)) }).
		no("201_outputs", func(t *T) { t.operation(invalid, &array{}, list(0, 1), many(201)) }),
	rule("s6_AddOperation_indices", "a list whose pointer and size contradict each other and an index that no tensor "+
		"has are INVALID").
		ok("in_range", func(t *T) { t.operation(success, list(3), list(1, 0), list(2)) }).
		no("NULL_inputs", func(t *T) { t.operation(invalid, &array{}, lopsided(2), list(2)) }).
		no("NULL_outputs", func(t *T) { t.operation(invalid, &array{}, list(0, 1), lopsided(1)) }).
		no("NULL_params", func(t *T) { t.operation(invalid, lopsided(1), list(0, 1), list(2)) }).
		no("params_without_size", func(t *T) { t.operation(invalid, lopsided(0), list(0, 1), list(2)) }).
		no("input", func(t *T) { t.operation(invalid, &array{}, list(0, 4), list(2)) }).
		no("output", func(t *T) { t.operation(invalid, &array{}, list(0, 1), list(4)) }).
		no("param", func(t *T) { t.operation(invalid, list(4), list(0, 1), list(2)) }),
	rule("s6_AddOperation_roles", "inputs and outputs must be of type OH_NN_TENSOR, else INVALID").
		ok("tensors", func(t *T) { t.operation(success, list(3), list(0, 1), list(2)) }).
		no("parameter_as_input", func(t *T) { t.operation(invalid, &array{}, list(0, 3), list(2)) }).
		no("parameter_as_output", func(t *T) { t.operation(invalid, &array{}, list(0, 1), list(3)) }),
	rule("s6_AddOperation_overlap", "an index that is input and output is INVALID; one twice among the inputs is not").
		ok("twice_an_input", func(t *T) { t.operation(success, list(3), list(0, 0), list(2)) }).
		no("input_and_output", func(t *T) { t.operation(invalid, list(3), list(0, 1), list(1)) }),
	rule("s6_AddOperation_number", "0 and numbers above 108 are no operations: INVALID").
		ok("known", func(t *T) { t.ok("Model_AddOperation", t.openModel(2), opRelu, &array{}, list(0), list(2)) }).
		no("0", func(t *T) { t.bad("Model_AddOperation", t.openModel(2), 0, &array{}, list(0, 1), list(2)) }).
		no("109", func(t *T) { t.bad("Model_AddOperation", t.openModel(2), 109, &array{}, list(0, 1), list(2)) }).
		no("minus_1", func(t *T) { t.bad("Model_AddOperation", t.openModel(2), int32(-1), &array{}, list(0, 1), list(2)) }),
	rule("s6_AddOperation_operator", "the operator's own checks are INVALID: numbers of inputs and outputs, parameters "+
		"that are not its own or have no data").
		ok("good", func(t *T) { t.operation(success, list(3), list(0, 1), list(2)) }).
		no("one_input", func(t *T) { t.operation(invalid, list(3), list(0), list(2)) }).
		no("two_outputs", func(t *T) { t.operation(invalid, list(3), list(0), list(1, 2)) }).
		no("foreign_parameter", func(t *T) {
			m := t.openModel(2)
			t.ok("Model_SetTensorType", m, 3, 46) // SOFTMAX_AXIS
			t.bad("Model_AddOperation", m, opAdd, list(3), list(0, 1), list(2))
		}).
		no("data_as_parameter", func(t *T) { t.operation(invalid, list(1), list(0, 1), list(2)) }).
		no("parameter_without_data", func(t *T) {
			m := t.openModel(2)
			t.ok("Model_AddTensorToModel", m, t.desc(int8T))
			t.ok("Model_SetTensorType", m, 4, addActivation)
			t.bad("Model_AddOperation", m, opAdd, list(4), list(0, 1), list(2))
		}),
	rule("s6_AddOperation_failure", "a failed call adds no operation").
		ok("good_call", func(t *T) { t.model(2) }).
		no("nothing_added", func(t *T) {
			m := t.openModel(2)
			t.bad("Model_AddOperation", m, opAdd, list(3), list(0), list(2))
			t.ok("Model_SpecifyInputsAndOutputs", m, list(0, 1), list(2))
			t.is(forbid, "Model_Finish", m)
		}),
	rule("s6_parameter_shared", "one parameter tensor may serve several operations").
		ok("two_additions", func(t *T) {
			m := t.openModel(2)
			t.ok("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.ok("Model_AddOperation", m, opAdd, list(3), list(0, 1), list(2))
			t.ok("Model_AddOperation", m, opAdd, list(3), list(2, 1), list(4))
			t.ok("Model_SpecifyInputsAndOutputs", m, list(0, 1), list(4))
			t.ok("Model_Finish", m)
			t.ok("Compilation_Build", t.compilation(m))
		}).
		no("foreign_to_one", func(t *T) {
			m := t.openModel(2)
			t.ok("Model_AddOperation", m, opAdd, list(3), list(0, 1), list(2))
			t.bad("Model_AddOperation", m, opRelu, list(3), list(0), list(1))
		}),
	rule("s6_Specify", "names the model's inputs and outputs; NULLs are INVALID").
		ok("specifies", func(t *T) { t.specify(success, list(0, 1), list(2)) }).
		no("NULL_model", func(t *T) { t.bad("Model_SpecifyInputsAndOutputs", nil, list(0), list(2)) }).
		no("NULL_inputs", func(t *T) { t.bad("Model_SpecifyInputsAndOutputs", t.unspecified(2), nil, list(2)) }).
		no("NULL_outputs", func(t *T) { t.bad("Model_SpecifyInputsAndOutputs", t.unspecified(2), list(0), nil) }),
	rule("s6_Specify_finished", "after Finish it is FORBIDDEN, before the lists are judged").
		ok("open", func(t *T) { t.specify(success, list(0, 1), list(2)) }).
		no("finished", func(t *T) { t.is(forbid, "Model_SpecifyInputsAndOutputs", afterFinish(t), many(300), &array{}) }),
	rule("s6_Specify_twice", "a second successful call is FORBIDDEN; a failed one does not count").
		ok("after_failure", func(t *T) {
			m := t.unspecified(2)
			t.bad("Model_SpecifyInputsAndOutputs", m, list(9), list(2))
			t.ok("Model_SpecifyInputsAndOutputs", m, list(0, 1), list(2))
		}).
		no("twice", func(t *T) { t.is(forbid, "Model_SpecifyInputsAndOutputs", t.unfinished(2), list(9), list(2)) }),
	rule("s6_Specify_lists", "the lists are judged as AddOperation's: counts, pointers, range, roles, overlap are "+
		"INVALID").
		ok("good", func(t *T) { t.specify(success, list(1, 0), list(2)) }).
		no("no_inputs", func(t *T) { t.specify(invalid, &array{}, list(2)) }).
		no("no_outputs", func(t *T) { t.specify(invalid, list(0, 1), &array{}) }).
		no("201", func(t *T) { t.specify(invalid, many(201), list(2)) }).
		no("NULL_with_size", func(t *T) { t.specify(invalid, lopsided(1), list(2)) }).
		no("range", func(t *T) { t.specify(invalid, list(0, 1), list(4)) }).
		no("parameter", func(t *T) { t.specify(invalid, list(0, 3), list(2)) }).
		no("overlap", func(t *T) { t.specify(invalid, list(0, 1), list(1)) }),
	rule("s6_Specify_tolerance", "an index twice in one list and inputs that no operation uses are let through").
		ok("twice_and_unused", func(t *T) {
			m := t.unspecified(2)
			t.ok("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.ok("Model_SpecifyInputsAndOutputs", m, list(0, 0, 1, 4), list(2))
		}).
		no("twice_and_in_both", func(t *T) { t.specify(invalid, list(0, 0, 2), list(2)) }).
		no("twice_and_out_of_range", func(t *T) { t.specify(invalid, list(0, 0, 9, 9), list(2)) }),
	rule("s6_Finish", "closes a model; NULL is INVALID").
		ok("finishes", func(t *T) { t.model(2) }).
		no("NULL", func(t *T) { t.bad("Model_Finish", nil) }),
	rule("s6_Finish_incomplete", "it is FORBIDDEN twice, without tensors, without operations, and without inputs and "+
		"outputs").
		ok("complete", func(t *T) { t.ok("Model_Finish", t.unfinished(2)) }).
		no("twice", func(t *T) { t.is(forbid, "Model_Finish", t.model(2)) }).
		no("no_tensor", func(t *T) { t.is(forbid, "Model_Finish", t.emptyModel()) }).
		no("no_operation", func(t *T) { t.is(forbid, "Model_Finish", t.openModel(2)) }).
		no("unspecified", func(t *T) { t.is(forbid, "Model_Finish", t.unspecified(2)) }),
	rule("s6_Finish_parameters", "QUANT_DTYPE_CAST without its types and SCALE without its axis are FAILED, and the "+
		"model is half built: again is FORBIDDEN").
		ok("with_types", func(t *T) {
			m := t.emptyModel()
			t.ok("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.ok("Model_AddTensorToModel", m, t.desc(int8T, 2))
			t.ok("Model_SetTensorQuantParams", m, 1, t.quantOf([]float64{1}, []int32{0}, []uint32{8}))
			for i, dataType := range []byte{43, 32} { // MindSpore's numbers of float32 and int8
				t.ok("Model_AddTensorToModel", m, t.desc(int64T))
				t.ok("Model_SetTensorType", m, i+2, 72+i)
				t.ok("Model_SetTensorData", m, i+2, []byte{dataType, 0, 0, 0, 0, 0, 0, 0}, 8)
			}
			t.ok("Model_AddOperation", m, 52, list(2, 3), list(0), list(1))
			t.ok("Model_SpecifyInputsAndOutputs", m, list(0), list(1))
			t.ok("Model_Finish", m)
		}).
		no("without_types", func(t *T) {
			m := t.openModel(2)
			t.ok("Model_AddOperation", m, 52, &array{}, list(0), list(2))
			t.ok("Model_SpecifyInputsAndOutputs", m, list(0), list(2))
			t.is(failed, "Model_Finish", m)
			t.is(forbid, "Model_Finish", m)
		}).
		no("SCALE_without_axis", func(t *T) {
			m := t.openModel(2)
			t.ok("Model_AddTensorToModel", m, t.desc(float32T, 2))
			t.ok("Model_AddOperation", m, 26, &array{}, list(0, 1, 4), list(2))
			t.ok("Model_SpecifyInputsAndOutputs", m, list(0, 1, 4), list(2))
			t.is(failed, "Model_Finish", m)
		}),
	rule("s6_Finish_topology", "neither topology nor shapes are judged").
		ok("shapes_that_contradict", func(t *T) { t.additionOf(2, 3, 4) }).
		no("judged_later", func(t *T) {
			c := t.compilation(t.additionOf(2, 3, 4))
			if t.Mode == Default {
				t.is(failed, "Compilation_Build", c)
				return
			}
			t.ok("Compilation_Build", c)
			in, out := []uintptr{t.tensor(nil, 2), t.tensor(nil, 3)}, []uintptr{t.tensor(nil, 4)}
			t.is(unavail, "Executor_RunSync", t.executorOf(c), in, 2, out, 1)
		}),
	rule("s6_GetAvailableOperations", "gives one flag per operation in their order; NULLs and a variable that holds no "+
		"NULL are INVALID").
		ok("flags", func(t *T) {
			var p uintptr
			n := uint32(9)
			t.ok("Model_GetAvailableOperations", t.model(2), 0, &p, &n)
			t.check(slices.Equal(load[bool](p, int(n)), []bool{true}), "got %d flags %v, want [true]", n, load[bool](p, int(n)))
		}).
		no("NULL_model", func(t *T) { t.bad("Model_GetAvailableOperations", nil, 0, new(uintptr), new(uint32)) }).
		no("NULL_flags", func(t *T) { t.bad("Model_GetAvailableOperations", t.model(2), 0, nil, new(uint32)) }).
		no("NULL_count", func(t *T) { t.bad("Model_GetAvailableOperations", t.model(2), 0, new(uintptr), nil) }).
		no("flags_not_NULL", func(t *T) {
			t.bad("Model_GetAvailableOperations", t.model(2), 0, &[]uintptr{1}[0], new(uint32))
		}),
	rule("s6_GetAvailableOperations_flags", "a flag is false for an operation that the device does not compute; flags "+
		"have the order of AddOperation").
		ok("all", func(t *T) {
			t.wantFlags(t.additionAndRelu(), fullDevice, true, true)
		}).
		no("one_lacking", func(t *T) {
			t.wantFlags(t.additionAndRelu(), plainDevice, true, false)
			t.judged(false)
		}),
	rule("s6_GetAvailableOperations_lifetime", "the array is the model's and valid until the next call").
		ok("own", func(t *T) {
			a, b := t.additionAndRelu(), t.additionAndRelu()
			flags := t.wantFlags(a, fullDevice, true, true)
			t.wantFlags(b, plainDevice, true, false)
			t.check(slices.Equal(load[bool](flags, 2), []bool{true, true}), "a call for another model has changed the flags")
		}).
		no("after_a_refused_call", func(t *T) {
			m := t.additionAndRelu()
			flags := t.wantFlags(m, fullDevice, true, true)
			t.is(failed, "Model_GetAvailableOperations", m, t.unknownDevice(), new(uintptr), new(uint32))
			t.check(slices.Equal(load[bool](flags, 2), []bool{true, true}), "a refused call has changed the flags")
		}),
	rule("s6_GetAvailableOperations_state", "before Finish it is FORBIDDEN").
		ok("finished", func(t *T) { t.ok("Model_GetAvailableOperations", t.model(2), 0, new(uintptr), new(uint32)) }).
		no("open", func(t *T) {
			t.is(forbid, "Model_GetAvailableOperations", t.unfinished(2), t.unknownDevice(), new(uintptr), new(uint32))
		}),
	rule("s6_GetAvailableOperations_device", "an unknown device is FAILED").
		ok("by_id", func(t *T) {
			t.ok("Model_GetAvailableOperations", t.model(2), t.deviceIDs()[0], new(uintptr), new(uint32))
		}).
		no("unknown", func(t *T) {
			t.is(failed, "Model_GetAvailableOperations", t.model(2), t.unknownDevice(), new(uintptr), new(uint32))
		}),
}
