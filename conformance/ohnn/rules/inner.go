package rules

import (
	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/suite/cmem"
)

func info(dataType int32, dims ...int32) []tensorInfo {
	x := tensorInfo{dataType: dataType, rank: uint32(len(dims)), format: 2}
	if len(dims) > 0 {
		x.dims = cmem.Pointer(dims)
	}
	copy(x.name[:], "port")
	return []tensorInfo{x}
}

// profiling is an extension; without a value it is a bad one.
func profiling(value []byte) []extension {
	x := extension{size: uintptr(len(value))}
	copy(x.name[:], "isProfiling")
	if len(value) > 0 {
		x.value = cmem.Pointer(value)
	}
	return []extension{x}
}

var graph = []byte("no graph of another engine")

var inner = []*Rule{
	rule("s11_BuildFromLiteGraph", "NULLs and more than 200 extensions are INVALID, a model that is not empty is "+
		"FORBIDDEN; graphs of another engine are refused").
		No("graph", func(t *T) {
			code := int(uint32(t.Call("Model_BuildFromLiteGraph", t.emptyModel(), graph, nil, 0)))
			t.NoEffect(code == success, "it was accepted")
		}).
		No("NULL_model", func(t *T) { t.Bad("Model_BuildFromLiteGraph", nil, graph, nil, 0) }).
		No("NULL_graph", func(t *T) { t.Bad("Model_BuildFromLiteGraph", t.emptyModel(), nil, nil, 0) }).
		No("graph_with_extension", func(t *T) {
			code := int(uint32(t.Call("Model_BuildFromLiteGraph", t.emptyModel(), graph, profiling([]byte("true\x00")), 1)))
			t.NoEffect(code == success, "it was accepted")
		}).
		No("extension_without_value", func(t *T) {
			t.Bad("Model_BuildFromLiteGraph", t.emptyModel(), graph, profiling(nil),
				1)
		}).
		No("201_extensions", func(t *T) {
			t.Bad("Model_BuildFromLiteGraph", t.emptyModel(), graph, make([]extension, 201),
				201)
		}).
		No("not_empty", func(t *T) { t.Is(forbid, "Model_BuildFromLiteGraph", t.openModel(2), graph, nil, 0) }).
		No("finished", func(t *T) { t.Is(forbid, "Model_BuildFromLiteGraph", t.model(2), graph, nil, 0) }).
		OK("refusal_changes_nothing", func(t *T) {
			m := t.emptyModel()
			code := int(uint32(t.Call("Model_BuildFromLiteGraph", m, graph, nil, 0)))
			t.Check(code != success, "it was accepted")
			for range 3 {
				t.OK("Model_AddTensorToModel", m, t.desc(float32T, 2))
			}
			t.OK("Model_AddOperation", m, opAdd, &ohnn.Array{}, ohnn.List(0, 1), ohnn.List(2))
			t.OK("Model_SpecifyInputsAndOutputs", m, ohnn.List(0, 1), ohnn.List(2))
			t.OK("Model_Finish", m)
			t.builds(t.compilation(m))
		}),
	rule("s11_SetInputsAndOutputsInfo", "describes inputs and outputs of an empty model; NULLs and 0 are INVALID, a "+
		"model that is not empty FORBIDDEN").
		OK("describes", func(t *T) {
			t.OK("Model_SetInputsAndOutputsInfo", t.emptyModel(), info(float32T, 2), 1, info(float32T, -1, 2), 1)
		}).
		No("NULL_model", func(t *T) {
			t.Bad("Model_SetInputsAndOutputsInfo", nil, info(float32T, 2), 1, info(float32T, 2), 1)
		}).
		No("NULL_inputs", func(t *T) {
			t.Bad("Model_SetInputsAndOutputsInfo", t.emptyModel(), nil, 1, info(float32T, 2),
				1)
		}).
		No("NULL_outputs", func(t *T) {
			t.Bad("Model_SetInputsAndOutputsInfo", t.emptyModel(), info(float32T, 2), 1, nil,
				1)
		}).
		No("0_inputs", func(t *T) {
			t.Bad("Model_SetInputsAndOutputsInfo", t.emptyModel(), info(float32T, 2), 0, info(float32T, 2), 1)
		}).
		No("0_outputs", func(t *T) {
			t.Bad("Model_SetInputsAndOutputsInfo", t.emptyModel(), info(float32T, 2), 1, info(float32T, 2), 0)
		}).
		No("not_empty", func(t *T) {
			t.Is(forbid, "Model_SetInputsAndOutputsInfo", t.openModel(2), info(float32T, 2), 1, info(float32T, 2), 1)
		}),
	rule("s11_BuildFromMetaGraph", "NULLs and more than 200 extensions are INVALID, a model that is not described "+
		"FORBIDDEN; graphs of another engine are refused").
		No("graph", func(t *T) {
			m := t.emptyModel()
			t.OK("Model_SetInputsAndOutputsInfo", m, info(float32T, 2), 1, info(float32T, 2), 1)
			code := int(uint32(t.Call("Model_BuildFromMetaGraph", m, graph, nil, 0)))
			t.NoEffect(code == success, "it was accepted")
		}).
		No("NULL_model", func(t *T) { t.Bad("Model_BuildFromMetaGraph", nil, graph, nil, 0) }).
		No("NULL_graph", func(t *T) { t.Bad("Model_BuildFromMetaGraph", t.emptyModel(), nil, nil, 0) }).
		No("201_extensions", func(t *T) {
			t.Bad("Model_BuildFromMetaGraph", t.emptyModel(), graph, make([]extension, 201),
				201)
		}).
		No("not_described", func(t *T) { t.Is(forbid, "Model_BuildFromMetaGraph", t.emptyModel(), graph, nil, 0) }).
		OK("refusal_changes_nothing", func(t *T) {
			m := t.emptyModel()
			t.OK("Model_SetInputsAndOutputsInfo", m, info(float32T, 2), 1, info(float32T, 2), 1)
			code := int(uint32(t.Call("Model_BuildFromMetaGraph", m, graph, nil, 0)))
			t.Check(code != success, "it was accepted")
			t.OK("Model_AddOperation", m, opRelu, &ohnn.Array{}, ohnn.List(0), ohnn.List(1))
			t.OK("Model_Finish", m)
			t.OK("Compilation_Build", t.compilation(m))
		}),
	rule("s11_HasCache", "tells whether a cache of that name and version is there; NULLs, another version and damage "+
		"are false").
		OK("there", func(t *T) {
			t.cached(4)
			got := byte(t.Call("Model_HasCache", t.Dir, "", 4))
			t.Check(got == 1, "false for the cache that was just made")
			t.Judged(true)
		}).
		No("NULL_directory", func(t *T) { t.NoEffect(byte(t.Call("Model_HasCache", nil, "", 4)) != 0, "true") }).
		No("NULL_name", func(t *T) {
			t.cached(4)
			t.NoEffect(byte(t.Call("Model_HasCache", t.Dir, nil, 4)) != 0, "true")
		}).
		No("none", func(t *T) { t.NoEffect(byte(t.Call("Model_HasCache", t.Dir, "", 4)) != 0, "true") }).
		No("version", func(t *T) {
			t.cached(4)
			t.NoEffect(byte(t.Call("Model_HasCache", t.Dir, "", 5)) != 0, "true for another version")
		}).
		No("damaged", func(t *T) {
			t.cached(4)
			t.write(infoFile, []byte("{}"))
			t.NoEffect(byte(t.Call("Model_HasCache", t.Dir, "", 4)) != 0, "true for a damaged info file")
		}),
	rule("s11_GetDeviceID", "writes <name>_v5_0; NULL and length 0 are INVALID, a buffer that is too small is FAILED").
		OK("writes", func(t *T) {
			b := make([]byte, 128)
			t.OK("_GetDeviceID", b, len(b))
			t.Check(cmem.Text(cmem.First(b)) == "default_v5_0", "%q", cmem.Text(cmem.First(b)))
		}).
		No("NULL", func(t *T) { t.Bad("_GetDeviceID", nil, 8) }).
		No("length_0", func(t *T) { t.Bad("_GetDeviceID", make([]byte, 8), 0) }).
		No("too_small", func(t *T) { t.Is(failed, "_GetDeviceID", make([]byte, 8), 8) }),
	rule("s11_IsSupportAIPP", "is FAILED, with the variable untouched, on a device without image preprocessing").
		No("unsupported", func(t *T) {
			v := true
			t.Is(failed, "_IsSupportAIPP", &v)
			t.Check(v, "the variable was written")
		}).
		OK("without_it", func(t *T) { t.runs(twoFloats(t)) }),
	rule("s11_RunSyncWithAipp", "NULLs, bad counts and an empty string are INVALID, as RunSync has them; the rest is "+
		"refused without image preprocessing").
		No("unsupported", func(t *T) {
			in, out := t.pair()
			code := int(uint32(t.Call("Executor_RunSyncWithAipp", twoFloats(t), in, 2, out, 1, "x")))
			t.NoEffect(code == success, "it was accepted")
		}).
		No("NULL_string", func(t *T) {
			in, out := t.pair()
			t.Bad("Executor_RunSyncWithAipp", twoFloats(t), in, 2, out, 1, nil)
		}).
		No("empty_string", func(t *T) {
			in, out := t.pair()
			t.Bad("Executor_RunSyncWithAipp", twoFloats(t), in, 2, out, 1, "")
		}).
		No("one_input", func(t *T) {
			in, out := t.pair()
			t.Bad("Executor_RunSyncWithAipp", twoFloats(t), in, 1, out, 1, "x")
		}).
		No("NULL_executor", func(t *T) {
			in, out := t.pair()
			t.Bad("Executor_RunSyncWithAipp", nil, in, 2, out, 1, "x")
		}).
		OK("RunSync", func(t *T) { t.runs(twoFloats(t)) }),
}
