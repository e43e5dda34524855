package nnapi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// processor is a device of the kind CPU.
type processor struct{ device.Device }

func (p processor) Info() device.Info {
	info := p.Device.Info()
	info.Kind = device.CPU
	return info
}

// TestNewDevices_theProcessorIsTheCPU: core's list begins with vendors' devices, and nnapi-reference is none of them.
func TestNewDevices_theProcessorIsTheCPU(t *testing.T) {
	npu, cpu := toy.New("npu"), processor{toy.NewHost("cpu")}
	list := newDevices([]device.Device{npu, cpu}, nil)
	assert.Equal(t, []string{"npu", processorName, referenceName}, names(list))
	require.Len(t, list, 3)
	assert.Equal(t, device.CPU, list[1].Info().Kind)
	assert.Equal(t, device.CPU, list[2].Info().Kind)
	assert.Same(t, npu, list[0].Device)

	provider := processor{toy.NewHost("onnxruntime")}
	for _, order := range [][]device.Device{{provider, cpu}, {cpu, provider}} {
		list = newDevices(order, nil)
		assert.Equal(t, []string{"onnxruntime", processorName, referenceName}, names(list))
		assert.EqualValues(t, nnapi.DeviceCPU, list[0].kind)
	}
}
