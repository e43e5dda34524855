package driver

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Either side may come first, and exactly one of them is left with an unwanted object.
func TestHandoff_oneEndsTheObject(t *testing.T) {
	var kept handoff
	assert.True(t, kept.finish(7))
	assert.EqualValues(t, 7, kept.object)
	assert.EqualValues(t, 7, kept.giveUp())
	var late handoff
	assert.Zero(t, late.giveUp())
	assert.False(t, late.finish(7))
	assert.Zero(t, late.giveUp())
}
