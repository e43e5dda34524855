package node

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/tensor"
)

// drawing makes a model that gives one where wrong(p, u) holds for a fresh uniform u, or for always the same ones.
func drawing(seeded bool, one func(i int, p, u float64) bool) draws {
	rnd := rand.New(rand.NewPCG(1, 2))
	return func(in tensor.Tensor) (tensor.Tensor, error) {
		if seeded {
			rnd = rand.New(rand.NewPCG(1, 2))
		}
		y := tensor.New(tensor.Float32, in.Dims...)
		for i := range in.Count() {
			if one(i, number(in, i), rnd.Float64()) {
				tensor.PutFloat(y.DType, y.Data, i, 1, false)
			}
		}
		return y, nil
	}
}

func TestCheckBernoulli_seesWrongDraws(t *testing.T) {
	p := f32(0.1, 0.2, 0.5, 0.5, 0.7, 0.9, 0.3, 0, 1, 0.45)
	last := 0.0
	for name, c := range map[string]struct {
		one    func(i int, p, u float64) bool
		ok     bool
		seeded bool // as well
	}{
		"right":              {func(_ int, p, u float64) bool { return u < p }, true, true},
		"always a half":      {func(_ int, _, u float64) bool { return u < 0.5 }, false, true},
		"a little too often": {func(_ int, p, u float64) bool { return p > 0 && u < p+0.06 }, false, false},
		"inverted":           {func(_ int, p, u float64) bool { return u >= p }, false, true},
		"rounded":            {func(_ int, p, _ float64) bool { return p >= 0.5 }, false, false},
		"one draw for all": {func(i int, p, u float64) bool {
			if i == 0 {
				last = u
			}
			return last < p
		}, false, false},
	} {
		assert.Equal(t, c.ok, checkBernoulli(drawing(false, c.one), false, p, p) == nil, name)
		if c.seeded {
			assert.Equal(t, c.ok, checkBernoulli(drawing(true, c.one), true, p, p) == nil, "%s, seeded", name)
		}
	}
	half := func(in tensor.Tensor) (tensor.Tensor, error) { return f32(0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0), nil }
	assert.ErrorContains(t, checkBernoulli(half, false, p, p), "want 0 or 1")
	assert.ErrorContains(t, checkBernoulli(half, true, p, p), "want 0 or 1")
	short := func(in tensor.Tensor) (tensor.Tensor, error) { return f32(0), nil }
	assert.Error(t, checkBernoulli(short, false, p, p))
}
