package remote

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/core/convert"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// plan is how a server's model stands for a graph.
type plan struct {
	model   link.Model
	address string
	in, out []bound
	core    []bool // per node: the server's model computes it
	sent    bool   // the model is the graph as it is sent
}

// bound is a port of the server's model and the value that it stands for.
type bound struct {
	port  link.Port
	value graph.Value
	order []int // the port's dimension i is dimension order[i] of the value; nil: as they are
	real  bool  // the value holds the real numbers of a program's codes
}

// borderOp says that an operator may stand between a program's tensor and a model's: it changes how elements are
// written, not what they are computed from.
func borderOp(o graph.Op) bool {
	switch o.(type) {
	case *op.DecodeImage, *op.ResizeImage, *op.Quantize, *op.Dequantize, *op.Cast, *op.Transpose, *op.Reshape,
		*op.Identity, *op.BitwiseXor, *op.Gather:
		return true
	}
	return false
}

// hasCore says that a graph has a node that is not at the border by its operator.
func hasCore(g *graph.Graph) bool {
	return slices.ContainsFunc(g.Nodes, func(n graph.Node) bool { return !borderOp(n.Op) })
}

// newPlan finds the values that a model's ports stand for: by names, then by positions.
func newPlan(g *graph.Graph, m link.Model, meta *link.Metadata) (*plan, error) {
	p := &plan{model: m, address: meta.Address}
	if p.byNames(g, meta) || p.byPositions(g, meta) {
		return p, nil
	}
	return nil, fault.New(fault.Unsupported,
		"its ports are not the graph's: the server has %s -> %s, the graph has %s -> %s",
		listPorts(meta.Inputs), listPorts(meta.Outputs), listValues(g, g.In), listValues(g, g.Out))
}

// byNames tries values that are called as ports are. The library gives a value the name NAME.WORD when it puts a border
// operator in front of it. Outputs of the server that the graph does not have are left out.
func (p *plan) byNames(g *graph.Graph, meta *link.Metadata) bool {
	p.in, p.out = nil, nil
	reals := realValues(g)
	for _, port := range meta.Inputs {
		b, ok := named(g, port, reals)
		if !ok {
			return false
		}
		p.in = append(p.in, b)
	}
	for _, port := range meta.Outputs {
		if b, ok := named(g, port, reals); ok {
			p.out = append(p.out, b)
		}
	}
	return len(p.out) > 0 && p.clear(meta) && p.cut(g)
}

// clear says that the part between the ports, which is matched again without the nodes around it, can be matched in one
// way: real numbers of codes have no name of their own, so that one port of a side may stand for such.
func (p *plan) clear(meta *link.Metadata) bool {
	count := func(list []bound) (n int) {
		for _, b := range list {
			if b.real {
				n++
			}
		}
		return n
	}
	return count(p.in) <= 1 && (count(p.out) == 0 || count(p.out) == 1 && len(p.out) == len(meta.Outputs))
}

// named finds the value that is called as a port is, or else begins so. The real numbers of codes have their name, too.
func named(g *graph.Graph, port link.Port, reals map[graph.Value]graph.Value) (best bound, ok bool) {
	for v := range g.Values {
		name := g.Values[v].Name
		exact := name == port.Name
		if !exact && !strings.HasPrefix(name, port.Name+".") || g.Values[v].Fact.Const != nil {
			continue
		}
		if b, fit := bind(g, graph.Value(v), &port, reals); fit && (exact || !ok) {
			best, ok = b, true
		}
	}
	return best, ok
}

// bind has a port stand for a value, or for the real numbers of its codes.
func bind(g *graph.Graph, v graph.Value, port *link.Port, reals map[graph.Value]graph.Value) (bound, bool) {
	if order, ok := fits(g.Fact(v).Type, port); ok {
		return bound{port: *port, value: v, order: order}, true
	}
	r, ok := reals[v]
	if !ok {
		return bound{}, false
	}
	order, ok := fits(g.Fact(r).Type, port)
	return bound{port: *port, value: r, order: order, real: true}, ok
}

// realValues finds, for the graph's inputs and outputs of codes, the values that hold their real numbers: what one node
// decodes all of an input to, and what an output is encoded from. Of the latter a server that decodes what it encodes
// gives the numbers of the same codes.
func realValues(g *graph.Graph) map[graph.Value]graph.Value {
	out := map[graph.Value]graph.Value{}
	uses, producers := g.Uses(), g.Producers()
	for _, v := range g.In {
		if len(uses[v]) != 1 {
			continue
		}
		if n := &g.Nodes[uses[v][0]]; is[*op.Dequantize](n.Op) && n.In[0] == v {
			out[v] = n.Out[0]
		}
	}
	for _, v := range g.Out {
		if at := producers[v]; at >= 0 && is[*op.Quantize](g.Nodes[at].Op) {
			out[v] = g.Nodes[at].In[0]
		}
	}
	return out
}

func is[T any](o graph.Op) bool {
	_, ok := o.(T)
	return ok
}

// byPositions takes the graph's inputs and outputs as they stand, but for a single one that is left when the others are
// called as ports are.
func (p *plan) byPositions(g *graph.Graph, meta *link.Metadata) bool {
	reals := realValues(g)
	pair := func(values []graph.Value, ports []link.Port) (out []bound, ok bool) {
		if len(values) != len(ports) {
			return nil, false
		}
		at, left := make([]graph.Value, len(ports)), slices.Clone(values)
		var open []int
		for i := range ports {
			k := slices.IndexFunc(left, func(v graph.Value) bool { return g.Values[v].Name == ports[i].Name })
			if k < 0 {
				open = append(open, i)
				continue
			}
			at[i] = left[k]
			left = slices.Delete(left, k, k+1)
		}
		if len(open) > 1 && len(open) < len(ports) {
			return nil, false
		}
		for k, i := range open {
			at[i] = left[k]
		}
		for i, v := range at {
			b, ok := bind(g, v, &ports[i], reals)
			if !ok {
				return nil, false
			}
			out = append(out, b)
		}
		return out, true
	}
	in, ok := pair(g.In, meta.Inputs)
	if !ok {
		return false
	}
	out, ok := pair(g.Out, meta.Outputs)
	if !ok {
		return false
	}
	p.in, p.out = in, out
	return p.clear(meta) && p.cut(g)
}

// cut finds the nodes between the ports. It reports whether they are the whole graph but for its border.
func (p *plan) cut(g *graph.Graph) bool {
	producer := g.Producers()
	stop := map[graph.Value]bool{}
	for _, b := range p.in {
		stop[b.value] = true
	}
	p.core = make([]bool, len(g.Nodes))
	var visit func(v graph.Value) bool
	visit = func(v graph.Value) bool {
		if v == graph.None || stop[v] || g.Fact(v).Const != nil {
			return true
		}
		n := producer[v]
		if n < 0 {
			return false // an input of the graph that no port stands for
		}
		if p.core[n] {
			return true
		}
		p.core[n] = true
		for _, x := range g.Nodes[n].In {
			if !visit(x) {
				return false
			}
		}
		return true
	}
	given := map[graph.Value]bool{}
	for _, b := range p.out {
		if !visit(b.value) {
			return false
		}
		given[b.value] = true
	}
	inside := false
	for i := range g.Nodes {
		n := &g.Nodes[i]
		switch {
		case !p.core[i] && !borderOp(n.Op):
			return false
		case p.core[i]:
			inside = inside || !borderOp(n.Op)
			continue
		}
		for _, v := range n.In { // a value of the middle that no port gives
			if v != graph.None && producer[v] >= 0 && p.core[producer[v]] && !given[v] {
				return false
			}
		}
	}
	for _, v := range g.Out {
		if producer[v] >= 0 && p.core[producer[v]] && !given[v] {
			return false
		}
	}
	return inside
}

// fits says whether tensors of a type can be exchanged with a port: of its element type, real numbers of another
// width, or codes for real numbers; with its sizes, or those of [N,H,W,C] for [N,C,H,W] and the other way round.
func fits(t tensor.Type, port *link.Port) (order []int, ok bool) {
	if !convertible(t, port.Type) || !t.Shape.Ranked || len(t.Shape.Dims) != len(port.Shape) {
		return nil, false
	}
	for _, order := range [][]int{nil, {0, 3, 1, 2}, {0, 2, 3, 1}} {
		if order != nil && len(port.Shape) != 4 {
			break
		}
		same := true
		for i, n := range port.Shape {
			d := i
			if order != nil {
				d = order[i]
			}
			dim := t.Shape.Dims[d]
			if order != nil && (n < 0 || !dim.Known()) && i != 0 {
				same = false // nothing says that they are turned
			}
			if n >= 0 && dim.Known() && dim.N != n {
				same = false
			}
		}
		if same {
			return order, true
		}
	}
	return nil, false
}

// convertible says whether elements can be made of each other.
func convertible(t tensor.Type, d tensor.DType) bool {
	switch {
	case d == tensor.Invalid || t.DType.Bits()%8 != 0:
		return false
	case t.DType == d:
		return true
	case d == tensor.BFloat16 || t.DType == tensor.BFloat16:
		return false
	case t.Quant != nil:
		return d == tensor.Float32 && convert.CodeOf(t.Quant) != nil && convert.Codable(t.DType)
	}
	return t.DType.IsFloat() && d.IsFloat() && convert.Plain(t.DType) && convert.Plain(d)
}

// maxListed bounds the ports that a message lists.
const maxListed = 16

func listPorts(list []link.Port) string {
	var b strings.Builder
	for i, p := range list {
		if i == maxListed {
			fmt.Fprintf(&b, ", and %d more", len(list)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.40q %.12s%v", p.Name, p.Datatype, p.Shape)
	}
	return "(" + b.String() + ")"
}

func listValues(g *graph.Graph, list []graph.Value) string {
	var b strings.Builder
	for i, v := range list {
		if i == maxListed {
			fmt.Fprintf(&b, ", and %d more", len(list)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.40q %v", g.Values[v].Name, g.Fact(v).Type)
	}
	return "(" + b.String() + ")"
}
