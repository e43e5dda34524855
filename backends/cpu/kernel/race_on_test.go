//go:build race

package kernel

// thinning leaves out cases under the race detector, which makes the portable
// twins ten times slower and has no goroutines to watch in this package.
const thinning = 16
