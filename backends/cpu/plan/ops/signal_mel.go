package ops

import (
	"math"
	"slices"

	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// melOp makes the weights of mel bands of float32, whose limits come from the run.
type melOp struct {
	ir.InOrder
	bins, bands  int
	length, rate float64
}

func matchMel(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	if _, is := n.Op.(*op.MelWeightMatrix); !is || !g.IsFloat32(n.In[3], n.In[4], n.Out[0]) {
		return nil
	}
	dims := g.Values[n.Out[0]].Dims
	length, knownLength := g.Ints(n.In, 1)
	rate, knownRate := g.Ints(n.In, 2)
	if dims == nil || !knownLength || !knownRate || len(length) != 1 || len(rate) != 1 {
		return nil
	}
	q := &melOp{bins: int(dims[0]), bands: int(dims[1]), length: float64(length[0]), rate: float64(rate[0])}
	return ir.One(i, q, []graph.Value{n.In[3], n.In[4]}, slices.Clone(n.Out))
}

func (q *melOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return run.Step{Fast: true, Start: func(_ *run.State, st *run.Step) run.Process {
		return &melTask{melOp: q, st: st, edges: make([]int, q.bands+2)}
	}}
}

type melTask struct {
	*melOp
	st    *run.Step
	edges []int // bins
}

func (t *melTask) Run(s *run.State) error {
	low, high, y := toMel(s.F32(t.st.Reads[0])[0]), toMel(s.F32(t.st.Reads[1])[0]), s.F32(t.st.Writes[0])
	for i := range t.edges {
		mel := low + float64(i)*(high-low)/float64(len(t.edges))
		bin := t.bin(mel)
		if !(bin >= 0 && bin < float64(t.bins)) {
			return fault.New(fault.Data, "band edge %d lies in bin %v of %d", i, bin, t.bins)
		}
		t.edges[i] = int(bin)
	}
	clear(y)
	for i := range t.bands {
		from, top, to := t.edges[i], t.edges[i+1], t.edges[i+2]
		rise, fall := float64(top-from), float64(to-top)
		for j := from; j < top; j++ {
			y[j*t.bands+i] = float32(float64(j-from) / rise)
		}
		if from <= top || top < to {
			y[top*t.bands+i] = 1
		}
		for j := top + 1; j < to; j++ {
			y[j*t.bands+i] = float32(float64(to-j) / fall)
		}
	}
	return nil
}

// bin is where a place of the mel scale lies. An exponential, which takes less time, decides where it is far enough
// from the next bin.
func (q *melOp) bin(mel float64) float64 {
	scale := (q.length + 1) * 700 / q.rate
	v := scale * (math.Exp(mel*(math.Ln10/2595)) - 1)
	if bin := math.Floor(v); math.Abs(v-bin-0.5) < 0.499-1e-9*(scale+math.Abs(v)) {
		return bin
	}
	return math.Floor((q.length + 1) * 700 * (math.Pow(10, mel/2595) - 1) / q.rate)
}

// toMel converts a frequency in hertz to the mel scale.
func toMel(f float32) float64 { return 2595 * math.Log10(1+float64(f)/700) }
