package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// layerNorm is a normalization of the rows of x over their last dimensions, by one node or by several.
type layerNorm struct {
	x, out graph.Value
	params [2]graph.Value // gamma and beta, None: ones and zeros
	cols   int
	eps    float32
	nodes  []int
}

// perColumn reports whether v has one value for each position in the last dimensions of something.
func perColumn(g *ir.Network, v graph.Value, dims []int64) bool {
	return g.Values[v].IsFloat32() && slices.Equal(withoutOnes(g.Values[v].Dims), withoutOnes(dims))
}

// normInParts recognizes a normalization that begins with the mean of node i, as exporters write it for operator sets
// without one:
//
//	d = x - mean(x);  y = d / sqrt(mean(d*d) + epsilon) * gamma + beta
//
// with one d or two of them, the square as a power, a product or a square, the root as a divisor or its reciprocal as a
// factor, and constants for gamma and beta, which may be absent. nil when it is not one.
func normInParts(p *ir.Program, i int) *layerNorm {
	mean, x, dims := meanOfRows(p.Net, i)
	if mean == graph.None {
		return nil
	}
	q := &layerNorm{x: x, params: [2]graph.Value{graph.None, graph.None}, cols: run.Product(dims), nodes: []int{i}}
	var centred []graph.Value // x - mean, computed once or twice
	uses := inner(p, mean)
	for _, k := range uses {
		n := &p.Net.Graph.Nodes[k]
		if _, ok := n.Op.(*op.Sub); !ok || n.In[0] != x || n.In[1] != mean || inner(p, n.Out[0]) == nil {
			return nil
		}
		centred, q.nodes = append(centred, n.Out[0]), append(q.nodes, k)
	}
	if len(centred) == 0 || len(centred) > 2 {
		return nil
	}
	root, square := rootOfMeanSquare(p, q, centred)
	if root == graph.None {
		return nil
	}
	d := centred[0] // the one that is divided
	left := 0
	for _, c := range centred {
		for _, k := range inner(p, c) {
			if k != square {
				left, d = left+1, c
			}
		}
	}
	if left != 1 || !normalized(p, q, d, root) {
		return nil
	}
	affine(p, q, dims)
	if !p.Net.Values[q.out].IsFloat32() || !slices.Equal(p.Net.Values[q.out].Dims, p.Net.Values[x].Dims) {
		return nil
	}
	return q
}

// inner returns the nodes that read v when they are all that knows of it and none is emitted, else nil.
func inner(p *ir.Program, v graph.Value) []int {
	if slices.Contains(p.Net.Graph.Out, v) || slices.ContainsFunc(p.Net.Uses[v], p.Taken) {
		return nil
	}
	return p.Net.Uses[v]
}

// meanOfRows returns the output and the input of node i when it is the mean over the last dimensions, which are kept as
// ones, and their sizes.
func meanOfRows(g *ir.Network, i int) (mean, x graph.Value, dims []int64) {
	n := &g.Graph.Nodes[i]
	o, ok := n.Op.(*op.ReduceMean)
	if !ok || !o.KeepDims || !g.Values[n.In[0]].IsFloat32() {
		return graph.None, graph.None, nil
	}
	all := g.Values[n.In[0]].Dims
	axes, ok := g.Ints(n.In, 1)
	mask, err := op.AxisMask(axes, len(all))
	if !ok || len(axes) == 0 || err != nil {
		return graph.None, graph.None, nil
	}
	first := slices.Index(mask, true)
	if slices.Contains(mask[first:], false) {
		return graph.None, graph.None, nil
	}
	return n.Out[0], n.In[0], all[first:]
}

// rootOfMeanSquare returns sqrt(mean(d*d) + epsilon) for one of d, None when there is none, and the node that squares.
func rootOfMeanSquare(p *ir.Program, q *layerNorm, centred []graph.Value) (root graph.Value, square int) {
	for _, d := range centred {
		for _, k := range inner(p, d) {
			if !squares(p.Net, k, d) {
				continue
			}
			m := p.Net.OnlyUse(p.Net.Graph.Nodes[k].Out[0])
			if p.Taken(m) {
				continue
			}
			variance, of, dims := meanOfRows(p.Net, m)
			add := run.None
			if variance != graph.None && of == p.Net.Graph.Nodes[k].Out[0] && run.Product(dims) == q.cols {
				add = p.Net.OnlyUse(variance)
			}
			if p.Taken(add) {
				continue
			}
			sum := &p.Net.Graph.Nodes[add]
			if _, ok := sum.Op.(*op.Add); !ok {
				continue
			}
			eps := sum.In[0]
			if eps == variance {
				eps = sum.In[1]
			}
			c := p.Net.Constant(eps)
			next := p.Net.OnlyUse(sum.Out[0])
			if len(c) != 1 || !(c[0] >= 0) || p.Taken(next) {
				continue
			}
			q.eps, q.nodes = c[0], append(q.nodes, k, m, add)
			return sum.Out[0], k
		}
	}
	return graph.None, run.None
}

// squares reports whether node k computes d*d.
func squares(g *ir.Network, k int, d graph.Value) bool {
	n := &g.Graph.Nodes[k]
	switch n.Op.(type) {
	case *op.Square:
		return true
	case *op.Mul:
		return n.In[0] == d && n.In[1] == d
	case *op.Pow:
		c := g.Constant(n.In[1])
		return n.In[0] == d && len(c) == 1 && c[0] == 2
	}
	return false
}

// normalized follows the variance plus epsilon through the root to the division of d, and sets q.out.
func normalized(p *ir.Program, q *layerNorm, d, variance graph.Value) bool {
	i := p.Net.OnlyUse(variance)
	root := &p.Net.Graph.Nodes[i]
	divisor, inverse := graph.None, graph.None
	switch root.Op.(type) {
	case *op.Sqrt:
		divisor = root.Out[0]
	case *op.Rsqrt:
		inverse = root.Out[0]
	default:
		return false
	}
	q.nodes = append(q.nodes, i)
	if next := p.Net.OnlyUse(root.Out[0]); divisor != graph.None && !p.Taken(next) {
		if _, ok := p.Net.Graph.Nodes[next].Op.(*op.Reciprocal); ok {
			divisor, inverse = graph.None, p.Net.Graph.Nodes[next].Out[0]
			q.nodes = append(q.nodes, next)
		}
	}
	factor := divisor
	if inverse != graph.None {
		factor = inverse
	}
	last := p.Net.OnlyUse(factor)
	if p.Taken(last) {
		return false
	}
	n := &p.Net.Graph.Nodes[last]
	switch n.Op.(type) {
	case *op.Div:
		if divisor == graph.None || n.In[0] != d || n.In[1] != divisor {
			return false
		}
	case *op.Mul:
		if inverse == graph.None || n.In[0] == n.In[1] || !slices.Contains(n.In, d) || !slices.Contains(n.In, inverse) {
			return false
		}
	default:
		return false
	}
	q.out, q.nodes = n.Out[0], append(q.nodes, last)
	return true
}

// affine adds the product with gamma and the sum with beta to q as far as they follow.
func affine(p *ir.Program, q *layerNorm, dims []int64) {
	for k := range q.params {
		i := p.Net.OnlyUse(q.out)
		if p.Taken(i) {
			return
		}
		n := &p.Net.Graph.Nodes[i]
		_, mul := n.Op.(*op.Mul)
		_, add := n.Op.(*op.Add)
		if k == 0 && !mul || k == 1 && !add {
			continue
		}
		param := n.In[0]
		if param == q.out {
			param = n.In[1]
		}
		if p.Net.Values[param].Data == nil || !perColumn(p.Net, param, dims) ||
			!slices.Equal(p.Net.Values[n.Out[0]].Dims, p.Net.Values[q.out].Dims) {
			return
		}
		q.params[k], q.out, q.nodes = param, n.Out[0], append(q.nodes, i)
	}
}
