// Package leak lets a test package end with the check that its tests left nothing behind: goroutines, file descriptors,
// mapped files, buffers.
package leak

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// Run runs the tests and returns the exit code for TestMain: 1 when goroutines are more than before, descriptors or
// mapped files others, or when one of the counters (name to function) is not back at its first value. Goroutines that
// are about to end get two seconds.
func Run(m *testing.M, counters map[string]func() int64) int {
	Warm()
	before := map[string]int64{}
	for name, f := range counters {
		before[name] = f()
	}
	open, routines := Now(), runtime.NumGoroutine()
	code := m.Run()
	if f := flag.Lookup("test.fuzz"); f != nil && f.Value.String() != "" {
		return code // the fuzzing engine keeps goroutines of its own
	}
	fail := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "leak: "+format+"\n", args...)
		code = max(code, 1)
	}
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > routines; {
		if time.Now().After(end) {
			buf := make([]byte, 64<<10)
			fail("%d goroutines before, %d after:\n%s", routines, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
			break
		}
		runtime.Gosched()
	}
	for name, f := range counters {
		if now := f(); now != before[name] {
			fail("%s: %d before, %d after", name, before[name], now)
		}
	}
	for _, text := range Now().Since(open) {
		fail("%s", text)
	}
	return code
}

// Warm makes the runtime open the descriptors of its own that it keeps for ever.
func Warm() {
	if r, w, err := os.Pipe(); err == nil {
		r.Close()
		w.Close()
	}
}
