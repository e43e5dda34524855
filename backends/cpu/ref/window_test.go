package ref

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

// TestScattering_isTheEquation: the cells of an output cell are the solutions of i*stride + k*dilation = o + before,
// with rising k.
func TestScattering_isTheEquation(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		w := op.Window{In: r.Int64N(9), Kernel: 1 + r.Int64N(12), Stride: 1 + r.Int64N(12), Dilation: 1 + r.Int64N(12),
			Before: r.Int64N(40) - 20}
		o := r.Int64N(60)
		var want, got [][2]int64
		for k := range w.Kernel {
			for i := range w.In {
				if i*w.Stride+k*w.Dilation == o+w.Before {
					want = append(want, [2]int64{i, k})
				}
			}
		}
		scattering(w, o, func(i, k int64) { got = append(got, [2]int64{i, k}) })
		require.Equal(t, want, got, "%+v at %d", w, o)
	}
}

// TestConvTranspose_costsItsProducts: one input cell spreads a kernel of a million cells, a million input cells a
// kernel of one with a stride, and both with a stride as large as the kernel. Looking at each pair of output and kernel
// cells would take hours.
func TestConvTranspose_costsItsProducts(t *testing.T) {
	const n = 1 << 20
	ramp := make([]float32, n)
	for i := range ramp {
		ramp[i] = float32(i % 1021)
	}
	for _, c := range []struct {
		x, w   []float32
		stride int64
	}{{[]float32{2}, ramp, 1}, {[]float32{2}, ramp, n}, {ramp, []float32{2}, 1}, {ramp[:1024], ramp[:1024], 1024}} {
		x, w := f32(c.x, 1, 1, int64(len(c.x))), f32(c.w, 1, int64(len(c.w)), 1)
		got := view[float32](compute1(t, &op.ConvTranspose{Strides: []int64{c.stride}}, tensor.Type{}, x, w))
		require.Len(t, got, (len(c.x)-1)*int(c.stride)+len(c.w))
		for i, v := range got {
			want := float32(0)
			for _, p := range [][2]int{{i / int(c.stride), i % int(c.stride)}, {i, 0}, {0, i}} {
				if p[0] < len(c.x) && p[1] < len(c.w) && p[0]*int(c.stride)+p[1] == i {
					want = c.x[p[0]] * c.w[p[1]]
				}
			}
			if v != want {
				assert.Equal(t, want, v, "element %d", i)
				break
			}
		}
	}
}
