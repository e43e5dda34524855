package trace

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAddresses_inPlainBytes(t *testing.T) {
	const at, other = 0x7f0000001000, 0x7f0000009000
	p := &printer{captures: []*capture{{"p0", at, 32}}, used: map[string]bool{}}
	b := binary.LittleEndian.AppendUint64(nil, at)
	b = binary.LittleEndian.AppendUint64(b, other)
	b = binary.LittleEndian.AppendUint64(b, at+8)
	assert.Equal(t, map[int]bool{0: true, 16: true}, p.addresses(0, b))
	assert.True(t, p.used["p0"])
	assert.Equal(t, map[int]bool{16: true}, p.addresses(4, b[4:]), "words of the object")
	assert.Empty(t, p.addresses(0, b[8:16]))
}
