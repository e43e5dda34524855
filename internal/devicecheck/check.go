// Package devicecheck computes every operator of core on a device and compares the results with the reference.
package devicecheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op/opcase"
	"github.com/anynpu/anynpu/core/tensor"
)

// Check is a case with what the reference gives for it.
type Check struct {
	Op    string // as core calls it
	Types string // of the operands, constants with "=" in front
	Form  string // the attributes that are set
	Graph *graph.Graph
	In    []tensor.Tensor
	Want  []tensor.Tensor
}

// Checks are the cases of the named operators, or of all without names, in each element type that the reference
// computes them in.
func Checks(ops ...string) ([]Check, error) {
	var list []Check
	for _, c := range opcase.All() {
		name := graph.NameOf(c.Op)
		if len(ops) > 0 && !slices.Contains(ops, name) {
			continue
		}
		for i, typed := range c.Typed() {
			g, in, err := typed.Graph()
			var want []tensor.Tensor
			if err == nil {
				want, err = ref.Run(context.Background(), g, in)
			}
			if err == nil {
				list = append(list, Check{name, typed.Types(), attributes(c.Op), g, in, want})
			} else if i == 0 {
				return nil, fault.Wrap(err, "the reference of %s, %s", name, typed.Types())
			}
		}
	}
	return list, nil
}

// Outcome is what became of a check.
type Outcome string

// The outcomes.
const (
	Pass    Outcome = "pass"
	Refused Outcome = "refused" // the device does not compute it, and says why
	Wrong   Outcome = "wrong"   // the results are others than the reference's
	Failed  Outcome = "failed"  // the device takes it and then has no results
	NotRun  Outcome = "not run" // the device died before
)

// Result is the outcome of a check.
type Result struct {
	Op         string  `json:"op"`
	Types      string  `json:"types"`
	Form       string  `json:"form,omitempty"`
	Outcome    Outcome `json:"outcome"`
	Why        string  `json:"why,omitempty"`
	Difference float64 `json:"difference"`       // the largest, in steps of quantized types
	MinMS      float64 `json:"min_ms,omitempty"` // the lowest time of a run, with Options.Perf
}

// Options say how a device is tested.
type Options struct {
	Perf  bool          // measure
	Limit time.Duration // of a run; 0: 10 seconds
}

// Run tests a device. An error is the device's death: what was left then has the outcome NotRun.
func Run(ctx context.Context, d device.Device, checks []Check, o Options) ([]Result, error) {
	if o.Limit == 0 {
		o.Limit = 10 * time.Second
	}
	var died error
	results := make([]Result, 0, len(checks))
	for i := range checks {
		c := &checks[i]
		r := Result{Op: c.Op, Types: c.Types, Form: c.Form, Outcome: NotRun}
		if died == nil {
			err := c.run(ctx, d, o, &r)
			switch {
			case errors.Is(err, device.ErrDied) || ctx.Err() != nil:
				died = err
				r.Outcome = Failed
			case err != nil && r.Outcome != Refused:
				r.Outcome = Failed
			}
			if err != nil {
				r.Why = err.Error()
			}
		}
		results = append(results, r)
	}
	return results, died
}

// run sets the outcome of one check; an error says why there are no results.
func (c *Check) run(ctx context.Context, d device.Device, o Options, r *Result) error {
	answers, err := compile.Support(c.Graph, d, device.Options{})
	if err != nil {
		return err
	}
	for _, a := range answers {
		if !a.OK {
			r.Outcome = Refused
			return fault.New(fault.Unsupported, "%s", a.Reason)
		}
	}
	e, err := c.execution(ctx, d)
	if err != nil {
		return err
	}
	defer e.Release()
	once := func() error { return exec.Run(ctx, e, device.RunRequest{Deadline: time.Now().Add(o.Limit)}) }
	if err := once(); err != nil {
		return err
	}
	got, err := outputs(e, len(c.Want))
	if err != nil {
		return err
	}
	c.compare(got, d.Info().Kind != device.CPU && draws(c.Op), r)
	if r.Outcome == Pass && o.Perf {
		return measure(once, r)
	}
	return nil
}

// execution is the check on a device, with its inputs bound.
func (c *Check) execution(ctx context.Context, d device.Device) (device.Execution, error) {
	p, err := compile.Compile(ctx, c.Graph, []device.Device{d}, compile.Options{})
	if err != nil {
		return nil, err
	}
	e, err := p.New(device.ExecOptions{})
	p.Release()
	if err != nil {
		return nil, err
	}
	for i, x := range c.In {
		b := mem.Borrow(x.Data, nil)
		err := e.BindInput(i, mem.View{Buf: b, Type: x.Type()})
		b.Release()
		if err != nil {
			e.Release()
			return nil, err
		}
	}
	return e, nil
}

func outputs(e device.Execution, n int) (out []tensor.Tensor, err error) {
	for i := range n {
		typ, err := e.OutputType(i)
		if err != nil {
			return nil, err
		}
		data, err := e.OutputData(i)
		if err != nil {
			return nil, err
		}
		dims, ok := typ.Shape.Ints()
		if size, _ := typ.ByteSize(); !ok || size != int64(len(data)) {
			return nil, fault.New(fault.Device, "output %d: %v in %d bytes", i, typ, len(data))
		}
		out = append(out, tensor.Tensor{DType: typ.DType, Dims: dims, Quant: typ.Quant, Data: data})
	}
	return out, nil
}

// draws reports whether an operator draws random numbers, which each device does in its own way.
func draws(name string) bool {
	o, ok := graph.NewOp(name)
	return ok && graph.TraitsOf(o).Impure
}

const (
	perfTime = 20 * time.Millisecond // for the runs of one check
	perfRuns = 5                     // at least
)

// measure runs again for the lowest time.
func measure(once func() error, r *Result) error {
	lowest := time.Duration(0)
	for begin, n := time.Now(), 0; n < perfRuns || time.Since(begin) < perfTime; n++ {
		from := time.Now()
		if err := once(); err != nil {
			r.Outcome = Failed
			return fmt.Errorf("run %d: %w", n+2, err)
		}
		if t := time.Since(from); n == 0 || t < lowest {
			lowest = t
		}
	}
	r.MinMS = float64(lowest) / float64(time.Millisecond)
	return nil
}
