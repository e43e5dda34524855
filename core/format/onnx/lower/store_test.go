package lower

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/format/onnx/proto"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// permuteByIndex is permute from its definition.
func permuteByIndex(src []byte, dims []int64, perm []int, width int) []byte {
	strides, out := tensor.RowMajor(dims), Permuted(dims, perm)
	var dst []byte
	at := make([]int64, len(perm))
	for range len(src) / width {
		pos := int64(0)
		for i, p := range perm {
			pos += at[i] * strides[p]
		}
		dst = append(dst, src[pos*int64(width):][:width]...)
		for k := len(at) - 1; k >= 0; k-- {
			if at[k]++; at[k] < out[k] {
				break
			}
			at[k] = 0
		}
	}
	return dst
}

func TestPermute_everyOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		rank := 1 + rnd.IntN(5)
		dims, n := make([]int64, rank), 1
		for i := range dims {
			dims[i] = 1 + rnd.Int64N(4)
			n *= int(dims[i])
		}
		perm := rnd.Perm(rank)
		width := []int{1, 2, 4, 8}[rnd.IntN(4)]
		src := make([]byte, n*width)
		for i := range src {
			src[i] = byte(rnd.Uint32())
		}
		dst := make([]byte, len(src))
		Permute(dst, src, dims, perm, width)
		assert.Equal(t, permuteByIndex(src, dims, perm, width), dst, "%v in order %v, %d bytes", dims, perm, width)
	}
}

// Filters above and below the step of copying, first as they are and then in another order, from a source that gives
// pages back.
func TestImporterStore_largeTensors(t *testing.T) {
	w := mem.NewWeights()
	defer w.Release()
	for _, dims := range [][]int64{{3, 5, 2, 2}, {700, 100, 3, 3}, {1, 300000, 1, 2}, {0, 4, 3, 3}} {
		for _, perm := range [][]int{nil, {0, 2, 3, 1}, {1, 2, 3, 0}} {
			t.Run(fmt.Sprint(dims, perm), func(t *testing.T) {
				n, _ := tensor.Count(dims)
				own, err := mem.Host(4*n+7, mem.Options{})
				require.NoError(t, err)
				defer own.Release()
				all, err := own.Map()
				require.NoError(t, err)
				for i := range all {
					all[i] = byte(i*7 + i>>9)
				}
				raw := all[7:]
				want := append([]byte{}, raw...)
				if perm != nil {
					want = permuteByIndex(want, dims, perm, 4)
				}
				m := &Lowering{src: &proto.Source{Data: all, Own: own}, opt: Options{Weights: w}}
				k := m.store(&proto.Tensor{Dims: dims, DType: 1, Raw: raw, HasRaw: true}, perm, true)
				require.NoError(t, k.err)
				assert.Equal(t, tensor.HashOf(want), tensor.HashOf(k.data))
				assert.Equal(t, tensor.HashOf(want), k.hash)
				for _, other := range [][]int{nil, {0, 2, 3, 1}, {1, 2, 3, 0}} {
					again := m.reorder(k, other)
					require.NoError(t, again.err)
					back := m.reorder(again, perm)
					require.NoError(t, back.err)
					assert.Equal(t, k.hash, back.hash)
					assert.Equal(t, k.typ, back.typ)
				}
			})
		}
	}
}
