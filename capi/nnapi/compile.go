package nnapi

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/capi/devices"
	"github.com/anynpu/anynpu/capi/nnapi/lowering"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// coreGraph returns the core graph of a valid model, which stays as it is, and the values that it waits for.
func (m *Model) coreGraph() (*lowering.Result, error) {
	l := &m.lowered
	l.once.Do(func() {
		if l.result, l.err = lowering.Lower(&m.spec); l.err == nil {
			l.err = l.result.Graph.Infer()
		}
	})
	return l.result, l.err
}

// compile lowers and compiles the model. The caller holds c.mu.
func (c *Compilation) compile() (*compiled, error) {
	ctx := context.Background()
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, nanoseconds(c.timeout))
		defer cancel()
	}
	lowered, err := c.model.coreGraph()
	if err != nil && (contradicts(err) || hopeful(&c.model.spec, err)) {
		return c.failing(lowered, err), nil
	}
	if err != nil {
		return nil, refuseFor(modelCode(err), err, "compilation: the model")
	}
	if len(lowered.Values) > 0 {
		return c.waiting(lowered)
	}
	g := lowered.Graph
	list := core(c.devices, &c.model.spec)
	kept := c.cache()
	ctx = kept.share(ctx, c.token)
	if program := kept.load(ctx, g, list); program != nil {
		return c.compiled(newPlan(program, everyInput(g)), nil), nil
	}
	program, err := compile.Compile(ctx, g, list, compile.Options{Options: c.options(), Strict: devices.Strict()})
	if err == nil && ctx.Err() != nil {
		program.Release()
		err = ctx.Err()
	}
	if contradicts(err) {
		return c.failing(lowered, err), nil
	}
	if err != nil {
		if fault.KindOf(err) == fault.Unsupported {
			return nil, refuseFor(BadData, err, "compilation: %s [nnapi-compilation-refused]", c.unsupported())
		}
		return nil, refuseFor(runCode(err), err, "compilation")
	}
	kept.save(program)
	return c.compiled(newPlan(program, everyInput(g)), nil), nil
}

// contradicts reports whether err says that dimensions do not fit each other. As with the reference implementation the
// executions fail then, of which some may leave inputs out and succeed.
func contradicts(err error) bool { return err != nil && fault.KindOf(err) == fault.Shape }

// failing is the result for a model that executions fail to compute for the reason of err, unless they leave inputs
// out.
func (c *Compilation) failing(l *lowering.Result, err error) *compiled {
	warn("compilation: executions that leave no input out will fail [nnapi-compilation-executions-leave]", "why", err)
	if l == nil {
		return c.compiled(nil, nil)
	}
	return c.compiled(nil, l.Values)
}

// modelCode is the code for a model that has no graph: the program's fault fails, as in the reference implementation's
// executions; what this library lacks is left to other devices.
func modelCode(err error) ResultCode {
	if fault.KindOf(err) == fault.Unsupported {
		return BadData
	}
	return runCode(err)
}

// waiting is the result for a model that is compiled when executions have said the values of some scalars. One of the
// devices has to compute each operation all the same.
func (c *Compilation) waiting(l *lowering.Result) (*compiled, error) {
	answers, err := c.model.support(c.devices)
	if err != nil {
		return nil, refuseFor(runCode(err), err, "compilation")
	}
	if slices.Contains(answers, false) {
		return nil, badData("compilation: %s [nnapi-compilation-refused]", c.unsupported())
	}
	return c.compiled(nil, l.Values), nil
}

// everyInput are the indices of a graph's inputs.
func everyInput(g *graph.Graph) []int {
	out := make([]int, len(g.In))
	for i := range out {
		out[i] = i
	}
	return out
}

// compiled is shared by executions: a plan for all inputs, nil for none, and the inputs on whose values plans depend.
func (c *Compilation) compiled(whole *plan, values []int) *compiled {
	result := &compiled{model: c.model, devices: c.devices, explicit: c.explicit, priority: priorities[c.priority],
		options: c.options(), whole: whole, values: values}
	result.refs.Store(1)
	result.in = ports(&c.model.spec, c.model.spec.Inputs)
	result.out = ports(&c.model.spec, c.model.spec.Outputs)
	return result
}

func ports(m *nnapi.Model, indices []uint32) []port {
	out := make([]port, len(indices))
	for i, index := range indices {
		o := &m.Operands[index]
		f, _ := o.Type.Facts()
		out[i] = port{operand: o, core: lowering.TypeOf(o), element: uint64(f.Bytes)}
		if o.Specified() {
			out[i].size, _ = o.Size()
		}
	}
	return out
}

// unsupported names the operations that none of the devices computes.
func (c *Compilation) unsupported() string {
	text := "devices " + strings.Join(names(c.devices), ", ") + " do not compute"
	answers, err := c.model.support(c.devices)
	if err != nil {
		return text + " the model"
	}
	told := 0
	for i, ok := range answers {
		switch {
		case ok:
		case told == maxTold:
			return text + " and others"
		default:
			text += fmt.Sprintf(" operation %d %v", i, c.model.spec.Operations[i].Code)
			told++
		}
	}
	return text
}

// maxTold bounds the operations that one message names.
const maxTold = 10

// nanoseconds is a duration that a program gives; one beyond 292 years is as long as that.
func nanoseconds(n uint64) time.Duration { return time.Duration(min(n, math.MaxInt64)) }

// modelGetSupportedOperationsForDevices judges the devices before the state of the model, as the reference
// implementation does.
func modelGetSupportedOperationsForDevices(m *Model, p unsafe.Pointer, n uint32, supported *bool) error {
	devices, err := devicesAt(p, n)
	if err != nil {
		return err
	}
	if err := m.valid("model"); err != nil {
		return err
	}
	flags, err := elements(supported, uint64(len(m.spec.Operations)), "supportedOps")
	if err != nil {
		return err
	}
	answers, err := m.support(devices)
	if err != nil {
		return refuseFor(runCode(err), err, "model")
	}
	copy(flags, answers)
	return nil
}

// support tells for each operation whether one of the devices computes it. Without a graph that is each operation but
// one that the library lacks; what is the program's fault, its compilation tells. The processor computes operations
// that wait for values.
func (m *Model) support(devices []*Device) ([]bool, error) {
	flags := make([]bool, len(m.spec.Operations))
	lowered, err := m.coreGraph()
	if err != nil {
		failed, one := lowering.FailedOperation(err)
		warn("the model cannot be computed [nnapi-model-computed]", "why", err)
		for i := range flags {
			flags[i] = fault.KindOf(err) != fault.Unsupported || one && i != failed
		}
		return flags, nil
	}
	g := lowered.Graph
	for k, d := range core(devices, &m.spec) {
		answers, err := compile.Support(g, d, device.Options{Float16: m.spec.Relaxed})
		if err != nil {
			return nil, err
		}
		own := slices.Repeat([]bool{true}, len(flags))
		for i, s := range answers {
			if at := g.Nodes[i].Origin; at >= 0 && !s.OK {
				own[at] = false
			}
		}
		for _, at := range lowered.Waiting {
			own[at] = devices[k].computes(&m.spec, m.spec.Operations[at])
		}
		for i := range flags {
			flags[i] = flags[i] || own[i]
		}
	}
	return flags, nil
}

// computes reports whether the device computes an operation whatever the values of its scalars: the processor does
// what it does not lack, of others nothing is known before.
func (d *Device) computes(m *nnapi.Model, op nnapi.Operation) bool {
	return devices.IsProcessor(d.Device) && d.lacked(m, op, map[*nnapi.Model]bool{}) == ""
}

// compilationFinish compiles. When it fails the compilation is of no use any more.
func compilationFinish(c *Compilation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished {
		return badState("compilation: it is finished already [nnapi-compilation-finished-already]")
	}
	c.finished = true
	result, err := c.compile()
	if err != nil {
		return err
	}
	c.result = result
	if result.whole != nil && boundary.LogEnabled(boundary.LevelInfo, "nnapi") {
		p := result.whole.placement
		boundary.Log(boundary.LevelInfo, "nnapi", "compiled", "devices", strings.Join(names(c.devices), ", "), "placement",
			p.Summary())
		for i := range p.Nodes {
			boundary.Log(boundary.LevelInfo, "nnapi", "placed", "node", p.Nodes[i].String())
		}
	}
	return nil
}
