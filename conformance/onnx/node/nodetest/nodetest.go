// Package nodetest is what the tests of archives of ONNX models share.
package nodetest

import (
	"archive/zip"
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/conformance/onnx/node"
	"github.com/anynpu/anynpu/internal/tensordiff"
)

// half is the tolerance of cases of several steps whose numbers are of 16 bits: the evaluators round after each step,
// the CPU once.
var half = tensordiff.Tolerance{Rel: 1e-3, Abs: 1e-4}

// Archive computes every case of an archive on the CPU, as node.RunArchive does, and wants as many cases at least.
// halves are the cases that round otherwise.
func Archive(t *testing.T, archive []byte, least int, halves ...string) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	require.NoError(t, err)
	d, err := cpu.New(cpu.Config{})
	require.NoError(t, err)
	own := map[string]tensordiff.Tolerance{}
	for _, name := range halves {
		own[name] = half
	}
	n := 0
	node.RunArchive(z, d, own, func(name string, err error) {
		n++
		assert.NoError(t, err, name)
	})
	assert.GreaterOrEqual(t, n, least)
}
