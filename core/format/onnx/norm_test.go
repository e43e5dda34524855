package onnx

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/session"
)

// MeanVarianceNormalization keeps its digits where the mean is large beside the deviation: what is left is the rounding
// of a result of that size.
func TestMeanVarianceNormalization_largeMeans(t *testing.T) {
	const images, channels, pixels = 2, 3, 20 * 15
	model := modelMsg(graphMsg([]msg{nodeMsg("MeanVarianceNormalization", []string{"x"}, []string{"y"})},
		input("x", images, channels, 20, 15), output("y")))
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, mean := range []float64{0, 100, -1000, 1e6} {
		x := make([]float32, images*channels*pixels)
		for i := range x {
			x[i] = float32(mean + rnd.NormFloat64())
		}
		want := make([]float64, len(x)) // from the definition, in float64
		for c := range channels {
			var at []int
			sum, squares := 0.0, 0.0
			for i := range x {
				if i/pixels%channels == c {
					at, sum = append(at, i), sum+float64(x[i])
				}
			}
			m := sum / float64(len(at))
			for _, i := range at {
				squares += (float64(x[i]) - m) * (float64(x[i]) - m)
			}
			for _, i := range at {
				want[i] = (float64(x[i]) - m) / (math.Sqrt(squares/float64(len(at))) + 1e-9)
			}
		}
		for _, reference := range []bool{false, true} {
			t.Run(fmt.Sprint(mean, " by reference ", reference), func(t *testing.T) {
				w := mem.NewWeights()
				defer w.Release()
				m, err := Import(model, Options{Weights: w})
				require.NoError(t, err)
				d, err := cpu.New(cpu.Config{Reference: reference})
				require.NoError(t, err)
				s, err := session.Open(context.Background(), m.Graph, []device.Device{d}, compile.Options{Weights: w},
					device.ExecOptions{})
				require.NoError(t, err)
				defer s.Close()
				got, err := s.Run(context.Background(),
					[]tensor.Tensor{{DType: tensor.Float32, Dims: []int64{images, channels, 20, 15}, Data: tensor.Float32s(x...)}},
					time.Time{})
				require.NoError(t, err)
				y, err := tensor.ReadFloat32s(got[0].Data, len(x))
				require.NoError(t, err)
				for i := range want {
					require.InDelta(t, want[i], y[i], 2e-6*(1+math.Abs(want[i])), "element %d", i)
				}
			})
		}
	}
}
