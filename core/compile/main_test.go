package compile_test

import (
	"context"
	"maps"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) {
	counters := maps.Clone(mem.LiveCounters)
	maps.Copy(counters, toy.LiveCounters)
	os.Exit(leak.Run(m, counters))
}

var background = context.Background()

// double is 2x, made of an addition; quad is 4x, made of doubles. second passes its second input through.
type (
	double struct{}
	quad   struct{}
	second struct{}
)

func init() {
	graph.Register[*double]("test.double", graph.Traits{})
	graph.Register[*quad]("test.quad", graph.Traits{})
	graph.Register[*second]("test.second", graph.Traits{})
}

func (*double) Infer(in []tensor.Fact, _ []tensor.Type) ([]tensor.Fact, error) {
	return in[:1], nil
}
func (*double) Decompose(b *graph.Builder, in []graph.Value) ([]graph.Value, error) {
	return []graph.Value{b.Add(&op.Add{}, in[0], in[0])}, nil
}

func (*quad) Infer(in []tensor.Fact, _ []tensor.Type) ([]tensor.Fact, error) {
	return in[:1], nil
}
func (*quad) Decompose(b *graph.Builder, in []graph.Value) ([]graph.Value, error) {
	return []graph.Value{b.Add(&double{}, b.Add(&double{}, in[0]))}, nil
}

func (*second) Infer(in []tensor.Fact, _ []tensor.Type) ([]tensor.Fact, error) {
	return in[1:2], nil
}
func (*second) Decompose(_ *graph.Builder, in []graph.Value) ([]graph.Value, error) {
	return in[1:2], nil
}

// mixed returns y = ((x+1)*3 + 1)*3 and z = x+1 for float32 x of shape s: the toy adds, the CPU multiplies.
func mixed(t testing.TB, s tensor.Shape) *graph.Graph {
	b := graph.NewBuilder("mixed")
	x := b.Input("x", tensor.Type{DType: tensor.Float32, Shape: s})
	one, three := b.Float32(1), b.Float32(3)
	v, z := x, graph.None
	for i := range 4 {
		b.SetOrigin(i, "")
		if i%2 == 0 {
			v = b.Add(&op.Add{}, v, one)
		} else {
			v = b.Add(&op.Mul{}, v, three)
		}
		if i == 0 {
			z = v
		}
	}
	b.Name(v, "y")
	b.Output(v, z)
	g, err := b.Graph()
	require.NoError(t, err)
	return g
}

func mustCompile(t testing.TB, g *graph.Graph, devices ...device.Device) *compile.Program {
	p, err := compile.Compile(background, g, devices, compile.Options{})
	require.NoError(t, err)
	return p
}

func floatView(t testing.TB, v []float32, dims ...int64) mem.View {
	b, err := mem.Host(int64(4*len(v)), mem.Options{})
	require.NoError(t, err)
	require.NoError(t, mem.Write(b, 0, tensor.Float32s(v...)))
	return mem.View{Buf: b, Type: tensor.T(tensor.Float32, dims...)}
}

func output(t testing.TB, e device.Execution, i int) []float32 {
	data, err := e.OutputData(i)
	require.NoError(t, err)
	v, err := tensor.ReadFloat32s(data, len(data)/4)
	require.NoError(t, err)
	return v
}

// evaluate runs p once on x and returns output 0.
func evaluate(t testing.TB, p device.Program, x ...float32) []float32 {
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	defer e.Release()
	v := floatView(t, x, int64(len(x)))
	defer v.Buf.Release()
	require.NoError(t, e.BindInput(0, v))
	require.NoError(t, exec.Run(background, e, device.RunRequest{}))
	return output(t, e, 0)
}
