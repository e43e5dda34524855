package nnapi

import (
	"testing"

	"github.com/anynpu/anynpu/core/fault"
)

// answers are what the fuzzer changes: what the fake driver's functions say, and of how many bytes.
var answers = []struct {
	what  string
	count int
}{
	{"device", 8}, {"device count", 4}, {"device name", 8}, {"device type", 4}, {"feature level", 8}, {"supported", 1},
	{"rank", 4}, {"dimensions", 4}, {"code Device_getName", 4}, {"code Model_addOperand", 4},
	{"code Model_addOperation", 4}, {"code Model_finish", 4}, {"code Model_getSupportedOperationsForDevices", 4},
	{"code Compilation_finish", 4}, {"code Execution_setInput", 4}, {"code Execution_setOutput", 4},
	{"code Execution_compute", 4}, {"code Execution_getOutputOperandRank", 4},
	{"code Execution_getOutputOperandDimensions", 4},
}

// FuzzAnswers changes bytes of what a driver answers. A model is compiled and run, or refused with an error that says
// that the driver is at fault or refuses it; nothing stays behind, and the next one of a driver that answers right
// computes.
func FuzzAnswers(f *testing.F) {
	fake := newFake(f)
	f.Add([]byte{1, 0, 4, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8, 3, 0, 1, 9})
	f.Add([]byte{5, 2, 1, 0x7f, 6, 0, 1, 2})
	f.Add([]byte{8, 5, 1, 0xff, 9, 0, 1, 3})
	f.Add([]byte{13, 0, 1, 2})
	f.Add([]byte{16, 0, 1, 3, 19, 0, 1, 9})
	f.Add([]byte{4, 0, 1, 15})
	f.Fuzz(func(t *testing.T, data []byte) {
		before := fake.live()
		told := map[string]int{}
		for lies := 0; len(data) >= 4 && lies < 4; lies++ {
			a := answers[int(data[0])%len(answers)]
			at := int(data[1]) % a.count
			n := min(int(data[2]), len(data)-3, a.count-at)
			fake.lie(a.what, at, data[3:3+n])
			told[a.what]++
			data = data[3+n:]
		}
		err := fake.once()
		fake.lie("", 0, nil)
		switch kind := fault.KindOf(err); {
		case err == nil, kind == fault.Device, kind == fault.Memory, kind == fault.Unsupported, kind == fault.Timeout:
		default:
			t.Fatalf("%v: kind %v: %v", told, kind, err)
		}
		if now := fake.live(); now != before {
			t.Fatalf("%v: %d objects before, %d after: %v", told, before, now, err)
		}
		if err := fake.once(); err != nil {
			t.Fatalf("%v: the next model: %v", told, err)
		}
	})
}
