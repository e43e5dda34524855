//go:build !race

package kernel

const thinning = 1
