//go:build race

package bombs

const raceDetector = true
