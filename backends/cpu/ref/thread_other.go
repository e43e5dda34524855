//go:build !linux

package ref

// thread is -1: computations do not pause here.
func thread() int { return -1 }
