//go:build !race

package bombs

const raceDetector = false
