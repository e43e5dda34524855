package main

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// waitingAfter is how long a step may take before waiting shows it.
var waitingAfter = 2 * time.Second

// onTerminal reports whether a command writes to a terminal.
func onTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// waiting shows on a terminal the name of a long step with its seconds. done removes the line; it may be called again.
func waiting(w io.Writer, step string) (done func()) {
	if !onTerminal(w) {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		begin, shown := time.Now(), false
		next := time.NewTimer(waitingAfter)
		defer next.Stop()
		for {
			select {
			case <-end:
				if shown {
					printf(w, "\r\033[K")
				}
				return
			case <-next.C:
				printf(w, "\r%s: %.0f s", step, time.Since(begin).Seconds())
				shown = true
				next.Reset(time.Second)
			}
		}
	}()
	return sync.OnceFunc(func() { close(end); <-ended })
}
