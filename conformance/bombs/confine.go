package bombs

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Confine allows this process so many more bytes of address space and of private writable memory than it has now.
func Confine(space, data uint64) error {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	var n [6]uint64
	if _, err := fmt.Sscan(string(text), &n[0], &n[1], &n[2], &n[3], &n[4], &n[5]); err != nil {
		return err
	}
	page := uint64(os.Getpagesize())
	for resource, limit := range map[int]uint64{unix.RLIMIT_AS: n[0]*page + space, unix.RLIMIT_DATA: n[5]*page + data} {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	return nil
}
