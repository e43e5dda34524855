package ohnn

import (
	"testing"

	"github.com/anynpu/anynpu/internal/drivertest"
)

// FuzzAnswers changes what the fake driver's functions say. The address of a tensor's bytes is left alone: what a
// driver says it has mapped is believed.
func FuzzAnswers(f *testing.F) {
	newFake(f)
	var answers []drivertest.Answer
	for _, what := range []string{"device ids", "device name", "tensor size", "flags", "counts", "shape"} {
		answers = append(answers, drivertest.Answer{What: what, Count: 8})
	}
	for _, what := range []string{"device count", "device type", "flag count", "rank", "code Device_GetName",
		"code TensorDesc_SetShape", "code Model_AddTensorToModel", "code Model_AddOperation",
		"code Model_GetAvailableOperations", "code Compilation_SetDevice", "code Compilation_Build",
		"code Executor_GetInputCount", "code Tensor_GetSize", "code Executor_RunSync", "code Executor_GetOutputShape"} {
		answers = append(answers, drivertest.Answer{What: what, Count: 4})
	}
	fakeDriver.Fuzz(f, answers, once,
		[]byte{6, 0, 0, 4, 0xff, 0xff, 0xff, 0xff},
		[]byte{0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8, 7, 0, 0, 1, 9},
		[]byte{3, 2, 0, 1, 0x7f, 8, 0, 0, 1, 2},
		[]byte{5, 5, 0, 1, 0xff, 9, 0, 0, 1, 3},
		[]byte{13, 0, 0, 1, 2},
		[]byte{16, 0, 0, 1, 3, 19, 0, 0, 1, 9},
		[]byte{2, 0, 0, 1, 15})
}
