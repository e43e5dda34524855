package microsoft

import (
	"archive/zip"
	"bytes"
	"os"
	"path"
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

// tolerance is that of a case. In the network of branches the mean of four codes lies halfway between two as often as
// not; results may be two codes apart then.
func tolerance(name string) tensordiff.Tolerance {
	switch {
	case strings.HasPrefix(name, "network_branches_") && !strings.Contains(name, "float"):
		return tensordiff.Tolerance{Abs: 0.034}
	case strings.Contains(name, "half"):
		return tensordiff.Tolerance{Rel: 2e-3, Abs: 2e-3}
	}
	return tensordiff.Tolerance{Rel: 1e-4, Abs: 2e-6}
}

// Every operator of the domain has at least eight cases, named after it, and each is as ONNX Runtime computes it.
func TestMicrosoft_agreesWithONNXRuntime(t *testing.T) {
	z, err := zip.NewReader(bytes.NewReader(Archive()), int64(len(Archive())))
	require.NoError(t, err)
	own := map[string]tensordiff.Tolerance{}
	for _, f := range z.File {
		own[path.Dir(f.Name)] = tolerance(path.Dir(f.Name))
	}
	for _, engine := range []string{"fast", "ref"} {
		d, err := cpu.New(cpu.Config{Reference: engine == "ref"})
		require.NoError(t, err)
		cases := map[string]int{}
		node.RunArchive(z, d, own, func(name string, err error) {
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
