package expand

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// yesTensor is a condition that holds, of the type BOOL.
var yesTensor = &proto.Tensor{DType: 9, Ints: []int64{1}}

// takesLoop: a Loop.
func takesLoop(_ *Expander, p *proto.Node) bool { return p.Domain == "" && p.OpType == "Loop" }

// rewriteLoop replaces a Loop that uses sequences by as many copies of its body as it has trips. The condition must be
// known before each.
func rewriteLoop(s *site) (bool, error) {
	if err := s.read(true); err != nil {
		return true, err
	}
	if unrolls, err := s.unrolls(); !unrolls || err != nil {
		return err != nil, err
	}
	b, err := s.body("body")
	if err != nil {
		return true, err
	}
	l, err := s.loop(b)
	if err != nil {
		return true, err
	}
	for trip := int64(0); l.goes && (!l.bounded || trip < l.trips); trip++ {
		if err := s.trip(l, trip); err != nil || s.into.Missing() {
			return true, err
		}
	}
	for i, o := range l.state {
		if err := s.give(i, o); err != nil {
			return true, err
		}
	}
	for i, r := range l.rows {
		at := len(l.state) + i
		if at >= len(s.q.Out) || s.q.Node.Out[at] == "" {
			continue
		}
		if len(r) == 0 {
			return true, fault.New(fault.Unsupported, "output %d: the type of what a loop without trips collects is not known",
				at)
		}
		if err := s.stack(r, 0, s.q.Out[at]); err != nil {
			return true, err
		}
		if err := s.made(at); err != nil {
			return true, err
		}
	}
	return s.done()
}

// unrolls decides whether a Loop becomes as many copies of its body as it has trips: when it carries sequences, or its
// body reads one and the number of trips is known.
func (s *site) unrolls() (bool, error) {
	known := true
	for i := range min(2, len(s.q.In)) {
		if s.has(i) {
			_, ok := s.known(i)
			known = known && ok
		}
	}
	known = known && (s.has(0) || s.has(1))
	for i, seq := range s.seqs {
		switch {
		case seq == nil:
		case i < 2:
			return false, fault.New(fault.File, "input %d: a sequence", i)
		case !known:
			return false, fault.New(fault.Unsupported, "input %d: a sequence is carried by a loop whose trips are not known "+
				"when the model is read", i)
		default:
			return true, nil
		}
	}
	if a := s.q.Attrs["body"]; !known || a == nil || a.G == nil || !keepsCondition(a.G) {
		return false, nil
	}
	for _, name := range s.q.Needs() {
		if seq, err := s.sequence(s.f, name); err != nil || seq != nil {
			return seq != nil, err
		}
	}
	return false, nil
}

// keepsCondition reports whether a loop's body gives the condition that it got, or a constant.
func keepsCondition(g *proto.Graph) bool {
	if len(g.In) < 2 || len(g.Out) < 1 {
		return false
	}
	name := g.Out[0].Name
	for range g.Nodes {
		at := slices.IndexFunc(g.Nodes, func(m *proto.Node) bool { return slices.Contains(m.Out, name) })
		if at < 0 {
			break
		}
		m := g.Nodes[at]
		switch {
		case m.OpType == "Constant":
			return true
		case m.OpType != "Identity" && m.OpType != "Cast" || len(m.In) != 1:
			return false
		}
		name = m.In[0]
	}
	return name == g.In[1].Name || slices.ContainsFunc(g.Inits, func(t *proto.Tensor) bool { return t.Name == name })
}

// loop is a Loop that is being unrolled.
type loop struct {
	body    *body
	trips   int64
	bounded bool // trips is the most there may be
	goes    bool // the condition before the next trip
	state   []operand
	rows    [][]proto.Name // what each trip gives besides, by output
}

// loop reads the inputs of a Loop.
func (s *site) loop(b *body) (*loop, error) {
	l := &loop{body: b, state: make([]operand, max(0, len(s.q.In)-2)), bounded: s.has(0), goes: true}
	for i := range l.state {
		if l.state[i] = (operand{s.arg(i + 2), s.seqs[i+2]}); l.state[i].name == (proto.Name{}) && l.state[i].seq == nil {
			return nil, fault.New(fault.File, "input %d is missing", i+2)
		}
	}
	scans := len(b.g.Out) - 1 - len(l.state)
	if scans < 0 || len(s.q.Out) > len(l.state)+scans {
		return nil, fault.New(fault.File, "attribute body: %d outputs for %d carried values and a node with %d outputs",
			len(b.g.Out), len(l.state), len(s.q.Out))
	}
	l.rows = make([][]proto.Name, scans)
	if l.bounded {
		v, ok := s.known(0)
		if !ok || len(v) != 1 {
			return nil, fault.New(fault.Shape, "input 0: want one number, got %v", s.fact(s.arg(0)).Shape)
		}
		l.trips = v[0]
	}
	if s.has(1) {
		v, ok := s.known(1)
		if !ok || len(v) != 1 {
			return nil, fault.New(fault.Shape, "input 1: want one condition, got %v", s.fact(s.arg(1)).Shape)
		}
		l.goes = v[0] != 0
	}
	return l, nil
}

// trip expands the body once and finds the condition before the next trip.
func (s *site) trip(l *loop, trip int64) error {
	number, err := s.constant("value_int", proto.Attribute{I: trip})
	if err != nil {
		return err
	}
	yes, err := s.constant("value", proto.Attribute{T: yesTensor})
	if err != nil {
		return err
	}
	out, err := s.once(l.body, append([]operand{{name: number}, {name: yes}}, l.state...))
	if err != nil {
		return fault.Wrap(err, "attribute body: trip %d", trip)
	}
	if s.into.Missing() {
		return nil
	}
	c, ok := s.fact(out[0].name).KnownInts()
	if out[0].seq != nil || !ok || len(c) != 1 {
		return fault.New(fault.Unsupported, "attribute body: the condition after trip %d is not known when the model is "+
			"read; the loop uses sequences", trip)
	}
	l.goes = c[0] != 0
	copy(l.state, out[1:])
	for i := range l.rows {
		o := out[1+len(l.state)+i]
		if o.seq != nil {
			return fault.New(fault.Unsupported, "attribute body: output %d is a sequence, and is no carried value",
				1+len(l.state)+i)
		}
		l.rows[i] = append(l.rows[i], o.name)
	}
	return nil
}
