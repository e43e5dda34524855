package device

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestBurst_endsWhatIsKept once, but nothing that has ended before.
func TestBurst_endsWhatIsKept(t *testing.T) {
	var b Burst
	var ended []string
	keep := func(key string) bool { return b.Keep(key, func() { ended = append(ended, key) }) }
	assert.True(t, keep("a"))
	assert.True(t, keep("b"))
	b.Drop("a")
	b.Drop("none")
	b.End()
	b.End()
	assert.False(t, keep("c"), "after the end")
	b.Drop("b")
	assert.Equal(t, []string{"b"}, ended)
}

func TestBurstOf(t *testing.T) {
	b := &Burst{}
	of := func(r *RunRequest) *Burst { return BurstOf(context.WithValue(context.Background(), RequestKey{}, r)) }
	assert.Same(t, b, of(&RunRequest{Burst: b}))
	assert.Nil(t, of(&RunRequest{}))
	assert.Nil(t, BurstOf(context.Background()))
}
