package onnx

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

func numAttr(name string, v int64) msg {
	return msg(nil).str(1, name).num(3, uint64(v)).num(20, proto.AttrInt)
}

func floatAttr(name string, v float32) msg {
	m := append(msg(nil).str(1, name), 2<<3|5)
	return append(m, tensor.Float32s(v)...).num(20, proto.AttrFloat)
}

// The soft cap comes before mask and causality, and the returned scores belong to the stage asked for: product, capped,
// masked, softmax.
func TestAttention_capsBeforeTheMask(t *testing.T) {
	const queries, keys, size, softcap = 3, 4, 2, 1.5
	q := []float32{1, -2, 0.5, 3, -1, 2}
	k := []float32{2, 1, -1, 0.5, 0, -3, 1, 1}
	v := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	minusInf := float32(math.Inf(-1))
	mask := []float32{0.5, -1, minusInf, 2, 0, 0, 0, minusInf, 3, -3, 1, 0}
	for mode := range int64(4) {
		for causal := range int64(2) {
			t.Run(fmt.Sprint("mode ", mode, " causal ", causal), func(t *testing.T) {
				var wantY, wantS []float32
				for i := range queries {
					var stages [4][keys]float64
					sum := 0.0
					for j := range keys {
						p := float64(q[2*i])*float64(k[2*j]) + float64(q[2*i+1])*float64(k[2*j+1])
						p /= math.Sqrt(size)
						c := softcap * math.Tanh(p/softcap)
						m := c + float64(mask[i*keys+j])
						if causal == 1 && j > i {
							m = math.Inf(-1)
						}
						stages[0][j], stages[1][j], stages[2][j], stages[3][j] = p, c, m, math.Exp(m)
						sum += math.Exp(m)
					}
					y := [size]float64{}
					for j := range keys {
						stages[3][j] /= sum
						for e := range size {
							y[e] += stages[3][j] * float64(v[j*size+e])
						}
						wantS = append(wantS, float32(stages[mode][j]))
					}
					wantY = append(wantY, float32(y[0]), float32(y[1]))
				}
				node := nodeMsg("Attention", []string{"q", "k", "v", "m"}, []string{"y", "", "", "s"},
					floatAttr("softcap", softcap), numAttr("is_causal", causal), numAttr("qk_matmul_output_mode", mode))
				model := msg(nil).num(1, 10).sub(7, graphMsg([]msg{node}, input("q", 1, 1, queries, size),
					input("k", 1, 1, keys, size), input("v", 1, 1, keys, size), input("m", queries, keys), output("y"),
					output("s"))).sub(8, msg(nil).num(2, 23))
				w := mem.NewWeights()
				defer w.Release()
				m, err := Import(model, Options{Weights: w})
				require.NoError(t, err)
				of := func(x []float32, dims ...int64) tensor.Tensor {
					return tensor.Tensor{DType: tensor.Float32, Dims: dims, Data: tensor.Float32s(x...)}
				}
				got, err := ref.Run(context.Background(), m.Graph, []tensor.Tensor{of(q, 1, 1, queries, size),
					of(k, 1, 1, keys, size), of(v, 1, 1, keys, size), of(mask, queries, keys)})
				require.NoError(t, err)
				for i, want := range [][]float32{wantY, wantS} {
					y, err := tensor.ReadFloat32s(got[i].Data, len(want))
					require.NoError(t, err)
					for at := range want {
						if want[at] != y[at] {
							assert.InDelta(t, want[at], y[at], 1e-5, "output %d: %v, want %v", i, y, want)
						}
					}
				}
			})
		}
	}
}
