package ref

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/op"
	"github.com/anynpu/anynpu/core/tensor"
)

func init() {
	register(Native, func(o *op.AveragePool, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
		if empty(out[0]) {
			return zeros(out), nil
		}
		if in[0].Quant.IsPerTensor() && out[0].Quant.IsPerTensor() {
			return averageQuant(o, in[0], out[0])
		}
		return computeReal(func(_ graph.Op, in []tensor.Tensor, out []tensor.Type) ([]tensor.Tensor, error) {
			y, put := realStore(out[0])
			return []tensor.Tensor{y}, average(o, in[0].Dims, y.Dims, reals(in[0]), put)
		}, o, in, out)
	})
}

// averageQuant keeps the mean exact: equal scales give the mean of the integers, rounded once.
func averageQuant(o *op.AveragePool, in tensor.Tensor, out tensor.Type) ([]tensor.Tensor, error) {
	y, _, err := requantizer(out)
	if err != nil {
		return nil, err
	}
	q, err := centred[int64](in)
	if err != nil {
		return nil, fault.Wrap(err, "input 0")
	}
	v := alloc[float64](len(q))
	for i := range q {
		tick()
		v[i] = float64(q[i])
	}
	lo, hi, _ := intRange(out.DType)
	scale := float64(out.Quant.Scale[0]) / float64(in.Quant.Scale[0])
	zero := float64(out.Quant.ZeroAt(0))
	return []tensor.Tensor{y}, average(o, in.Dims, y.Dims, v, func(i int, mean float64) {
		storeInt(y, i, quantize(mean, scale, zero, lo, hi))
	})
}

func average(o *op.AveragePool, in, out []int64, x []float64, put func(i int, mean float64)) error {
	e, ye := extentOf(in, o.ChannelsLast), extentOf(out, o.ChannelsLast)
	windows, err := o.Windows(e.spatial)
	if err != nil {
		return err
	}
	counts := asked(windows)
	g := newGrid(windows, sliding, slid)
	g.each(func(p int, taps []tap) {
		divisor := len(taps)
		if o.CountPads {
			divisor = 1
			for i, at := range g.pos {
				divisor *= counts[i][at]
			}
		}
		for n := range e.n {
			for c := range e.c {
				base, step := e.index(n, c, 0), e.step()
				var sum float64
				for _, t := range taps {
					tick()
					sum += x[base+t.in*step]
				}
				put(ye.index(n, c, p), sum/float64(max(divisor, 1)))
			}
		}
	})
	return nil
}

// asked is how many cells of the window at each output position lie inside the input or the padding that was asked for,
// per dimension.
func asked(windows []op.Window) [][]int {
	n := make([][]int, len(windows))
	for i, w := range windows {
		n[i] = alloc[int](w.Out)
		for o := range n[i] {
			n[i][o] = int(min(w.Kernel, steps(w.In+w.After-(int64(o)*w.Stride-w.Before), w.Dilation)))
		}
	}
	return n
}
