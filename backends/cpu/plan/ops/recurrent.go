package ops

import (
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// recurrent is an LSTM, GRU or RNN with constant weights: one product of all time steps with the input weights, then
// for each step a product of the state with the recurrent ones, to which the first is added, and the cell's functions.
type recurrent struct {
	direction                      op.Direction
	steps, batch, features, hidden int
	directions, gates              int
	batchFirst                     bool
	linear                         bool // of a GRU: the state is multiplied before it is reset
	functions                      []kernel.Act
	clip                           float32
	order                          [4]int // of an LSTM: where its input, forget, output gate and candidate are

	w, r    []float32 // packed, of all directions
	inner   []float32 // of a GRU that resets the state first: the packed weights of its candidate
	bias    []float32 // [directions, gates*hidden], of both products; nil: zeros
	rbias   []float32 // alike, of the state's product alone
	h0, c0  int       // index in reads, None: zeros
	outputs [3]int    // y, h, c: index in writes, None: not read
}

// matchRecurrent finds an LSTM, GRU or RNN with constant weights.
func matchRecurrent(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	q := &recurrent{h0: run.None, c0: run.None, outputs: [3]int{run.None, run.None, run.None}}
	var functions []op.Activation
	switch o := n.Op.(type) {
	case *op.LSTM:
		if o.InputForget || o.Coupled || o.ZoneoutCell != 0 || o.ZoneoutHidden != 0 || o.ClipCell != 0 ||
			ir.Given(n.In, 8) || ir.Given(n.In, 10) {
			return nil
		}
		q.direction, q.gates, q.batchFirst, q.clip, functions = o.Direction, 4, o.BatchFirst, o.Clip, o.Functions()
		if q.order = [4]int{0, 2, 1, 3}; o.Gates == op.GatesIFCO {
			q.order = [4]int{0, 1, 3, 2}
		}
	case *op.GRU:
		q.direction, q.gates, q.batchFirst, q.clip, functions, q.linear = o.Direction, 3, o.BatchFirst, o.Clip, o.Functions(),
			o.LinearBeforeReset
	case *op.RNN:
		q.direction, q.gates, q.batchFirst, q.clip, functions = o.Direction, 1, o.BatchFirst, o.Clip, o.Functions()
	default:
		return nil
	}
	for _, f := range functions {
		a, ok := cellFunction(f)
		if !ok {
			return nil
		}
		q.functions = append(q.functions, a)
	}
	w, r := g.Operand(n.In[1]), g.Operand(n.In[2])
	if !g.IsFloat32(n.In[0]) || len(w) == 0 || len(r) == 0 || ir.Given(n.In, 4) || ir.Given(n.In, 7) {
		return nil
	}
	d, rd := g.Values[n.In[0]].Dims, g.Values[n.In[2]].Dims
	q.steps, q.batch, q.features = int(d[0]), int(d[1]), int(d[2])
	if q.batchFirst {
		q.steps, q.batch = q.batch, q.steps
	}
	q.directions, q.hidden = int(rd[0]), int(rd[2])
	if !q.setBias(g, n) {
		return nil
	}
	for _, v := range slices.Concat(n.In[min(5, len(n.In)):], n.Out) {
		if v != graph.None && !g.IsFloat32(v) {
			return nil
		}
	}
	in, writes := []graph.Value{n.In[0]}, 0
	for k, at := range [...]*int{&q.h0, &q.c0} {
		if ir.Given(n.In, 5+k) {
			*at = len(in)
			in = append(in, n.In[5+k])
		}
	}
	for k, v := range n.Out {
		if v != graph.None {
			q.outputs[k] = writes
			writes++
		}
	}
	return ir.One(i, &recurrentOp{recurrent: q, weights: n.In[1], states: n.In[2]}, in, n.Out)
}

// recurrentOp computes the steps of recurrent cells.
type recurrentOp struct {
	ir.InOrder
	*recurrent
	weights, states graph.Value
}

func (q *recurrentOp) Lower(w *ir.Lowering, n *ir.Node) run.Step {
	q.pack(w, n.At, q.weights, q.states)
	cells := q.recurrent
	return run.Step{Fast: true, Room: int64(4 * cells.scratch()),
		Start: func(_ *run.State, st *run.Step) run.Process { return &recurrentTask{st: st, recurrent: cells} }}
}

// cellFunction is the kernel function of an activation, ok false when there is none of the same meaning.
func cellFunction(f op.Activation) (a kernel.Act, ok bool) {
	alpha, beta := float32(f.Alpha), float32(f.Beta)
	switch f.Name {
	case "sigmoid":
		return kernel.Act{Op: kernel.Sigmoid}, true
	case "tanh":
		return kernel.Act{Op: kernel.Tanh}, true
	case "relu":
		return kernel.Act{Op: kernel.Relu}, true
	case "relu1":
		return kernel.Act{Op: kernel.Clamp, Alpha: -1, Beta: 1}, true
	case "relu6":
		return kernel.Act{Op: kernel.Clamp, Beta: 6}, true
	case "softplus":
		return kernel.Act{Op: kernel.Softplus}, true
	case "leakyrelu":
		return kernel.Act{Op: kernel.LeakyRelu, Alpha: alpha}, true
	case "elu":
		return kernel.Act{Op: kernel.Elu, Alpha: alpha}, true
	case "hardsigmoid":
		return kernel.Act{Op: kernel.HardSigmoid, Alpha: alpha, Beta: beta}, true
	}
	return a, false
}

// setBias divides the constant bias, which may be absent, between the products.
func (q *recurrent) setBias(g *ir.Network, n *graph.Node) bool {
	if !ir.Given(n.In, 3) {
		return true
	}
	cols := q.gates * q.hidden
	v := g.Constant(n.In[3])
	if len(v) != q.directions*2*cols {
		return false
	}
	q.bias = make([]float32, q.directions*cols)
	if q.linear {
		q.rbias = make([]float32, len(q.bias))
	}
	for d := range q.directions {
		both := v[d*2*cols:][:2*cols]
		for j := range cols {
			if q.linear && j >= 2*q.hidden {
				q.bias[d*cols+j], q.rbias[d*cols+j] = both[j], both[cols+j]
			} else {
				q.bias[d*cols+j] = both[j] + both[cols+j]
			}
		}
	}
	return true
}

// pack orders the packing of the weights of node i, whose matrices are transposed.
func (q *recurrent) pack(w *ir.Lowering, i int, weights, states graph.Value) {
	h, cols := q.hidden, q.gates*q.hidden
	q.w = w.Packer.Order(i, ir.Matrix(weights, "input", w.Net.Operand(weights), q.features, cols, q.directions, true, nil))
	r := w.Net.Operand(states)
	if !q.separate() {
		q.r = w.Packer.Order(i, ir.Matrix(states, "state", r, h, cols, q.directions, true, nil))
		return
	}
	part := func(name string, from, n0 int) []float32 {
		per := kernel.PackedLen(h, n0)
		return w.Packer.Order(i, ir.Packed{Value: states, Kind: name, Len: q.directions * per, Parts: q.directions,
			Fill: func(dst []float32, d int) {
				kernel.PackBT(dst[d*per:][:per], r[(d*cols+from)*h:], h, n0, h)
			}})
	}
	q.r, q.inner = part("state, gates", 0, 2*h), part("state, candidate", 2*h, h)
}

// separate reports whether the candidate is a product of its own.
func (q *recurrent) separate() bool { return q.gates == 3 && !q.linear }

// scratch is the number of values that a run needs: the products of the input in one direction, one of the state,
// states and temporaries.
func (q *recurrent) scratch() int {
	cols := q.gates * q.hidden
	return q.steps*q.batch*cols + q.batch*cols + 3*q.batch*q.hidden
}

type recurrentTask struct {
	*recurrent
	st         *run.Step
	gemm       kernel.Gemm
	all, z     []float32 // input's products [steps*batch rows, gates*hidden], the step's [batch, gates*hidden]
	h, c, held []float32 // states, and one that is reset [batch, hidden]
}

// input multiplies all steps by the input weights of direction d.
func (t *recurrentTask) input(s *run.State, d int) {
	cols := t.gates * t.hidden
	per := kernel.PackedLen(t.features, cols)
	t.gemm = kernel.Gemm{M: t.steps * t.batch, N: cols, K: t.features, A: s.F32(t.st.Reads[0]), LDA: t.features,
		B: t.w[d*per:][:per], C: t.all, LDC: cols}
	if t.bias != nil {
		t.gemm.Bias = t.bias[d*cols:][:cols]
	}
	s.DoProduct(&t.gemm, t)
}

// multiply computes z = a*r, plus the input's products of step at if add is set, for cols columns of z from the given
// one on. r holds the matrices of all directions.
func (t *recurrentTask) multiply(s *run.State, d, at int, r []float32, cols, from int, a []float32, add bool) {
	all := t.gates * t.hidden
	per := kernel.PackedLen(t.hidden, cols)
	t.gemm = kernel.Gemm{M: t.batch, N: cols, K: t.hidden, A: a, LDA: t.hidden, B: r[d*per:][:per], C: t.z[from:],
		LDC: all}
	if add {
		row, ld := t.row(at)
		t.gemm.Res, t.gemm.LDR = t.all[row*all+from:], ld*all
	} else if t.rbias != nil {
		t.gemm.Bias = t.rbias[d*all+from:][:cols]
	}
	s.DoProduct(&t.gemm, t)
}

// Chunk computes part of a product.
func (t *recurrentTask) Chunk(i, _ int) { t.gemm.Chunk(i) }

// row is the first row of a step, and the distance to that of the next sequence.
func (t *recurrentTask) row(at int) (row, ld int) {
	if t.batchFirst {
		return at, t.steps
	}
	return at * t.batch, 1
}

// state is where the state of direction d, sequence b starts.
func (t *recurrentTask) state(d, b int) int {
	if t.batchFirst {
		return (b*t.directions + d) * t.hidden
	}
	return (d*t.batch + b) * t.hidden
}

func (t *recurrentTask) begin(s *run.State, v []float32, read, d int) {
	if read == run.None {
		clear(v)
		return
	}
	for b := range t.batch {
		copy(v[b*t.hidden:][:t.hidden], s.F32(t.st.Reads[read])[t.state(d, b):])
	}
}

func (t *recurrentTask) end(s *run.State, v []float32, write, d int) {
	if write == run.None {
		return
	}
	for b := range t.batch {
		copy(s.F32(t.st.Writes[write])[t.state(d, b):], v[b*t.hidden:][:t.hidden])
	}
}

// emit stores the state as the result of step at.
func (t *recurrentTask) emit(s *run.State, d, at int) {
	if t.outputs[0] == run.None {
		return
	}
	y := s.F32(t.st.Writes[t.outputs[0]])
	for b := range t.batch {
		p := (at*t.directions+d)*t.batch + b
		if t.batchFirst {
			p = (b*t.steps+at)*t.directions + d
		}
		copy(y[p*t.hidden:][:t.hidden], t.h[b*t.hidden:])
	}
}

// gate is gate k of sequence b in z.
func (t *recurrentTask) gate(b, k int) []float32 {
	return t.z[(b*t.gates+k)*t.hidden:][:t.hidden]
}

// apply computes a function of one gate of every sequence, after the cut.
func (t *recurrentTask) apply(f kernel.Act, gate int) {
	for b := range t.batch {
		z := t.gate(b, gate)
		if t.clip > 0 {
			kernel.Unary(kernel.Clamp, z, z, -t.clip, t.clip)
		}
		kernel.Unary(f.Op, z, z, f.Alpha, f.Beta)
	}
}
