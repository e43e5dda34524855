package queue

import (
	"context"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/io"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// work computes what waits, on an execution of its own, until the queue is closed and empty.
func (q *Queue) work() {
	defer q.done.Done()
	w := &worker{queue: q}
	defer w.drop()
	for {
		g := q.next()
		if g == nil {
			return
		}
		w.serve(g)
	}
}

// next waits for a request, and for others that can be joined with it; nil: there will be none.
func (q *Queue) next() *group {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 {
		if q.closed {
			return nil
		}
		q.idle++
		q.change.Wait()
		q.idle--
	}
	g := &group{}
	q.groups[g] = true
	q.take(g, 0)
	if first := g.jobs[0]; q.joining.may(first) {
		q.collect(g, first)
	}
	return g
}

// take moves the waiting job i into g.
func (q *Queue) take(g *group, i int) {
	j := q.waiting[i]
	q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
	j.group = g
	g.jobs = append(g.jobs, j)
	g.live++
	g.rows += j.rows
}

// collect adds to g what can be joined with its first job until it is full or has waited long enough.
func (q *Queue) collect(g *group, first *job) {
	most := int64(q.config.Batch)
	end := first.since.Add(q.config.Delay)
	timer := time.AfterFunc(time.Until(end), func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.change.Broadcast()
	})
	defer timer.Stop()
	for {
		for i := 0; i < len(q.waiting); {
			if j := q.waiting[i]; j.key == first.key && g.rows+j.rows <= most {
				q.take(g, i)
			} else {
				i++
			}
		}
		if g.rows >= most || q.closed || g.live == 0 || !time.Now().Before(end) {
			return
		}
		q.change.Wait()
	}
}

// begin returns the jobs of g that are still wanted and the context of their run, which ends when nobody wants it.
func (q *Queue) begin(g *group) (jobs []*job, ctx context.Context, until time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	ctx, g.stop = context.WithCancel(context.Background())
	if q.halted {
		g.stop()
	}
	forever := false
	for _, j := range g.jobs {
		if j.gone {
			continue
		}
		jobs = append(jobs, j)
		forever = forever || j.until.IsZero()
		if j.until.After(until) {
			until = j.until
		}
	}
	if forever {
		until = time.Time{}
	}
	return jobs, ctx, until
}

func (q *Queue) end(g *group) {
	q.mu.Lock()
	defer q.mu.Unlock()
	g.stop()
	delete(q.groups, g)
}

// worker owns one execution.
type worker struct {
	queue *Queue
	exec  *io.Execution // nil: there is none yet
}

// drop lets go of the execution.
func (w *worker) drop() {
	if w.exec != nil {
		w.exec.Release()
		w.exec = nil
	}
}

// serve computes the jobs of a group and hands out the results.
func (w *worker) serve(g *group) {
	jobs, ctx, until := w.queue.begin(g)
	defer w.queue.end(g)
	switch {
	case len(jobs) == 0:
	case len(jobs) == 1:
		w.single(ctx, jobs[0], until)
	default:
		w.joined(ctx, jobs, until)
	}
}

// single computes one job and returns its outputs, nil if it failed.
func (w *worker) single(ctx context.Context, j *job, until time.Time) []tensor.Tensor {
	begin := time.Now()
	out, err := w.run(ctx, j.in, until)
	j.ended <- outcome{Result{out, begin.Sub(j.since), time.Since(begin), 1}, err}
	if err != nil {
		return nil
	}
	return out
}

// run runs once. An execution that the device cannot use any more is made anew for the next run.
func (w *worker) run(ctx context.Context, in []tensor.Tensor, until time.Time) (out []tensor.Tensor, err error) {
	w.queue.counts.runs.Add(1)
	if w.exec == nil {
		x, err := w.queue.program.New(device.ExecOptions{})
		if err != nil {
			return nil, err
		}
		w.exec = io.New(x, len(w.queue.in), len(w.queue.out))
	}
	if out, err = w.compute(ctx, in, until); err != nil {
		switch fault.KindOf(err) {
		case fault.Device, fault.Internal, fault.State, fault.Memory:
			w.drop()
		}
	}
	return out, err
}

func (w *worker) compute(ctx context.Context, in []tensor.Tensor, until time.Time) ([]tensor.Tensor, error) {
	if len(in) != len(w.queue.in) {
		return nil, fault.New(fault.Argument, "want %d inputs, got %d", len(w.queue.in), len(in))
	}
	defer w.exec.Unbind()
	for i, t := range in {
		buf := mem.Borrow(t.Data, nil)
		err := w.exec.Input(i, mem.View{Buf: buf, Type: t.Type()})
		buf.Release()
		if err != nil {
			return nil, fault.Wrap(err, "input %q", w.queue.in[i].Name)
		}
	}
	if err := exec.Run(ctx, w.exec, device.RunRequest{Deadline: until}); err != nil {
		return nil, err
	}
	out := make([]tensor.Tensor, len(w.queue.out))
	for i := range out {
		var err error
		if out[i], err = w.output(i); err != nil {
			return nil, fault.Wrap(err, "output %q", w.queue.out[i].Name)
		}
	}
	return out, nil
}

// output returns a copy of an output.
func (w *worker) output(i int) (t tensor.Tensor, err error) {
	typ, err := w.exec.OutputType(i)
	if err != nil {
		return t, err
	}
	dims, ok := typ.Shape.Ints()
	if !ok {
		return t, fault.New(fault.Internal, "unknown sizes after a run: %v", typ.Shape)
	}
	data, err := w.exec.OutputData(i)
	if err != nil {
		return t, err
	}
	own, err := mem.Clone(data)
	return tensor.Tensor{DType: typ.DType, Dims: dims, Data: own}, err
}
