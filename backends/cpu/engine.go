package cpu

import (
	"context"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

// engine is a way to compute graphs. The device asks its engines in order of preference; the first that prepares a
// graph computes it, so that an engine may take over whole graphs, or node by node by calling another for the rest.
type engine interface {
	name() string
	// prepare makes a validated, inferred graph ready. Constants' data stay valid and in place as long as the result is in
	// use, unless the unit is exclusive and prepare drops them itself. Kind fault.Unsupported hands the graph to the next
	// engine.
	prepare(ctx context.Context, u device.Unit, o device.Options) (prepared, error)
}

// prepared is a graph made ready; it is shared by executions on several goroutines. The program holds the weight store.
type prepared interface {
	// instance returns what one run at a time needs.
	instance(o device.ExecOptions) (instance, error)
	// originals returns the graph with all its constants, as it was compiled, until done is called.
	originals() (g *graph.Graph, done func(), err error)
	// nhwcPorts says which inputs run takes in NHWC; nil: none.
	nhwcPorts() []bool
	// imageRow is how many dimensions of input i, the last ones, are a row of an image, of which run takes those that lie
	// apart (instance.setApart); 0: none are.
	imageRow(i int) int
	release()
}

// instance computes. One goroutine at a time.
type instance interface {
	// run computes the graph's outputs. in are checked against the graph's inputs and lie at addresses that suit their
	// element size, row-major or as prepared.nhwcPorts says. out[i].Data, when not nil, is memory offered for output i
	// that overlaps no input; the result's Data is then either the front of it or elsewhere. Results that are elsewhere
	// are valid until the next run. ctx is looked at between steps.
	run(ctx context.Context, in []tensor.Tensor, out []tensor.Tensor) ([]tensor.Tensor, error)
	// sleeps reports whether a run that began now would have to wait for a thread, and longer than it takes to wake one of
	// the program. It may be called at any time.
	sleeps() bool
	// end gives back the thread that run has, if any, after every run. The caller calls wake, if not nil, when it has
	// little else to do: the run whose turn it is begins.
	end() (wake func())
	// setApart says that rows of input i lie so many bytes apart in the Data of the runs to come, 0: they have no gaps.
	// It is called for inputs only that have an imageRow.
	setApart(i int, bytes int)
	// profile returns the times of the last run, nil unless asked for; peak the largest number of bytes of intermediate
	// results.
	profile() (nodes []device.NodeTime, peak int64)
	release()
}

// graphTypes returns the types of values of g.
func graphTypes(g *graph.Graph, vs []graph.Value) []tensor.Type {
	out := make([]tensor.Type, len(vs))
	for i, v := range vs {
		out[i] = g.Fact(v).Type
	}
	return out
}
