// Package parallel divides work that is not a run's among goroutines: the packing of constants, the reading of files.
package parallel

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Do calls f for 0 to n-1 on at most that many goroutines, the caller's among them, and returns when all calls have. A
// panic is raised again on the caller's, as is an access to memory that has vanished: what f reads may lie in a file
// that is cut meanwhile.
func Do(goroutines, n int, f func(i int)) {
	if goroutines = min(goroutines, n); goroutines <= 1 {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var failed atomic.Pointer[any]
	loop := func() {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if v := recover(); v != nil {
				failed.CompareAndSwap(nil, &v)
				next.Store(int64(n))
			}
		}()
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			f(int(i))
		}
	}
	var others sync.WaitGroup
	for range goroutines - 1 {
		others.Go(loop)
	}
	loop()
	others.Wait()
	if v := failed.Load(); v != nil {
		panic(*v)
	}
}
