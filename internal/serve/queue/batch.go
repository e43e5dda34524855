package queue

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// joined computes several jobs of one key in one run. The first time that jobs with this key meet, each is computed
// alone, and then all at once to compare. Where the run of all fails, each is computed alone: what one of them holds
// must not fail the others.
func (w *worker) joined(ctx context.Context, jobs []*job, until time.Time) {
	known := &w.queue.joining
	proved, refuted := known.known(jobs[0].key)
	if proved && !refuted {
		begin := time.Now()
		out, err := w.batch(ctx, jobs, until)
		switch kind := fault.KindOf(err); {
		case err == nil:
			took := time.Since(begin)
			w.queue.counts.joined.Add(int64(len(jobs))) // before anybody has an answer
			for i, j := range jobs {
				j.ended <- outcome{Result{out[i], begin.Sub(j.since), took, len(jobs)}, nil}
			}
			return
		case kind == fault.Timeout || kind == fault.Canceled:
			for _, j := range jobs {
				j.ended <- outcome{Result{nil, begin.Sub(j.since), time.Since(begin), len(jobs)}, err}
			}
			return
		}
		if w.alone(ctx, jobs, until) != nil {
			known.refute(fmt.Sprintf("requests that can be computed alone cannot be joined: %v", err))
		}
		return
	}
	alone := w.alone(ctx, jobs, until)
	if alone == nil || refuted || equal(jobs) {
		return
	}
	out, err := w.batch(ctx, jobs, until)
	switch kind := fault.KindOf(err); {
	case err == nil:
	case kind == fault.Timeout || kind == fault.Canceled:
		return // it shows nothing
	default:
		known.refute(fmt.Sprintf("requests that can be computed alone cannot be joined: %v", err))
		return
	}
	for i := range jobs {
		for k := range out[i] {
			if !alike(alone[i][k], out[i][k]) {
				known.refute(fmt.Sprintf("output %q differs when requests are joined", w.queue.out[k].Name))
				return
			}
		}
	}
	known.prove(jobs[0].key)
}

// alone computes each job by itself and returns the outputs of all, nil if one failed.
func (w *worker) alone(ctx context.Context, jobs []*job, until time.Time) [][]tensor.Tensor {
	all := make([][]tensor.Tensor, len(jobs))
	failed := false
	for i, j := range jobs {
		at := j.until
		if at.IsZero() {
			at = until
		}
		if all[i] = w.single(ctx, j, at); all[i] == nil {
			failed = true
		}
	}
	if failed {
		return nil
	}
	return all
}

// equal tells whether all jobs have the same inputs, so that their results do not show whether they were mixed.
func equal(jobs []*job) bool {
	for _, j := range jobs[1:] {
		if j.rows != jobs[0].rows {
			return false
		}
		for i := range j.in {
			if !bytes.Equal(j.in[i].Data, jobs[0].in[i].Data) {
				return false
			}
		}
	}
	return true
}

// batch computes the jobs in one run and returns the outputs of each.
func (w *worker) batch(ctx context.Context, jobs []*job, until time.Time) ([][]tensor.Tensor, error) {
	in, rows, err := join(jobs)
	if err != nil {
		return nil, err
	}
	out, err := w.run(ctx, in, until)
	if err != nil {
		return nil, err
	}
	parts := make([][]tensor.Tensor, len(jobs))
	for k, t := range out {
		if len(t.Dims) == 0 || t.Dims[0] != rows {
			return nil, fault.New(fault.Shape, "output %q of %d joined indices is %v", w.queue.out[k].Name, rows, t.Type())
		}
		each := int64(len(t.Data)) / rows
		at := int64(0)
		for i, j := range jobs {
			part := tensor.Tensor{DType: t.DType, Dims: slices.Clone(t.Dims), Data: t.Data[at : at+j.rows*each]}
			part.Dims[0] = j.rows
			at += j.rows * each
			parts[i] = append(parts[i], part)
		}
	}
	return parts, nil
}

// join puts the inputs of the jobs behind one another.
func join(jobs []*job) (in []tensor.Tensor, rows int64, err error) {
	in = slices.Clone(jobs[0].in)
	for _, j := range jobs {
		rows += j.rows
	}
	for i := range in {
		n := 0
		for _, j := range jobs {
			n += len(j.in[i].Data)
		}
		data, err := mem.Make[byte](n)
		if err != nil {
			return nil, 0, err
		}
		data = data[:0]
		for _, j := range jobs {
			data = append(data, j.in[i].Data...)
		}
		in[i].Data, in[i].Dims = data, slices.Clone(in[i].Dims)
		in[i].Dims[0] = rows
	}
	return in, rows, nil
}
