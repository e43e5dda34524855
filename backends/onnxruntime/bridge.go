package onnxruntime

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/fault"
)

// bridge is the file by which a library and the providers in files beside it find each other. Providers ask for it by
// this name, and libraries load theirs for all (RTLD_GLOBAL): the loader gives the first one of the process to all
// providers. Those of a second library would get the first library, whose functions lie elsewhere.
const bridge = "libonnxruntime_providers_shared.so"

// bridging is held while a provider may load a bridge.
var bridging sync.Mutex

// Claim loads the bridge of the first of some libraries that has providers in files beside it. Every library loads its
// own bridge when it is given a plug-in, which does not need one: call Claim with all libraries before a device of any
// of them is opened.
func Claim(libraries ...string) {
	bridging.Lock()
	defer bridging.Unlock()
	for _, file := range libraries {
		found, _ := filepath.Glob(filepath.Join(home(file), "libonnxruntime_providers_*.so"))
		if !slices.ContainsFunc(found, func(path string) bool { return filepath.Base(path) != bridge }) {
			continue
		}
		if _, err := purego.Dlopen(filepath.Join(home(file), bridge), purego.RTLD_NOW|purego.RTLD_GLOBAL); err == nil {
			return
		}
	}
}

// home is the folder of a library's file.
func home(library string) string {
	if real, err := filepath.EvalSymlinks(library); err == nil {
		library = real
	}
	return filepath.Dir(library)
}

// builtIn says why a provider that is named, and is no plug-in, cannot be asked for: the library is built without it,
// or it would get another library. bridged is false for one that needs no file beside the library.
func (l *Library) builtIn(provider string, bridged bool) error {
	all, err := l.available()
	if err != nil {
		return err
	}
	named := func(name string) bool {
		return strings.EqualFold(name, provider) || strings.EqualFold(name, provider+"ExecutionProvider")
	}
	if !slices.ContainsFunc(all, named) {
		return fault.New(fault.Unsupported, "this library is built without the provider %s, with %s", provider,
			strings.Join(all, ", "))
	}
	if bridged && foreignBridge(l.file) {
		return fault.New(fault.Unsupported, "the provider %s would get another library, which has loaded its %s: a process "+
			"can have one library with such providers", provider, bridge)
	}
	return nil
}

// foreignBridge reports whether who asks for a bridge gets one that is not a library's own.
func foreignBridge(library string) bool {
	first := loaded(bridge)
	return first != 0 && first != loaded(filepath.Join(home(library), bridge))
}

// loaded is the loader's handle of a file, 0 if the process does not have it.
func loaded(file string) uintptr {
	const noLoad = 4 // RTLD_NOLOAD
	handle, err := purego.Dlopen(file, purego.RTLD_LAZY|noLoad)
	if err != nil {
		return 0
	}
	purego.Dlclose(handle)
	return handle
}

// available are the names of the providers that a library is built with.
func (l *Library) available() (names []string, err error) {
	out := new([2]uintptr) // address, count
	var pin runtime.Pinner
	pin.Pin(out)
	defer pin.Unpin()
	err = l.call(fnGetAvailableProviders, uintptr(unsafe.Pointer(&out[0])), uintptr(unsafe.Pointer(&out[1])))
	if err != nil || out[0] == 0 {
		return nil, err
	}
	n := int32(out[1])
	for _, at := range unsafe.Slice((*uintptr)(driver.Pointer(out[0])), max(n, 0)) {
		names = append(names, cText(at))
	}
	return names, l.call(fnReleaseAvailableProviders, out[0], uintptr(n))
}
