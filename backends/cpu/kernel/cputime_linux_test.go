package kernel

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the processor time of the calling thread, which other load on the
// machine does not stretch as it stretches wall time.
func cpuTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
