package rknn

import (
	"slices"
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/op"
	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// opTable finds the state of an rknn_custom_op_context by the handle in it: programs may copy the struct.
type opTable struct {
	mu   sync.Mutex
	byID map[uint64]*opState
}

var opStates = opTable{byID: map[uint64]*opState{}}

func newOpState(r CustomOp, node *op.Custom, label string) (*opState, error) {
	s := &opState{registered: r, node: node, label: label, attrs: map[string]*opAttr{}, invoke: callOp}
	id, err := handle.Of(s)
	if err != nil {
		return nil, err
	}
	opStates.mu.Lock()
	defer opStates.mu.Unlock()
	s.id = uint64(id)
	boundary.SetSlice(&s.block, []CustomOpContext{{target: targetCPU, id: s.id}})
	opStates.byID[s.id] = s
	return s, nil
}

// end forgets the state; the program's destroy function, if wanted, was called before.
func (s *opState) end() {
	opStates.mu.Lock()
	defer opStates.mu.Unlock()
	delete(opStates.byID, s.id)
	forget(s)
	for _, a := range s.attrs {
		a.data.Free()
	}
	s.block.Free()
}

// call calls a function of the operator; what says which. 0 stands for no function and succeeds.
func (s *opState) call(what string, function uintptr, in, out *tensorArray) error {
	if function == 0 {
		return nil
	}
	if r := s.invoke(function, s.block.Addr(), in, out); r < 0 {
		return failed("%s: its %s function returned %d [rknn-function-returned]", s.label, what, r)
	}
	return nil
}

// destroy calls the program's destroy function and ends the state.
func (s *opState) destroy() {
	if f := s.registered.destroy; f != 0 {
		if r := callEnd(f, s.block.Addr()); r < 0 {
			warn("operator not destroyed well "+
				"[rknn-operator-destroyed-well]", "operator", s.label, "destroy returned", r)
		}
	}
	s.end()
}

// customOpGetOpAttr gives an attribute of the node that a program's function works for: float32, int64, or the bytes of
// a string as UINT8. The memory stays until the operator is destroyed. An attribute that the node lacks has no
// elements.
func customOpGetOpAttr(ctx *CustomOpContext, name string, attr *CustomOpAttr) error {
	attr.elems, attr.data = 0, 0
	opStates.mu.Lock()
	defer opStates.mu.Unlock()
	s := opStates.byID[ctx.id]
	if s == nil {
		return invalid("op_ctx: internal_ctx is %#x: no operator of a living context has that "+
			"[rknn-op-ctx-internal]", ctx.id)
	}
	if len(name) >= spec.MaxNameLen {
		return invalid("attr_name: %d characters: want at most %d "+
			"[rknn-attr-name-characters]", len(name), spec.MaxNameLen-1)
	}
	setText(attr.name[:], name)
	a := s.attrs[name]
	if a == nil {
		a = readAttr(s.node, name)
		if a == nil {
			return boundary.Note(fault.New(fault.Argument, "attr_name: %q: %s has the attributes %q "+
				"[rknn-attr-name-attributes]", name, s.label,
				s.node.Names))
		}
		s.attrs[name] = a
	}
	attr.kind, attr.elems, attr.data = a.kind, a.elems, a.data.Addr()
	return nil
}

// readAttr copies an attribute to C memory, nil when there is none.
func readAttr(o *op.Custom, name string) *opAttr {
	a := &opAttr{}
	if v, ok := o.Floats(name); ok {
		a.kind, a.elems = spec.Float32, uint32(len(v))
		boundary.SetSlice(&a.data, v)
		return a
	}
	if v, ok := o.Ints(name); ok {
		a.kind, a.elems = spec.Int64, uint32(len(v))
		boundary.SetSlice(&a.data, v)
		return a
	}
	v, ok := o.Strings(name)
	if !ok {
		return nil
	}
	// A list of strings is one after another, each with its NUL.
	var text []byte
	for i, s := range v {
		if i > 0 {
			text = append(text, 0)
		}
		text = append(text, s...)
	}
	a.kind, a.elems = spec.Uint8, uint32(len(text))
	a.data.SetString(string(text))
	return a
}

// destroyAll destroys operators of a context, in the order of their nodes.
func (c *Context) destroyAll(states map[int64]*opState) {
	for _, k := range sortedInstances(states) {
		c.calling(states[k].destroy)
	}
}

func sortedInstances[V any](m map[int64]V) []int64 {
	keys := make([]int64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// checkCustomOps judges an array of rknn_custom_op (section 11) and returns the operators by type.
func checkCustomOps(ops []CustomOp) (map[string]CustomOp, error) {
	if len(ops) == 0 {
		return nil, invalid("custom_op_num: 0: want at least 1 [rknn-custom-op-num]")
	}
	byType := map[string]CustomOp{}
	for i := range ops {
		o := &ops[i]
		name := textOf(o.opType[:])
		switch {
		case name == "" || len(name) == spec.MaxNameLen:
			return nil, invalid("op[%d].op_type: %d characters: want the operator's ONNX type, 1 to %d "+
				"[rknn-op-type-characters]", i, len(name),
				spec.MaxNameLen-1)
		case o.target != targetCPU:
			return nil, invalid("op[%d].target: %d: %q can only be computed on RKNN_TARGET_TYPE_CPU (1): there "+
				"is no OpenCL [rknn-op-target-computed]", i,
				o.target, name)
		case o.compute == 0:
			return nil, invalid("op[%d].compute: NULL: %q wants a function that computes it "+
				"[rknn-op-compute-null]", i, name)
		}
		if _, twice := byType[name]; twice {
			return nil, invalid("op[%d].op_type: %q: it is there twice [rknn-op-type-twice]", i, name)
		}
		byType[name] = *o
	}
	return byType, nil
}
