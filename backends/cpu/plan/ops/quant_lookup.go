package ops

import (
	"bytes"
	"math"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// A table has an element-wise operator's results, by the bits that the graph gives the quantized values. Operands that
// are there as unsigned codes are looked up as such.

// matchLookup finds an element-wise operator of 8-bit operands, of which one or two are no constants.
func matchLookup(p *ir.Program, i int) *ir.Patch {
	t, args := tableOf(p, i)
	if args == nil {
		return nil
	}
	if found := lookupOfCodes(p, i, t, args); found != nil {
		return found
	}
	return ir.One(i, &lookupOp{task: t}, args, p.Net.Graph.Nodes[i].Out)
}

// codesLookupOp looks codes up, in the order of the first operand.
type codesLookupOp struct{ task tableTask }

func (q *codesLookupOp) Layout(l *ir.Layouter, n *ir.Node) {
	o := l.CodeOrder(n.In[0])
	for _, v := range n.In {
		n.Reads = append(n.Reads, l.Codes(v, o))
	}
	if q.task.floats != nil {
		l.Write(n, n.Out[0], o)
	} else {
		n.Writes = []int{l.MakeCodes(n.Out[0], o)}
	}
}

func (q *codesLookupOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return (&lookupOp{task: q.task}).Lower(nil, nil)
}

// lookupOfCodes is the patch of node i, whose table for operands args is t's, with codes instead of elements; nil when
// the operands have none yet, and nothing is gained by making them.
func lookupOfCodes(p *ir.Program, i int, t tableTask, args []graph.Value) *ir.Patch {
	n := &p.Net.Graph.Nodes[i]
	y := &p.Net.Values[n.Out[0]]
	var from []ir.QuantParams
	some := false
	for _, v := range args {
		c, ok := p.ParamsAt(v)
		if !ok {
			return nil
		}
		from = append(from, c)
		some = some || p.HasCodes(v)
	}
	flip := int(from[0].Flip())
	if len(args) > 1 {
		flip |= int(from[1].Flip()) << 8
	}
	if t.floats != nil {
		if !some {
			return nil
		}
		own := make([]float32, len(t.floats))
		for k := range own {
			own[k] = t.floats[k^flip]
		}
		t.floats = own
		found := ir.One(i, &codesLookupOp{t}, args, n.Out)
		found.Nodes[0].Codes = true
		return found
	}
	to := ir.QuantParamsOfType(y.Type)
	own := make([]byte, len(t.table))
	for k := range own {
		own[k] = t.table[k^flip] ^ to.Flip()
	}
	t.table = own
	if _, is := n.Op.(*op.Add); is && len(args) == 2 {
		if c, ok := combined(own, from, to); ok {
			return p.CodesPatch(i, &combineOp{combineTask{n: t.n, two: true, with: c}}, args, n.Out[0], to)
		}
	}
	if !some {
		return nil
	}
	return p.CodesPatch(i, &codesLookupOp{t}, args, n.Out[0], to)
}

// combined returns how a kernel makes what table holds of the sums of codes of two meanings, ok false when none is
// found that gives every entry.
func combined(table []byte, from []ir.QuantParams, to ir.QuantParams) (c kernel.Combine, ok bool) {
	a, b := float64(from[0].Scale)/float64(to.Scale), float64(from[1].Scale)/float64(to.Scale)
	if !(max(a, b) < 1e3) || to.Zero != int32(int16(to.Zero)) {
		return c, false
	}
	const pairs = 1 << 16
	codes := make([]byte, 3*pairs)
	x, z, y := codes[:pairs], codes[pairs:2*pairs], codes[2*pairs:]
	for k := range pairs {
		x[k], z[k] = byte(k), byte(k>>8)
	}
	base := -a*float64(from[0].Zero) - b*float64(from[1].Zero)
	for n := range len(combineMoves) * len(combineMore) {
		move := combineMoves[n/len(combineMore)]
		c = kernel.Combine{A: moved(float32(a), move[0]), B: moved(float32(b), move[1]),
			Add: float32(base + combineMore[n%len(combineMore)]), Zero: int(to.Zero), Hi: 255}
		if kernel.CombineU8(y, x, z, c); bytes.Equal(y, table) {
			return c, true
		}
	}
	return c, false
}

// The addends that are tried before sums of quantized values are rounded, and by how many units in the last place the
// factors are moved.
var (
	combineMore  = [...]float64{0, 1.0 / (1 << 13), -1.0 / (1 << 13), 1.0 / (1 << 15), -1.0 / (1 << 15), 1.0 / (1 << 17)}
	combineMoves = [...][2]int32{{0, 0}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}}
)

// moved is v by some units in the last place.
func moved(v float32, by int32) float32 {
	return math.Float32frombits(math.Float32bits(v) + uint32(by))
}
