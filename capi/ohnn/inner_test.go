package ohnn

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

func TestBuildFromGraphs_order(t *testing.T) {
	b := byte(1)
	good := []Extension{{value: &b, valueSize: 1}}
	bad := []Extension{{}}
	for name, tc := range map[string]struct {
		build func(*Model, uintptr, unsafe.Pointer, uint64) error
		empty ReturnCode // on an empty model
		full  ReturnCode // on one with tensors
	}{
		"lite": {modelBuildFromLiteGraph, Unsupported, OperationForbidden},
		"meta": {modelBuildFromMetaGraph, OperationForbidden, Unsupported},
	} {
		m := newTestModel(t)
		assert.Equal(t, InvalidParameter, status(tc.build(m.Model, 1, unsafe.Pointer(&good[0]), 201)), name)
		assert.Equal(t, InvalidParameter, status(tc.build(m.Model, 1, nil, 1)), name)
		assert.Equal(t, InvalidParameter, status(tc.build(m.Model, 1, unsafe.Pointer(&bad[0]), 1)), name)
		assert.Equal(t, tc.empty, status(tc.build(m.Model, 1, unsafe.Pointer(&good[0]), 1)), name)
		m.tensor(spec.Float32, 1)
		assert.Equal(t, InvalidParameter, status(tc.build(m.Model, 1, unsafe.Pointer(&bad[0]), 1)),
			"values come before states")
		assert.Equal(t, tc.full, status(tc.build(m.Model, 1, nil, 0)), name)
	}
}

func TestSetInputsAndOutputsInfo(t *testing.T) {
	dims := []int32{2, -1}
	info := TensorInfo{dataType: spec.Float32, dimensionCount: 2, dimensions: &dims[0], format: FormatNHWC}
	m := newTestModel(t)
	assert.Equal(t, InvalidParameter, status(modelSetInputsAndOutputsInfo(m.Model, nil, []TensorInfo{info})))
	assert.Equal(t, InvalidParameter, status(modelSetInputsAndOutputsInfo(m.Model, []TensorInfo{info},
		[]TensorInfo{{dataType: 99}})))
	assert.Empty(t, m.tensors, "nothing is added by a failed call")
	require.NoError(t, modelSetInputsAndOutputsInfo(m.Model, []TensorInfo{info}, []TensorInfo{info}))
	assert.Len(t, m.tensors, 2)
	assert.Equal(t, OperationForbidden, status(modelSetInputsAndOutputsInfo(m.Model, []TensorInfo{info},
		[]TensorInfo{info})))
	assert.Equal(t, OperationForbidden, status(modelSpecifyInputsAndOutputs(m.Model, array(0), array(1))))
}

func TestGetDeviceID(t *testing.T) {
	assert.Equal(t, InvalidParameter, status(getDeviceID(nil)))
	buffer := []byte("xxxxxxxxxxxxxx")
	assert.Equal(t, Failed, status(getDeviceID(buffer[:12])))
	require.NoError(t, getDeviceID(buffer))
	assert.Equal(t, "default_v5_0\x00x", string(buffer))
	support := true
	assert.Equal(t, Failed, status(isSupportAIPP(&support)))
	assert.True(t, support, "untouched")
}
