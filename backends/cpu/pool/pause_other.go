//go:build !amd64 || noasm

package pool

// pause has no instruction here; the caller's atomic load is the wait.
func pause() {}
