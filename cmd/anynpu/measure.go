package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/session"
)

// measureFlags are the flags of the verbs that run a model to see how it runs.
type measureFlags struct {
	inputs, shapes []string
	device         string
	threads        int
	isa            string
	api            string
	trace          func(pass, text string) // told what each pass makes of the model; nil: not wanted
}

// The APIs that measureFlags.api names.
const (
	apiOHNN = "ohnn" // what crosses the border is as the model has it
	apiRKNN = "rknn" // the integers of quantized inputs and outputs cross the border
)

func (f *measureFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.inputs, "input", "i", nil, "an input as `NAME=FILE`, as in run; inputs that are not given are "+
		"made up")
	fl.StringArrayVar(&f.shapes, "shape", nil, "sizes of an input that is made up, as `NAME=SIZES`, e.g. x=1,3,224,224")
	fl.StringVar(&f.device, "device", "cpu", "the `DEVICE` that computes: cpu, or with a driver "+
		strings.Join(driverDevices, ", "))
	fl.IntVar(&f.threads, "threads", 0, "compute with `N` threads; 0: the CPUs that the process may use")
	fl.StringVar(&f.api, "api", apiOHNN, "run what programs of `API` run: ohnn, inputs and outputs as the model has "+
		"them; rknn, quantized ones as integers")
	fl.StringVar(&f.isa, "isa", "", "fast kernels of instruction set `NAME`: "+kernel.ISANames()+"; default: the last of "+
		"these that the machine has")
}

// measured is a model that is ready to run on inputs that are bound.
type measured struct {
	*loaded
	*session.Session
	in      []tensor.Tensor
	load    time.Duration
	threads int
}

func (m *measured) close() {
	m.Close()
	m.weights.Release()
}

// open makes the model at path ready.
func (f *measureFlags) open(path string, profiling bool, stderr io.Writer) (*measured, error) {
	if f.threads < 0 {
		return nil, usage("--threads %d: want 0 or more", f.threads)
	}
	if err := f.selectISA(); err != nil {
		return nil, err
	}
	if f.api != apiOHNN && f.api != apiRKNN {
		return nil, usage("--api %s: want %s or %s", f.api, apiOHNN, apiRKNN)
	}
	devs, err := devicesWith(f.device, cpu.Config{Threads: f.threads, Trace: f.trace})
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	l, err := load(path, devs, stderr)
	if err != nil {
		return nil, err
	}
	if f.api == apiRKNN {
		model.ExposeQuantized(l.Graph, nil)
	}
	// a profile looks at the operands later
	o := l.options(compile.Options{Weights: l.weights, Consume: !profiling, Options: device.Options{Unsaved: true}}, stderr)
	if f.api == apiRKNN {
		o.Order = imagesLast(l.Graph)
	}
	s, err := session.Open(context.Background(), l.Graph, devs, o, device.ExecOptions{Profiling: profiling})
	if err != nil {
		l.weights.Release()
		return nil, exit(exitModel, err)
	}
	m := &measured{loaded: l, Session: s, load: time.Since(begin), threads: devs[len(devs)-1].(*cpu.Device).Threads()}
	ports, _ := s.Ports()
	if m.in, err = f.fill(l, ports); err == nil {
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

// selectISA obeys --isa for the rest of the process.
func (f *measureFlags) selectISA() error {
	if f.isa == "" {
		return nil
	}
	isa, err := kernel.ParseISA(f.isa)
	if err == nil {
		_, err = kernel.Select(isa)
	}
	if err != nil {
		return usage("--isa %s: %v", f.isa, err)
	}
	return nil
}

// fill returns the inputs that are given as files, and others with made-up values: from -1 to 1 in float inputs, 0 in
// others, which any index allows.
func (f *measureFlags) fill(l *loaded, ports []device.Port) ([]tensor.Tensor, error) {
	files, err := assignments("--input", f.inputs, ports)
	if err != nil {
		return nil, err
	}
	shapes, err := assignments("--shape", f.shapes, ports)
	if err != nil {
		return nil, err
	}
	out := make([]tensor.Tensor, len(ports))
	for i, p := range ports {
		typ := fmt.Sprintf("%v%s", p.Type.DType, l.ShapeText(p.Type.Shape))
		text, sized := shapes[p.Name]
		if _, ok := files[p.Name]; ok {
			if sized {
				return nil, usage("--shape %s=%s: the input is given as a file", p.Name, text)
			}
			one, err := l.inputs([]string{p.Name + "=" + files[p.Name]}, []device.Port{p})
			if err != nil {
				return nil, err
			}
			out[i] = one[0]
			continue
		}
		dims, ok := p.Type.Shape.Ints()
		switch {
		case sized:
			if dims, err = sizes(text); err != nil {
				return nil, usage("--shape %s=%s: %v", p.Name, text, err)
			}
			if _, fits := p.Type.Shape.Merge(tensor.Of(dims...)); !fits {
				return nil, usage("--shape %s=%s: the input is %s", p.Name, text, typ)
			}
		case !ok:
			return nil, usage("input %q is %s; give its sizes with --shape %s=SIZES or a file with -i %s=FILE", p.Name, typ,
				p.Name, p.Name)
		}
		t := tensor.Type{DType: p.Type.DType, Shape: tensor.Of(dims...)}
		if n, ok := t.ByteSize(); !ok || n > maxFill {
			return nil, usage("input %q is %v: too large to make up", p.Name, t)
		}
		var err error
		if out[i], err = pattern(p.Type.DType, dims); err != nil {
			return nil, fault.Wrap(err, "input %q", p.Name)
		}
	}
	return out, nil
}

// maxFill bounds an input that is made up.
const maxFill = 1 << 31

// sizes parses "1,3,224,224"; an empty text is a scalar's.
func sizes(text string) ([]int64, error) {
	dims := []int64{}
	if text == "" {
		return dims, nil
	}
	for _, s := range strings.Split(text, ",") {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 {
			return nil, fault.New(fault.Argument, "size %q: want a whole number of 0 or more", s)
		}
		dims = append(dims, n)
	}
	return dims, nil
}

// pattern returns a tensor of numbers that look like none in particular. Kind fault.Memory.
func pattern(d tensor.DType, dims []int64) (tensor.Tensor, error) {
	n, ok := tensor.T(d, dims...).ByteSize()
	if !ok {
		return tensor.Tensor{}, fault.New(fault.Memory, "%v%v has no size", d, dims)
	}
	data, err := mem.Make[byte](int(n))
	if err != nil {
		return tensor.Tensor{}, fault.Wrap(err, "%v%v", d, dims)
	}
	t := tensor.Tensor{DType: d, Dims: dims, Data: data}
	if d.IsFloat() {
		for i := range t.Count() {
			tensor.PutFloat(d, t.Data, i, float64(uint32(2654435761*uint64(i)+12345))/(1<<31)-1, false)
		}
	}
	return t, nil
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

// counted is a number of things: "1 run", "2 runs".
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
