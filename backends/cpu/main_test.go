package cpu

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

// slow is an operator that waits in its kernel; the test registers no kernel for it, so the device refuses it.
type slow struct{}

func (*slow) Infer(in []tensor.Fact, _ []tensor.Type) ([]tensor.Fact, error) {
	return in[:1], nil
}

func init() { graph.Register[*slow]("test.slow", graph.Traits{}) }

func newDevice(t testing.TB, c Config) *Device {
	d, err := New(c)
	require.NoError(t, err)
	return d
}

// chain returns x + 1 + 1 + ... (n times) over float32 of the given shape.
func chain(t testing.TB, n int, s tensor.Shape) *graph.Graph {
	b := graph.NewBuilder("chain")
	x := b.Input("x", tensor.Type{DType: tensor.Float32, Shape: s})
	for i := range n {
		b.SetOrigin(i, "")
		x = b.Add(&op.Add{}, x, b.Float32(1))
	}
	b.Output(x)
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

func compile(t testing.TB, d *Device, g *graph.Graph) device.Program {
	p, err := d.Compile(context.Background(), device.Unit{Graph: g}, device.Options{})
	require.NoError(t, err)
	return p
}

func newExec(t testing.TB, p device.Program, o device.ExecOptions) device.Execution {
	e, err := p.New(o)
	require.NoError(t, err)
	return e
}

// hostView returns a view of a new buffer that holds v.
func hostView(t testing.TB, v []float32, dims ...int64) mem.View {
	b, err := mem.Host(int64(4*len(v)), mem.Options{})
	require.NoError(t, err)
	require.NoError(t, mem.Write(b, 0, tensor.Float32s(v...)))
	return mem.View{Buf: b, Type: tensor.T(tensor.Float32, dims...)}
}

func floats(t testing.TB, data []byte) []float32 {
	v, err := tensor.ReadFloat32s(data, len(data)/4)
	require.NoError(t, err)
	return v
}
