// Package devicetest is the contract of package device as a program: a list of checks that every device passes. A
// device's own tests call [Run] with a [Subject]; what a device cannot do (saved programs, open dimensions) is read
// from its Info and its checks are skipped with that reason.
//
// A check is a function that returns an error instead of failing a test, so that the package can test itself with
// devices that are broken on purpose.
package devicetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// Subject is a device and what the checks need to know of it.
type Subject struct {
	Device device.Device
	// Graph returns a graph that the device computes: two float32 inputs of the given shape, one output of the same shape,
	// computed element by element. nil: the sum of both by one node.
	Graph func(s tensor.Shape) (*graph.Graph, error)
	// Want computes one element of the output. nil: the sum.
	Want func(x, y float32) float32
	// Endless returns a graph like Graph's whose runs do not end by themselves, and what takes back whatever makes them
	// so. nil: the checks of deadlines and cancellation use only runs whose time is over before they begin.
	Endless func(s tensor.Shape) (g *graph.Graph, restore func(), err error)
	// Kill makes the device die, for good. nil: it cannot.
	Kill func()
	// Owner is ExecOptions.Owner of every execution. nil: the device has no use for one.
	Owner any
	// Live are counters of what the device and package mem hold; each returns to its first value after every check.
	Live map[string]func() int64
}

// Check is one rule of the contract.
type Check struct {
	Name string
	Run  func(s *Subject) error
}

// skipped is the error of a check that the device has no use for.
type skipped string

func (s skipped) Error() string { return string(s) }

// Checks returns the contract, the check that kills the device last.
func Checks() []Check {
	return []Check{
		{"info", info},
		{"support answers for every node", support},
		{"support refuses without failing", supportRefuses},
		{"cost", cost},
		{"compile", compileRefuses},
		{"ports", ports},
		{"bound outputs", boundOutputs},
		{"unbound outputs", unboundOutputs},
		{"statistics", statistics},
		{"profile", profile},
		{"options", options},
		{"cores", cores},
		{"owner", owner},
		{"calls before a run", callsBefore},
		{"calls during a run", callsDuring},
		{"calls after the release", callsAfter},
		{"indices", indices},
		{"bindings that do not fit", misfits},
		{"strides and offsets", strides},
		{"orders of dimensions", orders},
		{"memory that cannot be mapped", unmappable},
		{"memory that is not coherent", incoherent},
		{"references", references},
		{"outputs of any size", anySize},
		{"open dimensions", openDimensions},
		{"done", doneOnce},
		{"runs from within done", doneStarts},
		{"deadline", deadline},
		{"cancel", cancel},
		{"fences", fences},
		{"fences that fail", fencesThatFail},
		{"release stops a run", releaseStops},
		{"executions side by side", sideBySide},
		{"save and load", saveAndLoad},
		{"blobs that are damaged", damagedBlobs},
		{"alloc", alloc},
		{"products of matrices", matrices},
		{"death", death},
	}
}

// Run checks the whole contract.
func Run(t *testing.T, s Subject) {
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			var reason skipped
			switch err := s.Verify(c); {
			case errors.As(err, &reason):
				t.Skip("SKIP: " + string(reason))
			case err != nil:
				t.Error(err)
			}
		})
	}
}

// Verify makes one check and compares the counters before and after it. An error that wraps no failure but a reason to
// skip is recognized by [Skipped].
func (s *Subject) Verify(c Check) error {
	before := map[string]int64{}
	for name, count := range s.Live {
		before[name] = count()
	}
	err := protected(c, s)
	var reason skipped
	if err != nil && !errors.As(err, &reason) {
		return err // what a failed check leaves behind is no news
	}
	for name, count := range s.Live {
		if now := count(); !eventually(func() bool { return count() == before[name] }) {
			return fmt.Errorf("%s: %d before the check, %d after it", name, before[name], now)
		}
	}
	return err
}

// Skipped reports whether an error of Verify says only that the device has no use for the check.
func Skipped(err error) bool {
	var reason skipped
	return errors.As(err, &reason)
}

// protected turns a panic of the device into an error of the check.
func protected(c Check, s *Subject) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return c.Run(s)
}

// graph returns the subject's graph for inputs of shape x.
func (s *Subject) graph(x tensor.Shape) (*graph.Graph, error) {
	if s.Graph != nil {
		return s.Graph(x)
	}
	return sumGraph(x)
}

func sumGraph(s tensor.Shape) (*graph.Graph, error) {
	b := graph.NewBuilder("sum")
	t := tensor.Type{DType: tensor.Float32, Shape: s}
	x, y := b.Input("x", t), b.Input("y", t)
	b.SetOrigin(0, "")
	z := b.Add(&op.Add{}, x, y)
	b.Name(z, "z")
	b.Output(z)
	return b.Graph()
}

func (s *Subject) want(x, y float32) float32 {
	if s.Want != nil {
		return s.Want(x, y)
	}
	return x + y
}
