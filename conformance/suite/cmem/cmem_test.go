package cmem

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSpan_isTheLibrarysMemory(t *testing.T) {
	v := []uint32{1, 2, 3}
	addr := First(v)
	Span[uint32](addr, 3)[1] = 7
	kept := Copy[uint32](addr, 3)
	v[0] = 9
	assert.Equal(t, []uint32{9, 7, 3}, v)
	assert.Equal(t, []uint32{1, 7, 3}, kept, "a copy stays")
	assert.Equal(t, addr, Address(&v[0]))
	assert.Equal(t, uint32(3), *At[uint32](addr + 8))
	assert.Nil(t, Span[uint32](0, 3))
	assert.Nil(t, Copy[uint32](0, 3))
	assert.Zero(t, First[byte](nil))
	runtime.KeepAlive(v)
}

func TestText_endsAtZero(t *testing.T) {
	b := []byte("one\x00two\x00")
	assert.Equal(t, "one", Text(First(b)))
	assert.Equal(t, "two", Text(First(b)+4))
	assert.Empty(t, Text(First(b)+3))
	assert.Empty(t, Text(0))
	runtime.KeepAlive(b)
}

func TestAs_invertBytes(t *testing.T) {
	v := []float32{1, -2.5, 0}
	assert.Equal(t, v, As[float32](Bytes(v)))
	assert.Len(t, As[uint32](make([]byte, 7)), 1)
	assert.Empty(t, Bytes[uint64](nil))
}
