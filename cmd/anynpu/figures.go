package main

import "time"

// benchLeast is the least number of measured runs.
const benchLeast = 2

// benchFigures are the times of the runs.
type benchFigures struct {
	Runs       int     `json:"runs"`
	MinMS      float64 `json:"min_ms"`
	MedianMS   float64 `json:"median_ms"`
	P90MS      float64 `json:"p90_ms"`
	P99MS      float64 `json:"p99_ms"`
	MeanMS     float64 `json:"mean_ms"`
	Throughput float64 `json:"runs_per_second"` // one after another
	GFLOP      float64 `json:"gflop"`           // two per multiply-add
	GFLOPS     float64 `json:"gflops"`          // at the lowest time
}

// clock is the time since some moment.
var clock = func() func() time.Duration {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin) }
}()

func figures(parts [][]time.Duration) *benchFigures {
	all := sortedTimes(parts)
	sum := time.Duration(0)
	for _, t := range all {
		sum += t
	}
	return &benchFigures{Runs: len(all), MinMS: msOf(all[0]), MedianMS: msOf(quantile(all, 0.5)),
		P90MS: msOf(quantile(all, 0.9)),
		P99MS: msOf(quantile(all, 0.99)), MeanMS: msOf(sum) / float64(len(all)),
		Throughput: float64(len(all)) / sum.Seconds()}
}
