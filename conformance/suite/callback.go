package suite

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ebitengine/purego"

	"github.com/anynpu/anynpu/conformance/suite/trace"
)

// recording is the recorder of the case that runs, for what belongs to no library: callbacks.
var recording atomic.Pointer[trace.Recorder]

// callbacks are those that were made, which cannot be given back.
var callbacks struct {
	mu  sync.Mutex
	all []trace.Event
}

// NewCallback makes a C function of fn, whose parameters and result are integers and pointers. The process keeps it.
// Its calls are part of the record of a case.
func NewCallback(fn any) uintptr {
	v := reflect.ValueOf(fn)
	var self uintptr
	self = purego.NewCallback(reflect.MakeFunc(v.Type(), func(args []reflect.Value) []reflect.Value {
		rec := recording.Load()
		if rec == nil {
			return v.Call(args)
		}
		given := make([]uintptr, len(args))
		for i, a := range args {
			if a.CanUint() {
				given[i] = uintptr(a.Uint())
			} else {
				given[i] = uintptr(a.Int())
			}
		}
		rec.Enter(self, given)
		out := v.Call(args)
		result := uintptr(0)
		if len(out) > 0 {
			result = uintptr(out[0].Uint())
		}
		rec.Leave(self, result)
		return out
	}).Interface())
	e := trace.Event{Kind: trace.Callback, Bits: uint64(self), Codes: []int{v.Type().NumIn()}}
	callbacks.mu.Lock()
	defer callbacks.mu.Unlock()
	callbacks.all = append(callbacks.all, e)
	if rec := recording.Load(); rec != nil {
		rec.Judge(e)
	}
	return self
}

// record begins a record, in which the callbacks that there are come first.
func record(rec *trace.Recorder) {
	callbacks.mu.Lock()
	all := slices.Clone(callbacks.all)
	callbacks.mu.Unlock()
	for _, e := range all {
		rec.Judge(e)
	}
	recording.Store(rec)
}
