package cases

import (
	"archive/zip"
	"os"
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

func TestCases_agreeWithTheEvaluators(t *testing.T) {
	z, err := zip.OpenReader("cases.zip")
	require.NoError(t, err)
	defer z.Close()
	// A quantized output may be one step away where sums are ordered differently.
	own := map[string]tensordiff.Tolerance{"qdq_conv": {Abs: 0.0501}}
	d, err := cpu.New(cpu.Config{})
	require.NoError(t, err)
	n := 0
	node.RunArchive(&z.Reader, d, own, func(name string, err error) {
		n++
		assert.NoError(t, err, name)
	})
	assert.GreaterOrEqual(t, n, 200)
}
