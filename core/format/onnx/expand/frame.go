package expand

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/tensor"
)

// sequence is a value of a sequence type, as a list of names: its length and every position are known when the model is
// read. It is never changed.
type sequence struct {
	dtype tensor.DType // of its values; Invalid where not known
	items []*proto.Name
}

// names returns the names of the values of a sequence.
func (s *sequence) names() []proto.Name {
	list := make([]proto.Name, len(s.items))
	for i, name := range s.items {
		list[i] = *name
	}
	return list
}

// operand is the meaning of a name: a value, or a sequence of values.
type operand struct {
	name proto.Name
	seq  *sequence // nil for a value
}

// frame is a graph, or a call, branch or trip that becomes part of one, with the values of its names.
type frame struct {
	id       int // 0: the main graph, whose names are not kept: they stay as they are
	around   *frame
	body     bool // a graph inside another
	expanded bool // a call, branch or trip
	version  int64
	declared map[string]*proto.ValueInfo
	names    map[string]proto.Name // of the instances that make them, by name in the file
	seqs     map[string]*sequence  // what stands for sequences, by name in the file
}

func (f *frame) Own(name string) proto.Name {
	if name == "" {
		return proto.Name{}
	}
	return proto.Name{Text: name, Frame: f.id}
}

func (f *frame) Around() proto.Frame {
	if f.around == nil {
		return nil
	}
	return f.around
}

func (f *frame) Declared(name string) *proto.ValueInfo { return f.declared[name] }

func (f *frame) Version() int64 { return f.version }

func (f *frame) Expanded() bool { return f.expanded }

// declared are the types that a graph declares for values other than its inputs.
func declared(g *proto.Graph) map[string]*proto.ValueInfo {
	all := make(map[string]*proto.ValueInfo, len(g.Values)+len(g.Out))
	for _, v := range g.Values {
		all[v.Name] = v
	}
	for _, v := range g.Out {
		all[v.Name] = v
	}
	return all
}

// Resolve returns what the instance is called that makes the value of a name.
func (f *frame) Resolve(name string) proto.Name {
	if name == "" {
		return proto.Name{}
	}
	for at := f; ; at = at.around {
		if full, ok := at.names[name]; ok {
			return full
		}
		if at.around == nil {
			return at.Own(name)
		}
	}
}

// instance is p with names as they are in f.
func (f *frame) instance(p *proto.Node) *proto.Instance {
	names := make([]proto.Name, len(p.In)+len(p.Out))
	q := &proto.Instance{Node: p, In: names[:len(p.In):len(p.In)], Out: names[len(p.In):], Frame: f}
	for i, name := range p.In {
		q.In[i] = f.Resolve(name)
	}
	for i, name := range p.Out {
		q.Out[i] = f.Own(name)
	}
	return q
}

// define binds a name to a result of an instance of the frame.
func (f *frame) define(name string) error {
	if name == "" || f.id == 0 {
		return nil
	}
	if _, taken := f.names[name]; taken {
		return fault.New(fault.File, "two values are named %q", name)
	}
	f.names[name] = f.Own(name)
	return nil
}

// keep makes a name stand for a sequence.
func (f *frame) keep(name string, s *sequence) {
	if f.seqs == nil {
		f.seqs = map[string]*sequence{}
	}
	f.seqs[name] = s
}

// bind makes a name of f stand for o, whatever o is called elsewhere.
func (f *frame) bind(name string, o operand, into Sink) error {
	f.names[name] = o.name
	if o.seq == nil {
		return nil
	}
	f.names[name] = f.Own(name)
	if f.seqs[name] != nil { // a parameter that is listed twice
		f.seqs[name] = o.seq
		return nil
	}
	f.keep(name, o.seq)
	return into.Sequence(f.Own(name))
}
