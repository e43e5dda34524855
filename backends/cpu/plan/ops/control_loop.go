package ops

import (
	"math"
	"slices"
	"time"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/plan/ir"
	"github.com/anynpu/anynpu/backends/cpu/plan/run"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// carried are the values that a body hands to its next run, each in two places of its own by turns.
type carried struct {
	sizes []int // bytes
	at    []int // of the two places in the step's room
}

// room is the bytes for all, each at a multiple of 64.
func (c *carried) room(from int) int {
	for _, n := range c.sizes {
		c.at = append(c.at, from)
		from += 2 * aligned(n)
	}
	return from
}

func aligned(n int) int { return (n + 63) &^ 63 }

// place is one of the two places of value k.
func (c *carried) place(room []byte, k, turn int) []byte {
	return room[c.at[k]+turn*aligned(c.sizes[k]):][:c.sizes[k]:c.sizes[k]]
}

// sizeOf is the bytes of a result of known sizes.
func sizeOf(t tensor.Type, dims []int64) int {
	n, _ := tensor.Count(dims)
	size, _ := t.DType.ByteSize(n)
	return int(size)
}

// states reports whether outputs first, first+1, ... of a body are of the types of its inputs from on, and notes their
// sizes.
func (c *carried) states(b *body, in []given, from, first, n int) bool {
	for k := range n {
		x, y := &in[from+k], &b.plan.Outputs[first+k]
		dims, ok := x.Shape.Ints()
		if !ok || y.Dims == nil || !slices.Equal(dims, y.Dims) || x.DType != y.Type.DType || y.Type.Quant != nil {
			return false
		}
		c.sizes = append(c.sizes, sizeOf(y.Type, y.Dims))
	}
	return true
}

// loopOp runs a body while a condition holds.
type loopOp struct {
	control
	carried
	loose []bool    // per carried value: its sizes change from trip to trip; nil: none does
	first [][]int64 // per carried value: its sizes in front of the first trip
	count int       // of carried values
	trips tensor.DType
}

func matchLoop(p *ir.Program, i int) *ir.Patch {
	g, n := p.Net, &p.Net.Graph.Nodes[i]
	o, is := n.Op.(*op.Loop)
	if !is || !plain(g, i) || o.Body == nil || len(o.Body.In) < 2 {
		return nil
	}
	q := &loopOp{control: control{operands: operandsOf(g, i)}, count: int(o.Carried)}
	if ir.Given(n.In, 0) {
		q.trips = g.Values[n.In[0]].Type.DType
	}
	state := givens(g, i, 2)
	for _, x := range state[:q.count] {
		dims, _ := x.Shape.Ints()
		q.first = append(q.first, dims)
	}
	in := slices.Concat([]given{counterOf(o.Body, 0, tensor.Int64), counterOf(o.Body, 1, tensor.Bool)},
		withoutValues(state[:q.count]), state[q.count:])
	b := bodyOf(p, i, 0, o.Body, in)
	if b != nil && len(b.plan.Outputs) == 1+len(n.Out) && !q.states(b, in, 2, 1, q.count) {
		b = q.loosened(p, i, o.Body, in)
	}
	if b == nil || len(b.plan.Outputs) != 1+len(n.Out) ||
		b.plan.Outputs[0].Type.DType != tensor.Bool || len(b.dims(0)) > 1 || run.Product(b.dims(0)) != 1 || b.dims(0) == nil {
		return nil
	}
	for k, v := range n.Out {
		switch {
		case k < q.count:
			if !q.gives(g, v, b, 1+k) && !(q.loose != nil && q.loose[k] && !q.fixed[k]) {
				return nil
			}
		case b.dims(1+k) == nil || b.plan.Outputs[1+k].Type.Quant != nil ||
			v != graph.None && (q.fixed[k] || g.Values[v].Type.DType != b.plan.Outputs[1+k].Type.DType):
			return nil
		}
	}
	q.bodies = []*body{b}
	return ir.One(i, q, slices.Clone(n.In), n.Out)
}

// loosened plans a body whose values change their sizes from trip to trip: sizes that follow from theirs are not known
// before the run and computed by reference, the rest is as in any plan. nil when there is no such plan.
func (q *loopOp) loosened(p *ir.Program, i int, g *graph.Graph, in []given) *body {
	const turns = 4 // until no more sizes change
	in = slices.Clone(in)
	for range turns {
		b := bodyOf(p, i, 0, g, in)
		if b == nil || len(b.plan.Outputs) != 1+len(p.Net.Graph.Nodes[i].Out) {
			return nil
		}
		changed := false
		for k := range q.count {
			x, y := &in[2+k], &b.plan.Outputs[1+k]
			if x.DType != y.Type.DType || y.Type.Quant != nil {
				return nil
			}
			dims, made := x.Shape.Dims, y.Type.Shape.Dims
			if y.Dims != nil {
				made = tensor.Of(y.Dims...).Dims
			}
			if x.Shape.Rank() < 0 || len(made) != len(dims) {
				return nil
			}
			own := slices.Clone(dims)
			for d, n := range dims {
				if n.Known() && (!made[d].Known() || made[d].N != n.N) {
					own[d], changed, x.loose = tensor.AnyDim(), true, true
				}
			}
			x.Shape.Dims = own
			x.open.Shape = x.Shape
		}
		if !changed {
			q.carried = carried{}
			for k := range q.count {
				y, size := &b.plan.Outputs[1+k], 0
				if q.loose = append(q.loose, in[2+k].loose); !in[2+k].loose {
					size = sizeOf(y.Type, y.Dims)
				}
				q.sizes = append(q.sizes, size)
			}
			return b
		}
	}
	return nil
}

// counterOf is a number as input k of a body, which may declare it as a scalar or as a list of one.
func counterOf(g *graph.Graph, k int, d tensor.DType) given {
	f := tensor.Fact{Type: tensor.T(d)}
	if g.Fact(g.In[k]).Shape.Rank() == 1 {
		f.Type = tensor.T(d, 1)
	}
	return given{Fact: f, open: f}
}

func (q *loopOp) Lower(*ir.Lowering, *ir.Node) run.Step {
	return q.step(int64(q.room(64)), func(s *run.State, st *run.Step) run.Process {
		return &loopTask{q: q, st: st, body: s.Body(q.bodies[0].plan), now: make([][]byte, q.count),
			dims: make([][]int64, q.count), own: make([][2][]byte, q.count),
			piles: make([]pile, len(q.out)-q.count)}
	})
}

// pile collects what each trip gives for one output. Its memory is kept for the next run.
type pile struct {
	data []byte
	dims []int64
}

type loopTask struct {
	q     *loopOp
	st    *run.Step
	body  *run.Body
	now   [][]byte // per carried value
	dims  [][]int64
	own   [][2][]byte // places of those whose sizes change; their memory is kept for the next run
	piles []pile
}

func (t *loopTask) Run(s *run.State) error {
	q, b := t.q, t.body
	trips, cond := q.one(s, t.st, 0, q.trips, math.MaxInt64), q.one(s, t.st, 1, tensor.Bool, 1)
	room := s.Mem[t.st.Scratch]
	number, going := room[:8:8], room[8:9:9]
	for k := range t.now {
		t.now[k] = q.input(s, t.st, 2+k)
		if q.loose != nil && q.loose[k] {
			t.dims[k] = append(t.dims[k][:0], q.first[k]...)
		}
	}
	for k := range t.piles {
		t.piles[k].data = t.piles[k].data[:0]
	}
	begin, limit, trip := time.Now(), device.LoopLimit(s.Ctx), int64(0)
	for ; trip < trips && cond != 0; trip++ {
		if err := s.Ctx.Err(); err != nil {
			return fault.As(fault.Canceled, err, "trip %d", trip)
		}
		if limit > 0 && time.Since(begin) > limit {
			return fault.New(fault.Timeout, "trip %d: the loop has taken longer than %v", trip, limit)
		}
		tensor.PutInt(tensor.Int64, number, 0, trip)
		tensor.PutInt(tensor.Bool, going, 0, cond)
		for k, from := range q.bodies[0].from {
			switch {
			case from == 0:
				b.In[k].Data = number
			case from == 1:
				b.In[k].Data = going
			case from < 2+q.count:
				if b.In[k].Data = t.now[from-2]; q.loose != nil && q.loose[from-2] {
					b.In[k].Dims = t.dims[from-2]
				}
			default:
				b.In[k].Data = q.input(s, t.st, from)
			}
		}
		for k := range t.now {
			if q.loose == nil || !q.loose[k] {
				b.Out[1+k].Data = q.place(room, k, int(trip&1))
			}
		}
		res, err := b.Run(s)
		if err != nil {
			return fault.Wrap(err, "trip %d: body %q", trip, q.bodies[0].name)
		}
		cond = tensor.IntAt(tensor.Bool, res[0].Data, 0)
		if err := t.collect(res); err != nil {
			return fault.Wrap(err, "trip %d", trip)
		}
		for k := range t.now {
			if q.loose != nil && q.loose[k] {
				if err := t.carry(k, int(trip&1), &res[1+k]); err != nil {
					return fault.Wrap(err, "trip %d", trip)
				}
				continue
			}
			to := q.place(room, k, int(trip&1))
			move(to, res[1+k].Data)
			t.now[k] = to
		}
	}
	return t.finish(s, trip)
}

// carry keeps a value whose sizes change for the next trip.
func (t *loopTask) carry(k, turn int, x *tensor.Tensor) error {
	own := &t.own[k][turn]
	if n := len(x.Data); n > cap(*own) {
		room, err := mem.Make[byte](2 * n)
		if err != nil {
			return fault.Wrap(err, "carried value %d", k)
		}
		*own = room
	}
	*own = (*own)[:len(x.Data)]
	kernel.Copy(*own, x.Data)
	t.now[k], t.dims[k] = *own, append(t.dims[k][:0], x.Dims...)
	return nil
}

// collect adds what a trip gives to the piles.
func (t *loopTask) collect(res []tensor.Tensor) error {
	for k := range t.piles {
		if t.q.out[t.q.count+k] == run.None {
			continue
		}
		p, data := &t.piles[k], res[1+t.q.count+k].Data
		if n := len(p.data) + len(data); n > cap(p.data) {
			own, err := mem.Make[byte](max(n, 2*cap(p.data)))
			if err != nil {
				return fault.Wrap(err, "output %d", t.q.count+k)
			}
			p.data = own[:copy(own, p.data)]
		}
		p.data = append(p.data, data...)
	}
	return nil
}

// finish delivers the last state and the piles.
func (t *loopTask) finish(s *run.State, trips int64) error {
	q := t.q
	for k := range q.out {
		if k < q.count {
			y := tensor.Tensor{Data: t.now[k]}
			if o := &q.bodies[0].plan.Outputs[1+k]; !q.fixed[k] {
				y.DType, y.Dims = o.Type.DType, o.Dims
				if q.loose != nil && q.loose[k] {
					y.Dims = slices.Clone(t.dims[k])
				}
			}
			if err := q.deliver(s, t.st, k, y); err != nil {
				return err
			}
			continue
		}
		if q.out[k] == run.None {
			continue
		}
		p, o := &t.piles[k-q.count], &q.bodies[0].plan.Outputs[1+k]
		if p.dims == nil {
			p.dims = slices.Concat([]int64{0}, o.Dims)
		}
		p.dims[0] = trips
		if _, ok := q.types[k].Shape.Merge(tensor.Of(p.dims...)); !ok {
			return fault.New(fault.Shape, "output %d: want %v, the body gave %v", k, q.types[k].Shape, tensor.Of(p.dims...))
		}
		if err := s.Keep(t.st.Writes[q.out[k]], tensor.Tensor{DType: o.Type.DType, Dims: p.dims, Data: p.data}); err != nil {
			return err
		}
	}
	return nil
}
