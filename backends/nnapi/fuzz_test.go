package nnapi

import (
	"testing"

	"github.com/anynpu/anynpu/internal/drivertest"
)

// FuzzAnswers changes what the fake driver's functions say.
func FuzzAnswers(f *testing.F) {
	newFake(f)
	answers := []drivertest.Answer{{What: "device", Count: 8}, {What: "device name", Count: 8},
		{What: "feature level", Count: 8}, {What: "supported", Count: 1}}
	for _, what := range []string{"device count", "device type", "rank", "dimensions", "code Device_getName",
		"code Model_addOperand", "code Model_addOperation", "code Model_finish",
		"code Model_getSupportedOperationsForDevices", "code Compilation_finish", "code Execution_setInput",
		"code Execution_setOutput", "code Execution_compute", "code Execution_getOutputOperandRank",
		"code Execution_getOutputOperandDimensions"} {
		answers = append(answers, drivertest.Answer{What: what, Count: 4})
	}
	fakeDriver.Fuzz(f, answers, once,
		[]byte{4, 0, 0, 4, 0xff, 0xff, 0xff, 0xff},
		[]byte{0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8, 3, 0, 0, 1, 9},
		[]byte{3, 0, 0, 1, 0, 6, 0, 0, 1, 2},
		[]byte{7, 2, 0, 1, 0xff, 9, 0, 0, 1, 3},
		[]byte{13, 0, 0, 1, 2},
		[]byte{16, 0, 0, 1, 3, 12, 0, 0, 1, 9},
		[]byte{2, 0, 0, 1, 27})
}
