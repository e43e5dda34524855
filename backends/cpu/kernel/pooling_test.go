package kernel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMaxTaps_ofAnySize(t *testing.T) {
	nan := float32(math.NaN())
	eachISA(t, func(t *testing.T) {
		for _, n := range []int{1, 3, 8, 15, 16, 17, 37, 64, 130} {
			src := make([]float32, 6*7*n)
			for i := range src {
				if src[i] = float32(i*131%251) - 300; i%101 == 50 {
					src[i] = nan
				}
			}
			for ys := 1; ys < 6; ys++ {
				for xs := 1; xs < 7; xs++ {
					got := make([]float32, n+1)
					got[n] = 77
					MaxTaps(got[:n], src, ys, xs, 7*n, n)
					for c := range n {
						want := float32(math.Inf(-1))
						for k := range ys * xs {
							want = max(want, src[k/xs*7*n+k%xs*n+c])
						}
						assert.True(t, want == got[c] || want != want && got[c] != got[c], "%d x %d, channel %d of %d: want %v, got %v",
							ys, xs, c, n, want, got[c])
					}
					assert.Equal(t, float32(77), got[n])
				}
			}
		}
	})
}

// Windows of three dimensions, of two images, some of them without a tap inside.
func TestPooling_threeDimensions(t *testing.T) {
	eachISA(t, func(t *testing.T) {
		for i := range 240 {
			r := rng(uint64(i))
			p := Pooling{C: []int{1, 5, 16, 19, 40}[i%5], Batch: 2, Max: i%3 == 0, IncludePad: i%3 == 1}
			w := &p.Win
			for d := range 3 {
				w.Kernel[d], w.Stride[d], w.Dilation[d] = 1+r.IntN(4), 1+r.IntN(3), 1+r.IntN(2)
				reach := (w.Kernel[d]-1)*w.Dilation[d] + 1
				w.In[d], w.Pad[d], p.PadAfter[d] = 1+r.IntN(9), r.IntN(reach+1), r.IntN(reach+1)
				if w.Pad[d]+w.In[d]+p.PadAfter[d] < reach {
					w.Pad[d] = reach - w.In[d]
				}
				w.Out[d] = (w.Pad[d]+w.In[d]+p.PadAfter[d]-reach)/w.Stride[d] + 1
			}
			p.LDI, p.LDO = p.C+i%3, p.C+i%4
			image := w.In[0] * w.In[1] * w.In[2] * p.LDI
			in, out := newGuarded(2*image, i), newGuarded(extent(2*w.Outputs(), p.C, p.LDO), i+5)
			fillRand(r, in.data)
			if i%4 == 0 {
				in.data[len(in.data)/2] = float32(math.NaN())
			}
			p.In, p.Out = in.data, out.data
			n := p.Plan(1 + i%3)
			p.Work = make([]float32, p.WorkLen())
			for chunk := n - 1; chunk >= 0; chunk-- {
				p.Chunk(chunk)
			}
			out.check(t, "Out")
			for o := range 2 * w.Outputs() {
				one := p
				one.In = p.In[o/w.Outputs()*image:]
				at := o % w.Outputs()
				place := [3]int{at / (w.Out[1] * w.Out[2]), at / w.Out[2] % w.Out[1], at % w.Out[2]}
				for c := range p.C {
					want, got := poolOracle(&one, place, c), float64(out.data[o*p.LDO+c])
					require.True(t, math.Abs(want-got) <= 1e-6 || want == got || want != want && got != got,
						"%d: %+v, image %d, place %v, channel %d: want %v, got %v", i, p.Win, o/w.Outputs(), place, c, want, got)
				}
			}
		}
	})
}
