package ops

import (
	"fmt"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

type transposedTask struct {
	st     *run.Step
	groups int
	packs  [][]float32 // per group
	bias   []float32
	kernel.ConvTranspose
}

// transposedConv is a transposed convolution with constant filters of up to three spatial dimensions.
type transposedConv struct {
	ir.InOrder
	kernel  kernel.ConvTranspose
	groups  int
	filters ir.Packed
	bias    []float32
	outputs int
}

// mostWaste is the number of products for each useful one above which the reference, which forms no other, is faster.
const mostWaste = 64

// matchConvTranspose finds a transposed convolution with constant filters and what follows it.
func matchConvTranspose(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.ConvTranspose)
	if !is || !g.IsFloat32(n.In[0], n.Out[0]) {
		return nil
	}
	x, w := &g.Values[n.In[0]], g.Operand(n.In[1])
	rank := len(x.Dims)
	if len(w) == 0 || rank < 3 || rank > 5 {
		return nil
	}
	given, ok := g.Ints(n.In, 3)
	if !ok {
		return nil
	}
	wd := g.Values[n.In[1]].Dims
	spatial, axis := x.Dims[2:], 1
	if o.ChannelsLast {
		spatial, axis = x.Dims[1:rank-1], rank-1
	}
	ws, err := o.Windows(spatial, wd[1:rank-1], given)
	if err != nil {
		return nil
	}
	groups := int(max(o.Groups, 1))
	channels, outputs := int(x.Dims[axis]), int(wd[0])
	one := [3]int{1, 1, 1}
	c := kernel.ConvTranspose{
		C: channels / groups, N: outputs / groups, Batch: int(x.Dims[0]), LDX: channels,
		In: one, Out: one, Kernel: one, Stride: one, Dilation: one,
		Zero: make([]float32, channels/groups),
	}
	for i, v := range ws {
		d := 3 - len(ws) + i
		c.In[d], c.Out[d], c.Kernel[d], c.Stride[d], c.Dilation[d], c.Pad[d] =
			int(v.In), int(v.Out), int(v.Kernel), int(v.Stride), int(v.Dilation), int(v.Before)
	}
	bias, ok := biasOf(g, n.In, 2, outputs)
	if ok && groups > 1 && groups == channels && groups == outputs {
		return depthwiseTransposed(p, i, &c, w, bias, axis)
	}
	if !ok || c.Waste() > mostWaste || !g.Budget.Allows(phaseBytes(&c)) || c.Phases() != nil {
		return nil
	}
	epi := epilogueOf(p, n.Out[0], axis, false)
	c.Act = epi.act
	q := &transposedConv{InOrder: ir.InOrder{Order: run.OrderOf(o.ChannelsLast)}, kernel: c, groups: groups,
		outputs: outputs,
		bias:    epi.normalized(bias),
		filters: transposedFilters(n.In[1], w, c, groups, c.PackedConvTransposeLen(), epi.scale)}
	found := ir.One(i, q, n.In[:1], []graph.Value{epi.out}, epi.nodes...)
	found.Tables = phaseBytes(&c)
	return found
}

func (q *transposedConv) Lower(w *ir.Lowering, n *ir.Node) run.Step {
	whole := w.Packer.Order(n.At, q.filters)
	packs := make([][]float32, q.groups)
	for g := range packs {
		packs[g] = whole[g*len(whole)/q.groups:][:len(whole)/q.groups]
	}
	c, groups, bias := q.kernel, q.groups, q.bias
	return run.Step{Fast: true, OutCols: []int{q.outputs}, Start: func(_ *run.State, st *run.Step) run.Process {
		run.Admit(phaseBytes(&c))
		t := &transposedTask{st: st, groups: groups, packs: packs, bias: bias, ConvTranspose: c}
		if err := t.Phases(); err != nil { // tables of its own: a run notes its packs there
			panic(err)
		}
		return t
	}}
}

// phaseBytes is about what the tables of c take, and the steps of making them. Every state has its own.
func phaseBytes(c *kernel.ConvTranspose) int64 {
	taps, phases := 1, phasesOf(c)
	for d := range phases {
		taps *= c.Kernel[d]/c.Stride[d] + 1
	}
	return max(run.Saturated(4, taps, c.Batch, c.Out[0], c.Out[1], c.Out[2]),
		run.Saturated(64, c.Batch, c.Out[0], c.Out[1], phases[2]), run.Saturated(64, phases[0], phases[1], phases[2]))
}

// transposedFilters returns how filters [outputs, taps, channels of a group] are packed, multiplied by a batch
// normalization that follows.
func transposedFilters(v graph.Value, w []float32, c kernel.ConvTranspose, groups, per int, scale []float32) ir.Packed {
	taps := c.Kernel[0] * c.Kernel[1] * c.Kernel[2]
	p := ir.Packed{Value: v, Kind: fmt.Sprintf("transposed %v %v", c.Pad, phasesOf(&c)),
		Beside: run.NumbersOf(run.BytesOf(scale)), Len: groups * per, Parts: groups}
	if scale != nil {
		p.Kind += ", normalized"
	}
	p.Fill = func(dst []float32, g int) {
		rows := make([]float32, taps*c.C*c.N) // [taps, channels, outputs]
		kernel.Transpose(rows, c.N, w[g*c.N*taps*c.C:], taps*c.C, c.N, taps*c.C)
		if scale != nil {
			kernel.BinaryRows(kernel.Mul, rows, rows, scale[g*c.N:][:c.N], taps*c.C, c.N)
		}
		c.PackConvTranspose(dst[g*per:][:per], rows)
	}
	return p
}

func (t *transposedTask) Run(s *run.State) error {
	x := s.F32(t.st.Reads[0])
	y, ldy := s.Rows(t.st.Writes[0], t.groups*t.N)
	t.LDY = ldy
	for g := range t.groups {
		t.X, t.Y, t.W = x[g*t.C:], y[g*t.N:], t.packs[g]
		if t.bias != nil {
			t.Bias = t.bias[g*t.N:][:t.N]
		}
		s.Do(t.Plan(s.Threads), t)
	}
	return nil
}

// Chunk computes some rows of one group.
func (t *transposedTask) Chunk(i, _ int) { t.ConvTranspose.Chunk(i) }
