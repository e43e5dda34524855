package export_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// A pipe or a device at the path is written to, and stays what it is.
func TestModel_writesThroughWhatIsNoFile(t *testing.T) {
	b := graph.NewBuilder("g")
	b.Output(b.Add(&op.Relu{}, b.Input("x", tensor.T(tensor.Float32, 2))))
	g, err := b.Graph()
	require.NoError(t, err)
	m, err := export.Of(g, export.Options{})
	require.NoError(t, err)
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	got := make(chan []byte)
	go func() {
		data, _ := os.ReadFile(pipe)
		got <- data
	}()
	require.NoError(t, m.WriteFile(pipe))
	assert.NotEmpty(t, <-got)
	info, err := os.Stat(pipe)
	require.NoError(t, err)
	assert.Equal(t, os.ModeNamedPipe, info.Mode().Type())
	assert.ErrorContains(t, m.WriteFile(t.TempDir()), "is a directory")
}
