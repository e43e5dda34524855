package cpu

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestExecution_stopsInsideAStep: a graph of one product that takes seconds ends by its deadline before the product
// does, and its next run is as any.
func TestExecution_stopsInsideAStep(t *testing.T) {
	for _, threads := range []int{1, 2} {
		d := newDevice(t, Config{Threads: threads})
		b := graph.NewBuilder("g")
		const n = 2048
		x := b.Input("x", tensor.T(tensor.Float32, n, n))
		w := make([]byte, 4*n*n)
		for i := 3; i < len(w); i += 4 {
			w[i] = 0x40 // 2
		}
		b.Output(b.Add(&op.MatMul{}, x, b.Const("w", tensor.T(tensor.Float32, n, n), w)))
		g, err := b.Graph()
		require.NoError(t, err)
		p := compile(t, d, g)
		e := newExec(t, p, device.ExecOptions{})
		v := hostView(t, make([]float32, n*n), n, n)
		require.NoError(t, e.BindInput(0, v))
		whole := processorTime(t, func() {
			require.NoError(t, exec.Run(context.Background(), e, device.RunRequest{}))
		})
		cut := processorTime(t, func() {
			err := exec.Run(context.Background(), e, device.RunRequest{Deadline: time.Now().Add(5 * time.Millisecond)})
			assert.Equal(t, fault.Timeout, fault.KindOf(err))
			assert.ErrorContains(t, err, "mat_mul")
		})
		assert.Less(t, cut, whole/2)
		e.Release()
		p.Release()
		v.Buf.Release()
	}
}

// processorTime measures the time that the process computes during f.
func processorTime(t *testing.T, f func()) time.Duration {
	used := func() time.Duration {
		var r unix.Rusage
		require.NoError(t, unix.Getrusage(unix.RUSAGE_SELF, &r))
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	begin := used()
	f()
	return used() - begin
}
