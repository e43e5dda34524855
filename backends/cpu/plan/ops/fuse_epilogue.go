package ops

import (
	"fmt"
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// epilogue says how a product changes its sums before it stores them.
type epilogue struct {
	out   graph.Value // the value that is stored
	scale []float32   // of a batch normalization, per output channel; nil: ones
	shift []float32
	add   []float32   // constant added after that, per output channel; nil: zeros
	res   graph.Value // residual, None: none
	after bool        // the residual is added after the activation
	act   kernel.Act
	nodes []int // of the graph
}

// epilogueOf follows what happens to v, the output of the node that is matched, as far as a product can do it: batch
// normalization along axis, the sum with a value that is there already, an activation.
func epilogueOf(p *ir.Program, v graph.Value, axis int, residual bool) epilogue {
	g := p.Net
	e := epilogue{out: v, res: graph.None}
	dims, active := g.Values[v].Dims, false
	for {
		if !active && !e.after {
			if gate := gateOf(p, e.out); gate != nil {
				e.act, e.out, active, e.nodes = gate.act, gate.out, true, append(e.nodes, gate.nodes...)
				continue
			}
		}
		i := g.OnlyUse(e.out)
		if p.Taken(i) {
			return e
		}
		n := &g.Graph.Nodes[i]
		if len(n.Out) != 1 || !g.IsFloat32(n.Out[0]) || !slices.Equal(g.Values[n.Out[0]].Dims, dims) {
			return e
		}
		switch o := n.Op.(type) {
		case *op.BatchNorm:
			scale, shift := normFactors(g, n, o)
			at, err := op.Axis(o.Axis, len(dims))
			if n.In[0] != e.out || scale == nil || err != nil || at != axis || e.res != graph.None || active ||
				e.scale != nil || e.add != nil {
				return e
			}
			e.scale, e.shift = scale, shift
		case *op.Add:
			other := n.In[0]
			if other == e.out {
				other = n.In[1]
			}
			c := perChannel(g, other, dims, axis)
			switch {
			case c != nil && e.add == nil && e.res == graph.None && !active:
				e.add = c
			case !residual || e.res != graph.None || other == e.out || !slices.Equal(g.Values[other].Dims, dims) ||
				!g.IsFloat32(other) || !p.IsMade(other):
				return e
			default:
				e.res, e.after = other, active
			}
		default:
			a, ok := activation(g, n)
			if !ok || active || e.after || n.In[0] != e.out {
				return e
			}
			e.act, active = a, true
		}
		e.out, e.nodes = n.Out[0], append(e.nodes, i)
		if e.after {
			return e
		}
	}
}

// gateOf recognizes what multiplies v by a function of it, nil when nothing does.
func gateOf(p *ir.Program, v graph.Value) *gate {
	u := p.Net.Uses[v]
	if len(u) != 2 || slices.Contains(p.Net.Graph.Out, v) || p.Taken(u[0]) || p.Taken(u[1]) {
		return nil
	}
	type finder func(p *ir.Program, v graph.Value, first, multiply int) *gate
	for _, find := range []finder{siluFrom, hardSwishFrom, geluFrom} {
		for k := range 2 {
			if x := find(p, v, u[k], u[1-k]); x != nil {
				return x
			}
		}
	}
	return nil
}

// normFactors returns a constant batch normalization as x*scale + shift, nil when it is not one or not finite.
func normFactors(g *ir.Network, n *graph.Node, o *op.BatchNorm) (scale, shift []float32) {
	var p [4][]float32
	for i := range p {
		if p[i] = g.Constant(n.In[i+1]); p[i] == nil || len(p[i]) != len(p[0]) {
			return nil, nil
		}
	}
	scale, shift = make([]float32, len(p[0])), make([]float32, len(p[0]))
	for c := range scale {
		s := float64(p[0][c]) / math.Sqrt(float64(p[3][c])+float64(o.Epsilon))
		scale[c], shift[c] = float32(s), float32(float64(p[1][c])-float64(p[2][c])*s)
		if !finite(scale[c]) || !finite(shift[c]) {
			return nil, nil
		}
	}
	return scale, shift
}

// biasOf returns the bias of a product with n outputs after batch normalization; ok is false when the model's is no
// constant.
func biasOf(g *ir.Network, in []graph.Value, i, n int) (v []float32, ok bool) {
	if !ir.Given(in, i) {
		return nil, true
	}
	v = g.Constant(in[i])
	return v, len(v) == n
}

// perChannel returns a constant that has one value for each index on axis of dims, or one for all; nil when v is not
// one.
func perChannel(g *ir.Network, v graph.Value, dims []int64, axis int) []float32 {
	c := g.Constant(v)
	if c == nil || axis < 0 {
		return nil
	}
	n := int(dims[axis])
	if len(c) == 1 {
		return slices.Repeat(c, n)
	}
	own := g.Values[v].Dims
	if at := axis - (len(dims) - len(own)); len(c) != n || at < 0 || int(own[at]) != n {
		return nil
	}
	return c
}

// normalized applies a batch normalization and an addition to a bias, nil standing for zeros.
func (e *epilogue) normalized(bias []float32) []float32 {
	if e.scale == nil {
		switch {
		case e.add == nil:
			return bias
		case bias == nil:
			return e.add
		}
		v := make([]float32, len(bias))
		kernel.BinaryVV(kernel.Add, v, bias, e.add)
		return v
	}
	v := make([]float32, len(e.scale))
	for c := range v {
		v[c] = e.shift[c]
		if bias != nil {
			v[c] = float32(float64(bias[c])*float64(e.scale[c]) + float64(e.shift[c]))
		}
		if e.add != nil {
			v[c] += e.add[c]
		}
	}
	return v
}

// epilogueText describes an epilogue and the bias.
func epilogueText(bias []float32, e *epilogue) string {
	t := ""
	if e.scale != nil {
		t += ", scale"
	}
	if bias != nil {
		t += ", bias"
	}
	act := ""
	if e.act != (kernel.Act{}) {
		act = fmt.Sprintf(", %v", e.act.Op)
	}
	switch {
	case e.res == graph.None:
		return t + act
	case e.after:
		return fmt.Sprintf("%s%s, residual v%d", t, act, e.res)
	}
	return fmt.Sprintf("%s, residual v%d%s", t, e.res, act)
}
