package numbers

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/tensor"
)

// reals returns the numbers of floats.
func reals(f ...float64) []Number {
	out := make([]Number, len(f))
	for i, x := range f {
		out[i] = Real(x)
	}
	return out
}

// The numbers are those of conformance/vectors/patterns.py.
func TestPattern_numbersAreThoseOfTheGenerator(t *testing.T) {
	assert.Equal(t, reals(1, -3, -1, 0, -3, -1), (&Pattern{Seed: 7, Lo: -3, Hi: 3}).Numbers(6))
	assert.Equal(t, reals(0.5, -1.5, -0.5), (&Pattern{Seed: 7, Lo: -3, Hi: 3, Step: 0.5}).Numbers(3))
	assert.Equal(t, reals(1.2644898295402527, 0.7172433733940125, -0.20385634899139404),
		(&Pattern{Seed: 4000000000, Lo: -1, Hi: 2, Real: true}).Numbers(3))
}

func TestEncode_roundTrip(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16,
		tensor.Uint32, tensor.Uint64, tensor.Float16, tensor.Float32, tensor.Float64} {
		got, err := Decode(Encode(reals(0, 1, 100), d), d, 3)
		require.NoError(t, err, d)
		assert.Equal(t, reals(0, 1, 100), got, d)
	}
	got, err := Decode(Encode(reals(-1.5), tensor.Float16), tensor.Float16, 1)
	require.NoError(t, err)
	assert.Equal(t, reals(-1.5), got)
}

func TestNumber_keeps64Bits(t *testing.T) {
	var v []Number
	require.NoError(t,
		json.Unmarshal([]byte(`[18446744073709551615, -9223372036854775808, 9007199254740993, 0.5, "-inf"]`), &v))
	assert.Equal(t, "[18446744073709551615 -9223372036854775808 9007199254740993 0.5 -Inf]", fmt.Sprint(v))
	for _, d := range []tensor.DType{tensor.Uint64, tensor.Int64} {
		got, err := Decode(Encode(v[:3], d), d, 3)
		require.NoError(t, err)
		for i := range got {
			assert.Equal(t, v[i].Int, got[i].Int)
		}
	}
}
