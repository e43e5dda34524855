package main

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/tensor"
)

// The page shows the six channels that differ most, the worst one first, and white where a number is missing.
func TestFeatureMaps_largestDifferences(t *testing.T) {
	const channels, size = 9, 2 * 3
	want, got := make([]float32, channels*size), make([]float32, channels*size)
	for i := range want {
		want[i] = float32(i % size)
		got[i] = want[i]
	}
	for c, apart := range []float32{1, 0, 3, 2, 5, 4, 0, 7, 6} {
		got[c*size+4] += apart
	}
	nan := float32(math.NaN())
	want[6*size], got[6*size], got[1*size+5] = nan, nan, nan
	of := func(v []float32) tensor.Tensor {
		return tensor.Tensor{DType: tensor.Float32, Dims: []int64{1, channels, 2, 3}, Data: tensor.Float32s(v...)}
	}
	maps := featureMaps(of(want), of(got))
	var order []int
	for _, m := range maps {
		order = append(order, m.Channel)
		data, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(m.Diff), "data:image/png;base64,"))
		require.NoError(t, err)
		picture, err := png.Decode(bytes.NewReader(data))
		require.NoError(t, err)
		require.Equal(t, [2]int{3, 2}, [2]int{picture.Bounds().Dx(), picture.Bounds().Dy()})
		for i := range size {
			gray, _, _, _ := picture.At(i%3, i/3).RGBA()
			worst := 4
			if m.Channel == 1 {
				worst = 5
			}
			assert.Equal(t, map[bool]uint32{true: 0xffff}[i == worst], gray, "channel %d, pixel %d", m.Channel, i)
		}
	}
	assert.Equal(t, []int{1, 7, 8, 4, 5, 2}, order)
	assert.Empty(t, featureMaps(of(want), of(want)))
}
