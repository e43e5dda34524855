package devicecheck

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/op/opcase"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

func newCPU(t *testing.T, c cpu.Config) device.Device {
	c.Threads = 1
	d, err := cpu.New(c)
	require.NoError(t, err)
	return d
}

func run(t *testing.T, d device.Device, o Options, ops ...string) []Result {
	checks, err := Checks(ops...)
	require.NoError(t, err)
	require.NotEmpty(t, checks)
	results, err := Run(context.Background(), d, checks, o)
	require.NoError(t, err)
	require.Len(t, results, len(checks))
	return results
}

// The fast kernels agree with the reference, operator by operator.
func TestRun_cpu(t *testing.T) {
	results := run(t, newCPU(t, cpu.Config{}), Options{})
	for _, r := range results {
		assert.Equal(t, Pass, r.Outcome, "%s %s %s: %s", r.Op, r.Types, r.Form, r.Why)
	}
	assert.Len(t, Rows(results), len(graph.OpNames())-len(opcase.Without), "%v", graph.OpNames())
}

// Quantized types are among those that operators are tested in.
func TestChecks_types(t *testing.T) {
	checks, err := Checks("relu", "bitwise_and")
	require.NoError(t, err)
	seen := map[string][]tensor.DType{}
	for _, c := range checks {
		seen[c.Op] = append(seen[c.Op], c.In[0].DType)
	}
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64, tensor.Int8,
		tensor.Uint8} {
		assert.Contains(t, seen["relu"], d)
	}
	assert.Contains(t, seen["bitwise_and"], tensor.Uint64)
	assert.NotContains(t, seen["bitwise_and"], tensor.Float32)
}

// liar subtracts where a sum is wanted.
type liar struct{ device.Device }

func (l liar) Compile(ctx context.Context, u device.Unit, o device.Options) (device.Program, error) {
	g := *u.Graph
	g.Nodes = slices.Clone(g.Nodes)
	for i := range g.Nodes {
		if _, ok := g.Nodes[i].Op.(*op.Add); ok {
			g.Nodes[i].Op = &op.Sub{}
		}
	}
	u.Graph = &g
	return l.Device.Compile(ctx, u, o)
}

func TestRun_findsWrongResults(t *testing.T) {
	wrong := 0
	for _, r := range run(t, liar{newCPU(t, cpu.Config{})}, Options{}, "add") {
		if r.Outcome == Wrong {
			wrong++
			assert.Contains(t, r.Why, "output 0: element ")
			assert.Positive(t, r.Difference)
		}
	}
	assert.Greater(t, wrong, 10)
	for _, r := range run(t, liar{newCPU(t, cpu.Config{})}, Options{}, "sub") {
		assert.Equal(t, Pass, r.Outcome)
	}
}

// A device that adds float32 refuses the rest, and says why.
func TestRun_refusals(t *testing.T) {
	rows := Rows(run(t, toy.New("toy"), Options{}, "add", "sub"))
	require.Len(t, rows, 2)
	assert.Equal(t, 1, rows[0].Count[Pass])
	assert.Equal(t, 1, rows[0].Count[Failed], "it does not broadcast, and says so when it compiles")
	assert.Contains(t, rows[0].Reasons, Reason{Failed, "add: toy: [2 3 4] with [3 1]", 1})
	assert.Zero(t, rows[1].Count[Pass])
	assert.Equal(t, rows[1].Count[Refused], Total(rows[1:], Refused))
	require.NotEmpty(t, rows[1].Reasons)
	assert.NotEmpty(t, rows[1].Reasons[0].Why)
}

// What a device takes and then does not compute has failed, whatever way it has to fail.
func TestRun_failures(t *testing.T) {
	for mode, want := range map[toy.Mode]Outcome{toy.FailCompile: Failed, toy.FailRun: Failed, toy.Block: Failed,
		toy.PanicRun: Failed, toy.WrongType: Failed, toy.UnknownSize: Failed, toy.ShortData: Failed,
		toy.ShortAnswer: Failed} {
		d := toy.New("toy")
		d.Set(mode)
		for _, r := range run(t, d, Options{Limit: 20 * time.Millisecond}, "add") {
			if r.Outcome != Refused {
				assert.Equal(t, want, r.Outcome, "mode %d: %s", mode, r.Why)
				assert.NotEmpty(t, r.Why, "mode %d", mode)
			}
		}
	}
}

func TestRun_deviceDies(t *testing.T) {
	checks, err := Checks("add", "relu")
	require.NoError(t, err)
	d := toy.New("toy")
	d.Set(toy.Dead)
	results, err := Run(context.Background(), d, checks, Options{})
	require.ErrorIs(t, err, device.ErrDied)
	require.Len(t, results, len(checks))
	assert.Equal(t, Failed, results[0].Outcome)
	for _, r := range results[1:] {
		assert.Equal(t, NotRun, r.Outcome)
	}
}

func TestRun_measures(t *testing.T) {
	for _, r := range run(t, newCPU(t, cpu.Config{Reference: true}), Options{Perf: true}, "relu") {
		assert.Equal(t, Pass, r.Outcome)
		assert.Positive(t, r.MinMS)
	}
}
