package onnxruntime

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/fault"
)

// Config is how a library is used.
type Config struct {
	driver.Config
	Threads int // of the pool that all sessions share, the calling one counted; 0: the runtime's choice
	Log     Log // nil: lines are lost
}

// Library is an open library with its environment, which is never ended: sessions of others may live in it, and a
// plug-in that is unloaded before its last session crashes the process.
type Library struct {
	*driver.Library
	*table
	file    string
	env     uintptr
	plugins map[string]*plugin // by the name under which they are registered; bridging guards them
}

// plugin is one that a library has registered. Its devices are the same for every set of options.
type plugin struct {
	file, hash string
	uses       int // devices made of it; they are never given back
}

// symbols are the functions that a library exports for us.
var symbols = []string{"OrtGetApiBase"}

// libraries are the open ones, by file: one environment for each.
var libraries = struct {
	sync.Mutex
	open map[string]*Library
}{open: map[string]*Library{}}

// Bind makes the environment of the library called file; lookup returns the address of a symbol, 0 if it lacks it. A
// library that is open already is given again. Kinds: fault.Unsupported for a library that is too old, or is none.
func Bind(file string, lookup func(symbol string) uintptr, c Config) (*Library, error) {
	libraries.Lock()
	defer libraries.Unlock()
	if c.Log != nil {
		sink.Store(&c.Log)
	}
	if l := libraries.open[file]; l != nil {
		return l, nil
	}
	t, err := newTable(file, lookup(symbols[0]))
	if err != nil {
		return nil, err
	}
	l := &Library{Library: driver.Bind(file, symbols, lookup), table: t, file: file, plugins: map[string]*plugin{}}
	if err := withoutTelemetry(); err != nil {
		return nil, err
	}
	if l.env, err = t.environment(c.Threads); err != nil {
		return nil, fault.Wrap(err, "%s: its environment", file)
	}
	libraries.open[file] = l
	return l, nil
}

// withoutTelemetry sets a variable that keeps the library from starting a thread that writes files in the user's home.
// It has to be in the C environment before there is an environment of the library's.
func withoutTelemetry() error {
	set, err := purego.Dlsym(purego.RTLD_DEFAULT, "setenv")
	if err != nil {
		return fault.New(fault.Unsupported, "this C library has no setenv")
	}
	name, value := word("ORT_DISABLE_TELEMETRY"), word("1")
	purego.SyscallN(set, uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(value)), 1)
	return nil
}

// environment makes the library's environment: one pool of threads for all sessions, which sleep between runs.
func (t *table) environment(threads int) (uintptr, error) {
	pools, err := t.made(fnCreateThreadingOptions)
	if err != nil {
		return 0, err
	}
	defer t.raw(fnReleaseThreadingOptions, pools)
	for _, set := range [][2]int{{fnSetGlobalIntraOpNumThreads, threads}, {fnSetGlobalInterOpNumThreads, 1},
		{fnSetGlobalSpinControl, 0}} {
		if err := t.call(set[0], pools, uintptr(set[1])); err != nil {
			return 0, err
		}
	}
	name := word("anynpu")
	env, err := t.made(fnCreateEnvWithCustomLoggerAndGlobalThreadPools, callback(), 0, uintptr(Warning), address(name),
		pools)
	runtime.KeepAlive(name)
	return env, err
}
