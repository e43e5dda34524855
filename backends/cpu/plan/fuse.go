package plan

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// activation returns the kernel function of an element-wise node with one input, ok false when there is none of the
// same meaning.
func (b *builder) activation(n *graph.Node) (a kernel.Act, ok bool) {
	switch o := n.Op.(type) {
	case *op.Relu:
		return kernel.Act{Op: kernel.Relu}, true
	case *op.Clip:
		return b.clip(n)
	case *op.LeakyRelu:
		return kernel.Act{Op: kernel.LeakyRelu, Alpha: o.Alpha}, true
	case *op.HardSwish:
		return kernel.Act{Op: kernel.HardSwish}, true
	case *op.HardSigmoid:
		return kernel.Act{Op: kernel.HardSigmoid, Alpha: o.Alpha, Beta: o.Beta}, true
	case *op.Sigmoid:
		return kernel.Act{Op: kernel.Sigmoid}, true
	case *op.Swish:
		return kernel.Act{Op: kernel.SiLU}, o.Alpha == 0 || o.Alpha == 1
	case *op.Tanh:
		return kernel.Act{Op: kernel.Tanh}, true
	case *op.Erf:
		return kernel.Act{Op: kernel.Erf}, true
	case *op.Gelu:
		if o.Approximate == op.GeluTanh {
			return kernel.Act{Op: kernel.GeluTanh}, true
		}
		return kernel.Act{Op: kernel.Gelu}, true
	case *op.Exp:
		return kernel.Act{Op: kernel.Exp}, o.Base == 0 && (o.Scale == 0 || o.Scale == 1) && o.Shift == 0
	case *op.Log:
		return kernel.Act{Op: kernel.Log}, true
	case *op.Softplus:
		return kernel.Act{Op: kernel.Softplus}, true
	case *op.Mish:
		return kernel.Act{Op: kernel.Mish}, true
	case *op.Elu:
		return kernel.Act{Op: kernel.Elu, Alpha: o.Alpha}, true
	case *op.Sqrt:
		return kernel.Act{Op: kernel.Sqrt}, true
	case *op.Rsqrt:
		return kernel.Act{Op: kernel.Rsqrt}, true
	case *op.Abs:
		return kernel.Act{Op: kernel.Abs}, true
	case *op.Neg:
		return kernel.Act{Op: kernel.Neg}, true
	case *op.Floor:
		return kernel.Act{Op: kernel.Floor}, true
	case *op.Ceil:
		return kernel.Act{Op: kernel.Ceil}, true
	case *op.Round:
		return kernel.Act{Op: kernel.Round}, o.Ties == op.RoundEven
	}
	return a, false
}

// clip is a clamp between constant bounds in order; a bound that is absent is infinite.
func (b *builder) clip(n *graph.Node) (a kernel.Act, ok bool) {
	inf := float32(math.Inf(1))
	bounds := [2]float32{-inf, inf}
	for i := range bounds {
		if !given(n.In, i+1) {
			continue
		}
		c := b.constant(n.In[i+1])
		if len(c) != 1 {
			return a, false
		}
		bounds[i] = c[0]
	}
	return kernel.Act{Op: kernel.Clamp, Alpha: bounds[0], Beta: bounds[1]}, bounds[0] <= bounds[1]
}

// epilogue is what a product does with its sums before it stores them.
type epilogue struct {
	out   graph.Value // the value that is stored
	scale []float32   // of a batch normalization, per output channel; nil: ones
	shift []float32
	add   []float32   // constant added after that, per output channel; nil: zeros
	res   graph.Value // residual, None: none
	after bool        // the residual is added after the activation
	act   kernel.Act
}

// epilogue follows what happens to v, the output of the node being emitted, as far as a product can do it: batch
// normalization along axis, the sum with a value that exists already, an activation. The nodes that it takes over are
// marked.
func (b *builder) epilogue(v graph.Value, axis int, residual bool) epilogue {
	e := epilogue{out: v, res: graph.None}
	active := false
	for {
		if !active && !e.after {
			if s := b.silu(e.out); s != graph.None {
				e.act, e.out, active = kernel.Act{Op: kernel.SiLU}, s, true
				continue
			}
			if s := b.hardSwish(e.out); s != graph.None {
				e.act, e.out, active = kernel.Act{Op: kernel.HardSwish}, s, true
				continue
			}
			if s := b.gelu(e.out); s != graph.None {
				e.act, e.out, active = kernel.Act{Op: kernel.Gelu}, s, true
				continue
			}
		}
		i := b.onlyUse(e.out)
		if i == none || b.done[i] {
			return e
		}
		n := &b.graph.Nodes[i]
		if len(n.Out) != 1 || !b.values[n.Out[0]].fast() || !slices.Equal(b.values[n.Out[0]].dims, b.values[v].dims) {
			return e
		}
		switch o := n.Op.(type) {
		case *op.BatchNorm:
			scale, shift := b.normFactors(n, o)
			at, err := op.Axis(o.Axis, len(b.values[v].dims))
			if n.In[0] != e.out || scale == nil || err != nil || at != axis || e.res != graph.None || active {
				return e
			}
			if e.scale != nil || e.add != nil {
				return e
			}
			e.scale, e.shift = scale, shift
		case *op.Add:
			other := n.In[0]
			if other == e.out {
				other = n.In[1]
			}
			x := &b.values[other]
			if c := b.perChannel(other, b.values[v].dims, axis); c != nil && e.add == nil && e.res == graph.None && !active {
				e.add = c
				break
			}
			if !residual || e.res != graph.None || other == e.out || !slices.Equal(x.dims, b.values[v].dims) || !x.fast() ||
				x.plain == none && x.last == none {
				return e
			}
			e.res, e.after = other, active
		default:
			a, ok := b.activation(n)
			if !ok || active || e.after || n.In[0] != e.out {
				return e
			}
			e.act, active = a, true
		}
		e.out = n.Out[0]
		b.fuse(i)
		if e.after {
			return e
		}
	}
}

// silu recognizes v * sigmoid(v) and returns the product, None when it is none. It marks both nodes.
func (b *builder) silu(v graph.Value) graph.Value {
	u := b.uses[v]
	if len(u) != 2 || slices.Contains(b.graph.Out, v) || b.done[u[0]] || b.done[u[1]] {
		return graph.None
	}
	for k := range 2 {
		sig, mul := &b.graph.Nodes[u[k]], &b.graph.Nodes[u[1-k]]
		if _, ok := sig.Op.(*op.Sigmoid); !ok || b.onlyUse(sig.Out[0]) != u[1-k] {
			continue
		}
		if _, ok := mul.Op.(*op.Mul); !ok || !slices.Contains(mul.In, v) || !slices.Contains(mul.In, sig.Out[0]) ||
			!b.values[mul.Out[0]].fast() {
			continue
		}
		b.fuse(u[0])
		b.fuse(u[1])
		return mul.Out[0]
	}
	return graph.None
}

// normFactors returns a constant batch normalization as x*scale + shift, nil when it is none or not finite.
func (b *builder) normFactors(n *graph.Node, o *op.BatchNorm) (scale, shift []float32) {
	var p [4][]float32
	for i := range p {
		if p[i] = b.constant(n.In[i+1]); p[i] == nil || len(p[i]) != len(p[0]) {
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

func finite(x float32) bool { return x-x == 0 }

// bias returns the bias of a product with n outputs after batch normalization; ok is false when the model's is no
// constant.
func (b *builder) bias(in []graph.Value, i, n int) (v []float32, ok bool) {
	if !given(in, i) {
		return nil, true
	}
	v = b.constant(in[i])
	return v, len(v) == n
}

// perChannel returns a constant that has one value for each index on axis of dims, or one for all; nil when v is none.
func (b *builder) perChannel(v graph.Value, dims []int64, axis int) []float32 {
	c := b.constant(v)
	if c == nil || axis < 0 {
		return nil
	}
	n := int(dims[axis])
	if len(c) == 1 {
		return slices.Repeat(c, n)
	}
	own := b.values[v].dims
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
