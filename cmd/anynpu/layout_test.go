package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/format/metadata"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestFromProgram_followsTheMetadata(t *testing.T) {
	nchw, nhwc := device.Port{Type: tensor.T(tensor.Float32, 2, 3, 2, 1)},
		device.Port{Type: tensor.T(tensor.Float32, 2, 2, 1, 3)}
	planes := tensor.Tensor{DType: tensor.Float32, Dims: []int64{2, 3, 2, 1}, Data: tensor.Float32s(0, 3, 1, 4, 2, 5, 10,
		13, 11, 14, 12, 15)}
	last := tensor.Tensor{DType: tensor.Float32, Dims: []int64{2, 2, 1, 3}, Data: tensor.Float32s(0, 1, 2, 3, 4, 5, 10, 11,
		12, 13, 14, 15)}
	assert.Equal(t, planes, fromProgram(last, nchw, metadata.Input{Layout: "nhwc"}))
	assert.Equal(t, last, fromProgram(planes, nhwc, metadata.Input{Layout: "nchw"}))
	assert.Equal(t, planes, fromProgram(planes, nchw, metadata.Input{Layout: "nchw"}))
	assert.Equal(t, last, fromProgram(last, nhwc, metadata.Input{}))
}
