package fault

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWrap_keepsKindAndReadsOutsideIn(t *testing.T) {
	err := Wrap(New(Shape, "input %d: want rank 4, got %d", 1, 3), "conv")
	assert.Equal(t, "conv: input 1: want rank 4, got 3", err.Error())
	assert.Equal(t, Shape, KindOf(err))
	assert.NoError(t, Wrap(nil, "conv"))
}

func TestAs_givesForeignErrorsAKind(t *testing.T) {
	err := As(File, io.ErrUnexpectedEOF, "cache: %s", "0.nncache")
	assert.Equal(t, File, KindOf(err))
	assert.True(t, errors.Is(err, io.ErrUnexpectedEOF))
	assert.Equal(t, Internal, KindOf(io.EOF))
}

func TestKind_namesAreComplete(t *testing.T) {
	assert.Equal(t, "data", Data.String())
	assert.Equal(t, "kind(12)", Kind(12).String())
}
