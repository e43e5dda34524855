package devicetest

import (
	"context"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/signal"
	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
)

// broken is a toy with one mistake: in the device itself, or in what wrap makes of its executions.
type broken struct {
	device.Device
	toy     *toy.Device
	info    func(device.Info) device.Info
	support func([]device.NodeSupport) []device.NodeSupport
	load    func(device.Program, error) (device.Program, error)
	native  bool // the first input is said to be native in the order that was announced
	all     bool // so are others
	exec    func(device.ExecOptions) device.ExecOptions
	wrap    func(device.Execution) device.Execution
}

func (b *broken) Info() device.Info {
	if b.info != nil {
		return b.info(b.Device.Info())
	}
	return b.Device.Info()
}

func (b *broken) Support(g *graph.Graph, o device.Options) ([]device.NodeSupport, error) {
	answers, err := b.Device.Support(g, o)
	if b.support != nil {
		answers = b.support(answers)
	}
	return answers, err
}

func (b *broken) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	p, err := b.Device.Compile(ctx, u, o)
	if err != nil {
		return nil, err
	}
	return brokenProgram{p, b, u.Order}, nil
}

func (b *broken) Load(ctx context.Context, data []byte) (device.Program, error) {
	p, err := b.Device.Load(ctx, data)
	if b.load != nil {
		return b.load(p, err)
	}
	return p, err
}

type brokenProgram struct {
	device.Program
	dev   *broken
	order [][]int
}

func (p brokenProgram) Ports() (in, out []device.Port) {
	in, out = p.Program.Ports()
	if p.dev.native && p.order != nil {
		in = slices.Clone(in)
		in[0].Native = p.order[0]
		if p.dev.all {
			in[1].Native = p.order[0]
		}
	}
	return in, out
}

func (p brokenProgram) New(o device.ExecOptions) (device.Execution, error) {
	if p.dev.exec != nil {
		o = p.dev.exec(o)
	}
	e, err := p.Program.New(o)
	if err != nil || p.dev.wrap == nil {
		return e, err
	}
	return p.dev.wrap(e), nil
}

type execution = device.Execution

// The executions of devices with a mistake.
type (
	doneTwice    struct{ device.Execution }
	doneEarly    struct{ device.Execution }
	noDeadline   struct{ device.Execution }
	noFences     struct{ device.Execution }
	passesFences struct{ device.Execution }
	neverSyncs   struct{ device.Execution }
	noStrides    struct{ device.Execution }
	deafToCancel struct{ device.Execution }
	hoards       struct {
		device.Execution
		kept *[]mem.Buffer
	}
	takesAnyIndex  struct{ device.Execution }
	startsUnbound  struct{ device.Execution }
	releasesUnseen struct {
		device.Execution
		pending *sync.WaitGroup
		later   <-chan struct{}
	}
)

func (e doneTwice) Start(r device.RunRequest) error {
	done := r.Done
	if done != nil {
		r.Done = func(err error) { done(err); done(err) }
	}
	return e.Execution.Start(r)
}

func (e doneEarly) Start(r device.RunRequest) error {
	done := r.Done
	if done == nil {
		return e.Execution.Start(r)
	}
	gate := signal.New()
	r.Fences, r.Done, r.Here = append(r.Fences, gate), nil, false
	if err := e.Execution.Start(r); err != nil {
		return err
	}
	done(nil)
	gate.Set(nil)
	return nil
}

func (e noDeadline) Start(r device.RunRequest) error {
	r.Deadline = time.Time{}
	return e.Execution.Start(r)
}

func (e noFences) Start(r device.RunRequest) error {
	r.Fences = nil
	return e.Execution.Start(r)
}

func (e passesFences) Start(r device.RunRequest) error {
	for i, f := range r.Fences {
		r.Fences[i] = deafFence{f}
	}
	return e.Execution.Start(r)
}

// deafFence is signalled when another is, whatever has become of the work before it.
type deafFence struct{ device.Fence }

func (f deafFence) Wait(ctx context.Context) error {
	_ = f.Fence.Wait(ctx)
	return ctx.Err()
}

// coherent is memory whose Sync is not called, as far as it can tell.
type coherent struct{ mem.Buffer }

func (coherent) Sync(mem.Direction, int64, int64) error { return nil }

func (e neverSyncs) BindInput(i int, v mem.View) error {
	if l, ok := v.Buf.(*lagging); ok {
		v.Buf = coherent{l}
	}
	return e.Execution.BindInput(i, v)
}

func (e noStrides) BindInput(i int, v mem.View) error {
	v.Strides = nil
	return e.Execution.BindInput(i, v)
}

func (e deafToCancel) Start(r device.RunRequest) error {
	done := r.Done
	if done != nil {
		r.Done = func(err error) {
			if fault.KindOf(err) == fault.Canceled {
				err = nil
			}
			done(err)
		}
	}
	return e.Execution.Start(r)
}

func (e hoards) BindInput(i int, v mem.View) error {
	err := e.Execution.BindInput(i, v)
	if err == nil && v.Buf != nil {
		v.Buf.Retain()
		*e.kept = append(*e.kept, v.Buf)
	}
	return err
}

func (e takesAnyIndex) BindOutput(_ int, v mem.View) error { return e.Execution.BindOutput(0, v) }

func (e startsUnbound) Start(r device.RunRequest) error {
	err := e.Execution.Start(r)
	if fault.KindOf(err) == fault.State && r.Done == nil {
		return nil
	}
	return err
}

func (e releasesUnseen) Release() {
	e.pending.Go(func() {
		<-e.later
		e.Execution.Release()
	})
}

func mode(m toy.Mode) func(*broken) { return func(b *broken) { b.toy.Set(m) } }

// executions gives the device executions that make has wrapped.
func executions(make func(execution) execution) func(*broken) {
	return func(b *broken) { b.wrap = make }
}

// Each mistake is found by the check that is named, at least.
func TestChecks_findWhatIsBroken(t *testing.T) {
	var kept []mem.Buffer      // by the device that hoards
	var pending sync.WaitGroup // releases of the device that does not wait
	later := make(chan struct{})
	defer func() {
		close(later)
		pending.Wait()
		for _, b := range kept {
			b.Release()
		}
	}()
	for name, c := range map[string]struct {
		found string
		make  func(*broken)
	}{
		"an answer is missing":       {"support answers for every node", mode(toy.ShortAnswer)},
		"it claims what it refuses":  {"support refuses without failing", mode(toy.WrongSupport)},
		"programs without ports":     {"ports", mode(toy.MissingPorts)},
		"another type after a run":   {"unbound outputs", mode(toy.WrongType)},
		"other sizes after a run":    {"unbound outputs", mode(toy.WrongSize)},
		"results that are cut short": {"unbound outputs", mode(toy.ShortData)},
		"runs that panic":            {"bound outputs", mode(toy.PanicRun)},
		"refusals without a reason": {"support refuses without failing", func(b *broken) {
			b.support = func(a []device.NodeSupport) []device.NodeSupport { a[0].Reason = ""; return a }
		}},
		"no build hash": {"info", func(b *broken) {
			b.info = func(i device.Info) device.Info { i.BuildHash = ""; return i }
		}},
		"other ranges than its ports": {"ports", func(b *broken) {
			b.info = func(i device.Info) device.Info { i.DimMax = 7; return i }
		}},
		"damaged blobs of the wrong kind": {"blobs that are damaged", func(b *broken) {
			b.load = func(p device.Program, err error) (device.Program, error) {
				return p, fault.As(fault.Internal, err, "load")
			}
		}},
		"Done twice":              {"done", executions(func(e execution) execution { return doneTwice{e} })},
		"Done before the outputs": {"done", executions(func(e execution) execution { return doneEarly{e} })},
		"deadlines are ignored":   {"deadline", executions(func(e execution) execution { return noDeadline{e} })},
		"fences are ignored":      {"fences", executions(func(e execution) execution { return noFences{e} })},
		"fences that fail are passed": {"fences that fail",
			executions(func(e execution) execution { return passesFences{e} })},
		"a cost below zero": {"cost", func(b *broken) {
			b.support = func(a []device.NodeSupport) []device.NodeSupport { a[0].Cost = -1; return a }
		}},
		"a cost of unknown sizes": {"cost", func(b *broken) {
			b.support = func(a []device.NodeSupport) []device.NodeSupport { a[0].Cost++; return a }
		}},
		"float16 that it does not tell of": {"options", func(b *broken) {
			b.info = func(i device.Info) device.Info { i.Float16 = device.Accepts; return i }
		}},
		"an option that it lacks is refused": {"options", func(b *broken) {
			b.Device = refusesPerformance{b.toy}
		}},
		"any core will do": {"cores", func(b *broken) {
			b.exec = func(o device.ExecOptions) device.ExecOptions { o.CoreMask = 0; return o }
		}},
		"the mask must be one of cores that exist": {"cores", func(b *broken) {
			b.exec = func(o device.ExecOptions) device.ExecOptions {
				if o.CoreMask > 3 {
					o.CoreMask = 4
				}
				return o
			}
		}},
		"owners must be of its own kind": {"owner", func(b *broken) {
			b.exec = func(o device.ExecOptions) device.ExecOptions { _ = o.Owner.(int); return o }
		}},
		"times that nobody asked for": {"profile", func(b *broken) {
			b.exec = func(o device.ExecOptions) device.ExecOptions { o.Profiling = true; return o }
		}},
		"a native order that is copied": {"orders of dimensions", func(b *broken) { b.native = true }},
		"a native order that nobody asked for": {"orders of dimensions", func(b *broken) {
			b.native, b.all = true, true
		}},
		"strides are taken for a native order": {"orders of dimensions",
			executions(func(e execution) execution { return noStrides{e} })},
		"memory is taken as coherent": {"memory that is not coherent",
			executions(func(e execution) execution { return neverSyncs{e} })},
		"strides are ignored": {"strides and offsets",
			executions(func(e execution) execution { return noStrides{e} })},
		"a cancelled run succeeds": {"cancel", executions(func(e execution) execution { return deafToCancel{e} })},
		"references are kept": {"references",
			executions(func(e execution) execution { return hoards{e, &kept} })},
		"any index will do": {"indices", executions(func(e execution) execution { return takesAnyIndex{e} })},
		"a start that should fail": {"calls before a run",
			executions(func(e execution) execution { return startsUnbound{e} })},
		"a release that does not wait": {"calls after the release",
			executions(func(e execution) execution { return releasesUnseen{e, &pending, later} })},
		"programs that are saved as empty": {"save and load", func(b *broken) { b.Device = emptySaver{b.toy} }},
	} {
		t.Run(name, func(t *testing.T) {
			d := toy.New("broken")
			b := &broken{Device: d, toy: d}
			s := subject(d)
			s.Device = b
			for _, check := range Checks() {
				if check.Name != c.found {
					continue
				}
				c.make(b)
				err := s.Verify(check)
				assert.Error(t, err)
				assert.False(t, Skipped(err), "skipped: %v", err)
				return
			}
			t.Errorf("no check %q", c.found)
		})
	}
}

// refusesPerformance fails where it should take an option without effect.
type refusesPerformance struct{ *toy.Device }

func (d refusesPerformance) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	if o.Performance != device.PerformanceDefault {
		return nil, fault.New(fault.Unsupported, "no performance modes")
	}
	return d.Device.Compile(ctx, u, o)
}

// emptySaver compiles programs that save nothing.
type emptySaver struct{ *toy.Device }

func (d emptySaver) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	p, err := d.Device.Compile(ctx, u, o)
	return savesNothing{p}, err
}

type savesNothing struct{ device.Program }

func (savesNothing) Save(io.Writer) error { return nil }
