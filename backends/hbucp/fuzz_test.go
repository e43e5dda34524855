package hbucp

import (
	"testing"

	"github.com/anynpu/anynpu/internal/drivertest"
)

// answers are the bytes that the fuzzer changes. Addresses of memory are left alone, and so is its size: a driver's
// word about its mappings is believed.
var answers = []drivertest.Answer{
	{What: "counts", First: 0, Count: 8},
	{What: "properties input", First: 0, Count: 176},
	{What: "properties output", First: 0, Count: 176},
	{What: "name", First: 0, Count: 8},
	{What: "code infer", First: 0, Count: 4},
	{What: "code wait", First: 0, Count: 4},
}

func FuzzAnswers(f *testing.F) {
	fake := newFake(f)
	fake.Fuzz(f, answers, fake.once(file(s8, scaled|padded, 2, 2)),
		[]byte{0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff},
		[]byte{1, 40, 0, 4, 3, 0, 0, 0},                                     // rank
		[]byte{1, 96, 0, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, // a stride that is to be said
		[]byte{2, 80, 0, 4, 1, 0, 0, 0},                                     // quantization
		[]byte{2, 88, 0, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, // bytes
		[]byte{3, 0, 0, 8, 64, 0, 0, 0, 0, 0, 0, 0},
		[]byte{5, 0, 0, 1, 9},
	)
}
