package attributes

import (
	"archive/zip"
	"bytes"
	"context"
	"os"
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/conformance/onnx/node"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/leak"
	"github.com/anynpu/anynpu/internal/tensordiff"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

func TestAttributes_agreeWithTheEvaluators(t *testing.T) {
	z, err := zip.NewReader(bytes.NewReader(Archive()), int64(len(Archive())))
	require.NoError(t, err)
	d, err := cpu.New(cpu.Config{})
	require.NoError(t, err)
	n := 0
	for _, f := range z.File {
		if path.Base(f.Name) != "model.onnx" {
			continue
		}
		n++
		name := path.Dir(f.Name)
		tol := tensordiff.Tolerance{Rel: 1e-4, Abs: 2e-6}
		assert.NoError(t, node.RunCase(context.Background(), z, name, d, tol), name)
	}
	assert.GreaterOrEqual(t, n, 700)
}
