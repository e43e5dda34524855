package driver

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/dl/loader"
	"github.com/anynpu/anynpu/core/fault"
)

// glibc's flags and requests beside those of foreign.go.
const (
	rtldNoLoad    = 0x4
	rtldDeepBind  = 0x8
	newNamespace  = ^uintptr(0) // LM_ID_NEWLM
	namespaceOf   = 1           // RTLD_DI_LMID
	linkMapOf     = 2           // RTLD_DI_LINKMAP
	linkMapNameAt = unsafe.Sizeof(uintptr(0))
)

// An Opening opens drivers' files. The zero value opens without a mark.
type Opening struct {
	// Caller and Facade are as in Library.Through: what a driver calls while it is being opened is marked as its own.
	Caller, Facade uintptr
	Getenv         func(name string) string
}

// Opened is an open file.
type Opened struct {
	File  string
	Notes []string // what is not as usual, a sentence each
	lib   uintptr
}

// Open opens the file at an absolute path so that the driver's calls of its own exports stay in it (RTLD_DEEPBIND). A
// driver that needs a library by a name that here is one of AnyNPU's gets the vendor's, from the folder of its own
// file, and both are opened in a namespace of their own, with a C library of their own; where there is no such file,
// that is an error. An open library stays open.
func (o Opening) Open(file string) (*Opened, error) {
	runtime.LockOSThread() // dlerror is the thread's
	defer runtime.UnlockOSThread()
	d := &Opened{File: file}
	flags := uintptr(rtldNow | rtldLocal | rtldDeepBind)
	for _, tool := range []string{"__asan_init", "__tsan_init"} {
		if at, _ := dlsym(rtldDefault, tool); at != 0 {
			flags &^= rtldDeepBind
			d.Notes = append(d.Notes, "a sanitizer is in this process and allows no RTLD_DEEPBIND: the driver's calls of its "+
				"own "+
				"exports come by this library")
			break
		}
	}
	names, theirs, err := o.instead(file)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		d.lib, err = o.dlopen("dlopen", file, flags)
		return d, err
	}
	d.Notes = append(d.Notes, fmt.Sprintf("it needs %s, which here is AnyNPU's own name, and is opened with the "+
		"vendor's in a namespace of its own", strings.Join(names, ", ")))
	flags &^= rtldDeepBind
	namespace := newNamespace
	for _, f := range append(theirs, file) {
		if d.lib, err = o.dlopen("dlmopen", f, flags, namespace); err != nil {
			return nil, err
		}
		if namespace == newNamespace {
			if namespace, err = namespaceID(d.lib); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}

// Lookup returns the address of a symbol, 0 if the driver lacks it.
func (d *Opened) Lookup(symbol string) uintptr {
	at, _ := dlsym(d.lib, symbol)
	return at
}

// dlopen calls dlopen(file, flags), or dlmopen(first, file, flags), in the thread's mark.
func (o Opening) dlopen(function, file string, flags uintptr, first ...uintptr) (uintptr, error) {
	f, err := dlsym(rtldDefault, function)
	if err != nil {
		return 0, fault.New(fault.Unsupported, "%s: this C library has no %s", file, function)
	}
	name := append([]byte(file), 0)
	var args [MaxArguments]uintptr
	n := copy(args[:], first)
	args[n], args[n+1] = uintptr(unsafe.Pointer(&name[0])), flags
	var pin runtime.Pinner
	pin.Pin(&name[0])
	defer pin.Unpin()
	var lib uintptr
	if o.Caller == 0 {
		lib = callC(f, args[0], args[1], args[2])
	} else {
		all := &args
		pin.Pin(all)
		lib = callC(o.Caller, o.Facade, f, uintptr(unsafe.Pointer(all)))
	}
	if lib == 0 {
		return 0, fault.New(fault.File, "%s: it cannot be opened: %s", file, lastError())
	}
	return lib, nil
}

// lastError is the text of dlerror.
func lastError() string {
	f, err := dlsym(rtldDefault, "dlerror")
	if err != nil {
		return "the loader does not say why"
	}
	at := callC(f)
	if at == 0 {
		return "the loader does not say why"
	}
	return text(at)
}

// text copies a C string.
func text(at uintptr) string {
	p := *(*unsafe.Pointer)(unsafe.Pointer(&at)) // C memory, which the collector does not move
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// ask is dlinfo(lib, request, &answer).
func ask(lib uintptr, request int) (answer uintptr, err error) {
	f, err := dlsym(rtldDefault, "dlinfo")
	if err != nil {
		return 0, fault.New(fault.Unsupported, "this C library has no dlinfo")
	}
	var pin runtime.Pinner
	out := new(uintptr)
	pin.Pin(out)
	defer pin.Unpin()
	if r := callC(f, lib, uintptr(request), uintptr(unsafe.Pointer(out))); int32(r) != 0 {
		return 0, fault.New(fault.Unsupported, "dlinfo: %s", lastError())
	}
	return *out, nil
}

func namespaceID(lib uintptr) (uintptr, error) { return ask(lib, namespaceOf) }

// instead returns the names that a driver needs and that here are AnyNPU's own, and the vendor's files for them but the
// driver's own, those that others of them need first.
func (o Opening) instead(file string) (names, theirs []string, err error) {
	getenv := o.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	seen := map[string]bool{}
	var add func(of string) error
	add = func(of string) error {
		needs, err := dl.Needs(of, getenv)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(needs)) {
			if seen[name] || !ours(name, needs[name]) {
				continue
			}
			seen[name] = true
			names = append(names, name)
			beside := filepath.Join(filepath.Dir(file), name)
			found, _, err := dl.Check(beside)
			if err != nil {
				return fault.Wrap(err, "%s needs %s, which here is AnyNPU's own, and the vendor's is not at %s", of, name, beside)
			}
			if err := add(found); err != nil {
				return err
			}
			if same, _ := sameFile(found, file); !same {
				theirs = append(theirs, found)
			}
		}
		return nil
	}
	return names, theirs, add(file)
}

func sameFile(a, b string) (bool, error) {
	x, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y), err
}

// ours says whether a name means a library of AnyNPU's: the one that is loaded under it, else the one at path.
func ours(name, path string) bool {
	if lib, err := dlopen(name, rtldLazy|rtldNoLoad); err == nil && lib != 0 {
		defer dlclose(lib)
		if m, err := ask(lib, linkMapOf); err == nil && m != 0 {
			if loaded := text(*(*uintptr)(unsafe.Add(*(*unsafe.Pointer)(unsafe.Pointer(&m)), linkMapNameAt))); loaded != "" {
				path = loaded
			}
		}
	}
	if path == "" {
		return false
	}
	f, err := loader.Read(path)
	return err == nil && f.Ours
}
