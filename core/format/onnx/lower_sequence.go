package onnx

import (
	"slices"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// The limits of sequences: values in one, and values in all lists that a model's operators make and join. Values that
// are made for them count as nodes.
const (
	maxSequence = 1 << 16
	maxItems    = 1 << 22
)

// sequence is a value of a sequence type, as a list of the graph's values: its length and every position are known when
// the model is read. It is never changed.
type sequence struct {
	dtype tensor.DType // of its values; Invalid where not known
	items []graph.Value
}

// takesSequence names the operators that have inputs of a sequence type.
var takesSequence = map[string]bool{"ConcatFromSequence": true, "Identity": true, "Loop": true, "SequenceAt": true,
	"SequenceErase":  true,
	"SequenceInsert": true, "SequenceLength": true, "SequenceMap": true}

func init() {
	add(map[string]lowering{
		"ConcatFromSequence": lowerConcatFromSequence,
		"Identity":           lowerIdentity,
		"SequenceAt":         lowerSequenceAt,
		"SequenceConstruct":  lowerSequenceConstruct,
		"SequenceEmpty":      lowerSequenceEmpty,
		"SequenceErase":      lowerSequenceErase,
		"SequenceInsert":     lowerSequenceInsert,
		"SequenceLength":     lowerSequenceLength,
		"SequenceMap":        lowerSequenceMap,
		"SplitToSequence":    lowerSplitToSequence,
	})
}

// sequence returns the sequence that a name stands for, nil when it stands for something else. The values of one of an
// enclosing graph become inputs of this graph.
func (sc *scope) sequence(name string) (*sequence, error) {
	if s := sc.seqs[name]; s != nil || name == "" {
		return s, nil
	}
	if _, own := sc.values[name]; own || sc.inits[name] != nil {
		return nil, nil
	}
	if sc.around != nil {
		return sc.around.sequence(name)
	}
	if sc.parent == nil {
		return nil, nil
	}
	outer, err := sc.parent.sequence(name)
	if err != nil || outer == nil {
		return nil, err
	}
	if err := sc.im.count(len(outer.items)); err != nil {
		return nil, err
	}
	own := &sequence{outer.dtype, make([]graph.Value, len(outer.items))}
	for i, v := range outer.items {
		own.items[i] = sc.capture(name, v)
	}
	sc.keep(name, own)
	return own, nil
}

// keep makes name stand for s.
func (sc *scope) keep(name string, s *sequence) {
	if sc.seqs == nil {
		sc.seqs = map[string]*sequence{}
	}
	sc.seqs[name] = s
}

// countItems counts values of sequences against the limits.
func (im *importer) countItems(n int) error {
	if n > maxSequence {
		return fault.New(fault.File, "a sequence of %d values; at most %d", n, maxSequence)
	}
	if im.items += n; im.items > maxItems {
		return fault.New(fault.File, "the sequences of the model have more than %d values", maxItems)
	}
	return nil
}

// seq returns input i, which must be a sequence.
func (n *node) seq(i int) (*sequence, error) {
	if i < len(n.seqs) && n.seqs[i] != nil {
		return n.seqs[i], nil
	}
	return nil, fault.New(fault.File, "input %d: want a sequence", i)
}

// single returns input i, which must be a tensor.
func (n *node) single(i int) (graph.Value, error) {
	if v := n.arg(i); v != graph.None {
		return v, nil
	}
	return graph.None, fault.New(fault.File, "input %d: want a tensor", i)
}

// position reads input i: a place in a sequence that has count of them, negative ones counting from length; otherwise
// where it is not given.
func (n *node) position(i, length, count, otherwise int) (int, error) {
	if !n.has(i) {
		if count < 1 {
			return 0, fault.New(fault.File, "input 0: the sequence is empty")
		}
		return otherwise, nil
	}
	v, err := n.single(i)
	if err != nil {
		return 0, err
	}
	at, ok := n.b.Fact(v).KnownInts()
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

// with returns s with v before position at.
func (n *node) with(s *sequence, at int, v graph.Value) (*sequence, error) {
	if err := n.im.countItems(len(s.items) + 1); err != nil {
		return nil, err
	}
	d := n.b.Fact(v).DType
	if s.dtype != tensor.Invalid && d != tensor.Invalid && d != s.dtype {
		return nil, fault.New(fault.Type, "a sequence of %v, a value of %v", s.dtype, d)
	}
	if d == tensor.Invalid {
		d = s.dtype
	}
	return &sequence{d, slices.Concat(s.items[:at], []graph.Value{v}, s.items[at:])}, nil
}

// lowerIdentity: of a sequence, the sequence.
func lowerIdentity(n *node) error {
	if len(n.seqs) == 1 && n.seqs[0] != nil {
		n.give(0, operand{seq: n.seqs[0]})
		return nil
	}
	return n.emit(&op.Identity{}, n.in...)
}

func lowerSequenceEmpty(n *node) error {
	d, err := n.dtype("dtype")
	if err != nil {
		return err
	}
	if d == tensor.Invalid {
		d = tensor.Float32
	}
	n.give(0, operand{seq: &sequence{dtype: d}})
	return nil
}

func lowerSequenceConstruct(n *node) error {
	if len(n.in) == 0 {
		return fault.New(fault.File, "want 1 input or more, got 0")
	}
	if err := n.im.countItems(len(n.in)); err != nil {
		return err
	}
	s := &sequence{}
	for i := range n.in {
		v, err := n.single(i)
		if err != nil {
			return err
		}
		d := n.b.Fact(v).DType
		if s.dtype != tensor.Invalid && d != tensor.Invalid && d != s.dtype {
			return fault.New(fault.Type, "input %d: a sequence of %v, a value of %v", i, s.dtype, d)
		}
		if d != tensor.Invalid {
			s.dtype = d
		}
		s.items = append(s.items, v)
	}
	n.give(0, operand{seq: s})
	return nil
}

// lowerSequenceInsert: without a position at the end.
func lowerSequenceInsert(n *node) error {
	if err := n.want(2, 3); err != nil {
		return err
	}
	s, err := n.seq(0)
	if err != nil {
		return err
	}
	v, err := n.single(1)
	if err != nil {
		return err
	}
	at, err := n.position(2, len(s.items), len(s.items)+1, len(s.items))
	if err != nil {
		return err
	}
	longer, err := n.with(s, at, v)
	n.give(0, operand{v: graph.None, seq: longer})
	return err
}

// lowerSequenceErase: without a position the last.
func lowerSequenceErase(n *node) error {
	if err := n.want(1, 2); err != nil {
		return err
	}
	s, err := n.seq(0)
	if err != nil {
		return err
	}
	at, err := n.position(1, len(s.items), len(s.items), len(s.items)-1)
	if err != nil {
		return err
	}
	if err := n.im.countItems(len(s.items)); err != nil {
		return err
	}
	n.give(0, operand{seq: &sequence{s.dtype, slices.Concat(s.items[:at], s.items[at+1:])}})
	return nil
}

func lowerSequenceAt(n *node) error {
	if err := n.want(2, 2); err != nil {
		return err
	}
	s, err := n.seq(0)
	if err != nil {
		return err
	}
	at, err := n.position(1, len(s.items), len(s.items), 0)
	if err != nil {
		return err
	}
	n.give(0, operand{v: s.items[at]})
	return n.b.Err()
}

func lowerSequenceLength(n *node) error {
	if err := n.want(1, 1); err != nil {
		return err
	}
	s, err := n.seq(0)
	if err != nil {
		return err
	}
	n.give(0, operand{v: n.b.Const("", tensor.T(tensor.Int64), tensor.Int64s(int64(len(s.items))))})
	return n.b.Err()
}

// lowerConcatFromSequence: along an axis that the values have, or with new_axis along one that the result has in
// addition.
func lowerConcatFromSequence(n *node) error {
	if err := n.want(1, 1); err != nil {
		return err
	}
	s, err := n.seq(0)
	if err != nil {
		return err
	}
	if n.p.Attrs["axis"] == nil {
		return fault.New(fault.File, "attribute axis is missing")
	}
	if len(s.items) == 0 {
		return fault.New(fault.File, "input 0: the sequence is empty")
	}
	if err := n.im.countItems(len(s.items)); err != nil {
		return err
	}
	axis := n.int("axis", 0)
	if n.int("new_axis", 0) == 0 {
		return n.emit(&op.Concat{Axis: axis}, slices.Clone(s.items)...)
	}
	v, err := n.stacked(s.items, axis)
	if err != nil {
		return err
	}
	n.give(0, operand{v: v})
	return n.b.Err()
}

// stacked joins values along an axis that they do not have.
func (n *node) stacked(values []graph.Value, axis int64) (graph.Value, error) {
	if err := n.im.count(len(values)); err != nil {
		return graph.None, err
	}
	at := n.b.Int64s(axis)
	rows := make([]graph.Value, len(values))
	for i, v := range values {
		rows[i] = n.b.Add(&op.Unsqueeze{}, v, at)
	}
	return n.b.Add(&op.Concat{Axis: axis}, rows...), n.b.Err()
}

// lowerSplitToSequence: without sizes pieces of size 1, whose dimension keepdims keeps; a single number is the size of
// all pieces, of which the last may be smaller.
func lowerSplitToSequence(n *node) error {
	if err := n.want(1, 2); err != nil {
		return err
	}
	if _, err := n.single(0); err != nil {
		return err
	}
	r, err := n.rank(0)
	if err != nil {
		return err
	}
	x, f := n.arg(0), n.fact(0)
	axis, err := op.Axis(n.int("axis", 0), r)
	if err != nil {
		return err
	}
	size := f.Shape.Dims[axis]
	sizes, pieces, rank := n.arg(1), int64(0), 0
	split := &op.Split{Axis: int64(axis)}
	if n.has(1) {
		if _, err := n.single(1); err != nil {
			return err
		}
		rank = n.fact(1).Shape.Rank()
	}
	switch {
	case rank == 1:
		d := n.fact(1).Shape.Dims[0]
		if !d.Known() {
			return fault.New(fault.Unsupported, "input 1: how many pieces there are is not known when the model is read")
		}
		pieces = d.N
		if v, ok := n.fact(1).KnownInts(); ok && slices.ContainsFunc(v, func(s int64) bool { return s < 0 }) {
			return fault.New(fault.File, "input 1: sizes %v", v)
		}
		if pieces == 0 && (!size.Known() || size.N != 0) {
			return fault.New(fault.Shape, "input 1: no pieces of a dimension of size %v", size)
		}
	case !size.Known():
		return fault.New(fault.Unsupported, "input 0: the size of dimension %d is not known when the model is read", axis)
	default:
		each := int64(1)
		if n.has(1) {
			v, ok := n.fact(1).KnownInts()
			if !ok || rank != 0 {
				return fault.New(fault.Unsupported, "input 1: the size of the pieces is not known when the model is read")
			}
			each = v[0]
		}
		if each < 1 {
			return fault.New(fault.File, "input 1: pieces of size %d", each)
		}
		if pieces = (size.N-1)/each + 1; size.N == 0 {
			pieces = 0
		}
		if split.Ragged = pieces > 0 && (size.N-1)/pieces+1 == each; split.Ragged { // what Split does without sizes
			sizes = graph.None
		} else if pieces <= maxSequence {
			list := slices.Repeat([]int64{each}, int(pieces))
			if pieces > 0 {
				list[pieces-1] = size.N - (pieces-1)*each
			}
			sizes = n.b.Int64s(list...)
		}
	}
	if pieces > maxSequence {
		return fault.New(fault.File, "a sequence of %d values; at most %d", pieces, maxSequence)
	}
	squeezed := !n.has(1) && n.int("keepdims", 1) == 0
	made := int(pieces)
	if squeezed {
		made *= 2
	}
	if err := n.im.count(made); err != nil {
		return err
	}
	s := &sequence{dtype: f.DType}
	given := []graph.Value{x, sizes}
	if sizes == graph.None {
		given = given[:1]
	}
	if pieces > 0 {
		s.items = n.b.AddTyped(split, n.p.Name, make([]tensor.Type, pieces), given...)
	}
	if err := n.b.Err(); err != nil {
		return err
	}
	if squeezed {
		at := n.b.Int64s(int64(axis))
		s.items = slices.Clone(s.items) // the graph's own list until here
		for i, v := range s.items {
			s.items[i] = n.b.Add(&op.Squeeze{}, v, at)
		}
	}
	n.give(0, operand{seq: s})
	return n.b.Err()
}

// lowerSequenceMap lowers the body once per position of the sequences, which all have one length; tensors are given to
// each whole.
func lowerSequenceMap(n *node) error {
	first, err := n.seq(0)
	if err != nil {
		return err
	}
	l, err := n.inlined("body")
	if err != nil {
		return err
	}
	if len(l.g.Out) < len(n.out) {
		return fault.New(fault.File, "attribute body: %d outputs for a node with %d", len(l.g.Out), len(n.out))
	}
	for i, s := range n.seqs {
		if s != nil && len(s.items) != len(first.items) {
			return fault.New(fault.File, "input %d: a sequence of %d beside one of %d", i, len(s.items), len(first.items))
		}
	}
	made := make([]*sequence, len(l.g.Out))
	for k, o := range l.g.Out {
		d, err := proto.DTypeOf(o.DType)
		if err != nil { // not declared, or declared as something else than the body gives
			d = tensor.Invalid
		}
		if made[k] = (&sequence{dtype: d}); len(first.items) > 0 {
			made[k].dtype = tensor.Invalid
		}
	}
	for at := range first.items {
		in := make([]operand, len(n.in))
		for i := range in {
			if in[i].v = n.in[i]; n.seqs[i] != nil {
				in[i].v = n.seqs[i].items[at]
			}
		}
		out, err := l.once(in)
		if err != nil {
			return fault.Wrap(err, "attribute body: position %d", at)
		}
		if len(n.im.missing) > 0 {
			return nil
		}
		if err := n.im.countItems(len(out)); err != nil {
			return err
		}
		for k, o := range out {
			if o.seq != nil {
				return fault.New(fault.File, "attribute body: output %d is a sequence", k)
			}
			if d := n.b.Fact(o.v).DType; d != tensor.Invalid {
				made[k].dtype = d
			}
			made[k].items = append(made[k].items, o.v)
		}
	}
	for k, s := range made {
		n.give(k, operand{seq: s})
	}
	return n.b.Err()
}
