package main

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/anynpu/anynpu/backends/remote"
	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/core/device"
)

// maxConcurrency bounds the runs at once of bench.
const maxConcurrency = 1024

// concurrentReport is the JSON form of bench --concurrency.
type concurrentReport struct {
	Schema      string         `json:"schema"` // "anynpu.bench-concurrent/1"
	File        string         `json:"file"`
	Device      string         `json:"device"`
	Concurrency int            `json:"concurrency"`
	LoadMS      float64        `json:"load_ms"`
	FirstMS     float64        `json:"first_ms"` // of the first run, connecting and all
	Figures     *benchFigures  `json:"figures"`
	Failed      int            `json:"failed"`
	Here        int64          `json:"computed_here"` // runs that no server computed
	Addresses   []link.Address `json:"addresses,omitempty"`
}

// concurrency says how bench --concurrency measures.
type concurrency struct {
	*measureFlags
	n            int
	warmup, time time.Duration
	deadline     func() time.Time // of a run that begins now
	json         bool
}

// run measures runs of several executions at once.
func (f *concurrency) run(path string, stdout, stderr io.Writer) error {
	on, err := f.machine(stderr)
	if err != nil {
		return err
	}
	defer on.close()
	begin := clock()
	m, err := f.ready(path, on, false, stderr, stderr)
	if err != nil {
		return err
	}
	defer m.close()
	r := concurrentReport{Schema: "anynpu.bench-concurrent/1", File: path, Device: on.devices[0].Info().ID,
		Concurrency: f.n, LoadMS: msOf(clock() - begin)}
	from := clock()
	if err := m.Repeat(f.deadline()); err != nil {
		return exit(exitRun, err)
	}
	r.FirstMS = msOf(clock() - from)
	before := remoteProbe(on.devices[0])
	times, failed, took, err := f.together(m)
	if err != nil {
		return exit(exitRun, err)
	}
	r.Failed = failed
	if len(times) > 0 {
		r.Figures = figures([][]time.Duration{times})
		r.Figures.Throughput = float64(len(times)) / took.Seconds()
	}
	if d, is := on.devices[0].(*remote.Device); is {
		r.Addresses, r.Here = remoteRuns(d)
		addStatistics(r.Addresses, before, remoteProbe(d))
	}
	if f.json {
		err = writeJSON(stdout, r)
	} else {
		r.write(stdout)
	}
	if err == nil && failed > 0 {
		err = exit(exitRun, fmt.Errorf("%d of %d runs failed", failed, failed+len(times)))
	}
	return err
}

// together runs executions of one program at once, each one run after another.
func (f *concurrency) together(m *measured) (times []time.Duration, failed int, took time.Duration, err error) {
	type side struct {
		run    func() error
		times  []time.Duration
		failed int
	}
	sides := make([]side, f.n)
	for i := range sides {
		s, err := m.Another(device.ExecOptions{})
		if err != nil {
			return nil, 0, 0, err
		}
		defer s.Close()
		if err := s.Bind(m.in); err != nil {
			return nil, 0, 0, err
		}
		sides[i].run = func() error { return s.Repeat(f.deadline()) }
	}
	part := func(limit time.Duration, keep bool) time.Duration {
		var wait sync.WaitGroup
		begin := clock()
		for i := range sides {
			wait.Go(func() {
				s := &sides[i]
				for k := 0; k < benchLeast || clock()-begin < limit; k++ {
					from := clock()
					err := s.run()
					switch {
					case !keep:
					case err != nil:
						s.failed++
					default:
						s.times = append(s.times, max(clock()-from, 1))
					}
				}
			})
		}
		wait.Wait()
		return clock() - begin
	}
	part(f.warmup, false)
	took = part(f.time, true)
	for i := range sides {
		times, failed = append(times, sides[i].times...), failed+sides[i].failed
	}
	slices.Sort(times)
	return times, failed, took, nil
}

func (r *concurrentReport) write(w io.Writer) {
	printf(w, "device      %s, %d at once\n", r.Device, r.Concurrency)
	printf(w, "load        %.1f ms, first run %.3f ms\n", r.LoadMS, r.FirstMS)
	if f := r.Figures; f != nil {
		printf(w, "runs        %d, %.1f per second", f.Runs, f.Throughput)
		if r.Failed > 0 {
			printf(w, ", %d failed", r.Failed)
		}
		printf(w, "\nmin         %.4f ms\nmedian      %.4f ms\np90         %.4f ms\np99         %.4f ms\n", f.MinMS,
			f.MedianMS,
			f.P90MS, f.P99MS)
	} else {
		printf(w, "runs        0, %d failed\n", r.Failed)
	}
	printRuns(w, r.Addresses, r.Here)
}
