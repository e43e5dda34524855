package device

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// Compiled is a graph.Op: a whole model that a vendor's compiler has made for its NPU. Its inputs are the model's, in
// order, then the bytes of the container, a constant of uint8; its outputs are the model's. Only a device that names
// the container in Info.Containers computes it, alone in a unit.
type Compiled struct {
	Container string // the file format, e.g. "rknn"
}

func init() { graph.Register[*Compiled]("compiled", graph.Traits{}) }

// Infer returns the declared outputs, as the device describes them.
func (*Compiled) Infer(_ []tensor.Fact, declared []tensor.Type) ([]tensor.Fact, error) {
	out := make([]tensor.Fact, len(declared))
	for i, t := range declared {
		out[i].Type = t
	}
	return out, nil
}

// CompiledGraph returns the graph of one Compiled node that has the given inputs and outputs, as a program that Load
// has made of data describes them.
func CompiledGraph(name, container string, data *tensor.Const, in, out []Port) (*graph.Graph, error) {
	b := graph.NewBuilder(name)
	var values []graph.Value
	for _, p := range in {
		values = append(values, b.Input(p.Name, p.Type))
	}
	blob := b.ConstOf(container, tensor.T(tensor.Uint8, int64(len(data.Data))), data)
	types := make([]tensor.Type, len(out))
	for i, p := range out {
		types[i] = p.Type
	}
	b.SetOrigin(0, name)
	made := b.AddTyped(&Compiled{Container: container}, "", types, append(values, blob)...)
	for i, p := range out {
		b.Name(made[i], p.Name)
	}
	b.Output(made...)
	return b.Graph()
}

// CompiledModel returns the container that a unit consists of; ok is false when the unit is anything else.
func CompiledModel(g *graph.Graph) (container string, data []byte, ok bool) {
	if len(g.Nodes) != 1 {
		return "", nil, false
	}
	n := &g.Nodes[0]
	op, is := n.Op.(*Compiled)
	if !is || len(n.In) == 0 || n.In[len(n.In)-1] == graph.None {
		return "", nil, false
	}
	c := g.Fact(n.In[len(n.In)-1]).Const
	if c == nil || c.Data == nil {
		return "", nil, false
	}
	return op.Container, c.Data, true
}

// SamePorts says how ports differ from the values that they are to stand for, nil if they do not. Values without a
// quantization may be codes.
func SamePorts(g *graph.Graph, side string, values []graph.Value, ports []Port) error {
	if len(values) != len(ports) {
		return fault.New(fault.Device, "%d %ss, want %d", len(ports), side, len(values))
	}
	for i, v := range values {
		f, p := g.Fact(v), &ports[i]
		if p.Type.DType != f.DType || !p.Type.Shape.Equal(f.Shape) || f.Quant != nil && !p.Type.Quant.Equal(f.Quant) {
			return fault.New(fault.Device, "%s %d is %v, want %v", side, i, p.Type, f.Type)
		}
	}
	return nil
}
