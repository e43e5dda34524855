package queue

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/serve/servetest"
)

// verdicts collects what Joined was told.
type verdicts struct {
	mu  sync.Mutex
	all []string
}

func (v *verdicts) told(ok bool, why string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if ok {
		why = "joined"
	}
	v.all = append(v.all, why)
}

func (v *verdicts) list() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string{}, v.all...)
}

// together has n different requests of one row wait at the same time, and checks their results, which are twice the
// request unless wrong says otherwise. It returns how many were computed in one run.
func together(t *testing.T, q *Queue, n int, same bool) (shared []int) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for i := range n {
		all.Go(func() {
			a := float32(i)
			if same {
				a = 5
			}
			r, err := q.Do(context.Background(), row(a, a+0.5))
			want(t, r, err, a, a+0.5)
			mu.Lock()
			defer mu.Unlock()
			shared = append(shared, r.Shared)
		})
	}
	all.Wait()
	return shared
}

// batching is a configuration in which n requests meet.
func batching(n int, v *verdicts) Config {
	return Config{Limit: 100, Batch: n, Delay: time.Hour, Joined: v.told}
}

func TestBatch_joinsAfterAComparison(t *testing.T) {
	v := &verdicts{}
	p := rows(servetest.Double)
	q := open(t, p, batching(4, v))
	assert.Equal(t, []int{1, 1, 1, 1}, together(t, q, 4, false), "the first time each is computed alone")
	assert.Equal(t, []int{4, 4, 4, 4}, together(t, q, 4, false))
	assert.Equal(t, []string{"joined"}, v.list())
	assert.EqualValues(t, 4+1+1, p.Runs())
	assert.EqualValues(t, 4, q.Counts().Joined)
}

func TestBatch_equalRequestsProveNothing(t *testing.T) {
	v := &verdicts{}
	q := open(t, rows(servetest.Double), batching(3, v))
	for range 2 {
		assert.Equal(t, []int{1, 1, 1}, together(t, q, 3, true))
	}
	assert.Empty(t, v.list())
}

// centred takes the mean of all rows away: its rows are not computed apart.
func centred(ctx context.Context, in []tensor.Tensor) ([]tensor.Tensor, error) {
	if in[0].Dims[0] == 1 {
		return servetest.Double(ctx, in)
	}
	out, err := servetest.Double(ctx, in)
	if err == nil {
		tensor.PutFloat(tensor.Float32, out[0].Data, 0, 0.25, false)
	}
	return out, err
}

func TestBatch_isNotUsedWhereRowsAreMixed(t *testing.T) {
	for name, run := range map[string]servetest.Compute{
		`output "y" differs when requests are joined`: centred,
		`requests that can be computed alone cannot be joined: output "y" of 3 joined indices is float32[1,2]`: func(
			ctx context.Context, in []tensor.Tensor) ([]tensor.Tensor, error) {
			out, err := servetest.Double(ctx, in)
			if len(out) > 0 {
				out[0].Dims, out[0].Data = []int64{1, 2}, out[0].Data[:8]
			}
			return out, err
		},
		"requests that can be computed alone cannot be joined: one at a time": func(ctx context.Context,
			in []tensor.Tensor) ([]tensor.Tensor, error) {
			if in[0].Dims[0] > 1 {
				return nil, fault.New(fault.Data, "one at a time")
			}
			return servetest.Double(ctx, in)
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := &verdicts{}
			q := open(t, rows(run), batching(3, v))
			for range 2 {
				assert.Equal(t, []int{1, 1, 1}, together(t, q, 3, false))
			}
			assert.Equal(t, []string{name}, v.list())
		})
	}
}

func TestBatch_needsOpenFirstDimensions(t *testing.T) {
	in, out := []device.Port{servetest.Port("x", -1, 2)}, []device.Port{servetest.Port("y", -1, 2)}
	fixed := []device.Port{servetest.Port("y", 1, 2)}
	const why = "not every input and output has an open first dimension, the same for all inputs"
	for _, c := range []struct {
		in, out []device.Port
		told    []string
	}{
		{in, out, nil}, {in, fixed, []string{why}}, {fixed, out, []string{why}}, {nil, out, []string{why}},
		{append(in, servetest.Port("scalar")), out, []string{why}},
		{append(in, servetest.Port("n", 7, -1)), out, []string{why}},
	} {
		v := &verdicts{}
		open(t, servetest.New(c.in, c.out, servetest.Double), batching(2, v))
		assert.Equal(t, append([]string{}, c.told...), v.list())
	}
}

// A request whose data have no result fails alone; the others of its batch do not.
func TestBatch_oneBadRequestFailsAlone(t *testing.T) {
	bad := errors.New("nothing is at 7")
	q := open(t, rows(func(ctx context.Context, in []tensor.Tensor) ([]tensor.Tensor, error) {
		for i := range in[0].Count() {
			if tensor.FloatAt(tensor.Float32, in[0].Data, i) == 7 {
				return nil, fault.As(fault.Data, bad, "")
			}
		}
		return servetest.Double(ctx, in)
	}), batching(3, &verdicts{}))
	together(t, q, 3, false) // the comparison
	var all sync.WaitGroup
	for _, a := range []float32{1, 7, 2} {
		all.Go(func() {
			r, err := q.Do(context.Background(), row(a, a))
			if a == 7 {
				assert.ErrorIs(t, err, bad)
				return
			}
			want(t, r, err, a, a)
		})
	}
	all.Wait()
	assert.Equal(t, []int{3, 3, 3}, together(t, q, 3, false), "they are still joined afterwards")
}

func TestBatch_isNotLargerThanWanted(t *testing.T) {
	var mu sync.Mutex
	largest := int64(0)
	q := open(t, rows(func(ctx context.Context, in []tensor.Tensor) ([]tensor.Tensor, error) {
		mu.Lock()
		largest = max(largest, in[0].Dims[0])
		mu.Unlock()
		return servetest.Double(ctx, in)
	}), Config{Limit: 1000, Instances: 2, Batch: 5, Delay: time.Millisecond})
	for range 5 {
		together(t, q, 40, false)
	}
	assert.LessOrEqual(t, largest, int64(5))
	assert.Positive(t, q.Counts().Joined)
	seven := servetest.Floats([]int64{7, 2}, make([]float32, 14)...)
	r, err := q.Do(context.Background(), []tensor.Tensor{seven})
	require.NoError(t, err)
	assert.Equal(t, []int64{7, 2}, r.Out[0].Dims, "a request that is larger is computed alone")
}

func TestAlike(t *testing.T) {
	f := func(v ...float32) tensor.Tensor { return servetest.Floats([]int64{int64(len(v))}, v...) }
	nan := float32(0)
	nan /= nan
	assert.True(t, alike(f(1, 100), f(1.001, 100)))
	assert.False(t, alike(f(1, 100), f(1.1, 100)))
	assert.False(t, alike(f(1), f(1, 1)))
	assert.True(t, alike(f(nan, 1), f(nan, 1)))
	assert.False(t, alike(f(nan, 1), f(1, 1)))
	ints := func(v ...int32) tensor.Tensor {
		return tensor.Tensor{DType: tensor.Int32, Dims: []int64{int64(len(v))}, Data: tensor.Int32s(v...)}
	}
	assert.True(t, alike(ints(1000000), ints(1000000)))
	assert.False(t, alike(ints(1000000), ints(1000001)))
}
