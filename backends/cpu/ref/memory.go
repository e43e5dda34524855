package ref

import (
	"math"

	"golang.org/x/sys/unix"
)

// MaxBytes bounds the size of one output: a shape computed from hostile values fails with fault.Memory instead of exhausting the machine.
// It starts as half of the machine's memory.
var MaxBytes = machineBytes() / 2

// machineBytes returns the size of the machine's memory, no bound when the system does not tell.
func machineBytes() int64 {
	var s unix.Sysinfo_t
	if err := unix.Sysinfo(&s); err != nil {
		return math.MaxInt64
	}
	return int64(s.Totalram) * int64(s.Unit)
}
