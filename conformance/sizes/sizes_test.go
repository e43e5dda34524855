package sizes

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/core/tensor"
)

func TestTry_engine(t *testing.T) {
	d, err := cpu.New(cpu.Config{Threads: 2})
	require.NoError(t, err)
	models := uint64(40)
	if testing.Short() {
		models = 8
	}
	for seed := range models {
		made, err := Try(context.Background(), Random(seed), Engine(d), t.TempDir)
		assert.NoError(t, err, "seed %d", seed)
		assert.True(t, made, "seed %d", seed)
	}
}

// Relative positions: x [1, n] times a matrix [n, 2] whose row i is i, in one execution of the sizes 4, 3, 2, 6, 4. Of
// ones the sum is n(n-1)/2.
func TestEngine_positionsOfEachRun(t *testing.T) {
	b := &builder{}
	b.in = append(b.in, declare("x", float, []any{int64(1), "n"}))
	n := b.node("Gather", []string{b.node("Shape", []string{"x"}), b.constant(long(1))})
	r := b.node("Range", []string{b.constant(long(0)), n, b.constant(long(1))})
	r = b.node("Reshape", []string{b.node("Cast", []string{r}, attr{"to", int64(float)}), b.ints(-1, 1)})
	w := b.node("Mul", []string{r, b.constant(floats([]int64{1, 2}, []float32{1, 1}))})
	y := b.node("MatMul", []string{"x", w})
	b.out = append(b.out, declare(y, float, []any{int64(1), int64(2)}))
	d, err := cpu.New(cpu.Config{})
	require.NoError(t, err)
	for _, form := range []string{fresh, saved} {
		m := &Model{File: b.file(nil)}
		require.NoError(t, Engine(d).use(context.Background(), m, form, "", func(run runner) error {
			for k, n := range []int64{4, 3, 2, 6, 4} {
				x := tensor.New(tensor.Float32, 1, n)
				for i := range int(n) {
					tensor.PutFloat(tensor.Float32, x.Data, i, 1, false)
				}
				got, err := run(k, []tensor.Tensor{x}, nil)
				if !assert.NoError(t, err, "%s, size %d", form, n) {
					continue
				}
				v, err := tensor.ReadFloat32s(got[0].Data, 2)
				require.NoError(t, err)
				sum := float32(n * (n - 1) / 2)
				assert.Equal(t, []float32{sum, sum}, v, "%s, size %d", form, n)
			}
			return nil
		}))
	}
}
