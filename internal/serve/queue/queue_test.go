package queue

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
	"github.com/anynpu/anynpu/internal/serve/servetest"
)

func TestMain(m *testing.M) { os.Exit(leak.Run(m, mem.LiveCounters)) }

// rows are a program's ports with an open first dimension of rows of two.
func rows(run servetest.Compute) *servetest.Program {
	return servetest.New([]device.Port{servetest.Port("x", -1, 2)}, []device.Port{servetest.Port("y", -1, 2)}, run)
}

// open returns a queue that the test closes, and then finds nothing left of the program.
func open(t *testing.T, p *servetest.Program, c Config) *Queue {
	c.Limit, c.Instances = max(c.Limit, 1), max(c.Instances, 1)
	q := New(p, c)
	t.Cleanup(func() {
		q.Close(context.Background())
		p.Release()
		refs, executions := p.Live()
		assert.Zero(t, refs)
		assert.Zero(t, executions)
	})
	return q
}

// held is a Compute that waits for free, or for the end of its context, and tells started when it begins.
func held(started chan<- int64, free <-chan struct{}) servetest.Compute {
	return func(ctx context.Context, in []tensor.Tensor) ([]tensor.Tensor, error) {
		started <- in[0].Dims[0]
		select {
		case <-free:
			return servetest.Double(ctx, in)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// row is a request of one row.
func row(a, b float32) []tensor.Tensor {
	return []tensor.Tensor{servetest.Floats([]int64{1, 2}, a, b)}
}

// want checks the result of row(a, b).
func want(t *testing.T, r Result, err error, a, b float32) {
	t.Helper()
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 2}, r.Out[0].Dims)
	assert.Equal(t, tensor.Float32s(2*a, 2*b), r.Out[0].Data)
}

// waits returns when n requests wait.
func waits(q *Queue, n int) {
	for have, _ := q.Waiting(); have != n; have, _ = q.Waiting() {
		time.Sleep(time.Millisecond)
	}
}

func TestDo_computes(t *testing.T) {
	q := open(t, rows(servetest.Double), Config{})
	for i := float32(0); i < 3; i++ {
		r, err := q.Do(context.Background(), row(i, -i))
		want(t, r, err, i, -i)
		assert.Equal(t, 1, r.Shared)
	}
	c := q.Counts()
	assert.EqualValues(t, 3, c.Runs)
	sum := int64(0)
	for _, n := range c.Compute.Parts {
		sum += n
	}
	assert.EqualValues(t, 3, sum)
	_, err := q.Do(context.Background(), []tensor.Tensor{servetest.Floats([]int64{1, 3}, 1, 2, 3)})
	assert.Equal(t, fault.Shape, fault.KindOf(err))
	_, err = q.Do(context.Background(), nil)
	assert.Equal(t, fault.Argument, fault.KindOf(err))
	r, err := q.Do(context.Background(), []tensor.Tensor{servetest.Floats([]int64{0, 2})})
	require.NoError(t, err)
	assert.Empty(t, r.Out[0].Data)
}

func TestDo_refusesWhatDoesNotFit(t *testing.T) {
	started, free := make(chan int64, 10), make(chan struct{})
	q := open(t, rows(held(started, free)), Config{Limit: 2})
	var all sync.WaitGroup
	for i := float32(0); i < 3; i++ {
		all.Go(func() {
			r, err := q.Do(context.Background(), row(i, i))
			want(t, r, err, i, i)
		})
		if i == 0 {
			<-started // it does not wait any more
		} else {
			waits(q, int(i))
		}
	}
	_, err := q.Do(context.Background(), row(9, 9))
	assert.ErrorIs(t, err, ErrFull)
	assert.EqualValues(t, 1, q.Counts().Refused)
	close(free)
	all.Wait()
}

func TestDo_endsWithItsContext(t *testing.T) {
	started, free := make(chan int64, 10), make(chan struct{})
	p := rows(held(started, free))
	q := open(t, p, Config{Limit: 5})
	running, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		_, err := q.Do(running, row(1, 1))
		assert.Equal(t, fault.Canceled, fault.KindOf(err))
	})
	<-started
	short, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err := q.Do(short, row(2, 2)) // waits
	assert.Equal(t, fault.Timeout, fault.KindOf(err))
	waits(q, 0)
	stop() // the run stops, too: the next one begins without free
	all.Go(func() {
		r, err := q.Do(context.Background(), row(3, 3))
		want(t, r, err, 3, 3)
	})
	<-started
	close(free)
	all.Wait()
	assert.EqualValues(t, 2, p.Runs(), "what was given up while it waited is not computed")
}

func TestDo_instancesComputeAtTheSameTime(t *testing.T) {
	started, free := make(chan int64, 10), make(chan struct{})
	q := open(t, rows(held(started, free)), Config{Limit: 8, Instances: 3})
	var all sync.WaitGroup
	for i := float32(0); i < 4; i++ {
		all.Go(func() {
			r, err := q.Do(context.Background(), row(i, i))
			want(t, r, err, i, i)
		})
	}
	for range 3 {
		<-started
	}
	waits(q, 1)
	close(free)
	all.Wait()
}

func TestClose_answersWhatWaitsAndRefusesTheRest(t *testing.T) {
	started, free := make(chan int64, 10), make(chan struct{})
	q := open(t, rows(held(started, free)), Config{Limit: 4})
	var all sync.WaitGroup
	for i := float32(0); i < 3; i++ {
		all.Go(func() {
			r, err := q.Do(context.Background(), row(i, i))
			want(t, r, err, i, i)
		})
	}
	<-started
	waits(q, 2)
	all.Go(func() { q.Close(context.Background()) })
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for { // a request that is given up at once shows when there are no more
		if _, err := q.Do(over, row(1, 1)); err == ErrClosed {
			break
		}
	}
	close(free)
	all.Wait()
}

func TestClose_stopsWhenItsContextEnds(t *testing.T) {
	started := make(chan int64, 10)
	q := open(t, rows(held(started, nil)), Config{Limit: 4})
	var all sync.WaitGroup
	errs := make(chan error, 3)
	for range 3 {
		all.Go(func() {
			_, err := q.Do(context.Background(), row(1, 1))
			errs <- err
		})
	}
	<-started
	waits(q, 2)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	q.Close(over)
	all.Wait()
	closed, canceled := 0, 0
	for range 3 {
		switch err := <-errs; {
		case err == ErrClosed:
			closed++
		case fault.KindOf(err) == fault.Canceled:
			canceled++
		}
	}
	assert.Equal(t, [2]int{2, 1}, [2]int{closed, canceled})
}
