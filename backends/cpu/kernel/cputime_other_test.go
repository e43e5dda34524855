//go:build !linux

package kernel

import "time"

var processStart = time.Now()

func cpuTime() time.Duration { return time.Since(processStart) }
