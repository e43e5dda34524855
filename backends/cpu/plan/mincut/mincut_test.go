package mincut

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCut_cut compares the cuts of random networks with the cheapest of all divisions.
func TestCut_cut(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type link struct {
		a, b int
		w    int64
	}
	for range 300 {
		f, n := New(), 2+r.IntN(7)
		for range n - 2 {
			f.Vertex()
		}
		var links []link
		for range r.IntN(3 * n) {
			x := link{r.IntN(n), r.IntN(n), int64(r.IntN(9))}
			if x.a == x.b {
				continue
			}
			links = append(links, x)
			f.Edge(x.a, x.b, x.w)
		}
		cost := func(inSource func(v int) bool) (sum int64) {
			for _, x := range links {
				if inSource(x.a) && !inSource(x.b) {
					sum += x.w
				}
			}
			return sum
		}
		want := int64(math.MaxInt64)
		for set := range 1 << n {
			if set&1 == 1 && set&2 == 0 {
				want = min(want, cost(func(v int) bool { return set>>v&1 == 1 }))
			}
		}
		side := f.Cut()
		require.True(t, side[Source] && !side[Sink])
		require.Equal(t, want, cost(func(v int) bool { return side[v] }), "%v", links)
	}
}

// TestCut_longPath follows a path that recursion would not survive, in time that grows with its length.
func TestCut_longPath(t *testing.T) {
	f, at := New(), Source
	for range 20_000 {
		v := f.Vertex()
		f.Edge(at, v, 5)
		at = v
	}
	f.Edge(at, Sink, 3)
	side := f.Cut()
	assert.True(t, side[at])
	assert.False(t, side[Sink])
}
