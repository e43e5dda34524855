package hbdnn

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/anynpu/anynpu/core/fault"
)

// answers are what the fuzzer changes: what the fake driver's functions say, and where. Addresses of memory are left
// alone, and so is its size when it grows: what a driver says it has mapped is believed.
var answers = []struct {
	what         string
	first, count int // bytes
}{
	{"counts", 0, 8},
	{"properties input", 0, 176},
	{"properties output", 0, 176},
	{"name", 0, 8},
	{"code infer", 0, 4},
	{"code wait", 0, 4},
	{"properties output", 72, 68},
}

// FuzzAnswers changes bytes of what a driver answers. A model is loaded and run, or refused with an error that says that
// the driver is at fault; nothing stays behind, and the next model of a driver that answers right computes.
func FuzzAnswers(f *testing.F) {
	fake := newFake(f, newest, Config{Patience: time.Minute})
	f.Add([]byte{0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{1, 32, 0, 4, 2, 0, 0, 0})              // rank
	f.Add([]byte{1, 0, 0, 4, 0, 0, 0, 0x80})            // sizes
	f.Add([]byte{2, 68, 0, 12, 4, 0, 0, 0, 0, 0, 0})    // layout
	f.Add([]byte{2, 128, 0, 4, 2, 0, 0, 0})             // quantization
	f.Add([]byte{2, 140, 0, 8, 0, 0, 0, 0, 1, 0, 0, 0}) // strides
	f.Add([]byte{3, 0, 0, 8, 64, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{5, 0, 0, 1, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		before := fake.live()
		for lies := 0; len(data) >= 5 && lies < 4; lies++ {
			a := answers[int(data[0])%len(answers)]
			at := int(binary.LittleEndian.Uint16(data[1:])) % a.count
			n := min(int(data[3]), len(data)-4, a.count-at)
			fake.lie(a.what, a.first+at, data[4:4+n])
			data = data[4+n:]
		}
		model := file(sum2(s8, scaled|padded, 2, 2))
		err := fake.once(model)
		fake.lie("", 0, nil)
		if kind := fault.KindOf(err); err != nil && kind != fault.Device && kind != fault.Memory && kind != fault.Unsupported {
			t.Fatalf("kind %v: %v", kind, err)
		}
		for end := time.Now().Add(time.Minute); fake.live() != before; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d objects of the driver before, %d after: %v", before, fake.live(), err)
			}
		}
		if err := fake.once(model); err != nil {
			t.Fatalf("the next model: %v", err)
		}
	})
}
