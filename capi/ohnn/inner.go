package ohnn

import (
	"slices"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
)

// The functions of the inner header (section 11). Graphs of MindSpore can only be read by the engine they belong to:
// after all checks they are refused as unsupported.

// nnrtDevice is the answer of OH_NN_GetDeviceID: the reference's default for a system without a configured accelerator.
const nnrtDevice = "default_v5_0"

// modelBuildFromLiteGraph wants an empty model.
func modelBuildFromLiteGraph(m *Model, _ uintptr, extensions unsafe.Pointer, n uint64) error {
	if err := checkExtensions(extensions, n); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || len(m.tensors) > 0 || len(m.ops) > 0 {
		return forbidden("model: it is finished or has tensors or operations: want an empty model " +
			"[ohnn-model-finished-tensors]")
	}
	return refuse(Unsupported, "liteGraph: a LiteGraph of MindSpore cannot be read: build the model by "+
		"OH_NNModel_AddTensorToModel and OH_NNModel_AddOperation [ohnn-lite-graph-lite]")
}

// modelBuildFromMetaGraph wants a model that modelSetInputsAndOutputsInfo has described.
func modelBuildFromMetaGraph(m *Model, _ uintptr, extensions unsafe.Pointer, n uint64) error {
	if err := checkExtensions(extensions, n); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || len(m.tensors) == 0 {
		return forbidden("model: it is finished or its inputs and outputs are not described: call " +
			"OH_NNModel_SetInputsAndOutputsInfo first [ohnn-model-finished-inputs]")
	}
	return refuse(Unsupported, "metaGraph: a MetaGraph of MindSpore cannot be read: build the model by "+
		"OH_NNModel_AddTensorToModel and OH_NNModel_AddOperation [ohnn-meta-graph-meta]")
}

// checkExtensions wants at most 200 extensions, each with a name and a value; none may be NULL.
func checkExtensions(p unsafe.Pointer, n uint64) error {
	if n > maxExtensions {
		return invalid("extensionSize: %d: want at most %d [ohnn-extension-size]", n, maxExtensions)
	}
	if p == nil && n > 0 {
		return invalid("extensions: NULL with extensionSize %d [ohnn-extensions-null-extension]", n)
	}
	if err := boundary.CheckRange(p, n*uint64(unsafe.Sizeof(Extension{}))); err != nil {
		return refuseFor(InvalidParameter, err, "extensions")
	}
	for i, x := range unsafe.Slice((*Extension)(p), n) {
		if !slices.Contains(x.name[:], 0) {
			return invalid("extensions[%d].name: want a string of at most %d bytes "+
				"[ohnn-extensions-name-string]", i, len(x.name)-1)
		}
		if x.value == nil || x.valueSize == 0 {
			return invalid("extensions[%d]: value %p of %d bytes: want a value "+
				"[ohnn-extensions-value-bytes]", i, x.value, x.valueSize)
		}
	}
	return nil
}

// modelSetInputsAndOutputsInfo adds a tensor for every input and output of an empty model.
func modelSetInputsAndOutputsInfo(m *Model, inputs, outputs []TensorInfo) error {
	if len(inputs) == 0 || len(outputs) == 0 {
		return invalid("inputSize %d, outputSize %d: want at least 1 of each "+
			"[ohnn-input-size-output]", len(inputs), len(outputs))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || len(m.tensors) > 0 || len(m.ops) > 0 || m.specified {
		return forbidden("model: it has tensors or operations already: want an empty model " +
			"[ohnn-model-tensors-operations]")
	}
	var tensors []*modelTensor
	var in, out []uint32
	for _, list := range []struct {
		name    string
		infos   []TensorInfo
		indices *[]uint32
	}{{"inputsInfo", inputs, &in}, {"outputsInfo", outputs, &out}} {
		for i := range list.infos {
			info := &list.infos[i]
			t, err := (&TensorInfo9{dataType: info.dataType, dimensionCount: info.dimensionCount,
				dimensions: info.dimensions}).read()
			if err == nil && info.format >= formatEnd {
				err = invalid("format: %d is no OH_NN_Format: 0 to %d "+
					"[ohnn-format-no-format]", int32(info.format), formatEnd-1)
			}
			if err != nil {
				return refuseFor(InvalidParameter, err, "%s[%d]", list.name, i)
			}
			*list.indices = append(*list.indices, uint32(len(tensors)))
			tensors = append(tensors, t)
		}
	}
	m.tensors, m.inputs, m.outputs, m.specified = tensors, in, out, true
	return nil
}

// getDeviceID is OH_NN_GetDeviceID. It writes a string with its final 0.
func getDeviceID(buffer []byte) error {
	if len(buffer) == 0 {
		return invalid("len: 0: want the size of the buffer [ohnn-len-size-buffer]")
	}
	if len(buffer) <= len(nnrtDevice) {
		return refuse(Failed, "len: %d: the name takes %d bytes [ohnn-len-name-takes]", len(buffer), len(nnrtDevice)+1)
	}
	copy(buffer, nnrtDevice+"\x00")
	return nil
}

// isSupportAIPP leaves its argument alone: there is no image preprocessing.
func isSupportAIPP(*bool) error {
	return boundary.Note(refuse(Failed, "support: this device does not preprocess images "+
		"[ohnn-support-device-preprocess]"))
}

// modelHasCache tells whether a complete, undamaged cache of that version is there. Unlike the reference it deletes
// nothing.
func modelHasCache(dir, name string, version uint32) (bool, error) {
	return hasCache(dir, name, version), nil
}
