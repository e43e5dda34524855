package driver

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Calls are the calls of an API by which an execution computes. Run is called in a goroutine of its own and may be
// given up; all others are called one at a time, and not while a run is under way.
type Calls interface {
	// Own makes memory of the execution's own for a slot.
	Own(s *Slot) (*Memory, error)
	// Take makes memory of the buffer of a view that is as the slot's Form has it; nil when the driver takes no such
	// memory. It takes a reference of the buffer.
	Take(s *Slot, v mem.View) *Memory
	// Enter tells the driver where the slots are and has it read the inputs that are there.
	Enter() error
	// Run computes.
	Run() error
	// Leave checks what the driver says of the results and makes them readable.
	Leave() error
	// End ends what else the driver has of the execution. It is called once, after the last run.
	End()
}

// Timed are Calls of a driver that measures runs itself. Took is the time of the last one, 0 if that is not known.
type Timed interface{ Took() time.Duration }

// Stopped are Calls of a driver that can be asked to end a run early. Stopper gives what asks for that in the run that
// follows: it is called when that run is given up, on any goroutine, and may come before it begins or after it has
// ended.
type Stopped interface{ Stopper() (stop func()) }

// Prompt are Calls that are Stopped, and whose Run returns soon after it was asked to. EndsSoon reports that, and that
// the calling thread, to which the goroutine is locked, can make the call: it is made there then. A call elsewhere
// costs some microseconds, and it may have another processor than the last run, whose caches it finds cold.
type Prompt interface{ EndsSoon() bool }

// Looped are Calls of a driver that ends loops that take too long. LimitLoops says how long one may take in the run
// that follows; 0: there is no limit.
type Looped interface{ LimitLoops(limit time.Duration) }

// Execution is the common part of every device.Execution behind a driver: where its inputs and outputs are, and the
// life of its runs. An execution embeds it and implements Calls. A run cannot be stopped: one whose deadline passes, or
// that is canceled, is given up. It ends for its caller, goes on for the driver, and keeps what it works on for as
// long. Release waits for it if the driver was asked to end it.
type Execution struct {
	exec.Base
	Slots []Slot // inputs, then outputs; of who holds the lane
	// Limit bounds the runs that the driver has at once, with one element for each; nil: there is no bound.
	Limit chan struct{}
	// Host says that the driver reads and writes buffers with the processor: of memory that is not coherent, results of
	// other devices are made visible to it, and its own to them.
	Host bool

	dev      *Device
	prog     *Program
	calls    Calls
	function string
	lane     Lane
	holds    atomic.Int32 // the execution's own, and one for a run
	done     bool         // a run has succeeded
	data     [][]byte     // of the unbound outputs of the last run
}

// Begin makes the execution one of a program, of which it takes a reference. function is the call that Run makes, for
// messages.
func (e *Execution) Begin(d *Device, p *Program, function string, c Calls) {
	p.Retain()
	e.dev, e.prog, e.function, e.calls = d, p, function, c
	e.Bound, e.Result, e.lane = exec.NewBindings(p.In, p.Out), e.result, NewLane()
	e.holds.Store(1)
	_, e.Task.Fences = c.(Fenced)
	for side, ports := range [][]device.Port{p.In, p.Out} {
		for i, port := range ports {
			size, known := port.Type.ByteSize()
			s := Slot{Index: i, Output: side > 0, Type: port.Type, Size: size, Form: rowMajor{size}}
			if !known {
				most, _ := tensor.T(port.Type.DType, port.Max...).ByteSize()
				s.room = max(most, 1)
			}
			e.Slots = append(e.Slots, s)
		}
	}
}

// inputs and outputs are the slots of one side.
func (e *Execution) inputs() []Slot  { return e.Slots[:len(e.prog.In)] }
func (e *Execution) outputs() []Slot { return e.Slots[len(e.prog.In):] }

// BindInput implements device.Execution.
func (e *Execution) BindInput(i int, v mem.View) error {
	return e.Task.Do(func() error {
		if err := e.Bound.BindInput(i, v); err != nil {
			return err
		}
		e.forget(&e.inputs()[i], v)
		return nil
	})
}

// BindOutput implements device.Execution.
func (e *Execution) BindOutput(i int, v mem.View) error {
	return e.Task.Do(func() error {
		if err := e.Bound.BindOutput(i, v); err != nil {
			return err
		}
		e.forget(&e.outputs()[i], v)
		return nil
	})
}

// forget ends memory of a buffer that is no longer bound, unless a run that was given up has it.
func (e *Execution) forget(s *Slot, v mem.View) {
	select {
	case e.lane <- struct{}{}:
		if s.given != nil && s.given.Buf != v.Buf {
			s.drop()
		}
		<-e.lane
	default:
	}
}

// Start implements device.Execution.
func (e *Execution) Start(r device.RunRequest) error {
	if err := e.dev.Alive(); err != nil {
		return err
	}
	return e.Task.Start(r, func() error {
		e.done = false
		return e.Bound.Ready()
	}, e.run)
}

func (e *Execution) run(ctx context.Context) error {
	leave, err := e.lane.Enter(ctx, e.dev.Life)
	if err != nil {
		return err
	}
	defer func() { leave() }()
	if err := e.place(); err != nil {
		return err
	}
	fences, err := e.await(ctx)
	begin := time.Now()
	if err == nil {
		err = e.enter()
	}
	if err != nil {
		return err
	}
	if l, is := e.calls.(Looped); is {
		l.LimitLoops(device.LoopLimit(ctx))
	}
	out, err := e.admit(ctx)
	if err != nil {
		return err
	}
	function, fds, err := e.hand(ctx, fences)
	if err != nil {
		out()
		return err
	}
	if len(fds) == 0 {
		function = e.join(device.BurstOf(ctx))
	}
	e.holds.Add(1)
	s, stopped := e.calls.(Stopped)
	if stopped {
		defer context.AfterFunc(ctx, s.Stopper())()
	}
	ended := func() {
		out()
		e.drop()
	}
	if stopped && e.locked() {
		err = e.dev.Note(e.runLocked(ended))
	} else {
		err = e.dev.Note(e.lane.callAfter(ctx, e.dev.Life, function, fds, e.calls.Run, &leave, ended))
	}
	if stopped && err != nil && ctx.Err() != nil { // the driver may be faster to say that it was stopped than ctx is
		err = ctx.Err()
	}
	if err == nil {
		err = e.calls.Leave()
	}
	if err == nil {
		err = e.deliver()
	}
	if err != nil {
		return err
	}
	e.Counts.Runs++
	e.Counts.LastRun = time.Since(begin)
	if t, is := e.calls.(Timed); is {
		if took := t.Took(); took > 0 && took < e.Counts.LastRun {
			e.Counts.LastRun = took
		}
	}
	return nil
}

// admit waits until the driver takes another run; out gives the place back.
func (e *Execution) admit(ctx context.Context) (out func(), err error) {
	if e.Limit == nil {
		return func() {}, nil
	}
	select {
	case e.Limit <- struct{}{}:
		return func() { <-e.Limit }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-e.dev.Done():
		return nil, e.dev.Alive()
	}
}

// place has memory for all slots.
func (e *Execution) place() error {
	for i := range e.inputs() {
		s := &e.inputs()[i]
		v, err := e.Bound.In[i].Input()
		if err == nil {
			err = s.use(e.calls, v)
		}
		if err != nil {
			return s.Wrap(err)
		}
	}
	for i := range e.outputs() {
		s, v, err := &e.outputs()[i], mem.View{}, error(nil)
		if e.Bound.Out[i].View.Buf != nil && !s.Open() {
			v, err = e.Bound.Out[i].Output(s.Type)
		}
		if err == nil {
			err = s.use(e.calls, v)
		}
		if err != nil {
			return s.Wrap(err)
		}
	}
	return nil
}

// enter reads the inputs that are bound.
func (e *Execution) enter() error {
	for i := range e.inputs() {
		s := &e.inputs()[i]
		v, err := e.Bound.In[i].Input()
		if err == nil {
			err = e.read(s, v)
		}
		if err != nil {
			return s.Wrap(err)
		}
	}
	return e.calls.Enter()
}

func (e *Execution) read(s *Slot, v mem.View) error {
	if !s.copied() {
		return v.Buf.Sync(e.direction(mem.ToDevice), v.Off, s.Size)
	}
	e.Counts.CopiedIn += s.Size
	return s.Form.Load(s.Set, v)
}

// direction is the one in which memory is made visible for a driver that reaches it as a device does.
func (e *Execution) direction(d mem.Direction) mem.Direction {
	switch {
	case !e.Host:
		return d
	case d == mem.ToDevice:
		return mem.FromDevice
	}
	return mem.ToDevice
}

// deliver brings the results where they are wanted.
func (e *Execution) deliver() error {
	data := make([][]byte, len(e.prog.Out))
	for i := range e.outputs() {
		s, err := &e.outputs()[i], error(nil)
		switch {
		case !s.copied():
			err = s.Set.Buf.Sync(e.direction(mem.FromDevice), s.Set.Off, s.Size)
		case e.Bound.Out[i].View.Buf == nil: // the next run writes the same memory
			data[i], err = s.Form.Elements(s.Set)
		default:
			err = e.write(s)
		}
		if err != nil {
			return s.Wrap(err)
		}
	}
	e.data, e.done = data, true
	return nil
}

// write copies an output to where it is bound to.
func (e *Execution) write(s *Slot) error {
	v, err := e.Bound.Out[s.Index].Output(s.Type)
	if err != nil {
		return err
	}
	views := []mem.View{v}
	mem.Begin(views)
	defer mem.End(views)
	e.Counts.CopiedOut += s.Size
	return s.Form.Store(s.Set, v)
}

func (e *Execution) result(i int) (t tensor.Type, data []byte, done bool) {
	if !e.done {
		return t, nil, false
	}
	return e.outputs()[i].Type, e.data[i], true
}

// Release implements device.Execution.
func (e *Execution) Release() {
	if !e.Close() {
		return
	}
	if _, is := e.calls.(Stopped); is { // one that was asked to end writes nothing after this
		select {
		case e.lane <- struct{}{}:
			<-e.lane
		case <-e.dev.Done():
		}
	}
	e.drop()
}

// drop ends a hold; the last one ends what the driver has of the execution.
func (e *Execution) drop() {
	if e.holds.Add(-1) > 0 {
		return
	}
	for i := range e.Slots {
		e.Slots[i].release()
	}
	e.calls.End()
	e.prog.Release()
}

// locked locks the goroutine to its thread if a run can be made there.
func (e *Execution) locked() bool {
	p, is := e.calls.(Prompt)
	if !is {
		return false
	}
	runtime.LockOSThread()
	if p.EndsSoon() {
		return true
	}
	runtime.UnlockOSThread()
	return false
}

func (e *Execution) runLocked(ended func()) error {
	defer runtime.UnlockOSThread()
	defer ended()
	return e.calls.Run()
}
