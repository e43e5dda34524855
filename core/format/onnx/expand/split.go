package expand

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// pieces replaces a SplitToSequence.
type pieces struct {
	count  int64
	input  proto.Name // the sizes as a value
	sizes  []int64    // the sizes where they are made here, nil for none
	ragged bool       // all of one size but the last, as Split makes them
}

// rewriteSplit: without sizes pieces of size 1, whose dimension keepdims keeps; a single number is the size of all
// pieces, of which the last may be smaller.
func rewriteSplit(s *site) error {
	if err := s.want(1, 2); err != nil {
		return err
	}
	if _, err := s.single(0); err != nil {
		return err
	}
	x, err := s.ranked(0)
	if err != nil {
		return err
	}
	f := s.fact(x)
	axis, err := op.Axis(s.int("axis", 0), f.Shape.Rank())
	if err != nil {
		return err
	}
	p, err := s.pieces(f.Shape.Dims[axis], axis)
	if err != nil {
		return err
	}
	if p.count > maxSequence {
		return fault.New(fault.File, "a sequence of %d values; at most %d", p.count, maxSequence)
	}
	squeezed := !s.has(1) && s.int("keepdims", 1) == 0
	made := int(p.count)
	if squeezed {
		made *= 2
	}
	if err := s.count(made); err != nil {
		return err
	}
	items, err := s.split(x, axis, p)
	if err != nil {
		return err
	}
	if squeezed {
		if items, err = s.squeeze(items, axis); err != nil {
			return err
		}
	}
	seq := &sequence{dtype: f.DType, items: make([]*proto.Name, len(items))}
	for i := range items {
		seq.items[i] = &items[i]
	}
	return s.give(0, operand{seq: seq})
}

// ranked returns input i with its rank, as the model declares it where nothing else tells.
func (s *site) ranked(i int) (proto.Name, error) {
	name := s.arg(i)
	f := s.fact(name)
	if !f.Shape.Ranked && f.DType.Valid() {
		for at := s.f; at != nil; at = at.around {
			v := at.declared[s.q.Node.In[i]]
			if v == nil {
				continue
			}
			if v.Ranked {
				own := s.temporary()
				if err := s.into.Declare(own, name, len(v.Dims)); err != nil {
					return proto.Name{}, err
				}
				return own, nil
			}
			break
		}
	}
	if !f.Shape.Ranked {
		return proto.Name{}, fault.New(fault.Unsupported, "input %d: its rank is not known", i)
	}
	return name, nil
}

// pieces decides how a dimension of a size is divided.
func (s *site) pieces(size tensor.Dim, axis int) (pieces, error) {
	p, rank := pieces{}, 0
	if s.has(1) {
		name, err := s.single(1)
		if err != nil {
			return p, err
		}
		p.input, rank = name, s.fact(name).Shape.Rank()
	}
	switch {
	case rank == 1:
		d := s.fact(p.input).Shape.Dims[0]
		if !d.Known() {
			return p, fault.New(fault.Unsupported, "input 1: how many pieces there are is not known when the model is read")
		}
		p.count = d.N
		if v, ok := s.known(1); ok && slices.ContainsFunc(v, func(n int64) bool { return n < 0 }) {
			return p, fault.New(fault.File, "input 1: sizes %v", v)
		}
		if p.count == 0 && (!size.Known() || size.N != 0) {
			return p, fault.New(fault.Shape, "input 1: no pieces of a dimension of size %v", size)
		}
		return p, nil
	case !size.Known():
		return p, fault.New(fault.Unsupported, "input 0: the size of dimension %d is not known when the model is read", axis)
	}
	each := int64(1)
	if s.has(1) {
		v, ok := s.known(1)
		if !ok || rank != 0 {
			return p, fault.New(fault.Unsupported, "input 1: the size of the pieces is not known when the model is read")
		}
		each = v[0]
	}
	if each < 1 {
		return p, fault.New(fault.File, "input 1: pieces of size %d", each)
	}
	if p.count = (size.N-1)/each + 1; size.N == 0 {
		p.count = 0
	}
	if p.ragged = p.count > 0 && (size.N-1)/p.count+1 == each; p.ragged { // what Split does without sizes
		p.input = proto.Name{}
	} else if p.count <= maxSequence {
		p.sizes = slices.Repeat([]int64{each}, int(p.count))
		if p.count > 0 {
			p.sizes[p.count-1] = size.N - (p.count-1)*each
		}
	}
	return p, nil
}

// split gives a Split to the sink and returns its results.
func (s *site) split(x proto.Name, axis int, p pieces) ([]proto.Name, error) {
	if p.count == 0 {
		return nil, nil
	}
	attrs := map[string]*proto.Attribute{"axis": {I: int64(axis)}}
	in := []proto.Name{x}
	switch {
	case p.ragged:
		attrs["num_outputs"] = &proto.Attribute{I: p.count}
	case p.sizes != nil:
		attrs["split"] = &proto.Attribute{Ints: p.sizes}
	case p.input != (proto.Name{}):
		in = append(in, p.input)
	}
	items := make([]proto.Name, p.count)
	for i := range items {
		items[i] = s.temporary()
	}
	return items, s.emit(s.q.Name, "Split", attrs, in, items...)
}

// squeeze drops a dimension of size 1 of each value.
func (s *site) squeeze(values []proto.Name, axis int) ([]proto.Name, error) {
	at, err := s.constant("value_ints", proto.Attribute{Ints: []int64{int64(axis)}})
	if err != nil {
		return nil, err
	}
	out := make([]proto.Name, len(values))
	for i, v := range values {
		out[i] = s.temporary()
		if err := s.emit("", "Squeeze", nil, []proto.Name{v, at}, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
