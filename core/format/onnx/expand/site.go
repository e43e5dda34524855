package expand

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/tensor"
)

// operand returns what a name of f stands for. It fails when nothing makes the value.
func (s *site) operand(f *frame, name string) (operand, error) {
	seq, err := s.sequence(f, name)
	if err != nil || seq != nil {
		return operand{seq: seq}, err
	}
	o := operand{name: f.Resolve(name)}
	_, err = s.into.Fact(o.name)
	return o, err
}

// read finds the inputs of the node. Where sequences are not taken, one of them is an error.
func (s *site) read(sequences bool) error {
	s.seqs, s.given = make([]*sequence, len(s.q.In)), make([]bool, len(s.q.Out))
	for i, name := range s.q.Node.In {
		var err error
		if sequences {
			var o operand
			o, err = s.operand(s.f, name)
			s.seqs[i] = o.seq
		} else {
			_, err = s.into.Fact(s.q.In[i])
		}
		if err != nil {
			return fault.Wrap(err, "input %d", i)
		}
	}
	return nil
}

// has reports whether input i is given.
func (s *site) has(i int) bool { return i < len(s.q.In) && s.q.Node.In[i] != "" }

// arg is the name of input i, the zero Name where it is absent or a sequence.
func (s *site) arg(i int) proto.Name {
	if i < len(s.q.In) && s.seqs[i] == nil {
		return s.q.In[i]
	}
	return proto.Name{}
}

// fact returns what is known of a value that there is.
func (s *site) fact(name proto.Name) tensor.Fact {
	f, _ := s.into.Fact(name) // was found before
	return f
}

// known returns the integers of input i, if all are known.
func (s *site) known(i int) ([]int64, bool) { return s.fact(s.arg(i)).KnownInts() }

// want checks the number of inputs.
func (s *site) want(lo, hi int) error {
	in := s.q.Node.In
	if len(in) < lo || len(in) > hi {
		return fault.New(fault.File, "want %s, got %d", fault.Numbers(lo, hi, "input"), len(in))
	}
	for i := range lo {
		if in[i] == "" {
			return fault.New(fault.File, "input %d is missing", i)
		}
	}
	return nil
}

// seq returns input i, which must be a sequence.
func (s *site) seq(i int) (*sequence, error) {
	if i < len(s.seqs) && s.seqs[i] != nil {
		return s.seqs[i], nil
	}
	return nil, fault.New(fault.File, "input %d: want a sequence", i)
}

// single returns input i, which must be a tensor.
func (s *site) single(i int) (proto.Name, error) {
	if name := s.arg(i); name != (proto.Name{}) {
		return name, nil
	}
	return proto.Name{}, fault.New(fault.File, "input %d: want a tensor", i)
}

func (s *site) int(name string, otherwise int64) int64 {
	if a := s.q.Attrs[name]; a != nil {
		return a.I
	}
	return otherwise
}

// temporary returns a name that nothing else has.
func (s *site) temporary() proto.Name {
	s.frames++
	return proto.Name{Frame: s.frames}
}

// emit gives a node to the sink that has the place of the one that is expanded.
func (s *site) emit(name, op string, attrs map[string]*proto.Attribute, in []proto.Name,
	out ...proto.Name) error {
	p := &proto.Node{Name: name, OpType: op, Attrs: attrs, In: texts(in), Out: texts(out), Index: s.q.Index}
	if s.own == nil {
		s.own = &frame{expanded: true, around: s.f, version: s.f.version}
	}
	return s.into.Node(&proto.Instance{Node: p, In: in, Out: out, Frame: s.own})
}

// texts are names as the file has them; what has none there has one nevertheless.
func texts(names []proto.Name) []string {
	list := make([]string, len(names))
	for i, name := range names {
		if list[i] = name.Text; name.Frame != 0 && name.Text == "" {
			list[i] = "_"
		}
	}
	return list
}

// constant gives a constant to the sink and returns its name.
func (s *site) constant(attribute string, a proto.Attribute) (proto.Name, error) {
	out := s.temporary()
	return out, s.emit("", "Constant", map[string]*proto.Attribute{attribute: &a}, nil, out)
}

// join joins values along an axis, and stack along one that they do not have.
func (s *site) join(name string, values []proto.Name, axis int64, out ...proto.Name) error {
	return s.emit(name, "Concat", map[string]*proto.Attribute{"axis": {I: axis}}, values, out...)
}

func (s *site) stack(values []proto.Name, axis int64, out proto.Name) error {
	if err := s.count(len(values)); err != nil {
		return err
	}
	at, err := s.constant("value_ints", proto.Attribute{Ints: []int64{axis}})
	if err != nil {
		return err
	}
	rows := make([]proto.Name, len(values))
	for k, v := range values {
		rows[k] = s.temporary()
		if err := s.emit("", "Unsqueeze", nil, []proto.Name{v, at}, rows[k]); err != nil {
			return err
		}
	}
	return s.join("", rows, axis, out)
}

// made says that output i is known.
func (s *site) made(i int) error {
	s.given[i] = true
	return s.f.define(s.q.Node.Out[i])
}

// give makes o output i: a value as one of its own, so that its name does not become another's.
func (s *site) give(i int, o operand) error {
	if i >= len(s.q.Out) {
		return nil
	}
	s.given[i] = true
	name := s.q.Node.Out[i]
	switch {
	case name == "":
		return nil
	case o.seq == nil:
		if err := s.emit("", "Identity", nil, []proto.Name{o.name}, s.q.Out[i]); err != nil {
			return err
		}
		return s.f.define(name)
	}
	return s.f.defineSequence(name, o.seq, s.into)
}

// defineSequence is define for a sequence.
func (f *frame) defineSequence(name string, seq *sequence, into Sink) error {
	if err := into.Sequence(f.Own(name)); err != nil {
		return err
	}
	f.keep(name, seq)
	return f.define(name)
}

// done says that the node is replaced.
func (s *site) done() (bool, error) {
	if s.into.Missing() {
		return true, nil
	}
	if err := s.into.Replaced(s.q); err != nil {
		return true, err
	}
	for i, name := range s.q.Node.Out {
		if name != "" && !s.given[i] {
			return true, fault.New(fault.Unsupported, "output %d is not computed", i)
		}
	}
	return true, nil
}
