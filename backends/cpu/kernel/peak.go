package kernel

import (
	"runtime"
	"time"
)

func peakGeneric(n int) (flopsPerStep int) {
	var s [8]float32
	for range n {
		for i := range s {
			s[i] = s[i]*0.5 + 1
		}
	}
	runtime.KeepAlive(s)
	return 16
}

// PeakFP32 measures the float32 multiply-add rate of one core at the active
// level in operations per second: the best of many short samples, taking about
// 50 ms. Benchmarks report their own rate as a share of it.
func PeakFP32() float64 {
	best := 0.0
	const steps = 10000
	for range 400 {
		t := time.Now()
		f := fast.peak(steps)
		if s := time.Since(t).Seconds(); s > 0 {
			best = max(best, float64(f)*steps/s)
		}
	}
	return best
}
