package expand

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/tensor"
)

// sequenceOps are the operators that make and read sequences.
var sequenceOps = map[string]struct {
	takes   bool // inputs may be sequences
	rewrite func(s *site) error
}{
	"ConcatFromSequence": {true, rewriteConcat},
	"SequenceAt":         {true, rewriteAt},
	"SequenceConstruct":  {false, rewriteConstruct},
	"SequenceEmpty":      {false, rewriteEmpty},
	"SequenceErase":      {true, rewriteErase},
	"SequenceInsert":     {true, rewriteInsert},
	"SequenceLength":     {true, rewriteLength},
	"SplitToSequence":    {false, rewriteSplit},
}

// takesSequence: an operator of sequences, and an Identity, which may be one.
func takesSequence(_ *Expander, p *proto.Node) bool {
	_, is := sequenceOps[p.OpType]
	return p.Domain == "" && (is || p.OpType == "Identity")
}

// rewriteSequence replaces an operator of sequences by those of the values in them, or by none.
func rewriteSequence(s *site) (bool, error) {
	o, is := sequenceOps[s.q.OpType]
	if err := s.read(o.takes || !is); err != nil {
		return true, err
	}
	if !is { // an Identity: of a sequence, the sequence
		if len(s.seqs) != 1 || s.seqs[0] == nil {
			return false, nil
		}
		if err := s.give(0, operand{seq: s.seqs[0]}); err != nil {
			return true, err
		}
		return s.done()
	}
	if err := o.rewrite(s); err != nil {
		return true, err
	}
	return s.done()
}

// position reads input i: a place in a sequence that has count of them, negative ones counting from length; otherwise
// where it is not given.
func (s *site) position(i, length, count, otherwise int) (int, error) {
	if !s.has(i) {
		if count < 1 {
			return 0, fault.New(fault.File, "input 0: the sequence is empty")
		}
		return otherwise, nil
	}
	name, err := s.single(i)
	if err != nil {
		return 0, err
	}
	at, ok := s.fact(name).KnownInts()
	if !ok {
		return 0, fault.New(fault.Unsupported, "input %d: the position in a sequence is not known when the model is read", i)
	}
	if len(at) != 1 {
		return 0, fault.New(fault.File, "input %d: want one position, got %d", i, len(at))
	}
	p := at[0]
	if p < 0 {
		p += int64(length)
	}
	if p < 0 || p >= int64(count) {
		return 0, fault.New(fault.File, "input %d: position %d in a sequence of %d", i, at[0], length)
	}
	return int(p), nil
}

// with returns seq with a value before position at.
func (s *site) with(seq *sequence, at int, value *proto.Name) (*sequence, error) {
	if err := s.countItems(len(seq.items) + 1); err != nil {
		return nil, err
	}
	d := s.fact(*value).DType
	if seq.dtype != tensor.Invalid && d != tensor.Invalid && d != seq.dtype {
		return nil, fault.New(fault.Type, "a sequence of %v, a value of %v", seq.dtype, d)
	}
	if d == tensor.Invalid {
		d = seq.dtype
	}
	return &sequence{d, slices.Concat(seq.items[:at], []*proto.Name{value}, seq.items[at:])}, nil
}

func rewriteEmpty(s *site) error {
	d := tensor.Float32
	if n := s.int("dtype", 0); n != 0 {
		var err error
		if d, err = proto.DTypeOf(n); err != nil {
			return fault.Wrap(err, "attribute dtype")
		}
	}
	return s.give(0, operand{seq: &sequence{dtype: d}})
}

func rewriteConstruct(s *site) error {
	if len(s.q.In) == 0 {
		return fault.New(fault.File, "want 1 input or more, got 0")
	}
	if err := s.countItems(len(s.q.In)); err != nil {
		return err
	}
	seq := &sequence{}
	for i := range s.q.In {
		v, err := s.single(i)
		if err != nil {
			return err
		}
		d := s.fact(v).DType
		if seq.dtype != tensor.Invalid && d != tensor.Invalid && d != seq.dtype {
			return fault.New(fault.Type, "input %d: a sequence of %v, a value of %v", i, seq.dtype, d)
		}
		if d != tensor.Invalid {
			seq.dtype = d
		}
		seq.items = append(seq.items, &s.q.In[i])
	}
	return s.give(0, operand{seq: seq})
}

// rewriteInsert: without a position at the end.
func rewriteInsert(s *site) error {
	if err := s.want(2, 3); err != nil {
		return err
	}
	seq, err := s.seq(0)
	if err != nil {
		return err
	}
	if _, err := s.single(1); err != nil {
		return err
	}
	at, err := s.position(2, len(seq.items), len(seq.items)+1, len(seq.items))
	if err != nil {
		return err
	}
	longer, err := s.with(seq, at, &s.q.In[1])
	if err != nil {
		return err
	}
	return s.give(0, operand{seq: longer})
}

// rewriteErase: without a position the last.
func rewriteErase(s *site) error {
	if err := s.want(1, 2); err != nil {
		return err
	}
	seq, err := s.seq(0)
	if err != nil {
		return err
	}
	at, err := s.position(1, len(seq.items), len(seq.items), len(seq.items)-1)
	if err != nil {
		return err
	}
	if err := s.countItems(len(seq.items)); err != nil {
		return err
	}
	return s.give(0, operand{seq: &sequence{seq.dtype, slices.Concat(seq.items[:at], seq.items[at+1:])}})
}

func rewriteAt(s *site) error {
	if err := s.want(2, 2); err != nil {
		return err
	}
	seq, err := s.seq(0)
	if err != nil {
		return err
	}
	at, err := s.position(1, len(seq.items), len(seq.items), 0)
	if err != nil {
		return err
	}
	return s.give(0, operand{name: *seq.items[at]})
}

func rewriteLength(s *site) error {
	if err := s.want(1, 1); err != nil {
		return err
	}
	seq, err := s.seq(0)
	if err != nil {
		return err
	}
	n, err := s.constant("value_int", proto.Attribute{I: int64(len(seq.items))})
	if err != nil {
		return err
	}
	return s.give(0, operand{name: n})
}

// rewriteConcat: along an axis that the values have, or with new_axis along one that the result has in addition.
func rewriteConcat(s *site) error {
	if err := s.want(1, 1); err != nil {
		return err
	}
	seq, err := s.seq(0)
	if err != nil {
		return err
	}
	if s.q.Attrs["axis"] == nil {
		return fault.New(fault.File, "attribute axis is missing")
	}
	if len(seq.items) == 0 {
		return fault.New(fault.File, "input 0: the sequence is empty")
	}
	if err := s.countItems(len(seq.items)); err != nil {
		return err
	}
	axis := s.int("axis", 0)
	if s.int("new_axis", 0) == 0 {
		if err := s.join(s.q.Name, seq.names(), axis, s.q.Out...); err != nil {
			return err
		}
		return s.made(0)
	}
	joined := s.temporary()
	if err := s.stack(seq.names(), axis, joined); err != nil {
		return err
	}
	return s.give(0, operand{name: joined})
}
