//go:build !race

package networks

// raceEnabled tells that the race detector is on.
const raceEnabled = false
