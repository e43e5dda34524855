package rknn

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
)

// registerCustomOps gives a context the functions that compute operators of its model: those of foreign domains, and any other instead of the
// library's own (sections 8 and 11). The array is copied. Several calls add up; a type that is registered again gets the new functions. init
// is called here for each node; RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE leaves the node to the library. If a call fails, nothing has changed.
func registerCustomOps(c *Context, ops []CustomOp) error {
	added, err := checkCustomOps(ops)
	if err != nil {
		return err
	}
	if err := c.lock(); err != nil {
		return err
	}
	defer c.mu.Unlock()
	if c.flags&flagInfoOnly != 0 {
		return failed("ctx was opened with RKNN_FLAG_COLLECT_MODEL_INFO_ONLY (0x100) in flag: it answers rknn_query only")
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
	replaced, err := c.model.base.replace(types, kept)
	if err != nil {
		return err
	}
	made, skipped, err := c.initialise(replaced, added)
	if err != nil {
		return err
	}
	undo := func(err error) error {
		c.destroyAll(made)
		return err
	}
	if len(skipped) > 0 {
		for k := range skipped {
			kept[k] = true
		}
		if replaced, err = c.model.base.replace(types, kept); err != nil {
			return undo(err)
		}
	}
	if err := c.recompile(replaced); err != nil {
		return undo(refuseFor(errFail, err, "op"))
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

// initialise makes the states of all nodes of g whose type is in added and calls their init functions. skipped are the nodes, with their types,
// that these leave to the library. On an error the states that were made are destroyed.
func (c *Context) initialise(g *graph.Graph, added map[string]CustomOp) (made map[int64]*opState, skipped map[int64]string, err error) {
	shaped, err := infer(g, c.model.shapes[c.set].in)
	if err != nil {
		return nil, nil, err
	}
	made, skipped = map[int64]*opState{}, map[int64]string{}
	found := map[string]bool{}
	for i := range shaped.Nodes {
		n := &shaped.Nodes[i]
		o, ok := n.Op.(*op.Custom)
		if !ok {
			continue
		}
		r, wanted := added[o.Type]
		if !wanted {
			continue
		}
		found[o.Type] = true
		skip, err := c.initNode(made, shaped, n, o, r)
		if err != nil {
			c.destroyAll(made)
			return nil, nil, err
		}
		if skip {
			skipped[o.Instance] = o.Type
		}
	}
	for _, t := range slices.Sorted(maps.Keys(added)) {
		if !found[t] {
			warn("the model has no such operator", "function", "rknn_register_custom_ops", "op_type", t)
		}
	}
	return made, skipped, nil
}

// initNode makes the state of one node and calls init; skip says that it left the node to the library.
func (c *Context) initNode(made map[int64]*opState, g *graph.Graph, n *graph.Node, o *op.Custom, r CustomOp) (skip bool, err error) {
	var arrays [2]tensorArray
	defer arrays[0].block.Free()
	defer arrays[1].block.Free()
	for k, values := range [][]graph.Value{n.In, n.Out} {
		var tensors []CustomOpTensor
		for _, v := range values {
			if v == graph.None {
				continue
			}
			t, err := customTensor(len(tensors), g.Values[v].Name, g.Fact(v).Type, 0)
			if err != nil {
				return false, refuseFor(errFail, err, "op_type: %q: %s", o.Type, customLabel(o, n))
			}
			tensors = append(tensors, t)
		}
		arrays[k].set(tensors)
	}
	state := newOpState(r, o, customLabel(o, n))
	if r.initialise != 0 {
		result := int32(0)
		c.calling(func() { result = callOp(r.initialise, state.block.Addr(), &arrays[0], &arrays[1]) })
		if result < 0 {
			state.end()
		}
		switch {
		case result == skipCompute && o.Body != nil:
			return true, nil
		case result == skipCompute:
			return false, failed("op_type: %q: init of %s returned RKNN_WARNING_SKIP_CUSTOM_OP_COMPUTE, and the library has no operator of this type", o.Type, state.label)
		case result < 0:
			return false, failed("op_type: %q: init of %s returned %d", o.Type, state.label, result)
		}
	}
	made[o.Instance] = state
	return false, nil
}

// customLabel names a node in messages.
func customLabel(o *op.Custom, n *graph.Node) string {
	return fmt.Sprintf("node %d (%s %q)", n.Origin, o.Type, n.Name)
}

// recompile makes the context run g, unless that has the operators that it runs already.
func (c *Context) recompile(g *graph.Graph) error {
	var wraps []int64
	for i := range g.Nodes {
		if o, ok := g.Nodes[i].Op.(*op.Custom); ok && o.Body != nil {
			wraps = append(wraps, o.Instance)
		}
	}
	slices.Sort(wraps)
	if slices.Equal(wraps, c.wraps) {
		return nil
	}
	program, custom, err := compileWith(g, c.model.base)
	if err != nil {
		return err
	}
	e, err := newExecution(program, custom, c)
	if err == nil && c.model.dynamic {
		for i, d := range c.model.shapes[c.set].in {
			if err = e.SetShape(i, d); err != nil {
				e.Release()
				break
			}
		}
	}
	if err != nil {
		program.Release()
		return err
	}
	c.reg.Lock()
	defer c.reg.Unlock()
	c.exec.Release()
	c.program.Release()
	c.exec, c.program, c.custom, c.wraps, c.valid = e, program, custom, wraps, false
	return nil
}

// compileWith compiles a model's graph; custom is nil when the program computes none of its operators. The constants stay in the store as they
// are: rknn_register_custom_ops compiles again from them.
func compileWith(g *graph.Graph, base *baseGraph) (*compile.Program, *customDevice, error) {
	all, err := devices.List()
	if err != nil {
		return nil, nil, err
	}
	var custom *customDevice
	if len(customs(g)) > 0 {
		custom = &customDevice{}
		all = append([]device.Device{custom}, all...)
	}
	p, err := compile.Compile(context.Background(), g, all, compile.Options{Weights: base.weights})
	return p, custom, err
}

// newExecution makes an execution for a context.
func newExecution(p *compile.Program, custom *customDevice, c *Context) (device.Execution, error) {
	o := device.ExecOptions{Priority: priorities[c.flags&3], Profiling: c.flags&flagCollectPerf != 0}
	if custom == nil {
		return p.New(o)
	}
	return custom.execution(p, c, o)
}

// inherit gives a duplicate the operators that source has, each with an init of its own.
func (c *Context) inherit(source *Context) error {
	if len(source.states) == 0 {
		return nil
	}
	c.states = map[int64]*opState{}
	g, err := source.model.base.replace(source.registered, source.skipped)
	if err != nil {
		return err
	}
	made, skipped, err := c.initialise(g, source.registered)
	if err != nil {
		return err
	}
	if len(skipped) > 0 {
		c.destroyAll(made)
		return failed("context_in: init of %d operators left the duplicate's nodes to the library, unlike the source's", len(skipped))
	}
	c.states, c.registered, c.skipped, c.skippedTypes = made, maps.Clone(source.registered), maps.Clone(source.skipped), maps.Clone(source.skippedTypes)
	return nil
}

// A job is a call of the program's functions that a run wants made on the thread of rknn_run.
type job struct {
	f    func() error
	done chan error
}

// onCaller has f called on the thread that runs the context.
func (c *Context) onCaller(f func() error) error {
	j := job{f, make(chan error, 1)}
	c.jobs <- j
	return <-j.done
}

// calling calls f, which calls the program, and remembers the thread: functions of the API that f's callee calls for this context must not
// wait for the call under way.
func (c *Context) calling(f func()) {
	c.thread.Store(int32(unix.Gettid()))
	defer c.thread.Store(0)
	f()
}

// inside says whether the caller is a function of the program that this context has called.
func (c *Context) inside() bool {
	t := c.thread.Load()
	return t != 0 && t == int32(unix.Gettid())
}

// lock locks the context for a call. A function of the program that the context has called gets an error.
func (c *Context) lock() error {
	if c.inside() {
		return failed("context: it is running, and this is a call from one of its operators: only rknn_query, rknn_mem_sync and rknn_custom_op_get_op_attr may be called there")
	}
	c.mu.Lock()
	return nil
}
