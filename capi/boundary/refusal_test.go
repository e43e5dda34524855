package boundary

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/fault"
)

func TestCodes_of(t *testing.T) {
	type code int32
	type other int32
	codes := Codes[code]{fault.Shape: 3, fault.Internal: 4}
	for _, c := range []struct {
		name string
		err  error
		want code
	}{
		{"none", nil, 0},
		{"kind", fault.New(fault.Shape, "x"), 3},
		{"wrapped kind", fault.Wrap(fault.New(fault.Shape, "x"), "conv"), 3},
		{"refusal", Refuse(code(7), "size is %d", 5), 7},
		{"wrapped refusal", fault.Wrap(Refuse(code(7), "size is %d", 5), "inputs[0]"), 7},
		{"refusal wins over its cause", RefuseFor(code(8), fault.New(fault.Shape, "x"), "dims"), 8},
		{"refusal of another API", Refuse(other(7), "x"), 4},
		{"foreign error", io.EOF, 4},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, codes.Of(c.err)) })
	}
	err := RefuseFor(code(8), io.EOF, "fd is %d", 3)
	assert.EqualError(t, err, "fd is 3: EOF")
	assert.ErrorIs(t, err, io.EOF)
	var got code
	assert.Zero(t, testing.AllocsPerRun(100, func() { got |= codes.Of(nil) }), "a call that succeeds")
	assert.Zero(t, got)
}

func TestStructs_reuse(t *testing.T) {
	var s Structs[[4]int32]
	a := s.Take()
	a[2] = 5
	s.Return(a)
	assert.Equal(t, [4]int32{}, *a)
	assert.Same(t, a, s.Take())
	seen := map[*[4]int32]bool{a: true}
	for range structsAtOnce + 1 {
		p := s.Take()
		assert.False(t, seen[p])
		seen[p] = true
	}
}
