//go:build !linux

package pool

import "runtime"

func yield() { runtime.Gosched() }

func allowedCPUs() int { return runtime.NumCPU() }

// DefaultThreads is the number of compute threads a process should use: the
// CPUs it may run on.
func DefaultThreads() int { return allowedCPUs() }
