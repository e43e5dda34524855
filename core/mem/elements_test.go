package mem

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestElements(t *testing.T) {
	b := binary.NativeEndian.AppendUint32([]byte{9}, 0x01020304)
	b = binary.NativeEndian.AppendUint32(b, 7)
	v := Elements[uint32](b[1:]) // not aligned
	assert.Equal(t, []uint32{0x01020304, 7}, v)
	v[1] = 8
	assert.Equal(t, uint32(8), binary.NativeEndian.Uint32(b[5:]), "the memory is shared")
	assert.Len(t, Elements[uint64](b), 1, "9 bytes hold one")
	assert.Empty(t, Elements[uint64](nil))
	assert.Equal(t, []byte{1, 255, 3}, Bytes([]int8{1, -1, 3}))
	assert.Len(t, Bytes([]uint64{1, 2}), 16)
	assert.Empty(t, Bytes[float32](nil))
}
