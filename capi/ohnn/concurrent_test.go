package ohnn

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	spec "github.com/anynpu/anynpu/core/spec/ohnn"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestConcurrent_modelsAndExecutors builds models, compiles and runs them on several goroutines without any lock
// between them.
func TestConcurrent_modelsAndExecutors(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 10 {
				k := float32(1 + g*100 + i)
				m := addConstant(t, k)
				c, err := compilationConstruct(m.Model)
				if !assert.NoError(t, err) || !assert.NoError(t, compilationBuild(c)) {
					return
				}
				e, err := executorConstruct(c)
				assert.NoError(t, err)
				assert.NoError(t, compilationDestroy(c))
				x, _ := tensorCreate(0, desc(spec.Float32, 1))
				y, _ := tensorCreate(0, desc(spec.Float32, 1))
				copy(memoryOf(x), tensor.Float32s(1))
				assert.NoError(t, executorRunSync(e, []*Tensor{x}, []*Tensor{y}))
				assert.Equal(t, tensor.Float32s(1+k), memoryOf(y))
				assert.NoError(t, executorDestroy(e))
				assert.NoError(t, tensorDestroy(x))
				assert.NoError(t, tensorDestroy(y))
			}
		})
	}
	wg.Wait()
}

// TestConcurrent_oneCompilation: eight executors of one compilation, each with shapes of its own, and one executor used
// by all.
func TestConcurrent_oneCompilation(t *testing.T) {
	m := newTestModel(t)
	a, b, y := m.tensor(spec.Float32, -1), m.tensor(spec.Float32, -1), m.tensor(spec.Float32, -1)
	require.NoError(t, modelAddOperation(m.Model, 22, array(), array(a, b), array(y)))
	c := m.built([]uint32{a, b}, []uint32{y})
	shared := executor(t, c)
	var wg sync.WaitGroup
	for g := range int32(8) {
		own := executor(t, c)
		wg.Go(func() {
			for i := range int32(20) {
				n := 1 + (g*7+i)%13
				v := make([]float32, n)
				want := make([]float32, n)
				for k := range v {
					v[k] = float32(g) + float32(k)
					want[k] = v[k] * v[k]
				}
				x, _ := tensorCreate(0, desc(spec.Float32, n))
				out, _ := tensorCreateWithSize(0, desc(spec.Float32, -1), 64)
				copy(memoryOf(x), tensor.Float32s(v...))
				for _, e := range []*Executor{own, shared} {
					assert.NoError(t, executorRunSync(e, []*Tensor{x, x}, []*Tensor{out}))
					assert.Equal(t, tensor.Float32s(want...), memoryOf(out)[:4*n])
					_, shape := out.desc.read()
					assert.Equal(t, []int32{n}, shape)
				}
				assert.NoError(t, tensorDestroy(x))
				assert.NoError(t, tensorDestroy(out))
			}
		})
	}
	wg.Wait()
}
