//go:build !noasm

package pool

// pause tells the CPU that the caller is spinning.
//
//go:noescape
func pause()
