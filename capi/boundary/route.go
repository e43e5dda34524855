package boundary

/*
#include "boundary.h"

static inline void *anynpu_driver_caller(void) { return (void *)anynpu_call_driver; }
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/anynpu/anynpu/capi/handle"
	"github.com/anynpu/anynpu/core/fault"
)

// A State says where the calls of a façade go.
type State int

// The states. A façade leaves Undecided at its first call; after that only the step to Mixed is allowed.
const (
	Undecided   State = C.ANYNPU_UNDECIDED
	CPU         State = C.ANYNPU_CPU          // to this library
	PassThrough State = C.ANYNPU_PASS_THROUGH // to a vendor's own library, except calls that create objects
	Mixed       State = C.ANYNPU_MIXED        // ours for our handles, the vendor's for all others
	Device      State = C.ANYNPU_DEVICE       // to this library, but those that its driver, a device, makes itself
)

// A Decider chooses the state of its façade at the façade's first call. Before it returns PassThrough, Mixed or Device
// it sets the driver's functions with SetDriver.
type Decider func() (State, error)

type routing struct {
	mu       sync.Mutex
	deciders map[string]Decider     // by component
	choosers map[string]Chooser     // by component
	owners   map[string]Chooser     // by component
	formers  map[string]func() bool // by component
	funcs    map[uint32][]Func      // by façade
	early    map[uint32]bool        // façades that gave out a handle before they had a driver
	settled  map[uint32]bool        // façades whose next state is known
	files    map[string]string      // the driver's file, by component
	instead  map[string]string      // the setting with which the driver is a device, by component
}

// A Chooser says whether a call of the named function, which creates objects or belongs to the driver, is left to the
// driver, which must have it. It is asked before anything looks at the arguments; false leaves the choice to the
// behaviour.
type Chooser func(function string) bool

var routes = routing{deciders: map[string]Decider{}, choosers: map[string]Chooser{}, owners: map[string]Chooser{},
	formers: map[string]func() bool{}, funcs: map[uint32][]Func{},
	early: map[uint32]bool{}, settled: map[uint32]bool{},
	files: map[string]string{}, instead: map[string]string{}}

// Register makes the functions of a façade known. The glue calls it once, before the first call.
func Register(funcs []Func) {
	if len(funcs) > 0 {
		routes.funcs[funcs[0].Facade] = funcs
	}
}

// Decide sets the decider of the façade called component. A façade without one is in the state CPU.
func Decide(component string, d Decider) {
	routes.mu.Lock()
	defer routes.mu.Unlock()
	routes.deciders[component] = d
}

// Choose sets the chooser of the façade called component, before its first call. owns says whether objects that the
// named function works on can be the driver's; nil means that they can.
func Choose(component string, c, owns Chooser) {
	routes.mu.Lock()
	defer routes.mu.Unlock()
	routes.choosers[component], routes.owners[component] = c, owns
}

// Chosen reports whether a call goes to the driver as it is. One that would, and that the driver has no function for,
// is refused.
func Chosen(c *Call) bool {
	state := RouteState(c.Func.Facade)
	if state != PassThrough && state != Mixed {
		return false
	}
	routes.mu.Lock()
	choose := routes.choosers[c.Func.Component]
	routes.mu.Unlock()
	if choose == nil || !choose(c.Func.Name) {
		return false
	}
	if Driver(c.Func) == nil {
		c.Err = lacking(c.Func)
		return false
	}
	c.passed = true
	return true
}

// lack is the error of a call for the driver that the driver has no function for. The call's handles are good.
type lack struct{ error }

func (l lack) Unwrap() error { return l.error }

func lacking(f *Func) error {
	routes.mu.Lock()
	defer routes.mu.Unlock()
	err := fault.New(fault.Unsupported, "the driver %s has no function %s "+
		"[boundary-driver-no-function]", routes.files[f.Component], f.Name)
	if instead := routes.instead[f.Component]; instead != "" {
		err = fault.New(fault.Unsupported, "%v; with %s this library answers, and the driver is one of its "+
			"devices [boundary-library-answers-driver]", err,
			instead)
	}
	return lack{err}
}

// refusedBy is the error of a call that the driver has refused, whose own log may say why. lifted says that this
// library would not refuse it.
func refusedBy(f *Func, lifted bool) error {
	routes.mu.Lock()
	defer routes.mu.Unlock()
	more := ""
	if instead := routes.instead[f.Component]; lifted && instead != "" {
		more = "; with " + instead + " this library loads it, and the driver is one of its devices"
	}
	return fault.New(fault.Device, "this is the answer of the driver %s%s "+
		"[boundary-answer-driver]", routes.files[f.Component], more)
}

// Instead sets what a refusal in a façade whose calls are its driver's tells users to set, so that this library answers
// and has the driver compute.
func Instead(component, setting string) {
	routes.mu.Lock()
	defer routes.mu.Unlock()
	routes.instead[component] = setting
}

// refused says whether a result of a driver is a failure: a code that is not 0, or no object.
func refused[R any](result R) bool {
	switch v := any(result).(type) {
	case int32:
		return v != 0
	case uint32:
		return v != 0
	case uintptr:
		return v == 0
	}
	return false
}

// named says what a handle is that is not this library's: where there is a driver it is the driver's, and came here
// because the driver lacks the function.
func (c *Call) named(err error) error {
	state := RouteState(c.Func.Facade)
	if state != PassThrough && state != Mixed || !errors.Is(err, handle.ErrForeign) || Driver(c.Func) != nil {
		return err
	}
	routes.mu.Lock()
	owns := routes.owners[c.Func.Component]
	routes.mu.Unlock()
	if owns != nil && !owns(c.Func.Name) {
		return err
	}
	return lacking(c.Func)
}

// DriverHas says whether the driver of the façade called component has a function.
func DriverHas(component, function string) bool {
	for _, funcs := range routes.funcs {
		for i := range funcs {
			if funcs[i].Component == component && funcs[i].Name == function {
				return Driver(&funcs[i]) != nil
			}
		}
	}
	return false
}

// decider returns the decider of a façade, nil if it has none.
func (r *routing) decider(facade uint32) Decider {
	r.mu.Lock()
	defer r.mu.Unlock()
	if funcs := r.funcs[facade]; len(funcs) > 0 {
		return r.deciders[funcs[0].Component]
	}
	return nil
}

// SetDriver sets the addresses of the functions of the driver in a file, by symbol. Symbols that are missing stay with
// this library, and so do, with a warning, addresses in a file of this library's: what dlsym finds under a vendor's
// name may be a stub library that leads back here.
func SetDriver(component, file string, address map[string]uintptr) {
	routes.mu.Lock()
	routes.files[component] = file
	routes.mu.Unlock()
	for _, funcs := range routes.funcs {
		for _, f := range funcs {
			if f.Component == component && address[f.Name] != 0 {
				if C.anynpu_set_driver(C.uint32_t(f.Index), cPointer(address[f.Name])) != 0 {
					Log(LevelWarn, "boundary", "not a driver's function "+
						"[boundary-driver-function]", "function", f.Name, "address",
						fmt.Sprintf("%#x", address[f.Name]))
				}
			}
		}
	}
}

// RouteState returns the state of a façade by its index.
func RouteState(facade uint32) State {
	if facade >= C.ANYNPU_MAX_FACADES {
		return Undecided
	}
	return State(atomic.LoadInt32(&tables.states[facade]))
}

// tables are C's, so that a call need not leave Go to read them.
var tables = func() (t struct {
	states  []int32          // by façade
	drivers []unsafe.Pointer // by Func.Index; none without the library around this package
}) {
	var n C.uint32_t
	t.states = unsafe.Slice((*int32)(unsafe.Pointer(C.anynpu_route_states())), int(C.ANYNPU_MAX_FACADES))
	if p := C.anynpu_drivers(&n); p != nil {
		t.drivers = unsafe.Slice((*unsafe.Pointer)(unsafe.Pointer(p)), int(n))
	}
	return t
}()

// passing says whether the façade may have to become mixed.
func (r *routing) passing(facade uint32) bool {
	return r.decider(facade) != nil && RouteState(facade) == PassThrough
}

// given notes that a handle of ours is about to be given out. A façade that passes calls through becomes mixed first;
// one whose driver is just being opened, and calls us meanwhile, will never pass through.
func (r *routing) given(facade uint32) error {
	for RouteState(facade) == Undecided {
		r.mu.Lock()
		settled := r.settled[facade]
		r.early[facade] = true
		r.mu.Unlock()
		if !settled {
			return nil
		}
		runtime.Gosched() // another thread is about to set the state
	}
	if r.passing(facade) {
		return EnterMixed(facade)
	}
	return nil
}

// wholly says whether all calls of a façade may go to its driver: none of our handles is out, and nothing was asked for
// that needs every call to come by. A handle that is given out later finds the façade settled.
func (r *routing) wholly(facade uint32) bool {
	r.mu.Lock()
	early := r.early[facade]
	r.settled[facade] = true
	r.mu.Unlock()
	funcs := r.funcs[facade]
	return !early && !checkPointers && (len(funcs) == 0 || !Traced(&funcs[0]))
}

// HasDriver says whether calls of the façade called component can go to a driver.
func HasDriver(component string) bool {
	for facade, funcs := range routes.funcs {
		if funcs[0].Component == component {
			state := RouteState(facade)
			return state == PassThrough || state == Mixed
		}
	}
	return false
}

// EnterMixed moves a façade to Mixed. When it returns, every slot is stored, so a handle of ours may be given out.
func EnterMixed(facade uint32) error {
	if C.anynpu_route(C.uint32_t(facade), C.ANYNPU_MIXED) != 0 && RouteState(facade) != Mixed {
		return fault.New(fault.State, "routing: façade %d cannot become mixed [boundary-routing-fa-ade]", facade)
	}
	return nil
}

// Former sets what says, of the façade called component, whether the program's calls have the former parameters
// (abi.Row.Former). It is called once, before any behaviour, and only if there is no driver: that takes such calls
// itself.
func Former(component string, former func() bool) {
	routes.mu.Lock()
	defer routes.mu.Unlock()
	routes.formers[component] = former
}

// former returns what Former has set for a façade, nil if nothing.
func (r *routing) former(facade uint32) func() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if funcs := r.funcs[facade]; len(funcs) > 0 {
		return r.formers[funcs[0].Component]
	}
	return nil
}

//export nnc_boundary_decide
func nnc_boundary_decide(facade uint32) (state int32) {
	state = int32(CPU)
	defer func() {
		if v := recover(); v != nil {
			Log(LevelError, "boundary", "panic while choosing a driver "+
				"[boundary-panic-choosing-driver]", "facade", facade, "value", v)
		}
	}()
	state = decided(facade)
	ours := State(state) == CPU || State(state) == Device
	if former := routes.former(facade); former != nil && ours && former() {
		C.anynpu_serve_former(C.uint32_t(facade))
	}
	return state
}

// decided is the state that the decider of a façade chooses.
func decided(facade uint32) (state int32) {
	state = int32(CPU)
	decide := routes.decider(facade)
	if decide == nil {
		return state
	}
	s, err := decide()
	if err != nil {
		Log(LevelWarn, "boundary", "no driver is used [boundary-no-driver-used]", "facade", facade, "error", err)
		return state
	}
	if s == PassThrough && !routes.wholly(facade) {
		s = Mixed
	}
	return int32(s)
}

// ErrPassOn, which the behaviour of a creating function returns, leaves the call to the driver.
var ErrPassOn = fault.New(fault.Unsupported, "routing: no driver to pass the call on to [boundary-routing-no-driver]")

// PassOn reports whether the behaviour asked for the call to go to the driver and there is one; the glue then calls
// Driver. It is inlined: a call that went well pays for one comparison.
func (c *Call) PassOn() bool { return c.Err != nil && c.passOn() }

func (c *Call) passOn() bool {
	c.Err = c.named(c.Err)
	if c.Err != ErrPassOn || Driver(c.Func) == nil {
		return false
	}
	c.Err = nil
	c.passed = true
	return true
}

// Driver returns the address of the driver's function for f, nil if there is none.
func Driver(f *Func) unsafe.Pointer {
	if int(f.Index) >= len(tables.drivers) {
		return nil
	}
	return atomic.LoadPointer(&tables.drivers[f.Index])
}

// InDriver calls f with the driver's function for fn, which f calls. Creating calls that the thread makes meanwhile are
// the driver's own.
func InDriver(fn *Func, f func(driver unsafe.Pointer)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := C.anynpu_guard_enter(C.uint32_t(fn.Facade))
	defer C.anynpu_guard_restore(before)
	f(Driver(fn))
}

// DriverCaller returns what backends/driver.Library.Through takes, so that its calls are marked as InDriver marks them.
// ok is false if no façade is called component.
func DriverCaller(component string) (caller, facade uintptr, ok bool) {
	for i, funcs := range routes.funcs {
		if funcs[0].Component == component {
			return uintptr(unsafe.Pointer(C.anynpu_driver_caller())), uintptr(i), true
		}
	}
	return 0, 0, false
}

// InProgram calls f, which calls a function of the program back. Objects that the program creates meanwhile are its
// own, also if a driver's call led here.
func InProgram(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := C.anynpu_guard_clear()
	defer C.anynpu_guard_restore(before)
	f()
}
