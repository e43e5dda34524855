package expand

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/tensor"
)

// takesMap: a SequenceMap.
func takesMap(_ *Expander, p *proto.Node) bool { return p.Domain == "" && p.OpType == "SequenceMap" }

// rewriteMap replaces a SequenceMap by its body once per position of the sequences, which all have one length; tensors
// are given to each whole.
func rewriteMap(s *site) (bool, error) {
	if err := s.read(true); err != nil {
		return true, err
	}
	first, err := s.seq(0)
	if err != nil {
		return true, err
	}
	b, err := s.body("body")
	if err != nil {
		return true, err
	}
	if len(b.g.Out) < len(s.q.Out) {
		return true, fault.New(fault.File, "attribute body: %d outputs for a node with %d", len(b.g.Out), len(s.q.Out))
	}
	for i, seq := range s.seqs {
		if seq != nil && len(seq.items) != len(first.items) {
			return true, fault.New(fault.File, "input %d: a sequence of %d beside one of %d", i, len(seq.items),
				len(first.items))
		}
	}
	made := make([]*sequence, len(b.g.Out))
	for k, o := range b.g.Out {
		d, err := proto.DTypeOf(o.DType)
		if err != nil || len(first.items) > 0 { // not declared, or declared as something else than the body gives
			d = tensor.Invalid
		}
		made[k] = &sequence{dtype: d}
	}
	for at := range first.items {
		if err := s.element(b, at, made); err != nil || s.into.Missing() {
			return true, err
		}
	}
	for k, seq := range made {
		if err := s.give(k, operand{seq: seq}); err != nil {
			return true, err
		}
	}
	return s.done()
}

// element expands the body for the values at a position and adds what it gives to the sequences made.
func (s *site) element(b *body, at int, made []*sequence) error {
	in := make([]operand, len(s.q.In))
	for i := range in {
		if in[i].name = s.arg(i); s.seqs[i] != nil {
			in[i].name = *s.seqs[i].items[at]
		}
	}
	out, err := s.once(b, in)
	if err != nil {
		return fault.Wrap(err, "attribute body: position %d", at)
	}
	if s.into.Missing() {
		return nil
	}
	if err := s.countItems(len(out)); err != nil {
		return err
	}
	for k, o := range out {
		if o.seq != nil {
			return fault.New(fault.File, "attribute body: output %d is a sequence", k)
		}
		if d := s.fact(o.name).DType; d != tensor.Invalid {
			made[k].dtype = d
		}
		made[k].items = append(made[k].items, &out[k].name)
	}
	return nil
}
