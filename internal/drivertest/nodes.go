package drivertest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Node is a graph of one node.
type Node struct {
	Op      graph.Op
	In      []Operand
	Out     []tensor.Type // of the results, where inference does not say it
	Results int           // 0: one
}

// Operand is an input of a node: a value of a type, or a constant, or with the zero type an input that is left out.
type Operand struct {
	Type     tensor.Type
	Constant []byte
}

// Absent is an input that is left out.
var Absent Operand

// One is a node whose result inference knows.
func One(o graph.Op, in ...Operand) Node { return Node{Op: o, In: in} }

// To is a node whose results have types.
func (n Node) To(results ...Operand) Node {
	n.Out, n.Results = nil, len(results)
	for _, o := range results {
		n.Out = append(n.Out, o.Type)
	}
	return n
}

// Gives is a node with several results.
func (n Node) Gives(results int) Node {
	n.Results = results
	return n
}

// Of is a value of a type, and Real, Integers and Bools are those of frequent types.
func Of(d tensor.DType, dims ...int64) Operand { return Operand{Type: tensor.T(d, dims...)} }

func Real(dims ...int64) Operand     { return Of(tensor.Float32, dims...) }
func Integers(dims ...int64) Operand { return Of(tensor.Int32, dims...) }
func Bools(dims ...int64) Operand    { return Of(tensor.Bool, dims...) }

// Codes are values of a quantized type with zero point 1.
func Codes(d tensor.DType, scale float32, dims ...int64) Operand {
	o := Of(d, dims...)
	o.Type.Quant = tensor.PerTensor(scale, 1)
	return o
}

// Fixed makes a constant of a value.
func Fixed(o Operand) Operand {
	n, _ := o.Type.Shape.Count()
	o.Constant = Values(o.Type, int(n), 3)
	return o
}

// Positive makes a constant of positive numbers of a float32 value.
func Positive(o Operand) Operand {
	n, _ := o.Type.Shape.Count()
	v := make([]float32, n)
	for i := range v {
		v[i] = 0.5 + float32(i%5)/4
	}
	o.Constant = tensor.Float32s(v...)
	return o
}

// Numbers is a constant list of int64, and Bound a constant number.
func Numbers(v ...int64) Operand {
	return Operand{tensor.T(tensor.Int64, int64(len(v))), tensor.Int64s(v...)}
}

func Bound(x float32) Operand { return Operand{tensor.T(tensor.Float32), tensor.Float32s(x)} }

// Values are numbers from -2 to 2, and integers from 0 to 2, by a rule of their own for each seed.
func Values(typ tensor.Type, n, seed int) []byte {
	out := tensor.New(typ.DType, int64(n))
	for i := range n {
		tensor.PutFloat(typ.DType, out.Data, i, float64((i*7+i/5+seed)%17-8)/4, false)
		tensor.PutInt(typ.DType, out.Data, i, int64((i*5+seed)%3))
	}
	return out.Data
}

// graph is the graph of a node, and values for its inputs.
func (n Node) graph() (g *graph.Graph, given []tensor.Tensor, err error) {
	b := graph.NewBuilder(graph.NameOf(n.Op))
	var in []graph.Value
	for i, o := range n.In {
		if o.Type.DType == tensor.Invalid {
			in = append(in, graph.None)
			continue
		}
		if o.Constant != nil {
			in = append(in, b.Const("", o.Type, o.Constant))
			continue
		}
		in = append(in, b.Input("x", o.Type))
		dims, _ := o.Type.Shape.Ints()
		count, _ := o.Type.Shape.Count()
		given = append(given, tensor.Tensor{DType: o.Type.DType, Dims: dims, Quant: o.Type.Quant,
			Data: Values(o.Type, int(count), i)})
	}
	declared := make([]tensor.Type, max(1, n.Results))
	copy(declared, n.Out)
	b.Output(b.AddTyped(n.Op, "", declared, in...)...)
	g, err = b.Graph()
	return g, given, err
}

// Nodes compares nodes on a device, which has all of them, with the results of the CPU. There must be one of each
// operator that is in left.
func Nodes(t *testing.T, own device.Device, nodes []Node, left map[string]bool) {
	host := CPU(t)
	for _, n := range nodes {
		name := graph.NameOf(n.Op)
		delete(left, name)
		g, given, err := n.graph()
		require.NoError(t, err, name)
		both, alone := Compile(t, g, own, host), Compile(t, g, host)
		for _, n := range both.Placement().Nodes {
			assert.Equal(t, own.Info().ID, n.Device, "%s: %s", name, n.String())
		}
		near(t, name, Results(t, alone, given), Results(t, both, given))
		both.Release()
		alone.Release()
	}
	assert.Empty(t, left, "operators without a case")
}

// near compares results. The CPU may sum in another order where the library has fused what it was given.
func near(t *testing.T, name string, want, got []tensor.Tensor) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Dims, got[i].Dims, name)
		require.Equal(t, want[i].DType, got[i].DType, name)
		if want[i].DType != tensor.Float32 {
			assert.Equal(t, want[i].Data, got[i].Data, name)
			continue
		}
		w, g := floats(t, want[i].Data), floats(t, got[i].Data)
		for k := range w {
			if math.Float32bits(w[k]) != math.Float32bits(g[k]) && !(math.Abs(float64(w[k]-g[k])) <= 1e-5) {
				assert.Fail(t, name, "element %d: want %v, got %v", k, w[k], g[k])
				break
			}
		}
	}
}

func floats(t *testing.T, data []byte) []float32 {
	v, err := tensor.ReadFloat32s(data, len(data)/4)
	require.NoError(t, err)
	return v
}

// Reason is a node with one input, and what stands against it on a device; "" is one that the device computes.
type Reason struct {
	Op   graph.Op
	In   tensor.Type
	Want string
}

// Says is a Reason.
func Says(o graph.Op, in tensor.Type, want string) Reason { return Reason{o, in, want} }

// Reasons checks what a device says of nodes: sentences that name what stands against them.
func (s Subject) Reasons(t *testing.T, reasons ...Reason) {
	before := s.Driver.Live()
	for _, r := range reasons {
		b := graph.NewBuilder("one")
		b.Output(b.Add(r.Op, b.Input("x", r.In)))
		g, err := b.Graph()
		require.NoError(t, err, r.Want)
		answers, err := s.Device.Support(g, device.Options{})
		require.NoError(t, err)
		assert.Equal(t, r.Want == "", answers[0].OK, "%v: %s", r.In, answers[0].Reason)
		assert.Contains(t, answers[0].Reason, r.Want)
		assert.Equal(t, before, s.Driver.Live())
	}
}

// Refused is a node and what stands against it on a device.
type Refused struct {
	Node Node
	Want string
}

// Refuses is Reasons for nodes of any inputs.
func (s Subject) Refuses(t *testing.T, list ...Refused) {
	before := s.Driver.Live()
	for _, r := range list {
		g, _, err := r.Node.graph()
		require.NoError(t, err, r.Want)
		answers, err := s.Device.Support(g, device.Options{})
		require.NoError(t, err)
		assert.False(t, answers[0].OK, r.Want)
		assert.Contains(t, answers[0].Reason, r.Want)
		assert.Equal(t, before, s.Driver.Live())
	}
}
