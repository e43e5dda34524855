package suite

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"sync"

	"github.com/ebitengine/purego"

	"github.com/anynpu/anynpu/conformance/suite/cmem"
	"github.com/anynpu/anynpu/conformance/suite/trace"
)

// Library is the API of one library file, whose functions are called by name, from any thread.
type Library struct {
	API     *API
	Path    string
	symbols map[string]uintptr // of every function that the API names, 0 where the file lacks it
	calls   *calls
	own     extras

	exchange exchange // of models
	handed   *handed

	placements *placements
}

// recorder records the calls of the case that runs, nil for none.
func (l *Library) recorder() *trace.Recorder { return l.calls.recorder }

// calls are the functions that were called since the last reset.
type calls struct {
	mu   sync.Mutex
	seen map[string]bool

	recorder *trace.Recorder // set while no case runs
	board    *board          // shows the parent which calls are not back; nil for none
}

// Open loads a file and binds the functions of the API. A file that lacks an essential one is an error, any other
// function is missed when it is called.
func Open(api *API, path string) (*Library, error) {
	l, handle, err := bind(api, path)
	if err != nil {
		return nil, err
	}
	l.own = findExtras(handle)
	return l, nil
}

func bind(api *API, path string) (*Library, uintptr, error) {
	runtime.LockOSThread() // dlerror's text belongs to the thread
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, 0, err
	}
	l := &Library{API: api, Path: path, symbols: map[string]uintptr{}, calls: &calls{seen: map[string]bool{}},
		handed: &handed{}, placements: newPlacements()}
	for _, name := range slices.Concat(api.Functions, api.Historical) {
		symbol, err := purego.Dlsym(handle, name)
		if err != nil && slices.Contains(api.Essential, name) {
			return nil, 0, fmt.Errorf("%s: %s is missing: %w", path, name, err)
		}
		l.symbols[name] = symbol
	}
	return l, handle, nil
}

// Beside binds the API from another file of the library's folder, such as a second name of it. Calls count as those of
// l, as do objects and messages.
func (l *Library) Beside(name string) (*Library, error) {
	other, _, err := bind(l.API, filepath.Join(filepath.Dir(l.Path), name))
	if err != nil {
		return nil, err
	}
	other.calls, other.own, other.exchange, other.handed = l.calls, l.own, l.exchange, l.handed
	other.placements = l.placements
	return other, nil
}

// Has tells whether the file has a function of the API, named with its prefix.
func (l *Library) Has(function string) bool { return l.symbols[function] != 0 }

// Exports tells whether the file has any symbol of this name.
func (l *Library) Exports(symbol string) bool {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(l.Path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return false
	}
	_, err = purego.Dlsym(handle, symbol)
	return err == nil
}

// Call calls a function by its name without the prefix and returns what it leaves in the register of results.
// Arguments are nil, integers, booleans, float32, strings (passed with a final 0), slices (passed as their first
// element's address) and pointers. A negative int stands for a 64-bit value, a negative int32 for a 32-bit one. A
// function that the library lacks is a violation.
func (l *Library) Call(name string, args ...any) uintptr {
	full := l.API.Prefix + name
	symbol, named := l.symbols[full]
	switch {
	case !named:
		panic(fmt.Sprintf("suite: the API %s has no function %s", l.API.Name, full))
	case symbol == 0:
		panic(violation(full + " is missing"))
	}
	l.calls.mu.Lock()
	l.calls.seen[full] = true
	l.calls.mu.Unlock()
	values := make([]uintptr, len(args))
	keep := slices.Clone(args)
	for i, a := range args {
		values[i], keep[i] = argument(a)
	}
	l.handOver(full, args, values, keep)
	rec := l.recorder()
	if rec != nil {
		shown := make([]trace.Arg, len(args))
		for i := range args {
			shown[i] = rec.Arg(values[i], keep[i])
		}
		rec.Call(full, shown, l.API.Headers.Descriptor(full))
	}
	row := l.calls.board.enter(full)
	r := call(symbol, args, values)
	l.calls.board.leave(row, full)
	if rec != nil {
		rec.Return(r)
	}
	l.compiled(name, args, values, r)
	runtime.KeepAlive(keep)
	return r
}

// call calls a function with register values. Those of args that are float32 go to registers of their own.
func call(symbol uintptr, args []any, values []uintptr) uintptr {
	if !slices.ContainsFunc(args, func(a any) bool { _, is := a.(float32); return is }) {
		r, _, _ := purego.SyscallN(symbol, values...)
		return r
	}
	types, in := make([]reflect.Type, len(args)), make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = reflect.ValueOf(values[i])
		if v, ok := a.(float32); ok {
			in[i] = reflect.ValueOf(v)
		}
		types[i] = in[i].Type()
	}
	f := reflect.New(reflect.FuncOf(types, []reflect.Type{reflect.TypeFor[uintptr]()}, false))
	purego.RegisterFunc(f.Interface(), symbol)
	return uintptr(f.Elem().Call(in)[0].Uint())
}

// Through calls a function by the C function at via, which gets its address and then args. Such a call is in no record:
// a case that is recorded is skipped.
func (l *Library) Through(via uintptr, name string, args ...any) uintptr {
	full := l.API.Prefix + name
	if l.recorder() != nil {
		panic(lacking(full + " takes structs by value, which a record does not have"))
	}
	symbol := l.symbols[full]
	if symbol == 0 {
		panic(violation(full + " is missing"))
	}
	l.calls.mu.Lock()
	l.calls.seen[full] = true
	l.calls.mu.Unlock()
	values := []uintptr{symbol}
	keep := slices.Clone(args)
	for i, a := range args {
		var v uintptr
		v, keep[i] = argument(a)
		values = append(values, v)
	}
	row := l.calls.board.enter(full)
	r, _, _ := purego.SyscallN(via, values...)
	l.calls.board.leave(row, full)
	runtime.KeepAlive(keep)
	return r
}

// Code calls a function and returns its return code, a signed integer of 32 bits.
func (l *Library) Code(function string, args ...any) int {
	return int(int32(l.Call(function, args...)))
}

// Judge records what must come of the thread's last call, or of a comparison, for a suite that judges by itself.
func (l *Library) Judge(e trace.Event) {
	if rec := l.recorder(); rec != nil {
		rec.Judge(e)
	}
}

// Called lists the functions that were called since the last reset.
func (l *Library) Called() []string {
	l.calls.mu.Lock()
	defer l.calls.mu.Unlock()
	return slices.Sorted(maps.Keys(l.calls.seen))
}

// reset forgets calls and log lines.
func (l *Library) reset() {
	l.calls.mu.Lock()
	clear(l.calls.seen)
	l.calls.mu.Unlock()
	l.handed.reset()
	l.TakeLog()
}

// argument returns the register value of a, and what must live as long as the call.
func argument(a any) (uintptr, any) {
	if a == nil {
		return 0, nil
	}
	switch v := reflect.ValueOf(a); v.Kind() {
	case reflect.String:
		b := append([]byte(v.String()), 0)
		return cmem.First(b), b
	case reflect.Bool:
		if v.Bool() {
			return 1, nil
		}
		return 0, nil
	case reflect.Int32:
		return uintptr(uint32(v.Int())), nil
	case reflect.Int, reflect.Int64:
		return uintptr(v.Int()), nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return uintptr(v.Uint()), nil
	case reflect.Float32:
		return uintptr(math.Float32bits(float32(v.Float()))), nil
	case reflect.Pointer, reflect.Slice, reflect.UnsafePointer:
		return v.Pointer(), a
	}
	panic(fmt.Sprintf("suite: argument of type %T", a))
}
