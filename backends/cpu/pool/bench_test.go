package pool_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
	"github.com/anynpu/anynpu/backends/cpu/pool"
	"github.com/stretchr/testify/require"
)

// gemmTask is a matrix product as a task.
type gemmTask struct{ kernel.Gemm }

func (t *gemmTask) Chunk(i, _ int) { t.Gemm.Chunk(i) }

// BenchmarkRun_gemm reports how much faster two threads are than one.
func BenchmarkRun_gemm(b *testing.B) {
	for _, s := range [][3]int{{196, 256, 256}, {196, 512, 512}, {128, 256, 1024}, {784, 128, 512}, {1024, 1024, 1024}} {
		m, n, k := s[0], s[1], s[2]
		b.Run(fmt.Sprintf("%dx%dx%d", m, n, k), func(b *testing.B) {
			t := gemmTask{kernel.Gemm{M: m, N: n, K: k, A: kernel.Aligned[float32](m * k), LDA: k,
				B: kernel.Aligned[float32](kernel.PackedLen(k, n)), C: kernel.Aligned[float32](m * n), LDC: n}}
			best := [2]time.Duration{math.MaxInt64, math.MaxInt64}
			var runs [2]*pool.Run
			for i := range runs {
				p := pool.New(i + 1)
				defer p.Close()
				runs[i] = p.NewRun(0, nil)
			}
			for b.Loop() {
				for i, r := range runs {
					chunks := t.Plan(i + 1)
					require.NoError(b, r.Begin(context.Background()))
					for range 20 {
						start := time.Now()
						r.Do(chunks, &t)
						best[i] = min(best[i], time.Since(start))
					}
					r.End()
				}
			}
			b.ReportMetric(float64(best[0].Microseconds()), "µs-1thread")
			b.ReportMetric(float64(best[1].Microseconds()), "µs-2threads")
			b.ReportMetric(float64(best[0])/float64(best[1]), "speedup")
		})
	}
}
