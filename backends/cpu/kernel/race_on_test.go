//go:build race || emulated

package kernel

// thinning leaves out cases, and of large results the comparison of most rows,
// under the race detector and an emulator, which make portable code ten times slower and have
// nothing of their own to find in this package.
const thinning = 16
