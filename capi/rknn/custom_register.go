package rknn

import (
	"maps"
	"slices"

	spec "github.com/anynpu/anynpu/core/spec/rknn"
)

// registerCustomOps gives a context the functions that compute operators of its model: those of foreign domains, and
// any other instead of the library's own (sections 8 and 11). The array is copied. Several calls add up; a type that is
// registered again gets the new functions. init is called here for each node; RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE
// leaves the node to the library. If a call fails, nothing has changed.
func registerCustomOps(c *Context, ops []CustomOp) error {
	added, err := checkCustomOps(ops)
	if err != nil {
		return err
	}
	if err := c.notCopying("ctx"); err != nil {
		return err
	}
	if err := c.lock(); err != nil {
		return err
	}
	defer c.mu.Unlock()
	if c.flags&flagInfoOnly != 0 {
		return failed("ctx was opened with RKNN_FLAG_COLLECT_MODEL_INFO_ONLY (0x100) in flag: it answers " +
			"rknn_query only [rknn-ctx-opened-flag]")
	}
	types := maps.Clone(c.registered)
	if types == nil {
		types = map[string]CustomOp{}
	}
	maps.Copy(types, added)
	kept := maps.Clone(c.skipped)
	if kept == nil {
		kept = map[int64]bool{}
	}
	for k, t := range c.skippedTypes {
		if _, again := added[t]; again {
			delete(kept, k)
		}
	}
	next, made, skipped, err := c.prepareOps(types, added, kept)
	if err != nil {
		return err
	}
	if err := c.change(next); err != nil {
		c.destroyAll(made)
		return refuseFor(spec.ErrFail, err, "op")
	}
	c.reg.Lock()
	defer c.reg.Unlock()
	c.registered, c.skipped = types, kept
	if c.skippedTypes == nil {
		c.skippedTypes = map[int64]string{}
	}
	maps.Copy(c.skippedTypes, skipped)
	if c.states == nil {
		c.states = map[int64]*opState{}
	}
	for _, k := range sortedInstances(made) {
		if old := c.states[k]; old != nil {
			c.calling(old.destroy)
		}
		c.states[k] = made[k]
	}
	for _, k := range sortedInstances(skipped) {
		if old := c.states[k]; old != nil {
			c.calling(old.destroy)
			delete(c.states, k)
		}
	}
	return nil
}

// prepareOps makes the states of the nodes whose type is in added, and what the context is to run with all of types;
// skipped nodes are added to kept. On an error nothing is left.
func (c *Context) prepareOps(types, added map[string]CustomOp, kept map[int64]bool) (next *runnable,
	made map[int64]*opState, skipped map[int64]string, err error) {
	m := c.model
	if !m.base.replaces(types) {
		if made, skipped, err = c.initialize(m.run.nodes[c.set], added); err != nil {
			return nil, nil, nil, err
		}
		m.run.program.Retain()
		return m.run, made, skipped, nil
	}
	w, err := m.base.constants(m.run.program)
	if err != nil {
		return nil, nil, nil, refuseFor(spec.ErrFail, err, "op")
	}
	defer w.Release()
	g, err := m.base.replace(w, types, kept)
	if err != nil {
		return nil, nil, nil, err
	}
	nodes, err := customNodes(g, m.shapes[c.set].In)
	if err == nil {
		made, skipped, err = c.initialize(nodes, added)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	for k := range skipped {
		kept[k] = true
	}
	if len(skipped) > 0 {
		g, err = m.base.replace(w, types, kept)
	}
	if err == nil {
		next, err = newRunnable(g, m.in, w, m.shapes, nil)
	}
	if err != nil {
		c.destroyAll(made)
		return nil, nil, nil, refuseFor(spec.ErrFail, err, "op")
	}
	return next, made, skipped, nil
}

// initialize makes the states of all nodes whose type is in added and calls their init functions. skipped are the
// nodes, with their types, that these leave to the library. On an error the states that were made are destroyed.
func (c *Context) initialize(nodes []customNode, added map[string]CustomOp) (made map[int64]*opState,
	skipped map[int64]string, err error) {
	made, skipped = map[int64]*opState{}, map[int64]string{}
	found := map[string]bool{}
	for i := range nodes {
		n := &nodes[i]
		r, wanted := added[n.op.Type]
		if !wanted {
			continue
		}
		found[n.op.Type] = true
		skip, err := c.initNode(made, n, r)
		if err != nil {
			c.destroyAll(made)
			return nil, nil, err
		}
		if skip {
			skipped[n.op.Instance] = n.op.Type
		}
	}
	for _, t := range slices.Sorted(maps.Keys(added)) {
		if !found[t] {
			warn("the model has no such operator "+
				"[rknn-model-no-operator]", "function", "rknn_register_custom_ops", "op_type", t)
		}
	}
	return made, skipped, nil
}

// initNode makes the state of one node and calls init; skip says that it left the node to the library.
func (c *Context) initNode(made map[int64]*opState, n *customNode, r CustomOp) (skip bool, err error) {
	var arrays [2]tensorArray
	defer arrays[0].block.Free()
	defer arrays[1].block.Free()
	for k, values := range [][]customValue{n.in, n.out} {
		tensors := make([]CustomOpTensor, len(values))
		for i, v := range values {
			if tensors[i], err = customTensor(i, v.name, v.t, 0); err != nil {
				return false, refuseFor(spec.ErrFail, err, "op_type: %q: %s [rknn-op-type]", n.op.Type, n.label)
			}
		}
		arrays[k].set(tensors)
	}
	state, err := newOpState(r, n.op, n.label)
	if err != nil {
		return false, err
	}
	if r.initialize != 0 {
		result := int32(0)
		c.calling(func() { result = callOp(r.initialize, state.block.Addr(), &arrays[0], &arrays[1]) })
		if result < 0 {
			state.end()
		}
		switch {
		case result == skipCompute && n.op.Body != nil:
			return true, nil
		case result == skipCompute:
			return false, failed("op_type is %q: init of %s returned RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE (-14), and the "+
				"library has no operator of this type [rknn-op-type-init]", n.op.Type, n.label)
		case result < 0:
			return false, failed("op_type is %q: init of %s returned %d, 0 is success "+
				"[rknn-op-type-init-returned]", n.op.Type, n.label, result)
		}
	}
	made[n.op.Instance] = state
	return false, nil
}

// change makes the context run next, whose reference it takes over, unless that has the operators that it runs already.
func (c *Context) change(next *runnable) error {
	if next == c.run || slices.Equal(next.wraps, c.run.wraps) {
		next.program.Release()
		return nil
	}
	e, err := next.execution(c, c.core)
	if err != nil {
		next.program.Release()
		return err
	}
	c.reg.Lock()
	defer c.reg.Unlock()
	c.exec.Renew(e)
	c.run.program.Release()
	c.run, c.valid = next, false
	return nil
}

// inherit gives a duplicate the operators that source has, each with an init of its own.
func (c *Context) inherit(source *Context) error {
	if len(source.states) == 0 {
		return nil
	}
	c.states = map[int64]*opState{}
	made, skipped, err := c.initialize(c.run.nodes[c.set], source.registered)
	if err != nil {
		return err
	}
	if len(skipped) > 0 {
		c.destroyAll(made)
		return failed("context_in: init of %d operators left the duplicate's nodes to the library, unlike the "+
			"source's [rknn-context-init-operators]",
			len(skipped))
	}
	c.states, c.registered, c.skipped, c.skippedTypes = made, maps.Clone(source.registered), maps.Clone(source.skipped),
		maps.Clone(source.skippedTypes)
	return nil
}
