package expand

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// pass replaces nodes of some kinds by others.
type pass struct {
	name string
	// takes reports whether the pass may replace p.
	takes func(e *Expander, p *proto.Node) bool
	// call says that what it takes is no operator.
	call bool
	// rewrite replaces the node of s, and is false when it stays as it is.
	rewrite func(s *site) (bool, error)
}

// Expander expands the graphs of a model.
type Expander struct {
	functions map[string]*proto.Function
	passes    []pass
	nodes     int // instances, and what else counts against the limit of nodes
	items     int // values of sequences, counted against maxItems
	calls     int // functions being expanded, to stop recursion
	repeats   int // bodies being expanded that may be expanded again
	frames    int
}

// count counts nodes, and what functions, unrolled bodies and sequences make or repeat, against the limit of nodes.
func (e *Expander) count(n int) error {
	if e.nodes += n; e.nodes > proto.MaxNodes {
		return fault.New(fault.File, "functions, loops and sequences expand to more than %d nodes", proto.MaxNodes)
	}
	return nil
}

// function returns the function of the model that p calls, nil when p is an operator.
func (e *Expander) function(p *proto.Node) *proto.Function {
	if len(e.functions) == 0 {
		return nil
	}
	return e.functions[functionKey(p.Domain, p.OpType, p.Overload)]
}

// take returns the pass that decides about p, nil for none.
func (e *Expander) take(p *proto.Node) *pass {
	for i := range e.passes {
		if e.passes[i].takes(e, p) {
			return &e.passes[i]
		}
	}
	return nil
}

func functionKey(domain, name, overload string) string {
	return domain + "\x00" + name + "\x00" + overload
}

// site is a node that is being expanded.
type site struct {
	*Expander
	f     *frame
	q     *proto.Instance
	into  Sink
	own   *frame      // of its expansion, nil as long as there is none
	seqs  []*sequence // inputs that are sequences, nil for the others
	given []bool      // outputs that are known
}

// number makes f a frame of its own.
func (e *Expander) number(f *frame) *frame {
	e.frames++
	f.id, f.names = e.frames, map[string]proto.Name{}
	return f
}

// sequence returns the sequence that a name stands for, nil when it stands for something else. A body counts the values
// of one of the graph around it when it first reads it.
func (e *Expander) sequence(f *frame, name string) (*sequence, error) {
	if s := f.seqs[name]; s != nil || name == "" || f.around == nil {
		return s, nil
	}
	if _, own := f.names[name]; own {
		return nil, nil
	}
	s, err := e.sequence(f.around, name)
	if err != nil || s == nil || !f.body {
		return s, err
	}
	if err := e.count(len(s.items)); err != nil {
		return nil, err
	}
	f.keep(name, s)
	return s, nil
}

// The limits of sequences: values in one, and values in all lists that a model's operators make and join. Values that
// are made for them count as nodes.
const (
	maxSequence = 1 << 16
	maxItems    = 1 << 22
)

// countItems counts values of sequences against the limits.
func (e *Expander) countItems(n int) error {
	if n > maxSequence {
		return fault.New(fault.File, "a sequence of %d values; at most %d", n, maxSequence)
	}
	if e.items += n; e.items > maxItems {
		return fault.New(fault.File, "the sequences of the model have more than %d values", maxItems)
	}
	return nil
}
