package expand

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
)

// takesBranch: an If.
func takesBranch(_ *Expander, p *proto.Node) bool { return p.Domain == "" && p.OpType == "If" }

// rewriteBranch replaces an If whose condition is known by the branch that is taken. The other one need not be valid
// for these sizes.
func rewriteBranch(s *site) (bool, error) {
	if err := s.read(false); err != nil {
		return true, err
	}
	if err := s.want(1, 1); err != nil {
		return true, err
	}
	c, ok := s.known(0)
	if !ok || len(c) != 1 {
		return false, nil
	}
	name, other := "else_branch", "then_branch"
	if c[0] != 0 {
		name, other = other, name
	}
	if a := s.q.Attrs[other]; a != nil && a.G != nil {
		if err := s.checkForms(a.G.Nodes); err != nil {
			return true, fault.Wrap(err, "attribute %s", other)
		}
	}
	b, err := s.body(name)
	if err != nil {
		return true, err
	}
	if len(b.g.In) > 0 || len(b.g.Out) != len(s.q.Out) {
		return true, fault.New(fault.File, "attribute %s: %d inputs, %d outputs for a node with %d", name, len(b.g.In),
			len(b.g.Out), len(s.q.Out))
	}
	out, err := s.once(b, nil)
	if err != nil {
		return true, fault.Wrap(err, "attribute %s", name)
	}
	for i, o := range out {
		if err := s.give(i, o); err != nil {
			return true, err
		}
	}
	return s.done()
}
