//go:build race

package kernel

// thinning leaves out cases, and of large results the comparison of most rows,
// under the race detector, which makes portable code ten times slower and has
// no goroutines to watch in this package.
const thinning = 16
