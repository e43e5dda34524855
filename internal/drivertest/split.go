package drivertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/driver"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	run "github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op/opcase"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/built"
)

// CPU is the CPU with one thread.
func CPU(t testing.TB) device.Device {
	d, err := cpu.New(cpu.Config{Threads: 1})
	require.NoError(t, err)
	return d
}

// Compile compiles a graph for devices in an order.
func Compile(t testing.TB, g *graph.Graph, devices ...device.Device) *compile.Program {
	t.Helper()
	p, err := compile.Compile(context.Background(), g, devices, compile.Options{})
	require.NoError(t, err, g.Name)
	return p
}

// Results computes a program twice, the second time on memory of the first.
func Results(t testing.TB, p device.Program, in []tensor.Tensor) (out []tensor.Tensor) {
	t.Helper()
	e, err := p.New(device.ExecOptions{})
	require.NoError(t, err)
	defer e.Release()
	for i, x := range in {
		b := mem.Borrow(x.Data, nil)
		require.NoError(t, e.BindInput(i, mem.View{Buf: b, Type: x.Type()}))
		b.Release()
	}
	for range 2 {
		require.NoError(t, run.Run(context.Background(), e, device.RunRequest{}))
	}
	_, outs := p.Ports()
	for i := range outs {
		typ, err := e.OutputType(i)
		require.NoError(t, err)
		data, err := e.OutputData(i)
		require.NoError(t, err)
		dims, _ := typ.Shape.Ints()
		out = append(out, tensor.Tensor{DType: typ.DType, Dims: dims, Data: slices.Clone(data)})
	}
	return out
}

// Whole is a graph with inputs, which judges its results: one of conformance/graphs.
type Whole interface {
	Parts() (name string, g *graph.Graph, in []tensor.Tensor)
	Compare(got []tensor.Tensor) error
}

// Split computes the committed random graphs, graphs.Cases, on devices, and returns how many nodes each of them has.
// What they must give is what an evaluation in float64 gives, which the CPU alone is held to as well.
func Split[W Whole](t *testing.T, all func() ([]W, error), devices ...device.Device) (nodes map[string]int) {
	cases, err := all()
	require.NoError(t, err)
	require.Len(t, cases, 300)
	if testing.Short() {
		cases = cases[:30]
	}
	nodes, parts := map[string]int{}, 0
	for _, c := range cases {
		name, g, in := c.Parts()
		p := Compile(t, g, devices...)
		for _, n := range p.Placement().Nodes {
			nodes[n.Device]++
		}
		parts += len(p.Placement().Parts)
		assert.NoError(t, c.Compare(Results(t, p, in)), name)
		p.Release()
	}
	t.Logf("%v in %d parts", nodes, parts)
	return nodes
}

// InChild runs a test again in a process of its own, in which AnyNPU's own library stands in for a vendor's driver: the
// library keeps threads and descriptors for ever. The child has the library's file in variable.
func InChild(t *testing.T, variable, soname string, environment ...string) {
	if testing.Short() {
		t.Skip("SKIP: with -short, as for the race detector, no second library is loaded")
	}
	library, err := filepath.Abs(built.Library("../..", soname))
	require.NoError(t, err)
	if _, err := os.Stat(library); err != nil {
		t.Skipf("SKIP: %s is not built: make libs", library)
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(append(os.Environ(), variable+"="+library, "ANYNPU_LOG=off"), environment...)
	out, err := child.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
}

// Lowerings is the child of InChild: nodes and random graphs are computed on the device of AnyNPU's own library. There
// must be a node of each operator that is in left.
func Lowerings[W Whole](t *testing.T, library string, all func() ([]W, error),
	open func(file string, lookup func(symbol string) uintptr) (device.Device, error), nodes []opcase.Case,
	left map[string]bool) {
	opened, err := driver.Opening{}.Open(library)
	require.NoError(t, err)
	own, err := open(opened.File, opened.Lookup)
	require.NoError(t, err)
	t.Run("operators", func(t *testing.T) { Nodes(t, own, nodes, left) })
	t.Run("random graphs", func(t *testing.T) {
		host := CPU(t)
		computed := Split(t, all, own, host)
		assert.Greater(t, computed[own.Info().ID], computed[host.Info().ID])
	})
}
