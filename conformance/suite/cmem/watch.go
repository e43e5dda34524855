package cmem

import "reflect"

// Watcher is told of the memory that goes between a program and a library.
type Watcher interface {
	// Held says that the program gives away the address of n elements of a type, of its own memory.
	Held(keep any, addr uintptr, elem reflect.Type, n int)
	// Seen says that the program reads or writes n elements of a type, of the library's memory.
	Seen(addr uintptr, elem reflect.Type, n int)
	// Read says that the program has read these bytes of the library's memory.
	Read(addr uintptr, elem reflect.Type, b []byte)
}

var watcher Watcher

// Watch has w told of what the functions of this package are called with from now on, nil for nobody. No other
// goroutine may call them at that time.
func Watch(w Watcher) { watcher = w }

func held[E any](p *E, n int) {
	if watcher != nil && p != nil && n > 0 {
		watcher.Held(p, uintptrOf(p), reflect.TypeFor[E](), n)
	}
}

func seen[E any](addr uintptr, n int) {
	if watcher != nil && addr != 0 && n > 0 {
		watcher.Seen(addr, reflect.TypeFor[E](), n)
	}
}

func read[E any](addr uintptr, v []E) {
	if watcher != nil && len(v) > 0 {
		watcher.Read(addr, reflect.TypeFor[E](), bytesOf(v))
	}
}
