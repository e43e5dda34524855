package op

import (
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/tensor"
)

// pooling holds the common part of the pooling operators.
type pooling struct {
	sliding
	kernel       []int64
	global, last bool
}

// resolve returns the windows for the spatial sizes in.
func (p pooling) resolve(in []int64) ([]Window, error) {
	if !p.global {
		return p.windows(in, p.kernel)
	}
	w := make([]Window, len(in))
	for i, n := range in {
		if n < 1 {
			return nil, fault.New(fault.Shape, "spatial dimension %d: no cells to pool", i)
		}
		w[i] = Window{In: n, Out: 1, Kernel: n, Stride: 1, Dilation: 1}
	}
	return w, nil
}

// infer returns the output for an input whose type satisfies ok.
func (p pooling) infer(in []tensor.Fact, declared tensor.Type, what string, ok func(tensor.Type) bool) (tensor.Fact,
	error) {
	none := tensor.Fact{}
	if err := wantTensor(in, 0, what, ok); err != nil {
		return none, err
	}
	if err := wantImage(in, 0); err != nil {
		return none, err
	}
	x := in[0].Shape
	n := -1
	if !p.global {
		n = len(p.kernel)
		if n == 0 {
			return none, fault.New(fault.Argument, "kernel size is missing")
		}
		if x.Ranked && n != x.Rank()-2 {
			return none, fault.New(fault.Argument, "kernel %v for input 0 of shape %v", p.kernel, x)
		}
		if err := p.check(n); err != nil {
			return none, err
		}
		for i, k := range p.kernel {
			if k < 1 || k > maxWindow {
				return none, fault.New(fault.Argument, "spatial dimension %d: kernel size %d: want 1 to %d", i, k, maxWindow)
			}
		}
	}
	if !x.Ranked {
		if n < 0 {
			return outType(declared, in[0], tensor.AnyShape()), nil
		}
		x = tensor.AnyOfRank(n + 2)
	}
	batch, channels, spatial := image(x, p.last)
	out := make([]tensor.Dim, len(spatial))
	for i, d := range spatial {
		if p.global {
			if d.Known() && d.N < 1 {
				return none, fault.New(fault.Shape, "spatial dimension %d: no cells to pool", i)
			}
			out[i] = tensor.D(1)
			continue
		}
		o, err := p.dim(i, n, d, tensor.D(p.kernel[i]))
		if err != nil {
			return none, err
		}
		out[i] = o
	}
	return outType(declared, in[0], imageOf(batch, channels, out, p.last)), nil
}
