package ops

import (
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// whereTask chooses between two operands; each of the three repeats along dimensions where its stride is 0.
type whereTask struct {
	st      *run.Step
	dims    []int
	strides [3][]int
	rows    int // runs of the innermost dimension
	per     int
	cond    []byte
	a, b, y []float32
}

// whereOp chooses between two operands.
type whereOp struct {
	ir.InOrder
	task whereTask
}

func matchWhere(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.Where); !is || !g.IsFloat32(n.In[1], n.In[2], n.Out[0]) {
		return nil
	}
	cond, y := &g.Values[n.In[0]], &g.Values[n.Out[0]]
	if cond.Dims == nil || cond.Type.DType != tensor.Bool {
		return nil
	}
	t := whereTask{dims: sizes(y.Dims)}
	for i, v := range n.In {
		own := g.Values[v].Dims
		t.strides[i] = make([]int, len(y.Dims))
		for d, s := range strides(own) {
			if own[d] != 1 {
				t.strides[i][len(y.Dims)-len(own)+d] = s
			}
		}
	}
	t.merge()
	last := len(t.dims) - 1
	t.rows = y.Count() / t.dims[last]
	t.per = max(1, run.BlockLen/t.dims[last])
	return p.Plainly(i, &whereOp{task: t}, 3)
}

func (q *whereOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	t := q.task
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		own := t
		own.st = st
		return &own
	}}
}

// merge joins dimensions that every operand walks as one.
func (t *whereTask) merge() {
	var dims []int
	var out [3][]int
	for d, n := range t.dims {
		if n == 1 && (len(dims) > 0 || d < len(t.dims)-1) {
			continue
		}
		k := len(dims) - 1
		join := k >= 0
		for i := range out {
			join = join && out[i][k] == n*t.strides[i][d]
		}
		if join {
			dims[k] *= n
		} else {
			dims = append(dims, n)
			k++
		}
		for i := range out {
			out[i] = append(out[i][:k], t.strides[i][d])
		}
	}
	if len(dims) == 0 {
		dims, out = []int{1}, [3][]int{{0}, {0}, {0}}
	}
	t.dims, t.strides = dims, out
}

func (t *whereTask) Run(s *run.State) error {
	t.cond, t.a, t.b, t.y = s.Mem[t.st.Reads[0]], s.F32(t.st.Reads[1]), s.F32(t.st.Reads[2]), s.F32(t.st.Writes[0])
	s.Do((t.rows+t.per-1)/t.per, t)
	return nil
}

// Chunk computes some runs.
func (t *whereTask) Chunk(i, _ int) {
	last := len(t.dims) - 1
	n := t.dims[last]
	cs, as, bs := t.strides[0][last], t.strides[1][last], t.strides[2][last]
	for r := i * t.per; r < min(t.rows, (i+1)*t.per); r++ {
		c, a, b, rest := 0, 0, 0, r
		for d := last - 1; d >= 0; d-- {
			k := rest % t.dims[d]
			rest /= t.dims[d]
			c, a, b = c+k*t.strides[0][d], a+k*t.strides[1][d], b+k*t.strides[2][d]
		}
		y := t.y[r*n:][:n]
		for k := range y {
			if t.cond[c] != 0 {
				y[k] = t.a[a]
			} else {
				y[k] = t.b[b]
			}
			c, a, b = c+cs, a+as, b+bs
		}
	}
}
