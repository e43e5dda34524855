package lowering

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/spec/nnapi"
	"github.com/anynpu/anynpu/core/tensor"
)

// described is a model under construction.
type described struct {
	*nnapi.Model
	t testing.TB
}

func describe(t testing.TB) described { return described{&nnapi.Model{}, t} }

// add adds an operand.
func (d described) add(o nnapi.Operand) uint32 {
	d.Operands = append(d.Operands, o)
	return uint32(len(d.Operands) - 1)
}

// floats adds a tensor of unknown origin, integer a constant scalar, of a reference to a model.
func (d described) floats(dims ...uint32) uint32 {
	return d.add(nnapi.Operand{Type: nnapi.TensorFloat32, Dims: dims})
}

func (d described) truth() uint32 {
	return d.add(nnapi.Operand{Type: nnapi.TensorBool8, Dims: []uint32{1}})
}

func (d described) constant(a arg) uint32 {
	a.Lifetime, a.Data = nnapi.Constant, encode(&a.Operand, a.values)
	return d.add(a.Operand)
}

func (d described) of(m described) uint32 {
	return d.add(nnapi.Operand{Type: nnapi.ModelOperand, Lifetime: nnapi.Subgraph, Sub: m.Model})
}

// op adds an operation after judging it.
func (d described) op(c nnapi.OperationCode, in []uint32, out ...uint32) {
	o := nnapi.Operation{Code: c, Inputs: in, Outputs: out}
	require.NoError(d.t, nnapi.Check(d.Model, o, nnapi.Level8))
	d.Operations = append(d.Operations, o)
}

func (d described) io(in []uint32, out ...uint32) described {
	d.Inputs, d.Outputs = in, out
	for _, v := range in {
		d.Operands[v].Lifetime = nnapi.Input
	}
	for _, v := range out {
		d.Operands[v].Lifetime = nnapi.Output
	}
	return d
}

// results runs the model on the CPU device and by the reference, which must agree.
func (d described) results(in ...tensor.Tensor) []tensor.Tensor {
	d.t.Helper()
	g, err := Graph(d.Model)
	require.NoError(d.t, err)
	want, err := ref.Run(context.Background(), g, in)
	require.NoError(d.t, err)
	got, err := compute(g, in)
	require.NoError(d.t, err)
	for i := range want {
		require.Equal(d.t, want[i].Dims, got[i].Dims)
		require.Equal(d.t, want[i].Data, got[i].Data)
	}
	return got
}

func floats(v ...float32) tensor.Tensor {
	return tensor.Tensor{DType: tensor.Float32, Dims: []int64{int64(len(v))}, Data: tensor.Float32s(v...)}
}

func truth(v byte) tensor.Tensor {
	return tensor.Tensor{DType: tensor.Bool, Dims: []int64{1}, Data: []byte{v}}
}

func values(t testing.TB, x tensor.Tensor) []float32 {
	v, err := tensor.ReadFloat32s(x.Data, x.Count())
	require.NoError(t, err)
	return v
}

// scaledBy is a model of one input that adds v to it.
func plus(t testing.TB, v float64, dims ...uint32) described {
	d := describe(t)
	x, y := d.floats(dims...), d.floats(dims...)
	d.op(nnapi.Add, []uint32{x, d.constant(f32(v1(v), 1)), d.constant(num(0))}, y)
	return d.io([]uint32{x}, y)
}

func TestIf(t *testing.T) {
	for _, dims := range [][]uint32{{2}, {0}, nil} {
		d := describe(t)
		cond, x, y := d.truth(), d.floats(dims...), d.floats(dims...)
		d.op(nnapi.If, []uint32{cond, d.of(plus(t, 10, dims...)), d.of(plus(t, 20, dims...)), x}, y)
		d.io([]uint32{cond, x}, y)
		assert.Equal(t, []float32{11, 12}, values(t, d.results(truth(1), floats(1, 2))[0]))
		assert.Equal(t, []float32{21, 22}, values(t, d.results(truth(0), floats(1, 2))[0]))
	}
}

// An IF whose branches give other sizes, and whose result is used further.
func TestIf_sizes(t *testing.T) {
	twice := describe(t)
	x, y := twice.floats(0), twice.floats(0)
	twice.op(nnapi.Concatenation, []uint32{x, x, twice.constant(num(0))}, y)
	twice.io([]uint32{x}, y)
	d := describe(t)
	cond, x, mid, y := d.truth(), d.floats(2), d.floats(0), d.floats(0)
	d.op(nnapi.Add, []uint32{mid, d.constant(f32(v1(1), 1)), d.constant(num(0))}, y)
	d.op(nnapi.If, []uint32{cond, d.of(twice), d.of(plus(t, 5, 0)), x}, mid)
	d.io([]uint32{cond, x}, y)
	assert.Equal(t, []float32{2, 3, 2, 3}, values(t, d.results(truth(1), floats(1, 2))[0]))
	assert.Equal(t, []float32{7, 8}, values(t, d.results(truth(0), floats(1, 2))[0]))
}

// counting is WHILE that adds one to a counter, and to a sum the counter times a factor, until the counter reaches a
// limit. The sum is the operation's only output beside the counter; the limit and the factor are inputs only.
func counting(t testing.TB) described {
	cond := describe(t)
	i, sum, limit, factor, more := cond.floats(1), cond.floats(1), cond.floats(1), cond.floats(1), cond.truth()
	cond.op(nnapi.Less, []uint32{i, limit}, more)
	cond.io([]uint32{i, sum, limit, factor}, more)
	body := describe(t)
	i, sum, limit, factor = body.floats(1), body.floats(1), body.floats(1), body.floats(1)
	i1, step, sum1, none := body.floats(1), body.floats(1), body.floats(1), body.constant(num(0))
	body.op(nnapi.Add, []uint32{i, body.constant(f32(v1(1), 1)), none}, i1)
	body.op(nnapi.Mul, []uint32{i, factor, none}, step)
	body.op(nnapi.Add, []uint32{sum, step, none}, sum1)
	body.io([]uint32{i, sum, limit, factor}, i1, sum1)
	d := describe(t)
	i, sum, limit, factor = d.floats(1), d.floats(1), d.floats(1), d.floats(1)
	iOut, sumOut := d.floats(1), d.floats(1)
	d.op(nnapi.While, []uint32{d.of(cond), d.of(body), i, sum, limit, factor}, iOut, sumOut)
	return d.io([]uint32{i, sum, limit, factor}, iOut, sumOut)
}

func TestWhile_trips(t *testing.T) {
	d := counting(t)
	for _, n := range []float32{0, 1, 7, 1000} {
		out := d.results(floats(0), floats(5), floats(n), floats(2))
		assert.Equal(t, []float32{n}, values(t, out[0]))
		assert.Equal(t, []float32{5 + n*(n-1)}, values(t, out[1]))
	}
}

// growing is WHILE whose state doubles in size each trip until there are at least a number of cells: the count is found
// by the mean of ones.
func TestWhile_growingState(t *testing.T) {
	cond := describe(t)
	x, n, limit, more := cond.floats(0), cond.floats(1), cond.floats(1), cond.truth()
	cond.op(nnapi.Less, []uint32{n, limit}, more)
	cond.io([]uint32{x, n, limit}, more)
	body := describe(t)
	x, n, limit = body.floats(0), body.floats(1), body.floats(1)
	y, m, zero := body.floats(0), body.floats(1), body.constant(num(0))
	body.op(nnapi.Concatenation, []uint32{x, x, zero}, y)
	body.op(nnapi.Add, []uint32{n, n, zero}, m)
	body.io([]uint32{x, n, limit}, y, m)
	d := describe(t)
	x, n, limit = d.floats(0), d.floats(1), d.floats(1)
	out := d.floats(0)
	d.op(nnapi.While, []uint32{d.of(cond), d.of(body), x, n, limit}, out) // the count stays inside
	d.io([]uint32{x, n, limit}, out)
	for limit, want := range map[float32][]float32{1: {3}, 2: {3, 3}, 5: {3, 3, 3, 3, 3, 3, 3, 3}} {
		assert.Equal(t, want, values(t, d.results(floats(3), floats(1), floats(limit))[0]))
	}
}

// TestControl_nested: a WHILE in an IF in a WHILE, the innermost model shared by both branches.
func TestControl_nested(t *testing.T) {
	inner := counting(t)
	branch := func(add float64) described {
		b := describe(t)
		sum, limit := b.floats(1), b.floats(1)
		i, s, y := b.floats(1), b.floats(1), b.floats(1)
		zero := b.constant(f32(v1(0), 1))
		w := inner.Operands[inner.Operations[0].Inputs[0]]
		body := inner.Operands[inner.Operations[0].Inputs[1]]
		b.op(nnapi.While, []uint32{b.add(w), b.add(body), zero, sum, limit, b.constant(f32(v1(1), 1))}, i, s)
		b.op(nnapi.Add, []uint32{s, b.constant(f32(v1(add), 1)), b.constant(num(0))}, y)
		return b.io([]uint32{sum, limit}, y)
	}
	cond := describe(t)
	n, sum, limit, more := cond.floats(1), cond.floats(1), cond.floats(1), cond.truth()
	cond.op(nnapi.Less, []uint32{n, limit}, more)
	cond.io([]uint32{n, sum, limit}, more)
	body := describe(t)
	n, sum, limit = body.floats(1), body.floats(1), body.floats(1)
	early, n1, sum1 := body.truth(), body.floats(1), body.floats(1)
	body.op(nnapi.Less, []uint32{n, body.constant(f32(v1(2), 1))}, early)
	body.op(nnapi.If, []uint32{early, body.of(branch(100)), body.of(branch(1000)), sum, limit}, sum1)
	body.op(nnapi.Add, []uint32{n, body.constant(f32(v1(1), 1)), body.constant(num(0))}, n1)
	body.io([]uint32{n, sum, limit}, n1, sum1)
	d := describe(t)
	n, sum, limit = d.floats(1), d.floats(1), d.floats(1)
	nOut, sumOut := d.floats(1), d.floats(1)
	d.op(nnapi.While, []uint32{d.of(cond), d.of(body), n, sum, limit}, nOut, sumOut)
	d.io([]uint32{n, sum, limit}, nOut, sumOut)
	// Each trip adds 0+1+2+3 = 6, then 100 in the first two and 1000 in the other two.
	out := d.results(floats(0), floats(0), floats(4))
	assert.Equal(t, []float32{4}, values(t, out[0]))
	assert.Equal(t, []float32{4*6 + 2*100 + 2*1000}, values(t, out[1]))
}

func TestControl_errors(t *testing.T) {
	bad := describe(t)
	x, y := bad.floats(2), bad.floats(2)
	bad.op(nnapi.Softmax, []uint32{x, bad.constant(real(-1))}, y)
	bad.io([]uint32{x}, y)
	d := describe(t)
	cond, x, y := d.truth(), d.floats(2), d.floats(2)
	mid := d.floats(2)
	d.op(nnapi.ReLU, []uint32{x}, mid)
	d.op(nnapi.If, []uint32{cond, d.of(plus(t, 1, 2)), d.of(bad), mid}, y)
	d.io([]uint32{cond, x}, y)
	_, err := Graph(d.Model)
	require.ErrorContains(t, err,
		"operation 1 (IF): else model: operation 0 (SOFTMAX): input 1 (beta): want a finite number above 0, got -1")
	assert.Equal(t, fault.Argument, fault.KindOf(err))
	i, ok := FailedOperation(err)
	assert.Equal(t, []any{1, true}, []any{i, ok})
}

// TestControl_explosion: models that refer twice to the next one are refused before they fill the memory.
func TestControl_explosion(t *testing.T) {
	m := plus(t, 1, 1)
	for range 40 {
		d := describe(t)
		cond, x, y := d.truth(), d.floats(1), d.floats(1)
		d.op(nnapi.Less, []uint32{x, x}, cond)
		d.op(nnapi.If, []uint32{cond, d.of(m), d.of(m), x}, y)
		m = d.io([]uint32{x}, y)
	}
	_, err := Graph(m.Model)
	require.ErrorContains(t, err, "models refer to models")
	assert.Equal(t, fault.Unsupported, fault.KindOf(err))
}

// TestGraph_origins: nodes carry the operation that they come from.
func TestGraph_origins(t *testing.T) {
	d := describe(t)
	x, y, z := d.floats(2, 2), d.floats(2, 2), d.floats(2, 2)
	d.op(nnapi.Add, []uint32{y, x, d.constant(num(1))}, z)
	d.op(nnapi.Softmax, []uint32{x, d.constant(real(1))}, y)
	d.io([]uint32{x}, z)
	g, err := Graph(d.Model)
	require.NoError(t, err)
	var got []string
	for _, n := range g.Nodes {
		got = append(got, fmt.Sprintf("%d %s %s", n.Origin, n.Name, graph.NameOf(n.Op)))
	}
	assert.Equal(t, []string{"1 SOFTMAX softmax", "0 ADD add", "0 ADD relu"}, got)
}

// TestWhile_origins: a loop and the condition before it belong to the operation, of which the latter says which
// operation of the condition it is; nodes of the body are the operations of their models.
func TestWhile_origins(t *testing.T) {
	g, err := Graph(counting(t).Model)
	require.NoError(t, err)
	require.Len(t, g.Nodes, 2)
	assert.Equal(t, "operation 0 (WHILE, condition model: operation 0 LESS)", g.Nodes[0].Label())
	assert.Equal(t, "operation 0 (WHILE)", g.Nodes[1].Label())
	assert.Equal(t, []string{"input 2", "input 3", "input 4", "input 5"}, g.Nodes[1].Terms[2:])
	var body []string
	for _, n := range g.Nodes[1].Op.(*op.Loop).Body.Nodes {
		body = append(body, n.Label())
	}
	assert.Equal(t, []string{"operation 0 (ADD)", "operation 1 (MUL)", "operation 2 (ADD)",
		"operation 0 (LESS of the condition model)"}, body)
}

// TestGraph_refusals: what is wrong with a model as a whole, and what the library does not compute.
func TestGraph_refusals(t *testing.T) {
	d := describe(t)
	x, y := d.floats(1), d.floats(1)
	d.Operations = append(d.Operations, nnapi.Operation{Code: nnapi.ReLU, Inputs: []uint32{y}, Outputs: []uint32{y}})
	d.io([]uint32{x}, y)
	_, err := Graph(d.Model)
	require.ErrorContains(t, err, "depends on its own result")
	d = describe(t)
	x, y = d.floats(1), d.floats(1)
	d.Operations = append(d.Operations, nnapi.Operation{Code: 1<<16 | 1, Inputs: []uint32{x}, Outputs: []uint32{y}})
	d.io([]uint32{x}, y)
	_, err = Graph(d.Model)
	require.ErrorContains(t, err, "the library does not compute this operation")
	assert.Equal(t, fault.Unsupported, fault.KindOf(err))
	d = describe(t)
	x, beta, y := d.floats(1), d.add(nnapi.Operand{Type: nnapi.Float32}), d.floats(1)
	d.op(nnapi.Softmax, []uint32{x, beta}, y)
	d.io([]uint32{x, beta}, y)
	_, err = Graph(d.Model)
	require.EqualError(t, err, "operation 0 (SOFTMAX): input 1 (beta): the library takes only a constant here")
	assert.Equal(t, fault.Unsupported, fault.KindOf(err))
}

// TestGraph_declaredSizes: a declaration that knows more than inference holds for the run, which fails when it is
// wrong.
func TestGraph_declaredSizes(t *testing.T) {
	d := describe(t)
	x, y := d.floats(0), d.floats(3)
	d.op(nnapi.ReLU, []uint32{x}, y)
	d.io([]uint32{x}, y)
	assert.Equal(t, []float32{1, 0, 2}, values(t, d.results(floats(1, -1, 2))[0]))
	g, err := Graph(d.Model)
	require.NoError(t, err)
	_, err = compute(g, []tensor.Tensor{floats(1, 2)})
	require.ErrorContains(t, err, "[3]")
}
