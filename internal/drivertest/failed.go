package drivertest

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// FailedPart splits a graph over the device, which has the first part, and the CPU. A part that fails, as the driver
// tells a lie, is the run's error, and the next run computes. Then dies has the device die in a run, which it makes by
// run: from then on every run fails, and so does compiling for the device, but not for the CPU alone.
func (s Subject) FailedPart(t *testing.T, l Lie, dies func(run func(device.RunRequest) error)) {
	b := graph.NewBuilder("parts")
	x, y := b.Input("x", tensor.T(tensor.Float32, 4)), b.Input("y", tensor.T(tensor.Float32, 4))
	b.Output(b.Add(&op.Mul{}, b.Add(&op.Softplus{}, b.Add(&op.Add{}, x, y)), y))
	g, err := b.Graph()
	require.NoError(t, err)
	host := CPU(t)
	p := Compile(t, g, s.Device, host)
	defer p.Release()
	require.Len(t, p.Placement().Parts, 3)
	e := Execution(t, p)
	defer e.Release()
	run := func(r device.RunRequest) error { return exec.Run(context.Background(), e, r) }
	computes(t, e)

	s.Driver.Lie(l.What, l.Offset, l.Data)
	err = run(device.RunRequest{})
	s.Driver.Honest()
	require.Equal(t, fault.Device, fault.KindOf(err), "%v", err)
	require.NotErrorIs(t, err, device.ErrDied)
	require.ErrorContains(t, err, "part 0 on "+s.Device.Info().ID+": "+l.Want)
	_, err = e.OutputData(0)
	require.Equal(t, fault.State, fault.KindOf(err), "%v", err)
	computes(t, e)

	dies(run)
	for range 2 {
		err = run(device.RunRequest{})
		require.ErrorIs(t, err, device.ErrDied)
		require.Equal(t, fault.Device, fault.KindOf(err))
	}
	_, err = compile.Compile(context.Background(), g, []device.Device{s.Device, host}, compile.Options{})
	require.ErrorIs(t, err, device.ErrDied)
	alone := Compile(t, g, host)
	other := Execution(t, alone)
	alone.Release()
	computes(t, other)
	other.Release()
}

// computes runs an execution of FailedPart and compares the result with y*ln(1+e^(x+y)).
func computes(t *testing.T, e device.Execution) {
	t.Helper()
	require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
	data, err := e.OutputData(0)
	require.NoError(t, err)
	for i, got := range floats(t, data) {
		x, y := float64(i+1), float64(10*(i+1))
		assert.InEpsilon(t, y*math.Log1p(math.Exp(x+y)), got, 1e-5)
	}
}
