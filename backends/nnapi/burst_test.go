package nnapi

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/internal/drivertest"
)

// tally returns the driver's counts since the last time.
type tally struct{ made, inBursts, alone int64 }

func (f *fake) since(before *tally) (more tally) {
	now := tally{f.Count("bursts"), f.Count("computed in a burst"), f.Count("computed alone")}
	more = tally{now.made - before.made, now.inBursts - before.inBursts, now.alone - before.alone}
	*before = now
	return more
}

// runs computes n times in a burst; nil: in none.
func runs(t *testing.T, e device.Execution, b *device.Burst, n int) {
	t.Helper()
	for range n {
		require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{Burst: b}))
	}
}

// TestExecution_bursts: the runs of a burst are computed by one of the driver's for each compilation, which ends with
// the program's burst or the compilation, whichever ends first.
func TestExecution_bursts(t *testing.T) {
	f := newFake(t)
	before, early := f.Live(), f.Count("freed too early")
	var count tally
	f.since(&count)
	p, q := f.subject().Program(t), f.subject().Program(t)
	e, second, other := drivertest.Execution(t, p), drivertest.Execution(t, p), drivertest.Execution(t, q)
	q.Release()
	var one, two device.Burst
	runs(t, e, &one, 5)
	assert.Equal(t, tally{1, 5, 0}, f.since(&count))
	runs(t, e, nil, 2)
	assert.Equal(t, tally{0, 0, 2}, f.since(&count), "no burst")
	runs(t, second, &one, 2)
	assert.Equal(t, tally{0, 2, 0}, f.since(&count), "another execution")
	runs(t, other, &one, 2)
	assert.Equal(t, tally{1, 2, 0}, f.since(&count), "another compilation")
	runs(t, e, &two, 2)
	assert.Equal(t, tally{1, 2, 0}, f.since(&count), "another burst")
	data, err := e.OutputData(0)
	require.NoError(t, err)
	assert.EqualValues(t, []byte{0, 0, 0x30, 0x41}, data[:4], "11")

	live := f.Live()
	two.End()
	assert.Equal(t, live-1, f.Live(), "its burst")
	runs(t, e, &two, 1)
	assert.Equal(t, tally{0, 0, 1}, f.since(&count), "after its end")
	live = f.Live()
	other.Release() // the last of q
	assert.Less(t, f.Live(), live-1, "compilation, model and burst")
	runs(t, e, &one, 1)
	assert.Equal(t, tally{0, 1, 0}, f.since(&count))
	e.Release()
	second.Release()
	p.Release()
	assert.Equal(t, before, f.Live())
	one.End()
	assert.Equal(t, early, f.Count("freed too early"))
}

// TestExecution_burstRefused: without a burst the driver computes all the same, and it is asked for one once. What
// cannot be an answer is an error.
func TestExecution_burstRefused(t *testing.T) {
	f := newFake(t)
	before := f.Live()
	var count tally
	p := f.subject().Program(t)
	e := drivertest.Execution(t, p)
	p.Release()
	run := func(b *device.Burst) error {
		return exec.Run(context.Background(), e, device.RunRequest{Burst: b})
	}
	var refused, none, failing device.Burst
	f.since(&count)
	f.Lie("refusal of a burst", 0, drivertest.Word(12))
	runs(t, e, &refused, 3)
	f.Honest()
	runs(t, e, &refused, 1)
	assert.Equal(t, tally{1, 0, 4}, f.since(&count))

	f.Lie("burst", 0, drivertest.Long(0))
	err := run(&none)
	require.Equal(t, fault.Device, fault.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "ANeuralNetworksBurst_create: the driver gives none")
	f.Honest()
	before++ // the driver's own loss
	runs(t, e, &none, 1)
	assert.Equal(t, tally{2, 1, 0}, f.since(&count))

	f.Lie("code Execution_burstCompute", 0, drivertest.Word(7))
	err = run(&failing)
	require.Equal(t, fault.Device, fault.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "ANeuralNetworksExecution_burstCompute: the driver's code is 7")
	f.Honest()
	runs(t, e, &failing, 1)
	assert.Equal(t, tally{1, 2, 0}, f.since(&count))
	for _, b := range []*device.Burst{&refused, &none, &failing} {
		b.End()
	}
	e.Release()
	assert.Equal(t, before, f.Live())
}

// TestExecution_withoutBursts: a driver of an older level, or without one of the functions, computes without.
func TestExecution_withoutBursts(t *testing.T) {
	f := newFake(t)
	var count tally
	var list []*Device
	for _, function := range burstFunctions {
		all, err := Open(Bind(fakeDriver.File, lacking(function)), driver.Config{ID: "npu"})
		require.NoError(t, err)
		list = append(list, all[0])
	}
	f.Lie("feature level", 0, drivertest.Long(28))
	older, err := openFake()
	f.Honest()
	require.NoError(t, err)
	for _, d := range append(list, older[0]) {
		p := (&fake{d, f.Driver}).subject().Program(t)
		e := drivertest.Execution(t, p)
		p.Release()
		var b device.Burst
		f.since(&count)
		runs(t, e, &b, 2)
		assert.Equal(t, tally{0, 0, 2}, f.since(&count))
		e.Release()
		b.End()
	}
}

// TestExecution_burstGivenUp: a burst that still computes for a run that was given up is left alone: the next run does
// without, and the burst ends when the driver returns.
func TestExecution_burstGivenUp(t *testing.T) {
	f := newFake(t)
	before, early := f.Live(), f.Count("freed too early")
	var count tally
	p := f.subject().Program(t)
	e, next := drivertest.Execution(t, p), drivertest.Execution(t, p)
	p.Release()
	var b device.Burst
	runs(t, e, &b, 1)
	f.since(&count)
	f.Block(true)
	err := exec.Run(context.Background(), e, device.RunRequest{Burst: &b, Deadline: time.Now().Add(50 * time.Millisecond)})
	require.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
	assert.Equal(t, tally{0, 1, 0}, f.since(&count))
	ended := make(chan error, 1)
	require.NoError(t, next.Start(device.RunRequest{Burst: &b, Done: func(err error) { ended <- err }}))
	require.Eventually(t, func() bool { return f.Count("computed alone") == count.alone+1 }, time.Minute, time.Millisecond)
	b.End()
	f.Block(false)
	require.NoError(t, <-ended)
	e.Release()
	next.Release()
	require.Eventually(t, func() bool { return f.Live() == before }, time.Minute, time.Millisecond)
	assert.Equal(t, early, f.Count("freed too early"))
}

// TestExecution_burstOfADeadDriver is not freed: no function of the driver is called any more.
func TestExecution_burstOfADeadDriver(t *testing.T) {
	f := newFake(t)
	told := make(chan string, 1)
	f.Life.Tell(func(reason string) { told <- reason })
	f.Life.SetPatience(20 * time.Millisecond)
	p := f.subject().Program(t)
	e := drivertest.Execution(t, p)
	p.Release()
	var b device.Burst
	f.Block(true)
	err := exec.Run(context.Background(), e, device.RunRequest{Burst: &b, Deadline: time.Now().Add(20 * time.Millisecond)})
	require.Equal(t, fault.Timeout, fault.KindOf(err), "%v", err)
	assert.Contains(t, <-told, "ANeuralNetworksExecution_burstCompute did not return within 20ms")
	calls := f.Calls()
	b.End()
	f.Block(false)
	e.Release()
	at := p.(*program)
	require.Eventually(t, func() bool {
		at.bursts.mu.Lock()
		defer at.bursts.mu.Unlock()
		return len(at.bursts.all) == 0
	}, time.Minute, time.Millisecond)
	assert.Equal(t, calls, f.Calls())
}

// TestExecution_burstsAtOnce: bursts begin, compute and end from many goroutines at once, and nothing stays behind.
func TestExecution_burstsAtOnce(t *testing.T) {
	f := newFake(t)
	before, early := f.Live(), f.Count("freed too early")
	for range 20 {
		p := f.subject().Program(t)
		done := make(chan error)
		const n = 4
		var shared device.Burst // ends while it computes
		for i := range n {
			e := drivertest.Execution(t, p)
			go func() {
				var own device.Burst
				b, err := &own, error(nil)
				if i == 0 {
					b = &shared
				}
				for k := 0; k < 5 && err == nil; k++ {
					err = exec.Run(context.Background(), e, device.RunRequest{Burst: b})
				}
				if i%2 == 0 {
					own.End()
				}
				e.Release()
				own.End()
				done <- err
			}()
		}
		p.Release()
		shared.End()
		for range n {
			require.NoError(t, <-done)
		}
	}
	assert.Equal(t, before, f.Live())
	assert.Equal(t, early, f.Count("freed too early"))
}
