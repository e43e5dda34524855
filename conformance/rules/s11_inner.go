package rules

func info(dataType int32, dims ...int32) []tensorInfo {
	x := tensorInfo{dataType: dataType, rank: uint32(len(dims)), format: 2}
	if len(dims) > 0 {
		x.dims = &dims[0]
	}
	copy(x.name[:], "port")
	return []tensorInfo{x}
}

// profiling is an extension; without a value it is a bad one.
func profiling(value []byte) []extension {
	x := extension{size: uintptr(len(value))}
	copy(x.name[:], "isProfiling")
	if len(value) > 0 {
		x.value = &value[0]
	}
	return []extension{x}
}

var graph = []byte("no graph of another engine")

var inner = []*Rule{
	rule("s11_BuildFromLiteGraph", "NULLs and more than 200 extensions are INVALID, a model that is not empty is "+
		"FORBIDDEN; graphs of another engine are refused").
		no("graph", func(t *T) {
			code := int(uint32(t.call("Model_BuildFromLiteGraph", t.emptyModel(), graph, nil, 0)))
			t.noEffect(code == success, "it was accepted")
		}).
		no("NULL_model", func(t *T) { t.bad("Model_BuildFromLiteGraph", nil, graph, nil, 0) }).
		no("NULL_graph", func(t *T) { t.bad("Model_BuildFromLiteGraph", t.emptyModel(), nil, nil, 0) }).
		no("graph_with_extension", func(t *T) {
			code := int(uint32(t.call("Model_BuildFromLiteGraph", t.emptyModel(), graph, profiling([]byte("true\x00")), 1)))
			t.noEffect(code == success, "it was accepted")
		}).
		no("extension_without_value", func(t *T) {
			t.bad("Model_BuildFromLiteGraph", t.emptyModel(), graph, profiling(nil),
				1)
		}).
		no("201_extensions", func(t *T) {
			t.bad("Model_BuildFromLiteGraph", t.emptyModel(), graph, make([]extension, 201),
				201)
		}).
		no("not_empty", func(t *T) { t.is(forbid, "Model_BuildFromLiteGraph", t.openModel(2), graph, nil, 0) }).
		no("finished", func(t *T) { t.is(forbid, "Model_BuildFromLiteGraph", t.model(2), graph, nil, 0) }).
		ok("refusal_changes_nothing", func(t *T) {
			m := t.emptyModel()
			code := int(uint32(t.call("Model_BuildFromLiteGraph", m, graph, nil, 0)))
			t.check(code != success, "it was accepted")
			for range 3 {
				t.ok("Model_AddTensorToModel", m, t.desc(float32T, 2))
			}
			t.ok("Model_AddOperation", m, opAdd, &array{}, list(0, 1), list(2))
			t.ok("Model_SpecifyInputsAndOutputs", m, list(0, 1), list(2))
			t.ok("Model_Finish", m)
			t.builds(t.compilation(m))
		}),
	rule("s11_SetInputsAndOutputsInfo", "describes inputs and outputs of an empty model; NULLs and 0 are INVALID, a "+
		"model that is not empty FORBIDDEN").
		ok("describes", func(t *T) {
			t.ok("Model_SetInputsAndOutputsInfo", t.emptyModel(), info(float32T, 2), 1, info(float32T, -1, 2), 1)
		}).
		no("NULL_model", func(t *T) {
			t.bad("Model_SetInputsAndOutputsInfo", nil, info(float32T, 2), 1, info(float32T, 2), 1)
		}).
		no("NULL_inputs", func(t *T) {
			t.bad("Model_SetInputsAndOutputsInfo", t.emptyModel(), nil, 1, info(float32T, 2),
				1)
		}).
		no("NULL_outputs", func(t *T) {
			t.bad("Model_SetInputsAndOutputsInfo", t.emptyModel(), info(float32T, 2), 1, nil,
				1)
		}).
		no("0_inputs", func(t *T) {
			t.bad("Model_SetInputsAndOutputsInfo", t.emptyModel(), info(float32T, 2), 0, info(float32T, 2), 1)
		}).
		no("0_outputs", func(t *T) {
			t.bad("Model_SetInputsAndOutputsInfo", t.emptyModel(), info(float32T, 2), 1, info(float32T, 2), 0)
		}).
		no("not_empty", func(t *T) {
			t.is(forbid, "Model_SetInputsAndOutputsInfo", t.openModel(2), info(float32T, 2), 1, info(float32T, 2), 1)
		}),
	rule("s11_BuildFromMetaGraph", "NULLs and more than 200 extensions are INVALID, a model that is not described "+
		"FORBIDDEN; graphs of another engine are refused").
		no("graph", func(t *T) {
			m := t.emptyModel()
			t.ok("Model_SetInputsAndOutputsInfo", m, info(float32T, 2), 1, info(float32T, 2), 1)
			code := int(uint32(t.call("Model_BuildFromMetaGraph", m, graph, nil, 0)))
			t.noEffect(code == success, "it was accepted")
		}).
		no("NULL_model", func(t *T) { t.bad("Model_BuildFromMetaGraph", nil, graph, nil, 0) }).
		no("NULL_graph", func(t *T) { t.bad("Model_BuildFromMetaGraph", t.emptyModel(), nil, nil, 0) }).
		no("201_extensions", func(t *T) {
			t.bad("Model_BuildFromMetaGraph", t.emptyModel(), graph, make([]extension, 201),
				201)
		}).
		no("not_described", func(t *T) { t.is(forbid, "Model_BuildFromMetaGraph", t.emptyModel(), graph, nil, 0) }).
		ok("refusal_changes_nothing", func(t *T) {
			m := t.emptyModel()
			t.ok("Model_SetInputsAndOutputsInfo", m, info(float32T, 2), 1, info(float32T, 2), 1)
			code := int(uint32(t.call("Model_BuildFromMetaGraph", m, graph, nil, 0)))
			t.check(code != success, "it was accepted")
			t.ok("Model_AddOperation", m, opRelu, &array{}, list(0), list(1))
			t.ok("Model_Finish", m)
			t.ok("Compilation_Build", t.compilation(m))
		}),
	rule("s11_HasCache", "tells whether a cache of that name and version is there; NULLs, another version and damage "+
		"are false").
		ok("there", func(t *T) {
			t.cached(4)
			got := byte(t.call("Model_HasCache", t.dir, "", 4))
			t.check(got == 1, "false for the cache that was just made")
			t.judged(true)
		}).
		no("NULL_directory", func(t *T) { t.noEffect(byte(t.call("Model_HasCache", nil, "", 4)) != 0, "true") }).
		no("NULL_name", func(t *T) {
			t.cached(4)
			t.noEffect(byte(t.call("Model_HasCache", t.dir, nil, 4)) != 0, "true")
		}).
		no("none", func(t *T) { t.noEffect(byte(t.call("Model_HasCache", t.dir, "", 4)) != 0, "true") }).
		no("version", func(t *T) {
			t.cached(4)
			t.noEffect(byte(t.call("Model_HasCache", t.dir, "", 5)) != 0, "true for another version")
		}).
		no("damaged", func(t *T) {
			t.cached(4)
			t.write(infoFile, []byte("{}"))
			t.noEffect(byte(t.call("Model_HasCache", t.dir, "", 4)) != 0, "true for a damaged info file")
		}),
	rule("s11_GetDeviceID", "writes <name>_v5_0; NULL and length 0 are INVALID, a buffer that is too small is FAILED").
		ok("writes", func(t *T) {
			b := make([]byte, 128)
			t.ok("_GetDeviceID", b, len(b))
			t.check(text(first(b)) == "default_v5_0", "%q", text(first(b)))
		}).
		no("NULL", func(t *T) { t.bad("_GetDeviceID", nil, 8) }).
		no("length_0", func(t *T) { t.bad("_GetDeviceID", make([]byte, 8), 0) }).
		no("too_small", func(t *T) { t.is(failed, "_GetDeviceID", make([]byte, 8), 8) }),
	rule("s11_IsSupportAIPP", "is FAILED, with the variable untouched, on a device without image preprocessing").
		no("unsupported", func(t *T) {
			v := true
			t.is(failed, "_IsSupportAIPP", &v)
			t.check(v, "the variable was written")
		}).
		ok("without_it", func(t *T) { t.runs(twoFloats(t)) }),
	rule("s11_RunSyncWithAipp", "NULLs, bad counts and an empty string are INVALID, as RunSync has them; the rest is "+
		"refused without image preprocessing").
		no("unsupported", func(t *T) {
			in, out := t.pair()
			code := int(uint32(t.call("Executor_RunSyncWithAipp", twoFloats(t), in, 2, out, 1, "x")))
			t.noEffect(code == success, "it was accepted")
		}).
		no("NULL_string", func(t *T) {
			in, out := t.pair()
			t.bad("Executor_RunSyncWithAipp", twoFloats(t), in, 2, out, 1, nil)
		}).
		no("empty_string", func(t *T) {
			in, out := t.pair()
			t.bad("Executor_RunSyncWithAipp", twoFloats(t), in, 2, out, 1, "")
		}).
		no("one_input", func(t *T) {
			in, out := t.pair()
			t.bad("Executor_RunSyncWithAipp", twoFloats(t), in, 1, out, 1, "x")
		}).
		no("NULL_executor", func(t *T) {
			in, out := t.pair()
			t.bad("Executor_RunSyncWithAipp", nil, in, 2, out, 1, "x")
		}).
		ok("RunSync", func(t *T) { t.runs(twoFloats(t)) }),
}
