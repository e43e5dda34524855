package rknn

import (
	"encoding/binary"
	"testing"
	"time"
	"unsafe"

	"github.com/anynpu/anynpu/core/fault"
)

// answers are what the fuzzer changes: what the fake driver's functions say, and where. Addresses are left alone, and so
// is the offset of memory whose size is changed: what a driver says it has mapped is believed.
var answers = []struct {
	what  string
	first int // offset of the first byte
	count int // bytes
}{
	{"query 0", 0, int(unsafe.Sizeof(inOutNum{}))},
	{"query 1", 0, int(unsafe.Sizeof(tensorAttr{}))},
	{"query 2", 0, int(unsafe.Sizeof(tensorAttr{}))},
	{"query 4", 0, 8},
	{"memory", int(unsafe.Offsetof(tensorMem{}.phys)), 12}, // and fd
	{"memory", int(unsafe.Offsetof(tensorMem{}.size)), 4},
	{"code run", 0, 4},
	{"query 1", int(unsafe.Offsetof(tensorAttr{}.elems)), 80},
	{"query 2", int(unsafe.Offsetof(tensorAttr{}.elems)), 80},
}

// FuzzAnswers changes bytes of what a driver answers. A model is loaded and run, or refused with an error that says that
// the driver is at fault; nothing stays behind, and the next model of a driver that answers right computes.
func FuzzAnswers(f *testing.F) {
	fake := newFake(f)
	fake.Life.SetPatience(time.Minute)
	f.Add([]byte{0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{1, 4, 0, 4, 2, 0, 0, 0})                                                  // rank
	f.Add([]byte{1, 8, 0, 4, 0, 0, 0, 0x80, 2, 8, 0, 1, 5})                                // sizes
	f.Add([]byte{7, 0, 0, 8, 4, 0, 0, 0, 16, 0, 0, 0})                                     // as they are
	f.Add([]byte{7, 8, 0, 12, 1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 1, 4, 0, 4, 4, 0, 0, 0}) // NHWC int8 with scales
	f.Add([]byte{5, 0, 0, 4, 1, 0, 0, 0})
	f.Add([]byte{4, 8, 0, 4, 0xfe, 0xff, 0xff, 0xff})
	f.Add([]byte{6, 0, 0, 1, 9})
	f.Add([]byte{8, 36, 0, 4, 0xff, 0xff, 0xff, 0xff, 3, 0, 0, 8, 255, 255, 255, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		before := fake.live()
		for lies := 0; len(data) >= 5 && lies < 4; lies++ {
			a := answers[int(data[0])%len(answers)]
			at := int(binary.LittleEndian.Uint16(data[1:])) % a.count
			n := min(int(data[3]), len(data)-4, a.count-at)
			fake.lie(a.what, a.first+at, data[4:4+n])
			data = data[4+n:]
		}
		err := fake.once(sumModel(2, 2))
		fake.lie("", 0, nil)
		if kind := fault.KindOf(err); err != nil && kind != fault.Device && kind != fault.Memory && kind != fault.Unsupported {
			t.Fatalf("kind %v: %v", kind, err)
		}
		if now := fake.live(); now != before {
			t.Fatalf("%d contexts and pieces of memory before, %d after: %v", before, now, err)
		}
		if err := fake.once(sumModel(2, 2)); err != nil {
			t.Fatalf("the next model: %v", err)
		}
	})
}
