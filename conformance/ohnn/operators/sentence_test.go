package operators

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCheckMessage(t *testing.T) {
	c := &Case{Op: "ADD", In: []uint32{0, 1}, Out: []uint32{2}, Mentions: []string{"input 1"}}
	assert.NoError(t, c.checkMessage("OH_NNModel_AddOperation: OH_NN_OPS_ADD: Input 1: wrong, want rank 4 like input 0"))
	assert.ErrorContains(t, c.checkMessage("OH_NNModel_AddOperation: OH_NN_OPS_ADD: input 0: wrong"),
		`does not name "input 1"`)
}

func TestMisleads(t *testing.T) {
	c := &Case{Op: "L2_NORMALIZE", In: []uint32{0}, Out: []uint32{1}}
	for message, want := range map[string]string{
		"B: operation 0 (OH_NN_OPS_L2_NORMALIZE): inputs (float32[3,4]): AXIS: axis 2 is outside a tensor of rank 2": "",
		"R: device X: operation 0 (OH_NN_OPS_L2_NORMALIZE): input 0: want rank 1, got [3,4]":                         "",
		"OH_NN_OPS_L2_NORMALIZE: inputIndices.data[0]: tensor 0 is a parameter":                                      "",
		"operation 0 (OH_NN_OPS_L2_NORMALIZE) lacks its parameter OH_NN_L2_NORMALIZE_EPSILON":                        "",
		"B: operation 0 (OH_NN_OPS_L2_NORMALIZE): input 1: axis 2 is outside a tensor of rank " +
			"2": "names input 1 of 1",
		"B: operation 0 (OH_NN_OPS_L2_NORMALIZE): l2_normalize: AXIS: axis 2 is outside a tensor of rank " +
			"2": `calls something "l2_normalize"`,
		"B: operation 0 (OH_NN_OPS_L2_NORMALIZE): inputs (float32[3,4]): mul: input 0: want a " +
			"number": `calls something "mul"`,
		"B: operation 0 (OH_NN_OPS_L2_NORMALIZE): inputs (float32[3,4]): axis 2 is outside a tensor of rank " +
			"2": "names no input, output or parameter",
		"B: operation 0 (OH_NN_OPS_L2_NORMALIZE): inputs (float32[3,4]): input 0: see " +
			"OH_NN_OPS_MUL": "names the operator OH_NN_OPS_MUL",
		"inputIndices.data[0]: wrong": "does not name the operator",
	} {
		assert.Equal(t, want, c.misleads(message), message)
	}
}
