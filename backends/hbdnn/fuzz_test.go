package hbdnn

import (
	"testing"

	"github.com/anynpu/anynpu/internal/drivertest"
)

// answers are the bytes that the fuzzer changes. Addresses of memory are left alone, and so is its size when it grows:
// a driver's word about its mappings is believed.
var answers = []drivertest.Answer{
	{What: "counts", First: 0, Count: 8},
	{What: "properties input", First: 0, Count: 176},
	{What: "properties output", First: 0, Count: 176},
	{What: "name", First: 0, Count: 8},
	{What: "code infer", First: 0, Count: 4},
	{What: "code wait", First: 0, Count: 4},
	{What: "properties output", First: 72, Count: 68},
}

func FuzzAnswers(f *testing.F) {
	fake := newFake(f, newest)
	fake.Fuzz(f, answers, fake.once(file(sum2(s8, scaled|padded, 2, 2))),
		[]byte{0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff},
		[]byte{1, 32, 0, 4, 2, 0, 0, 0},              // rank
		[]byte{1, 0, 0, 4, 0, 0, 0, 0x80},            // sizes
		[]byte{2, 68, 0, 12, 4, 0, 0, 0, 0, 0, 0},    // layout
		[]byte{2, 128, 0, 4, 2, 0, 0, 0},             // quantization
		[]byte{2, 140, 0, 8, 0, 0, 0, 0, 1, 0, 0, 0}, // strides
		[]byte{3, 0, 0, 8, 64, 0, 0, 0, 0, 0, 0, 0},
		[]byte{5, 0, 0, 1, 9},
		[]byte("+++2},\x00\x1ea\x8e\x01\t"), // two gigabytes for an input
	)
}
