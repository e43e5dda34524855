package opsets

import (
	"archive/zip"
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/conformance/onnx/node"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

func TestOpsets_agreeWithTheEvaluators(t *testing.T) {
	z, err := zip.NewReader(bytes.NewReader(Archive()), int64(len(Archive())))
	require.NoError(t, err)
	d, err := cpu.New(cpu.Config{})
	require.NoError(t, err)
	n := 0
	node.RunArchive(z, d, nil, func(name string, err error) {
		n++
		assert.NoError(t, err, name)
	})
	assert.GreaterOrEqual(t, n, 500)
}
