package nnapi

import (
	"context"
	"testing"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/drivertest"
)

// FuzzFound changes what the fake driver says of results whose sizes it finds.
func FuzzFound(f *testing.F) {
	newFake(f)
	g := boxed(f)
	answers := []drivertest.Answer{{What: "more boxes", Count: 2}, {What: "rank", Count: 4},
		{What: "dimensions", Count: 8}}
	for _, what := range []string{"code Execution_compute", "code Execution_getOutputOperandRank",
		"code Execution_getOutputOperandDimensions"} {
		answers = append(answers, drivertest.Answer{What: what, Count: 4})
	}
	find := func() error {
		all, err := openFake()
		if err != nil {
			return err
		}
		p, err := all[0].Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
		if err != nil {
			return err
		}
		e, err := p.New(device.ExecOptions{})
		p.Release()
		if err != nil {
			return err
		}
		defer e.Release()
		b := mem.Borrow(tensor.Float32s(1, 0.9, 0.6, 1, 0.8, 0.5, 1, 0.7, 0.4), nil)
		defer b.Release()
		if err := e.BindInput(0, mem.View{Buf: b, Type: tensor.T(tensor.Float32, 3, 3)}); err != nil {
			return err
		}
		if err := exec.Run(context.Background(), e, device.RunRequest{}); err != nil {
			return err
		}
		for i := range 4 {
			typ, err := e.OutputType(i)
			if err != nil {
				return err
			}
			data, err := e.OutputData(i)
			if err != nil {
				return err
			}
			if n, ok := typ.ByteSize(); !ok || n != int64(len(data)) {
				return fault.New(fault.Internal, "output %d: %d bytes of %v", i, len(data), typ)
			}
		}
		return nil
	}
	fakeDriver.Fuzz(f, answers, find,
		[]byte{0, 0, 0, 2, 1, 2},
		[]byte{2, 0, 0, 4, 0, 0, 0, 1, 3, 0, 0, 1, 8},
		[]byte{2, 4, 0, 1, 5, 1, 0, 0, 1, 3},
		[]byte{3, 0, 0, 1, 8, 4, 0, 0, 1, 8, 5, 0, 0, 1, 8})
}

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
