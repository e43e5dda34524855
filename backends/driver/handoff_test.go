package driver

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Either side may come first, and exactly one of them is left with an object that nobody wants.
func TestHandoff_oneEndsTheObject(t *testing.T) {
	var kept Handoff
	assert.True(t, kept.Finish(7))
	assert.EqualValues(t, 7, kept.Object())
	assert.EqualValues(t, 7, kept.GiveUp())
	var late Handoff
	assert.Zero(t, late.GiveUp())
	assert.False(t, late.Finish(7))
	assert.Zero(t, late.GiveUp())
}
