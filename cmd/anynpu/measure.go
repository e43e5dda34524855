package main

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/session"
)

// measureFlags are the flags of the verbs that run a model to see how it runs.
type measureFlags struct {
	computeFlags
	inputFlags
	api   string
	trace func(pass, text string) // told what each pass makes of the model; nil: not wanted
}

// The APIs that measureFlags.api names.
const (
	apiOHNN = "ohnn" // what crosses the border is as the model has it
	apiRKNN = "rknn" // the integers of quantized inputs and outputs cross the border
)

func (f *measureFlags) add(cmd *cobra.Command) {
	f.made = true
	f.computeFlags.add(cmd)
	f.inputFlags.add(cmd)
	f.addAPI(cmd, "run what programs of `API` run: ohnn, inputs and outputs as the model has them; rknn, quantized ones "+
		"as integers, an .rknn file by the ONNX model beside it", apiOHNN, apiRKNN)
}

// addAPI adds the flag that names an API.
func (f *measureFlags) addAPI(cmd *cobra.Command, help string, names ...string) {
	if cmd.Flags().Lookup("api") == nil {
		cmd.Flags().StringVar(&f.api, "api", apiOHNN, help)
		complete(cmd, "api", names...)
	}
}

// measured is a model that is ready to run on inputs that are bound.
type measured struct {
	*loaded
	*session.Session
	in      []tensor.Tensor
	load    time.Duration
	machine *machine
}

func (m *measured) close() {
	m.Close()
	m.weights.Release()
}

func (f *measureFlags) check() error {
	if f.api != apiOHNN && f.api != apiRKNN {
		return usage("--api %s: want %s or %s [tool-api]", f.api, apiOHNN, apiRKNN)
	}
	return f.inputFlags.check()
}

// machine opens what computes.
func (f *measureFlags) machine(stderr io.Writer) (*machine, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	return f.open(stderr, f.trace)
}

// ready makes the model at path ready. Warnings of loading it go to told.
func (f *measureFlags) ready(path string, on *machine, profiling bool, told, stderr io.Writer) (*measured, error) {
	devs := on.devices
	begin := time.Now()
	defer waiting(stderr, "loading "+path)()
	compiled := model.Unknown
	if f.api == apiRKNN {
		compiled = model.RKNN
	}
	l, err := loadAs(path, compiled, devs, told)
	if err != nil {
		return nil, err
	}
	if f.api == apiRKNN {
		model.ExposeQuantized(l.Graph, nil)
	}
	// a profile looks at the operands later
	o := l.options(compile.Options{Weights: l.weights, Consume: !profiling, Options: device.Options{Unsaved: true}}, on,
		stderr)
	if f.api == apiRKNN {
		o.Order = imagesLast(l.Graph)
	}
	s, err := session.Open(context.Background(), l.Graph, devs, o, device.ExecOptions{Profiling: profiling})
	if err != nil {
		l.weights.Release()
		return nil, exit(exitModel, err)
	}
	m := &measured{loaded: l, Session: s, load: time.Since(begin), machine: on}
	ports, _ := s.Ports()
	if m.in, err = f.tensors(l, ports, stderr); err == nil {
		err = s.Bind(m.in)
	}
	if err != nil {
		m.close()
		return nil, exit(exitUsage, err)
	}
	return m, nil
}

// imagesLast says that inputs of rank 4 are bound in NHWC, as programs for RKNN hand images over.
func imagesLast(g *graph.Graph) [][]int {
	order := make([][]int, len(g.In))
	for i, v := range g.In {
		if g.Fact(v).Shape.Rank() == 4 {
			order[i] = tensor.ChannelsLast(4)
		}
	}
	return order
}

// quantile returns the q-quantile (0 to 1) of sorted times by nearest rank.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// sortedTimes joins and sorts.
func sortedTimes(parts [][]time.Duration) []time.Duration {
	all := slices.Concat(parts...)
	slices.Sort(all)
	return all
}

// msOf is a time in milliseconds, to the nanosecond.
func msOf(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func threadsText(n int) string { return counted(n, "thread") }

// verb is the form for a number of things.
func verb(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
