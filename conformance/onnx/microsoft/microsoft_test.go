package microsoft

import (
	"archive/zip"
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/conformance/onnx/node"
	"github.com/anynpu/anynpu/core/format/onnx/lower"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/internal/leak"
	"github.com/anynpu/anynpu/internal/tensordiff"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

// oneCode are networks whose mean of four codes lies halfway between two as often as not, and the step of their output.
var oneCode = map[string]tensordiff.Tolerance{"network_branches_qdq_u8": {Abs: 0.0156},
	"network_branches_qdq_u8s8": {Abs: 0.0156}, "network_branches_qdq_s8": {Abs: 0.0156}}

// Every operator of the domain has at least eight cases, named after it, and each is as ONNX Runtime computes it.
func TestMicrosoft_agreesWithONNXRuntime(t *testing.T) {
	z, err := zip.NewReader(bytes.NewReader(Archive()), int64(len(Archive())))
	require.NoError(t, err)
	for _, engine := range []string{"fast", "ref"} {
		d, err := cpu.New(cpu.Config{Reference: engine == "ref"})
		require.NoError(t, err)
		cases := map[string]int{}
		node.RunArchive(z, d, oneCode, func(name string, err error) {
			op, _, _ := strings.Cut(strings.TrimPrefix(name, "refused_"), "_")
			cases[op]++
			assert.NoError(t, err, "%s: %s", engine, name)
		})
		for _, o := range lower.Operators() {
			if o.Domain == "com.microsoft" {
				assert.GreaterOrEqual(t, cases[o.Name], 8, o.Name)
			}
		}
	}
}
