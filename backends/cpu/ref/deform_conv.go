package ref

import (
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() { register(Real, deformConv) }

func deformConv(o *op.DeformConv, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
	if empty(out[0]) {
		return zeros(out), nil
	}
	x, w, offset := reals(in[0]), reals(in[1]), reals(in[2])
	var bias, mask []float64
	if len(in) > 3 {
		bias = reals(in[3])
	}
	if len(in) > 4 {
		mask = reals(in[4])
	}
	y, put := realStore(out[0])
	xe, ye := extentOf(in[0].Dims, o.ChannelsLast), extentOf(y.Dims, o.ChannelsLast)
	kernelDims := in[1].Dims[1 : len(in[1].Dims)-1]
	windows, err := o.Windows(xe.spatial, kernelDims)
	if err != nil {
		return nil, err
	}
	n, kernel := len(windows), cellCount(kernelDims)
	groups, shared := int(max(o.Groups, 1)), int(max(o.OffsetGroups, 1))
	perGroup, perOutput, perShared := xe.c/groups, ye.c/groups, max(xe.c/shared, 1)
	oe := extent{n: ye.n, c: shared * kernel * n, cells: ye.cells, last: o.ChannelsLast}
	me := extent{n: ye.n, c: shared * kernel, cells: ye.cells, last: o.ChannelsLast}
	column := alloc[float64](kernel * xe.c) // the samples of one output cell, [kernel, channels]
	var s sampler
	var list []Cell
	at, k := make([]int, n), make([]int, n)
	for b := range ye.n {
		for p := range ye.cells {
			unflatten(p, ye.spatial, at)
			for kc := 0; kc < kernel && xe.c > 0; kc++ {
				unflatten(kc, kernelDims, k)
				for g := range shared {
					tick()
					s.reset()
					for d, win := range windows {
						c := float64(int64(at[d])*win.Stride-win.Before+int64(k[d])*win.Dilation) +
							offset[oe.index(b, (g*kernel+kc)*n+d, p)]
						list = neighbours(c, int(win.In), list)
						s.dimension(int(win.In), list)
					}
					m := 1.0
					if mask != nil {
						m = mask[me.index(b, g*kernel+kc, p)]
					}
					for c := g * perShared; c < (g+1)*perShared; c++ {
						column[kc*xe.c+c] = m * s.value(x, xe.index(b, c, 0), xe.step())
					}
				}
			}
			for oc := range ye.c {
				tick()
				first := oc / perOutput * perGroup
				var sum float64
				for kc := range kernel {
					tick()
					sum += inner[float64, float64](column[kc*xe.c+first:][:perGroup], w[(oc*kernel+kc)*perGroup:])
				}
				if bias != nil {
					sum += bias[oc]
				}
				put(ye.index(b, oc, p), sum)
			}
		}
	}
	return []tensor.Tensor{y}, nil
}

// unflatten writes the index of cell p of a row-major grid of sizes dims.
func unflatten(p int, dims []int64, at []int) {
	for i := len(dims) - 1; i >= 0; i-- {
		at[i] = p % int(dims[i])
		p /= int(dims[i])
	}
}
