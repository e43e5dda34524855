package rknn

import (
	"testing"
	"unsafe"

	spec "github.com/anynpu/anynpu/core/spec/rknn"
	"github.com/anynpu/anynpu/internal/drivertest"
)

// answers are the bytes that the fuzzer changes. Addresses are left alone, and so is the offset of memory whose size is
// changed: a driver's word about its mappings is believed.
var answers = []drivertest.Answer{
	{What: "query 0", First: 0, Count: int(unsafe.Sizeof(spec.InOutNum{}))},
	{What: "query 1", First: 0, Count: int(unsafe.Sizeof(spec.TensorAttr{}))},
	{What: "query 2", First: 0, Count: int(unsafe.Sizeof(spec.TensorAttr{}))},
	{What: "query 4", First: 0, Count: 8},
	{What: "memory", First: int(unsafe.Offsetof(spec.TensorMem{}.Phys)), Count: 12}, // and fd
	{What: "memory", First: int(unsafe.Offsetof(spec.TensorMem{}.Size)), Count: 4},
	{What: "code run", First: 0, Count: 4},
	{What: "query 1", First: int(unsafe.Offsetof(spec.TensorAttr{}.Elems)), Count: 80},
	{What: "query 2", First: int(unsafe.Offsetof(spec.TensorAttr{}.Elems)), Count: 80},
}

func FuzzAnswers(f *testing.F) {
	fake := newFake(f)
	fake.Fuzz(f, answers, fake.once(2, 2),
		[]byte{0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff},
		[]byte{1, 4, 0, 4, 2, 0, 0, 0},                                                  // rank
		[]byte{1, 8, 0, 4, 0, 0, 0, 0x80, 2, 8, 0, 1, 5},                                // sizes
		[]byte{7, 0, 0, 8, 4, 0, 0, 0, 16, 0, 0, 0},                                     // as they are
		[]byte{7, 8, 0, 12, 1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 1, 4, 0, 4, 4, 0, 0, 0}, // NHWC int8 with scales
		[]byte{5, 0, 0, 4, 1, 0, 0, 0},
		[]byte{4, 8, 0, 4, 0xfe, 0xff, 0xff, 0xff},
		[]byte{6, 0, 0, 1, 9},
		[]byte{8, 36, 0, 4, 0xff, 0xff, 0xff, 0xff, 3, 0, 0, 8, 255, 255, 255, 255, 255, 255, 255, 255},
	)
}
