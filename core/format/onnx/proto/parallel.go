package proto

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// InParallel calls f for 0 to n-1 on several goroutines and returns when all calls have. A panic is raised again on the
// caller's.
func InParallel(n int, f func(i int)) {
	var next atomic.Int64
	var failed atomic.Pointer[any]
	loop := func() {
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
	var wg sync.WaitGroup
	for range min(n, runtime.NumCPU(), 8) - 1 {
		wg.Go(loop)
	}
	loop()
	wg.Wait()
	if v := failed.Load(); v != nil {
		panic(*v)
	}
}
