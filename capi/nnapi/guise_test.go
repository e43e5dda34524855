package nnapi

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

func deviceNames(c *Compilation) (out []string) {
	for _, n := range c.result.whole.placement.Nodes {
		out = append(out, n.Device)
	}
	return out
}

func TestNewDevices_theProcessorIsLast(t *testing.T) {
	list := withGuises(t, "a:as-gpu, b:no-CONV_2D:no-SUCH, a, anynpu-cpu, nnapi-reference, ")
	assert.Equal(t, []string{"a", "b", processorName, referenceName}, names(list))
	assert.Equal(t, device.GPU, list[0].Info().Kind)
	assert.Equal(t, device.CPU, list[2].Info().Kind)
	assert.Equal(t, []string{"CONV_2D"}, list[1].guise.Operators)
}

// TestNewDevices_vendorsAreFirst: what core prefers is listed before the processor, wherever that is in core's list.
func TestNewDevices_vendorsAreFirst(t *testing.T) {
	list, err := devices.List()
	require.NoError(t, err)
	a, b := toy.New("a"), toy.New("b")
	assert.Equal(t, []string{"a", "b", "g", processorName, referenceName}, names(newDevices([]device.Device{a, list[0], b},
		guises.Read("g, b"))))
	assert.Equal(t, []string{"a"}, names(newDevices([]device.Device{a}, guises.Read("g"))), "no processor")
}

// TestCompile_onTheOtherNameOfTheProcessor: it computes alone, and is no second processor in a compilation for all.
func TestCompile_onTheOtherNameOfTheProcessor(t *testing.T) {
	list := withGuises(t, "")
	require.Equal(t, processorName, list[0].name)
	c := compiledFor(t, sumOfProducts(t, 3), list[:1], true)
	assert.Equal(t, []string{processorName, processorName}, deviceNames(c))
	computes(t, c)
	assert.NotContains(t, names(everyDevice()), processorName)
}

func TestCompile_givesOperationsToTheFirstThatComputesThem(t *testing.T) {
	list := withGuises(t, "adds:no-MUL, multiplies:no-ADD")
	m := sumOfProducts(t, 3)
	c := compiledFor(t, m, list, false)
	assert.Equal(t, []string{"multiplies", "adds"}, deviceNames(c))
	computes(t, c)
	for i, want := range [][]bool{{false, true}, {true, false}, {true, true}} {
		flags, err := m.support(list[i : i+1])
		require.NoError(t, err)
		assert.Equal(t, want, flags, list[i].name)
	}
	flags, err := m.support(list[:2])
	require.NoError(t, err)
	assert.Equal(t, []bool{true, true}, flags, "both together")
}

func TestCompile_namesWhatNoDeviceComputes(t *testing.T) {
	list := withGuises(t, "adds:no-MUL")
	c := newCompilation(sumOfProducts(t, 3), list[:1], true)
	err := compilationFinish(c)
	assert.Equal(t, BadData, status(err))
	assert.ErrorContains(t, err, "devices adds do not compute operation 0 MUL")
	_, err = executionCreate(c)
	assert.Equal(t, BadState, status(err))
	computes(t, compiledFor(t, c.model, list[1:], true))
}

// TestLacked_looksIntoBodies: a guise takes an IF whole or not at all. The bodies hold each other 60 deep and twice
// each, which makes 2^60 places.
func TestLacked_looksIntoBodies(t *testing.T) {
	d := withGuises(t, "g:no-MUL")[0]
	body := &nnapi.Model{Operations: []nnapi.Operation{{Code: nnapi.Add}}}
	last := body
	for range 60 {
		body = &nnapi.Model{Operands: []nnapi.Operand{{Type: nnapi.ModelOperand, Sub: body}, {Type: nnapi.ModelOperand,
			Sub: body}}, Operations: []nnapi.Operation{{Code: nnapi.If, Inputs: []uint32{0, 1}}}}
	}
	assert.Empty(t, d.lacked(body, body.Operations[0], map[*nnapi.Model]bool{}))
	last.Operations = append(last.Operations, nnapi.Operation{Code: nnapi.Mul})
	assert.Equal(t, "MUL", d.lacked(body, body.Operations[0], map[*nnapi.Model]bool{}))
}

// TestSupport_ofAModelThatCannotBeComputed: a RESHAPE to another number of elements is the program's fault, which the
// executions tell; no other device could compute it.
func TestSupport_ofAModelThatCannotBeComputed(t *testing.T) {
	b := newBuilder(t, 3)
	x := b.tensor()
	y := b.binary(nnapi.Add, x, x)
	shape := b.operand(nnapi.TensorInt32, 1)
	four := int32(4)
	require.NoError(t, modelSetOperandValue(b.m, int32(shape), unsafe.Pointer(&four), 4))
	z := b.operand(nnapi.TensorFloat32, 4)
	require.NoError(t, modelAddOperation(b.m, OperationType(nnapi.Reshape), []uint32{y, shape}, []uint32{z}))
	m := b.finish([]uint32{x}, z)
	flags, err := m.support(withGuises(t, ""))
	require.NoError(t, err)
	assert.Equal(t, []bool{true, true}, flags)
	e := newExecution(t, compiledFor(t, m, withGuises(t, ""), false))
	giveInput(t, e, 0, make([]float32, 3))
	giveOutput(t, e, 0, make([]float32, 4))
	err = executionCompute(e)
	assert.Equal(t, OpFailed, status(err))
	assert.ErrorContains(t, err, "operation 1")
}
