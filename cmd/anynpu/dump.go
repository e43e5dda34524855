package main

import (
	"context"
	"fmt"
	"io"
	"path"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/layers"
)

// dumpFlags say which values of a run are written.
type dumpFlags struct {
	dir    string
	values []string // patterns of names
	fused  bool     // nodes stay fused
}

// dumped are the values of a graph that a dump can hold: its inputs, then what its nodes make, in the order of
// computation.
func dumped(g *graph.Graph) []graph.Value {
	return append(append([]graph.Value{}, g.In...), layers.Expose(g).Out...)
}

func (f *dumpFlags) check() error {
	if f.dir == "" && len(f.values) > 0 {
		return usage("--dump-values %s: it goes with --dump [tool-dump-values-goes]", f.values[0])
	}
	if f.dir == "" && f.fused {
		return usage("--dump-fused: it goes with --dump [tool-dump-fused-goes]")
	}
	for _, p := range f.values {
		if _, err := path.Match(p, ""); err != nil {
			return usage("--dump-values %s: want a pattern such as 'conv*': %v [tool-dump-values-pattern]", p, err)
		}
	}
	return nil
}

func (f *dumpFlags) wants(name string) bool {
	for _, p := range f.values {
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return len(f.values) == 0
}

// write computes the model once more, node by node or as it is fused, and writes its values as NAME.npy. Values of
// types that NumPy has no name for are left out, and said. It returns how many files there are.
func (f *dumpFlags) write(ctx context.Context, s *layers.Side, in []tensor.Tensor, stderr io.Writer) (int, error) {
	g, err := sized(s.Graph, in)
	if err != nil {
		return 0, exit(exitModel, err)
	}
	values, err := (&layers.Side{Graph: g, Devices: s.Devices, Options: s.Options, Fused: f.fused}).Run(ctx, in)
	if err != nil {
		return 0, exit(exitRun, fault.Wrap(err, "--dump"))
	}
	list := dumped(g)
	ports := make([]device.Port, len(list))
	for i, v := range list {
		ports[i].Name = g.Values[v].Name
	}
	written, foreign := 0, map[tensor.DType]int{}
	for i, name := range fileNames(ports) {
		t, ok := values[list[i]]
		if !ok || ports[i].Name == "" || !f.wants(ports[i].Name) {
			continue
		}
		if _, err := save(f.dir, name, ports[i].Name, t); fault.KindOf(err) == fault.Unsupported {
			foreign[t.DType]++
		} else if err != nil {
			return written, exit(exitRun, fault.Wrap(err, "--dump, after %d files", written))
		} else {
			written++
		}
	}
	for d, n := range foreign {
		warn(stderr, "tool-dump-type", fmt.Sprintf("--dump: %s of %v left out: NumPy has no such type",
			counted(n, "value"), d))
	}
	return written, nil
}
