package exec

import (
	"context"
	"slices"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Plan is a program made of programs: values flow between them through slots.
type Plan struct {
	In, Out         []device.Port
	Slots           []Slot
	InSlot, OutSlot []int   // the slot of each port
	Stages          []Stage // in executable order
}

// Slot is a value: an input of the plan, a constant, or an output of exactly one stage.
type Slot struct {
	Type  tensor.Type // as declared, sizes may be unknown
	Const []byte      // nil: not a constant
}

// Stage is one program and the slots of its ports.
type Stage struct {
	Device  device.Device
	Program device.Program
	In, Out []int
}

// New returns an execution of the plan; release is called when it is released.
func (p *Plan) New(o device.ExecOptions, release func()) (device.Execution, error) {
	e := &planned{Base: Base{Bound: NewBindings(p.In, p.Out)}, plan: p, slots: make([]slot, len(p.Slots)), free: func() {}}
	e.Result = e.lastResult
	for i := range p.Stages {
		for _, s := range p.Stages[i].In {
			e.slots[s].shared = true
		}
		for _, s := range p.Stages[i].Out {
			e.slots[s].home = p.home(i, s)
		}
	}
	for i := range p.Slots {
		if c := p.Slots[i].Const; c != nil {
			e.slots[i].view = mem.View{Buf: mem.Borrow(c, nil), Type: p.Slots[i].Type}
		}
	}
	for i := range p.Stages {
		run, err := p.Stages[i].Program.New(o)
		if err != nil {
			e.Release()
			return nil, stageError(p, i, err)
		}
		e.stages = append(e.stages, run)
	}
	e.Task.Fences = p.TakesFences()
	e.free = release
	return e, nil
}

// TakesFences implements device.FenceTaker: what computes first waits for the fences, and the other parts for it.
func (p *Plan) TakesFences() bool {
	return len(p.Stages) > 0 && device.TakesFences(p.Stages[0].Program)
}

func stageError(p *Plan, i int, err error) error {
	return fault.Wrap(err, "part %d on %s", i, p.Stages[i].Device.Info().ID)
}

// home is the device in whose memory value s of stage i crosses to its readers without a copy. A CPU works in the
// memory of any device, so what it produces lies in that of the first reader that is not a CPU.
func (p *Plan) home(i, s int) device.Device {
	from := p.Stages[i].Device
	if from.Info().Kind != device.CPU {
		return from
	}
	for _, st := range p.Stages {
		if st.Device.Info().Kind != device.CPU && slices.Contains(st.In, s) {
			return st.Device
		}
	}
	return from
}

// planned is an execution of a plan.
type planned struct {
	Base
	plan   *Plan
	stages []device.Execution
	slots  []slot
	types  []tensor.Type // of the outputs of the last run, nil: none
	data   [][]byte      // of the unbound outputs of the last run
	free   func()
}

// slot is where a value lies during a run.
type slot struct {
	shared bool          // a stage reads it
	view   mem.View      // Buf nil: not made yet
	home   device.Device // gives own
	own    mem.Buffer    // memory that is kept from run to run
	result []byte        // the producer's own memory, valid until its next run
	temp   bool          // view.Buf ends with the run
}

// Start implements device.Execution.
func (e *planned) Start(r device.RunRequest) error {
	return e.Task.Start(r, func() error {
		e.types = nil
		return e.Bound.Ready()
	}, e.run)
}

func (e *planned) run(ctx context.Context) error {
	begin := time.Now()
	defer e.reset()
	for i, s := range e.plan.InSlot {
		v, err := e.Bound.In[i].Input()
		if err != nil {
			return fault.Wrap(err, "input %d", i)
		}
		e.slots[s].view = v
	}
	var profile []device.NodeTime
	peak := int64(0)
	for i := range e.stages {
		from := time.Since(begin)
		if err := e.runStage(ctx, i); err != nil {
			return stageError(e.plan, i, err)
		}
		s := e.stages[i].Stats()
		for _, n := range s.Nodes {
			n.Start += from
			profile = append(profile, n)
		}
		peak = max(peak, s.PeakMemory)
	}
	types, data, err := e.collect()
	if err != nil {
		return err
	}
	e.types, e.data = types, data
	e.Counts.Runs++
	e.Counts.Nodes, e.Counts.PeakMemory, e.Counts.LastRun = profile, peak, time.Since(begin)
	return nil
}

// reset forgets the views of one run, so that no stage holds the caller's memory between runs.
func (e *planned) reset() {
	for i := range e.stages {
		for k := range e.plan.Stages[i].In {
			_ = e.stages[i].BindInput(k, mem.View{}) // an execution that refuses this is released with its bindings
		}
		for k := range e.plan.Stages[i].Out {
			_ = e.stages[i].BindOutput(k, mem.View{})
		}
	}
	for i := range e.slots {
		s := &e.slots[i]
		if e.plan.Slots[i].Const != nil {
			continue
		}
		if s.temp {
			s.view.Buf.Release()
		}
		s.view, s.result, s.temp = mem.View{}, nil, false
	}
}

// runStage binds, runs and checks stage i.
func (e *planned) runStage(ctx context.Context, i int) error {
	st, x := &e.plan.Stages[i], e.stages[i]
	for k, s := range st.In {
		if err := x.BindInput(k, e.slots[s].view); err != nil {
			return err
		}
	}
	for k, s := range st.Out {
		v, err := e.target(st, s)
		if err != nil {
			return err
		}
		if err := x.BindOutput(k, v); err != nil {
			return err
		}
		e.slots[s].view = v
	}
	before := x.Stats()
	deadline, _ := ctx.Deadline()
	r := device.RunRequest{Deadline: deadline, LoopLimit: device.LoopLimit(ctx), Burst: device.BurstOf(ctx)}
	if i == 0 && e.Task.Fences {
		r.Fences = device.Fences(ctx)
	}
	if err := Run(ctx, x, r); err != nil {
		if stop := ctx.Err(); stop != nil {
			return fault.As(fault.KindOf(stop), err, "stopped")
		}
		return err
	}
	after := x.Stats()
	e.Counts.CopiedIn += after.CopiedIn - before.CopiedIn
	e.Counts.CopiedOut += after.CopiedOut - before.CopiedOut
	for k, s := range st.Out {
		if err := e.accept(x, k, s); err != nil {
			return fault.Wrap(err, "output %d", k)
		}
	}
	return nil
}

// target returns where a stage shall write slot s: the caller's memory, memory of its home when others read a value of
// known size, else nowhere, which leaves the value with the stage.
func (e *planned) target(st *Stage, s int) (mem.View, error) {
	for i, o := range e.plan.OutSlot {
		if v := e.Bound.Out[i].View; o == s && v.Buf != nil && !e.aliases(i) {
			return v, nil
		}
	}
	t := e.plan.Slots[s].Type
	n, ok := t.ByteSize()
	if !e.slots[s].shared || !ok {
		return mem.View{}, nil
	}
	if e.slots[s].own == nil {
		b, err := e.slots[s].home.Alloc(n)
		if err != nil && e.slots[s].home != st.Device { // the reader copies then
			b, err = st.Device.Alloc(n)
		}
		if err != nil {
			return mem.View{}, err
		}
		e.slots[s].own = b
	}
	return mem.View{Buf: e.slots[s].own, Type: t}, nil
}

// aliases reports whether the memory of output i is also, at any address, that of an input, which a later stage may
// still have to read, or of another output, which a later stage may overwrite it by.
func (e *planned) aliases(i int) bool {
	b := e.Bound.Out[i].View.Buf
	same := func(v mem.View) bool { return v.Buf != nil && mem.Aliases(b, 0, b.Size(), v.Buf, 0, v.Buf.Size()) }
	for k := range e.Bound.In {
		if same(e.Bound.In[k].View) {
			return true
		}
	}
	for k := range e.Bound.Out {
		if k != i && same(e.Bound.Out[k].View) {
			return true
		}
	}
	return false
}

// accept takes the result that a stage made for slot s, and checks what the device says of it.
func (e *planned) accept(x device.Execution, k, s int) error {
	t, err := x.OutputType(k)
	if err != nil {
		return err
	}
	want := e.plan.Slots[s].Type
	n, ok := t.ByteSize()
	_, fits := want.Shape.Merge(t.Shape)
	if !ok || !fits || want.DType != tensor.Invalid && t.DType != want.DType {
		return fault.New(fault.Device, "the device reports %v, declared is %v", t, want)
	}
	t.Quant = want.Quant
	sl := &e.slots[s]
	if sl.view.Buf != nil {
		sl.view.Type = t
		_, err := sl.view.Span()
		return err
	}
	data, err := x.OutputData(k)
	if err != nil {
		return err
	}
	if int64(len(data)) != n {
		return fault.New(fault.Device, "the device returns %d bytes for %v", len(data), t)
	}
	sl.result = data
	sl.view, sl.temp = mem.View{Buf: mem.Borrow(data, nil), Type: t}, true
	return nil
}

// collect brings every output to where the caller wants it. All are read before any is written: outputs may lie in the
// memory of inputs.
func (e *planned) collect() (types []tensor.Type, data [][]byte, err error) {
	types, data = make([]tensor.Type, len(e.plan.Out)), make([][]byte, len(e.plan.Out))
	write := make([]func() error, 0, len(data))
	for i, s := range e.plan.OutSlot {
		src, bound := e.slots[s].view, &e.Bound.Out[i]
		types[i] = src.Type
		if bound.View.Buf == nil {
			if data[i] = e.slots[s].result; data[i] == nil {
				data[i], err = dense(src)
			}
		} else if src.Buf != bound.View.Buf || src.Off != bound.View.Off || e.aliases(i) {
			var dst mem.View
			var tmp []byte
			if dst, err = bound.Output(src.Type); err == nil {
				tmp, err = dense(src)
			}
			write = append(write, func() error { e.Counts.CopiedOut += int64(len(tmp)); return dst.Store(tmp) })
		}
		if err != nil {
			return nil, nil, fault.Wrap(err, "output %d", i)
		}
	}
	for _, w := range write {
		if err := w(); err != nil {
			return nil, nil, err
		}
	}
	return types, data, nil
}

// dense returns a copy of the elements of v.
func dense(v mem.View) ([]byte, error) {
	n, ok := v.Type.ByteSize()
	if !ok {
		return nil, fault.New(fault.Shape, "%v has no size", v.Type)
	}
	data, err := mem.Make[byte](int(n))
	if err != nil {
		return nil, err
	}
	return data, v.Load(data)
}

func (e *planned) lastResult(i int) (t tensor.Type, data []byte, done bool) {
	if e.types == nil {
		return t, nil, false
	}
	return e.types[i], e.data[i], true
}

// Release implements device.Execution.
func (e *planned) Release() {
	if !e.Close() {
		return
	}
	for _, x := range e.stages {
		x.Release()
	}
	for i := range e.slots {
		if e.slots[i].own != nil {
			e.slots[i].own.Release()
		}
		if e.plan.Slots[i].Const != nil {
			e.slots[i].view.Buf.Release()
		}
	}
	e.free()
}
