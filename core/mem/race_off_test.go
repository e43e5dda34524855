//go:build !race

package mem

const raceDetector = false
