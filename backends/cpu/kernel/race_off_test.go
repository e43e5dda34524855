//go:build !race && !emulated

package kernel

const thinning = 1
