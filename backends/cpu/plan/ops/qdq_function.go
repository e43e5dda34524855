package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// mostFunctionNodes bounds the nodes of a function of codes.
const mostFunctionNodes = 16

// codesFunction is a function of one code: element-wise operators between a value that is there as codes and a
// QuantizeLinear, with whatever is quantized on the way, as in x * sigmoid(x).
type codesFunction struct {
	x     graph.Value // has codes
	nodes []int       // in the order of computing, the last one quantizes
}

// matchQDQFunction finds a function of codes, which is looked up. It goes as far as there is one value on the way.
func matchQDQFunction(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	f := codesFunction{x: graph.None}
	for _, v := range n.In {
		if v != graph.None && p.HasCodes(v) && g.Values[v].IsFloat32() {
			f.x = v
			break
		}
	}
	if f.x == graph.None || !f.takes(g, i, graph.None) {
		return nil
	}
	f.nodes = []int{i}
	end := 0 // nodes up to the last one that quantizes
	for v := n.Out[0]; len(f.nodes) < mostFunctionNodes; {
		k := g.OnlyUse(v)
		if p.Taken(k) || slices.Contains(f.nodes, k) || !f.takes(g, k, v) {
			break
		}
		f.nodes = append(f.nodes, k)
		if _, is := g.Graph.Nodes[k].Op.(*op.Quantize); is {
			end = len(f.nodes)
		}
		v = g.Graph.Nodes[k].Out[0]
	}
	if end == 0 {
		return nil
	}
	f.nodes = f.nodes[:end]
	q := &g.Graph.Nodes[f.nodes[end-1]]
	to, ok := ir.QuantParamsOfNode(g, q, g.Values[q.Out[0]].Type.DType)
	if !ok {
		return nil
	}
	table := f.table(p, to)
	if table == nil {
		return nil
	}
	task := tableTask{n: g.Values[f.x].Count(), table: table}
	return p.CodesPatch(i, &codesLookupOp{task}, []graph.Value{f.x}, q.Out[0], to, f.nodes[1:]...)
}

// takes reports whether node k is an element-wise step from v, or from x if there is none, whose other operands are x
// and single constants.
func (f *codesFunction) takes(g *ir.Network, k int, v graph.Value) bool {
	n := &g.Graph.Nodes[k]
	switch n.Op.(type) {
	case *op.Quantize, *op.Dequantize:
		if v == graph.None || n.In[0] != v {
			return false
		}
	default:
		tr := graph.TraitsOf(n.Op)
		if !tr.Elementwise || tr.Impure || !g.IsFloat32(n.Out[0]) {
			return false
		}
	}
	if len(n.Out) != 1 || !slices.Equal(g.Values[n.Out[0]].Dims, g.Values[f.x].Dims) {
		return false
	}
	return !slices.ContainsFunc(n.In, func(in graph.Value) bool {
		return in != graph.None && in != v && !f.same(g, in) && !single(&g.Values[in])
	})
}

func single(x *ir.Value) bool { return x.Data != nil && x.Dims != nil && x.Count() == 1 }

// same reports whether v is x, or made of the same codes in the same way.
func (f *codesFunction) same(g *ir.Network, v graph.Value) bool {
	if v == f.x {
		return true
	}
	a, b := g.Maker[v], g.Maker[f.x]
	if a < 0 || b < 0 {
		return false
	}
	m, n := &g.Graph.Nodes[a], &g.Graph.Nodes[b]
	_, one := m.Op.(*op.Dequantize)
	_, other := n.Op.(*op.Dequantize)
	if !one || !other || m.In[0] != n.In[0] {
		return false
	}
	d := g.Values[m.In[0]].Type.DType
	p, known := ir.QuantParamsOfNode(g, m, d)
	q, too := ir.QuantParamsOfNode(g, n, d)
	return known && too && p == q
}

// table returns the code that the reference makes of each code, nil when it makes none.
func (f *codesFunction) table(p *ir.Program, to ir.QuantParams) []byte {
	g, from := p.Net, p.Params[f.x]
	b := graph.NewBuilder("function")
	made := map[graph.Value]graph.Value{}
	x := b.Input("x", tensor.T(tensor.Float32, 256))
	for _, k := range f.nodes {
		n := &g.Graph.Nodes[k]
		in := make([]graph.Value, len(n.In))
		for a, v := range n.In {
			at, is := made[v]
			switch {
			case v == graph.None:
				at = graph.None
			case is:
			case single(&g.Values[v]):
				c := &g.Values[v]
				at = b.Const("", tensor.T(c.Type.DType), c.Data)
			default:
				at = x
			}
			in[a] = at
		}
		made[n.Out[0]] = b.Add(n.Op, in...)
	}
	b.Output(made[g.Graph.Nodes[f.nodes[len(f.nodes)-1]].Out[0]])
	small, err := b.Graph()
	if err != nil {
		return nil
	}
	values := tensor.New(tensor.Float32, 256)
	for code := range run.Floats(values.Data) {
		run.Floats(values.Data)[code] = float32(int32(code)-from.Zero) * from.Scale
	}
	out, err := ref.Run(p.Ctx, small, []tensor.Tensor{values})
	if err != nil || len(out) != 1 || len(out[0].Data) != 256 {
		return nil
	}
	table := slices.Clone(out[0].Data)
	for code := range table {
		table[code] ^= to.Flip()
	}
	return table
}
