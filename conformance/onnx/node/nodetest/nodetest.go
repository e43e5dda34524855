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
)

// Archive computes every case of an archive on the CPU, as node.RunArchive does, and wants as many cases at least.
func Archive(t *testing.T, archive []byte, least int) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	require.NoError(t, err)
	d, err := cpu.New(cpu.Config{})
	require.NoError(t, err)
	n := 0
	node.RunArchive(z, d, nil, func(name string, err error) {
		n++
		assert.NoError(t, err, name)
	})
	assert.GreaterOrEqual(t, n, least)
}
