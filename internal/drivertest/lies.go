package drivertest

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/fault"
)

// Word is numbers as a driver writes them, and Long one of 64 bits.
func Word(values ...uint32) (out []byte) {
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return out
}

func Long(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// What a driver points to instead of what it should: an address in the first page, which nothing is ever in, and texts.
// Endless has more bytes than a name has, and none of them is 0.
var (
	Nowhere = Long(16)
	Endless = bytes.Repeat([]byte{'n'}, 1<<13)
	Latin   = []byte{0xff, 0}
)

// Lie is what a driver answers instead of the truth, and what the error says.
type Lie struct {
	What   string
	Offset int
	Data   []byte
	Want   string
}

// At is a Lie.
func At(what string, offset int, data []byte, want string) Lie { return Lie{what, offset, data, want} }

// Lies has the driver tell one lie after another. Each makes once fail with an error of the kind. then is called behind
// each, and may be nil.
func (d *Driver) Lies(t *testing.T, kind fault.Kind, once func() error, then func(l Lie), lies ...Lie) {
	t.Helper()
	for _, l := range lies {
		d.Lie(l.What, l.Offset, l.Data)
		err := once()
		d.Honest()
		require.Error(t, err, l.Want)
		require.Equal(t, kind, fault.KindOf(err), "%v", err)
		require.ErrorContains(t, err, l.Want)
		if then != nil {
			then(l)
		}
	}
}

// Answer is a place in a driver's answers that a fuzzer changes: Count bytes at an offset.
type Answer struct {
	What         string
	First, Count int
}

// Fuzz changes bytes of what a driver answers. A model is compiled or loaded and run by once, or refused with an error
// that says that the driver is at fault or refuses it; nothing stays behind, and the next model of a driver that
// answers right computes. A seed is a list of lies: the index of the answer, an offset of two bytes, a count, and
// bytes.
func (d *Driver) Fuzz(f *testing.F, answers []Answer, once func() error, seeds ...[]byte) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before, told := d.Live(), map[string]int{}
		for lies := 0; len(data) >= 5 && lies < 4; lies++ {
			a := answers[int(data[0])%len(answers)]
			at := int(binary.LittleEndian.Uint16(data[1:])) % a.Count
			n := min(int(data[3]), len(data)-4, a.Count-at)
			d.Lie(a.What, a.First+at, data[4:4+n])
			told[a.What]++
			data = data[4+n:]
		}
		err := once()
		d.Honest()
		switch kind := fault.KindOf(err); {
		case err == nil, kind == fault.Device, kind == fault.Memory, kind == fault.Unsupported, kind == fault.Timeout:
		default:
			t.Fatalf("%v: kind %v: %v", told, kind, err)
		}
		for end := time.Now().Add(time.Minute); d.Live() != before; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%v: %d objects of the driver before, %d after: %v", told, before, d.Live(), err)
			}
		}
		if err := once(); err != nil {
			t.Fatalf("%v: the next model: %v", told, err)
		}
	})
}
