package onnx

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

const digits = "../../../examples/digits/"

// readPGM reads a binary 8-bit PGM image.
func readPGM(t *testing.T, path string) (w, h int, pixels []byte) {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	fields := bytes.Fields(b[:min(len(b), 64)])
	require.Equal(t, "P5", string(fields[0]))
	var max int
	for i, to := range []*int{&w, &h, &max} {
		for _, c := range fields[1+i] {
			*to = *to*10 + int(c-'0')
		}
	}
	return w, h, b[len(b)-w*h:]
}

func TestImportFile_recognizesDigits(t *testing.T) {
	weights := mem.NewWeights()
	defer weights.Release()
	m, err := ImportFile(digits+"digits.onnx", Options{Weights: weights})
	require.NoError(t, err)
	images, err := filepath.Glob(digits + "images/*.pgm")
	require.NoError(t, err)
	require.Len(t, images, 60)
	right := 0
	for _, path := range images {
		w, h, pixels := readPGM(t, path)
		x := tensor.New(tensor.Float32, 1, 1, int64(h), int64(w))
		for i, p := range pixels {
			copy(x.Data[4*i:], tensor.Float32s(float32(p)/16))
		}
		y, err := ref.Run(context.Background(), m.Graph, []tensor.Tensor{x})
		require.NoError(t, err)
		p, err := tensor.ReadFloat32s(y[0].Data, 10)
		require.NoError(t, err)
		best := 0
		for i := range p {
			if p[i] > p[best] {
				best = i
			}
		}
		if strings.Contains(path, "label"+string(rune('0'+best))) {
			right++
		}
	}
	assert.GreaterOrEqual(t, right, 58, "of 60")
}

func TestRecognize_table(t *testing.T) {
	b, err := os.ReadFile(digits + "digits.onnx")
	require.NoError(t, err)
	assert.True(t, Recognize(b))
	assert.True(t, Recognize(b[:200]), "truncated")
	for _, s := range []string{"", "RKNN\x00\x00\x00\x00abcdefgh", "\x7fELF\x02\x01\x01", "{\"a\": 1}", "PK\x03\x04"} {
		assert.False(t, Recognize([]byte(s)), "%q", s)
	}
}
