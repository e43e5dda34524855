package cpu_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op/opcase"
)

const (
	stopAfter  = 20 * time.Millisecond // of a run
	stopWithin = 50 * time.Millisecond // of processor time after it
	stopTimes  = 3                     // runs of a row that is too slow, the fastest counts
	longEnough = 200 * time.Millisecond
	mostGrown  = 1 << 28 // bytes of a case's inputs
)

// TestStop holds that a run of every operator ends soon after its context does, at sizes that take much longer. It
// measures processor time, so that it is asked for by ANYNPU_STOP: "all", or names of operators with commas.
func TestStop(t *testing.T) {
	asked := os.Getenv("ANYNPU_STOP")
	if asked == "" {
		t.Skip("it measures: make test-long runs it, with ANYNPU_STOP=all")
	}
	for _, byRef := range []bool{false, true} {
		d, err := cpu.New(cpu.Config{Threads: 2, Reference: byRef})
		require.NoError(t, err)
		stopped, short, seen := 0, 0, map[string]bool{}
		for _, c := range opcase.All() {
			name := graph.NameOf(c.Op)
			if asked != "all" && !strings.Contains(","+asked+",", ","+name+",") || seen[name] {
				continue
			}
			large, ok := longCase(d, c)
			if !ok {
				short++
				continue
			}
			seen[name] = true
			stopped++
			took := stopping(t, d, large)
			for again := 1; again < stopTimes && took > stopWithin; again++ {
				took = min(took, stopping(t, d, large))
			}
			assert.LessOrEqual(t, took, stopWithin, "%s %s, by reference: %v", name, large.Types(), byRef)
		}
		t.Logf("by reference %v: %d operators stopped within %v, %d cases are short at every size", byRef, stopped,
			stopWithin,
			short)
	}
}

// longCase grows a case in the way that makes it longest, until a run takes longEnough.
func longCase(d *cpu.Device, c opcase.Case) (opcase.Case, bool) {
	for range 12 {
		best, most := c, workOf(c)
		for _, g := range c.Grown(4) {
			bytes := int64(0)
			for _, o := range g.In {
				n, _ := o.Type.ByteSize()
				bytes += n
			}
			if w := workOf(g); w > most && bytes < mostGrown {
				best, most = g, w
			}
		}
		if most == workOf(c) {
			return c, false
		}
		c = best
		if most < 1<<20 {
			continue
		}
		took, err := timeOf(d, c, 1)
		if err != nil && fault.KindOf(err) != fault.Canceled {
			return c, false
		}
		if err != nil || took > longEnough {
			return c, true
		}
	}
	return c, false
}

// stopping is the processor time that a run takes after it has been canceled, 0 if it ends before.
func stopping(t *testing.T, d *cpu.Device, c opcase.Case) time.Duration {
	ctx, cancel := context.WithCancel(context.Background())
	var before, end time.Duration
	timer := time.AfterFunc(time.Hour, func() {})
	err := runOf(ctx, d, c, 1, func() {
		timer.Stop()
		timer = time.AfterFunc(stopAfter, func() { before = processorTime(); cancel() })
	}, func() { end = processorTime() })
	if err == nil { // it ended by itself this time
		return 0
	}
	assert.Equal(t, fault.Canceled, fault.KindOf(err), "%s %s: %v", graph.NameOf(c.Op), c.Types(), err)
	return end - before
}

func processorTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
