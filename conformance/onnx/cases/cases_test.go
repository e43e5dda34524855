package cases

import (
	"archive/zip"
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

// tolerances of cases that need another than the rest: a quantized output may be one step away where sums are ordered
// differently.
var tolerances = map[string]tensordiff.Tolerance{"qdq_conv": {Abs: 0.0501}}

func TestCases_agreeWithTheEvaluators(t *testing.T) {
	z, err := zip.OpenReader("cases.zip")
	require.NoError(t, err)
	defer z.Close()
	d, err := cpu.New(cpu.Config{})
	require.NoError(t, err)
	n := 0
	for _, f := range z.File {
		if path.Base(f.Name) != "model.onnx" {
			continue
		}
		n++
		name := path.Dir(f.Name)
		tol, ok := tolerances[name]
		if !ok {
			tol = tensordiff.Tolerance{Rel: 1e-4, Abs: 2e-6}
		}
		assert.NoError(t, node.RunCase(context.Background(), z, name, d, tol), name)
	}
	assert.GreaterOrEqual(t, n, 200)
}
