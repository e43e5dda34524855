package model

import (
	"encoding/json"
	"fmt"
	"math"
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

func TestCompare_tolerances(t *testing.T) {
	float := &Tensor{Type: "float32"}
	c := Tolerance{Rel: 1e-5, Abs: 1e-6, Steps: 1}
	nan, inf := math.NaN(), math.Inf(1)
	assert.NoError(t, c.Compare(reals(1.000009, nan, inf), reals(1, nan, inf), float))
	assert.Error(t, c.Compare(reals(1.00002), reals(1), float))
	assert.Error(t, c.Compare(reals(nan), reals(1), float))
	assert.Error(t, c.Compare(reals(1e38), reals(inf), float))
	q := &Tensor{Type: "int8", Quant: &Quant{}}
	assert.NoError(t, c.Compare(reals(5), reals(4), q))
	assert.Error(t, c.Compare(reals(6), reals(4), q))
	assert.Error(t, c.Compare(reals(5), reals(4), &Tensor{Type: "int8"}), "plain integers are exact")
	assert.Error(t, c.Compare([]Number{Int(math.MaxInt64 - 1)}, []Number{Int(math.MaxInt64)}, &Tensor{Type: "int64"}),
		"to the last of 64 bits")
}

func TestEncode_roundTrip(t *testing.T) {
	for name, d := range DataTypes {
		if d.DType == tensor.Bool { // any byte but 0 is true
			continue
		}
		got, err := Decode(Encode(reals(0, 1, 100), d.DType), d.DType, 3)
		require.NoError(t, err, name)
		assert.Equal(t, reals(0, 1, 100), got, name)
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
