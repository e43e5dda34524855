package trace

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorded records what a case does and returns the record in bytes, and its events.
func recorded(t *testing.T, run func(*Recorder)) (int, []Event) {
	var out bytes.Buffer
	r, err := NewRecorder(&out, "case", "")
	require.NoError(t, err)
	run(r)
	r.Close("pass", "")
	n := out.Len()
	events, err := Read(&out)
	require.NoError(t, err)
	return n, events
}

func count(events []Event, k Kind) (n int) {
	for _, e := range events {
		if e.Kind == k {
			n++
		}
	}
	return n
}

// A program that fills memory of the library element by element looks at all of it each time.
func TestRecorder_storesMemoryOnce(t *testing.T) {
	memory := make([]byte, 100_000)
	addr := uintptr(unsafe.Pointer(&memory[0]))
	size, events := recorded(t, func(r *Recorder) {
		for i := range memory {
			r.Seen(addr, reflect.TypeFor[byte](), len(memory))
			memory[i] = 7
		}
		r.Call("f", nil, -1)
		r.Return(0)
	})
	assert.Less(t, size, 3*len(memory))
	assert.Equal(t, 1, count(events, Seen))
	require.Equal(t, 1, count(events, Write))
	for _, e := range events {
		if e.Kind == Write {
			assert.Equal(t, bytes.Repeat([]byte{7}, len(memory)), e.Data)
		}
	}
}

// What comes again is named, and reading the record gives it again.
func TestRecorder_namesDataThatItHas(t *testing.T) {
	a, b := bytes.Repeat([]byte{1}, 10_000), bytes.Repeat([]byte{2}, 10_000)
	object := bytes.Clone(a)
	size, events := recorded(t, func(r *Recorder) {
		r.Arg(uintptr(unsafe.Pointer(&object[0])), object)
		for i := range 100 {
			copy(object, [][]byte{a, b}[i%2])
			r.Call("f", nil, -1)
			r.Return(0)
		}
	})
	assert.Less(t, size, 80_000)
	n := 0
	for _, e := range events {
		if e.Kind == Object {
			require.Equal(t, [][]byte{a, b}[n%2], e.Data, n)
			n++
		}
	}
	assert.Equal(t, 100, n)
}

func TestRecorder_isBounded(t *testing.T) {
	object := make([]byte, 1<<20)
	noise := rand.NewChaCha8([32]byte{})
	size, events := recorded(t, func(r *Recorder) {
		r.Arg(uintptr(unsafe.Pointer(&object[0])), object)
		for range 20 {
			noise.Read(object)
			r.Call("f", nil, -1)
			r.Return(0)
		}
	})
	assert.Less(t, size, 2*mostData)
	assert.Equal(t, 1, count(events, Cut))
	assert.Equal(t, 20, count(events, Call), "calls go on")
}
